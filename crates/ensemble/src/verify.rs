//! Checks an ensemble's consistency: counts, hashes, identities, and outcomes recounted from events.

mod events;
mod identities;
mod progress;
mod recount;

use model::{Catalogue, Model, Values};
use serde::Serialize;
use table::{ErrorKind, ListValues, TableError};
use world::{ContentHash, WorldRange};

use crate::error::EnsembleError;
use crate::plan::{MakeModel, MissingModel};
use crate::range_reader::RangeReader;
use crate::range_writer::outcome_hash;
use crate::stored::{RangeFile, StoredEnsemble};
use crate::threads::{available, map};

use events::{check_events, nothing_to_recount, recount_check};
use identities::check_identities;
pub use progress::Progress;
pub(crate) use recount::{Recount, Recounted};

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The property checked.
    pub name: String,
    /// Whether it holds; `None` if there was nothing to check.
    pub ok: Option<bool>,
    /// The amount checked, the violation found, or why there was nothing to check.
    pub detail: String,
}

impl Check {
    /// A check that compared values.
    pub(crate) fn of_values(name: &str, compared: Recounted) -> Self {
        let ok = Some(compared.is_ok());
        Self {
            name: name.to_owned(),
            ok,
            detail: compared.map_or_else(|different| different, |n| format!("{n} values")),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Whether no check fails.
    pub ok: bool,
    /// Content hash of the outcomes, computed from the stored values.
    pub hash: String,
    /// Content hash of the events, computed from the stored rows; `None` if events are replayed.
    pub event_hash: Option<String>,
    pub checks: Vec<Check>,
}

/// Reads and checks all stored data of an ensemble on all cores, with one entity of one range in memory for each.
///
/// A damaged file is a failed check; an error means that checking itself cannot continue.
pub fn verify(ensemble: &StoredEnsemble, model: &dyn Model) -> Result<Verification, EnsembleError> {
    check(ensemble, Ok(model), &Progress::default())
}

/// As [`verify`] with the model of the ensemble's plan. If the model is not at hand or refuses the plan, its identities and
/// recounts are not checked.
pub fn verify_with(
    ensemble: &StoredEnsemble,
    make_model: &MakeModel,
    progress: &Progress,
) -> Result<Verification, EnsembleError> {
    match make_model(&ensemble.plan) {
        Ok(model) => check(ensemble, Ok(&*model), progress),
        Err(error) => {
            let missing = error.downcast_ref::<MissingModel>().map(|missing| missing.0.to_string());
            check(ensemble, Err(&missing.unwrap_or_else(|| error.to_string())), progress)
        }
    }
}

/// Checks with the model, or without it for the reason given.
pub(crate) fn check(
    ensemble: &StoredEnsemble,
    model: Result<&dyn Model, &str>,
    progress: &Progress,
) -> Result<Verification, EnsembleError> {
    // A missing file is reported below; an unreachable store is an error, not a failed check.
    match ensemble.fetch(ensemble.outcomes.iter().chain(&ensemble.events)) {
        Err(error) if error.kind() == ErrorKind::Environment => return Err(error.into()),
        _ => {}
    }
    let mut checks = vec![check_cover(ensemble)];
    let outcomes =
        tolerate(&mut checks, "outcomes are as they were written", |detail| check_outcomes(ensemble, progress, detail));
    let stored = ensemble.plan.events.is_stored() && !ensemble.outcomes.is_empty();
    let counting = model.ok().filter(|_| outcomes.is_some());
    let mut recounted = Ok(0);
    let events = if stored {
        let events = |detail: &mut String| check_events(ensemble, counting, progress, &mut recounted, detail);
        tolerate(&mut checks, "events are as they were written", events)
    } else {
        None
    };
    match model {
        Ok(model) => {
            if !stored {
                checks.push(nothing_to_recount(ensemble));
            } else if outcomes.is_some() && events.is_some() {
                checks.push(recount_check(ensemble, recounted));
            }
            if outcomes.is_some() {
                checks.push(check_identities(ensemble, model, progress)?);
            }
        }
        Err(missing) => checks.push(Check {
            name: "the model's recounts and identities hold".to_owned(),
            ok: None,
            detail: format!("not checked: {missing}"),
        }),
    }
    Ok(Verification {
        ok: checks.iter().all(|c| c.ok != Some(false)),
        hash: outcomes.unwrap_or_default().to_string(),
        event_hash: if stored { Some(events.unwrap_or_default().to_string()) } else { None },
        checks,
    })
}

/// The result of a check, and whether it holds.
type Found<T> = Result<(T, bool), TableError>;

/// Runs a check; damage fails it.
fn tolerate<T>(checks: &mut Vec<Check>, name: &str, check: impl FnOnce(&mut String) -> Found<T>) -> Option<T> {
    let mut detail = String::new();
    let found = check(&mut detail);
    let (result, ok) = match found {
        Ok((result, ok)) => (Some(result), ok),
        Err(error) => {
            detail = error.to_string();
            (None, false)
        }
    };
    checks.push(Check { name: name.to_owned(), ok: Some(ok), detail });
    result
}

/// Checks that ranges are disjoint and cover the planned worlds.
fn check_cover(ensemble: &StoredEnsemble) -> Check {
    let (have, planned) = (ensemble.worlds(), ensemble.plan.worlds.count());
    let ranges = || ensemble.outcomes.iter().map(|(range, _, _)| *range);
    let twice = ranges().zip(ranges().skip(1)).find(|(one, next)| next.first().0 < one.end());
    let (ok, detail) = match (twice, &ensemble.enough) {
        (Some((one, next)), _) => (false, format!("worlds {one} and {next} overlap")),
        (None, _) if have == planned => (true, format!("{have} worlds")),
        (None, Some(enough)) => (true, format!("{have} of {planned} worlds: enough for {enough}")),
        (None, None) => (false, format!("{have} of {planned} worlds are stored")),
    };
    Check { name: "every world is stored once".to_owned(), ok: Some(ok), detail }
}

/// An open segment of a range.
struct Opened {
    range: WorldRange,
    reader: RangeReader,
    /// The weight of each world in the hash.
    world_keys: Vec<u64>,
}

impl Opened {
    fn open(ensemble: &StoredEnsemble, segment: &RangeFile) -> Result<Self, TableError> {
        let range = segment.0;
        let world_keys = range.worlds().map(|world| ContentHash::world_key(world.0)).collect();
        Ok(Self { range, reader: ensemble.open(segment)?, world_keys })
    }
}

/// Opens segments, as many at once as there are cores, and applies `work` to each entity of each, on all cores. Passes the
/// results on in order, segment by segment. `open` also returns the entities.
fn each_entity<O: Send + Sync, T: Send>(
    segments: &[RangeFile],
    progress: &Progress,
    open: impl Fn(&RangeFile) -> Result<(O, Vec<usize>), TableError> + Sync,
    work: impl Fn(&O, usize) -> Result<T, TableError> + Sync,
    mut take: impl FnMut(&O, Vec<T>),
) -> Result<(), TableError> {
    let threads = available();
    for some in segments.chunks(threads) {
        let opened = map(threads, some, &open)?;
        let mut parts = Vec::new();
        for (segment, entities) in &opened {
            parts.extend(entities.iter().map(|entity| (segment, *entity, segments.len() * entities.len())));
        }
        let work = |&(segment, entity, of_all): &(&O, usize, usize)| {
            let result = work(segment, entity);
            progress.add_one_of(of_all);
            result
        };
        let mut results = map(threads, &parts, work)?.into_iter();
        for (segment, entities) in &opened {
            take(segment, results.by_ref().take(entities.len()).collect());
        }
    }
    Ok(())
}

/// Reads every value, checks names and lengths, and recomputes the hash.
fn check_outcomes(ensemble: &StoredEnsemble, progress: &Progress, detail: &mut String) -> Found<ContentHash> {
    let catalogue = &ensemble.plan.catalogue;
    let mut total = ContentHash::default();
    let (mut values, mut ok) = (0u64, true);
    let open = |segment: &RangeFile| Ok((Opened::open(ensemble, segment)?, (0..catalogue.entities.len()).collect()));
    let work = |opened: &Opened, entity: usize| {
        opened.reader.check_names(catalogue, entity)?;
        let (mut hash, mut count) = (ContentHash::default(), 0u64);
        each_column(catalogue, &opened.reader, entity, |outcome, column| {
            hash += outcome_hash(entity, outcome, &opened.world_keys, &column);
            count += column.len() as u64;
        })?;
        Ok((hash, count))
    };
    progress.begin("reading outcomes");
    each_entity(&ensemble.outcomes, progress, open, work, |opened, entities: Vec<(ContentHash, u64)>| {
        let hash: ContentHash = entities.iter().map(|(hash, _)| *hash).sum();
        let (range, written) = (opened.range, opened.reader.metadata().hash);
        if hash != written && ok {
            *detail = format!("worlds {range} hash to {hash}, but were written as {written}");
            ok = false;
        }
        values += entities.iter().map(|(_, count)| count).sum::<u64>();
        total += hash;
    })?;
    if ok {
        *detail = format!("{values} values");
    }
    Ok((total, ok))
}

fn each_column(
    catalogue: &Catalogue,
    reader: &RangeReader,
    entity: usize,
    mut take: impl FnMut(usize, Values<'_>),
) -> Result<(), TableError> {
    let outcomes = 0..catalogue.kind_of(entity).outcomes.len();
    reader.outcomes(catalogue, entity, outcomes, |outcome, values| match &values {
        ListValues::I16(v) => take(outcome, Values::I16(v)),
        ListValues::I32(v) => take(outcome, Values::I32(v)),
        ListValues::F64(v) => take(outcome, Values::F64(v)),
        ListValues::Null => {}
    })
}
