//! Checks an ensemble by playing its worlds again.

use model::{EventBlock, Model, OutcomeBlock, Sink, Stop, Wanted};
use world::{ContentHash, WorldRange};

use crate::error::EnsembleError;
use crate::plan::MakeModel;
use crate::range_writer::{event_hash, event_row_keys};
use crate::stored::StoredEnsemble;
use crate::verify::{Found, Recount, Verification, tolerate, verify};

/// As [`verify`](crate::verify()) with the model of the ensemble's plan, which also plays all stored worlds again: their
/// outcomes and stored events must be the same. Takes as long as playing them.
///
/// # Errors
/// [`EnsembleError::Replay`] if the model is not at hand, or refuses the plan because it is another than the one that
/// played these worlds; also if checking cannot continue.
pub fn verify_by_replay(ensemble: &StoredEnsemble, make_model: &MakeModel) -> Result<Verification, EnsembleError> {
    let model = make_model(&ensemble.plan).map_err(|error| ensemble.cannot_replay(error.to_string()))?;
    let mut found = verify(ensemble, &*model)?;
    tolerate(&mut found.checks, "worlds are the same when they are played again", |detail| {
        replay(ensemble, &*model, detail)
    });
    found.ok = found.checks.iter().all(|check| check.ok != Some(false));
    Ok(found)
}

fn replay(ensemble: &StoredEnsemble, model: &dyn Model, detail: &mut String) -> Found<()> {
    let catalogue = &ensemble.plan.catalogue;
    if !model.catalogue().has_outputs_of(catalogue) {
        "the model has other outputs now".clone_into(detail);
        return Ok(((), false));
    }
    let mut values = 0;
    for segment @ (range, _, _) in &ensemble.outcomes {
        let stored = ensemble.open(segment)?;
        let mut sink = Replayed::new(Recount::new(catalogue, &stored, "playing it again gives"), *range);
        let wanted = Wanted { events: ensemble.plan.events.is_stored(), entity: None };
        let played = model.simulate(ensemble.plan.seed, *range, wanted, &mut sink);
        let Replayed { outcomes, events, rows, .. } = sink;
        if let Some(failure) = outcomes.failure {
            return Err(failure);
        }
        let different = outcomes.different.or_else(|| {
            let failed = played.err().map(|stop| format!("worlds {range}: {}", stop.reason(&ensemble.plan.model)));
            let all = (range.count() * catalogue.values_per_world()) as u64;
            let missing = || format!("worlds {range}: the model plays {} of {all} values", outcomes.compared);
            failed.or_else(|| (outcomes.compared != all).then(missing))
        });
        if let Some(different) = different {
            *detail = different;
            return Ok(((), false));
        }
        if let Some(segment) = ensemble.events.iter().find(|(of, _, _)| of == range) {
            let metadata = ensemble.open(segment)?.metadata().clone();
            if (metadata.hash, metadata.items) != (events, rows) {
                let stored = metadata.items;
                *detail = format!("worlds {range}: {rows} other events are played again than the {stored} stored ones");
                return Ok(((), false));
            }
        }
        values += outcomes.compared;
    }
    *detail = format!("{values} values");
    Ok(((), true))
}

/// Compares blocks with the stored ones: outcomes by value, events by hash.
struct Replayed<'a> {
    outcomes: Recount<'a>,
    world_keys: Vec<u64>,
    row_keys: Vec<u64>,
    events: ContentHash,
    rows: u64,
}

impl<'a> Replayed<'a> {
    fn new(outcomes: Recount<'a>, range: WorldRange) -> Self {
        let world_keys = range.worlds().map(|world| ContentHash::world_key(world.0)).collect();
        Self { outcomes, world_keys, row_keys: Vec::new(), events: ContentHash::default(), rows: 0 }
    }
}

impl Sink for Replayed<'_> {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
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
