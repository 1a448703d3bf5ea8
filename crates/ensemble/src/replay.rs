//! Checks an ensemble by playing its worlds again.

use model::{EventBlock, Model, OutcomeBlock, Sink, Stop, Wanted};
use world::{ContentHash, WorldRange};

use crate::error::EnsembleError;
use crate::plan::MakeModel;
use crate::range_writer::{event_hash, event_row_keys};
use crate::stored::{RangeFile, StoredEnsemble};
use crate::threads::{available, map};
use crate::verify::{Check, Progress, Recount, Recounted, Verification, check};

/// As [`verify`](crate::verify()) with the model of the ensemble's plan, which also plays all stored worlds again: their
/// outcomes and stored events must be the same. Takes as long as playing them on all cores.
///
/// # Errors
/// [`EnsembleError::Replay`] if the model is not at hand, or refuses the plan because it is another than the one that
/// played these worlds; also if checking cannot continue.
pub fn verify_by_replay(
    ensemble: &StoredEnsemble,
    make_model: &MakeModel,
    progress: &Progress,
) -> Result<Verification, EnsembleError> {
    let model = make_model(&ensemble.plan).map_err(|error| ensemble.cannot_replay(error.to_string()))?;
    let mut found = check(ensemble, Ok(&*model), progress)?;
    let replayed = replay(ensemble, &*model, progress);
    found.checks.push(Check::of_values("worlds are the same when they are played again", replayed));
    found.ok = found.checks.iter().all(|check| check.ok != Some(false));
    Ok(found)
}

fn replay(ensemble: &StoredEnsemble, model: &dyn Model, progress: &Progress) -> Recounted {
    if !model.catalogue().has_outputs_of(&ensemble.plan.catalogue) {
        return Err("the model has other outputs now".to_owned());
    }
    // A model with threads of its own plays one range at a time.
    let threads = if model.has_helpers() { 1 } else { available() };
    progress.begin("playing again");
    let values = map(threads, &ensemble.outcomes, |segment| replay_range(ensemble, model, segment, progress))?;
    Ok(values.into_iter().sum())
}

/// Plays a range again and compares it with what is stored.
fn replay_range(ensemble: &StoredEnsemble, model: &dyn Model, segment: &RangeFile, progress: &Progress) -> Recounted {
    let (catalogue, range) = (&ensemble.plan.catalogue, segment.0);
    let open = |segment: &RangeFile| ensemble.open(segment).map_err(|error| error.to_string());
    let stored = open(segment)?;
    let blocks = ensemble.outcomes.len() * catalogue.entities.len();
    let outcomes = Recount::new(catalogue, &stored, "playing it again gives");
    let mut sink = Replayed::new(outcomes, range, progress, blocks);
    let wanted = Wanted { events: ensemble.plan.events.is_stored(), entity: None };
    let played = model.simulate(ensemble.plan.seed, range, wanted, &mut sink);
    let Replayed { outcomes, events, rows, .. } = sink;
    let compared = outcomes.found()?;
    played.map_err(|stop| format!("worlds {range}: {}", stop.reason(&ensemble.plan.model)))?;
    let all = (range.count() * catalogue.values_per_world()) as u64;
    if compared != all {
        return Err(format!("worlds {range}: the model plays {compared} of {all} values"));
    }
    if let Some(segment) = ensemble.events.iter().find(|(of, _, _)| *of == range) {
        let metadata = open(segment)?.metadata().clone();
        if (metadata.hash, metadata.items) != (events, rows) {
            let stored = metadata.items;
            return Err(format!("worlds {range}: {rows} other events are played again than the {stored} stored ones"));
        }
    }
    Ok(compared)
}

/// Compares blocks with the stored ones: outcomes by value, events by hash.
struct Replayed<'a> {
    outcomes: Recount<'a>,
    world_keys: Vec<u64>,
    row_keys: Vec<u64>,
    events: ContentHash,
    rows: u64,
    progress: &'a Progress,
    /// Blocks of outcomes of all ranges.
    blocks: usize,
}

impl<'a> Replayed<'a> {
    fn new(outcomes: Recount<'a>, range: WorldRange, progress: &'a Progress, blocks: usize) -> Self {
        let world_keys = range.worlds().map(|world| ContentHash::world_key(world.0)).collect();
        let events = ContentHash::default();
        Self { outcomes, world_keys, row_keys: Vec::new(), events, rows: 0, progress, blocks }
    }
}

impl Sink for Replayed<'_> {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        self.progress.add_one_of(self.blocks);
        self.outcomes.outcomes(block)
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        event_row_keys(&mut self.row_keys, &self.world_keys, block.rows);
        self.rows += self.row_keys.len() as u64;
        for (column, values) in block.columns.iter().enumerate() {
            self.events += event_hash(block.entity, column, &self.row_keys, values);
        }
        Ok(())
    }
}
