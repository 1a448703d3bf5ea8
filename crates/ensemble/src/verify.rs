//! Checks an ensemble's consistency: counts, hashes, identities, and outcomes recounted from events.

use model::{Catalogue, EventBlock, Model, OutcomeBlock, Sink, Stop, Values};
use serde::Serialize;
use table::{ErrorKind, ListValues, TableError};
use world::{ContentHash, World, WorldRange};

use crate::columns::Columns;
use crate::error::EnsembleError;
use crate::expression::{Expression, OutcomeRef};
use crate::plan::{EventMode, MakeModel, MissingModel};
use crate::range_reader::RangeReader;
use crate::range_writer::{event_hash, event_row_keys, outcome_hash};
use crate::stored::StoredEnsemble;

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

/// Reads and checks all stored data of an ensemble, one entity of one range in memory at a time.
///
/// A damaged file is a failed check; an error means that checking itself cannot continue.
pub fn verify(ensemble: &StoredEnsemble, model: &dyn Model) -> Result<Verification, EnsembleError> {
    check(ensemble, Ok(model))
}

/// As [`verify`], where the model is not at hand for the reason `missing`: its identities and recounts are not checked.
pub fn verify_without_model(ensemble: &StoredEnsemble, missing: &str) -> Result<Verification, EnsembleError> {
    check(ensemble, Err(missing))
}

/// As [`verify`] with the model of the ensemble's plan, or [`verify_without_model`] if the model is not at hand or refuses
/// the plan.
pub fn verify_with(ensemble: &StoredEnsemble, make_model: &MakeModel) -> Result<Verification, EnsembleError> {
    match make_model(&ensemble.plan) {
        Ok(model) => verify(ensemble, &*model),
        Err(error) => {
            let missing = error.downcast_ref::<MissingModel>().map(|missing| missing.0.to_string());
            verify_without_model(ensemble, &missing.unwrap_or_else(|| error.to_string()))
        }
    }
}

fn check(ensemble: &StoredEnsemble, model: Result<&dyn Model, &str>) -> Result<Verification, EnsembleError> {
    // A missing file is reported below; an unreachable store is an error, not a failed check.
    match ensemble.fetch(ensemble.outcomes.iter().chain(&ensemble.events)) {
        Err(error) if error.kind() == ErrorKind::Environment => return Err(error.into()),
        _ => {}
    }
    let mut checks = vec![check_cover(ensemble)];
    let outcomes =
        tolerate(&mut checks, "outcomes are as they were written", |detail| check_outcomes(ensemble, detail));
    let stored = ensemble.plan.events.is_stored() && !ensemble.outcomes.is_empty();
    let events = if stored {
        tolerate(&mut checks, "events are as they were written", |detail| check_events(ensemble, detail))
    } else {
        None
    };
    match model {
        Ok(model) => {
            if !stored {
                checks.push(nothing_to_recount(ensemble));
            } else if outcomes.is_some() && events.is_some() {
                check_recount(ensemble, model, &mut checks);
            }
            if outcomes.is_some() {
                check_identities(ensemble, model, &mut checks)?;
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
pub(crate) type Found<T> = Result<(T, bool), TableError>;

/// Runs a check; damage fails it.
pub(crate) fn tolerate<T>(
    checks: &mut Vec<Check>,
    name: &str,
    check: impl FnOnce(&mut String) -> Found<T>,
) -> Option<T> {
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

const RECOUNT: &str = "outcomes recount from the events";

/// Recounts outcomes from events; without anything to compare, the check has no result.
fn check_recount(ensemble: &StoredEnsemble, model: &dyn Model, checks: &mut Vec<Check>) {
    let compared = tolerate(checks, RECOUNT, |detail| recount(ensemble, model, detail));
    if let (Some(0), Some(check)) = (compared, checks.last_mut())
        && check.ok == Some(true)
    {
        check.ok = None;
        check.detail = format!("nothing to recount: model {} counts no outcome from events", ensemble.plan.model);
    }
}

fn nothing_to_recount(ensemble: &StoredEnsemble) -> Check {
    let why = match ensemble.plan.events {
        EventMode::Store | EventMode::Compact => "no world is stored yet",
        EventMode::Replay => "events are not stored but replayed",
    };
    Check { name: RECOUNT.to_owned(), ok: None, detail: format!("nothing to recount: {why}") }
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

/// Reads every value, checks names and lengths, and recomputes the hash.
fn check_outcomes(ensemble: &StoredEnsemble, detail: &mut String) -> Found<ContentHash> {
    let catalogue = &ensemble.plan.catalogue;
    let mut total = ContentHash::default();
    let (mut values, mut ok) = (0u64, true);
    for segment @ (range, _, _) in &ensemble.outcomes {
        let reader = ensemble.open(segment)?;
        let keys: Vec<u64> = range.worlds().map(|w| ContentHash::world_key(w.0)).collect();
        let mut hash = ContentHash::default();
        for entity in 0..catalogue.entities.len() {
            reader.check_names(catalogue, entity)?;
            each_column(catalogue, &reader, entity, |outcome, column| {
                hash += outcome_hash(entity, outcome, &keys, &column);
                values += column.len() as u64;
            })?;
        }
        if hash != reader.metadata().hash && ok {
            *detail = format!("worlds {range} hash to {hash}, but were written as {}", reader.metadata().hash);
            ok = false;
        }
        total += hash;
    }
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

/// Entities with events in a range.
fn event_entities(reader: &RangeReader) -> Vec<usize> {
    reader.metadata().entities.clone()
}

fn check_events(ensemble: &StoredEnsemble, detail: &mut String) -> Found<ContentHash> {
    let catalogue = &ensemble.plan.catalogue;
    let mut total = ContentHash::default();
    let (mut rows, mut ok) = (0u64, true);
    let mut row_keys = Vec::new();
    let has_events = |range: &WorldRange| ensemble.events.iter().any(|(of, _, _)| of == range);
    if let Some((range, _, _)) = ensemble.outcomes.iter().find(|(range, _, _)| !has_events(range)) {
        *detail = format!("the events of worlds {range} are missing");
        return Ok((total, false));
    }
    for segment @ (range, _, _) in &ensemble.events {
        let reader = ensemble.open(segment)?;
        let world_keys: Vec<u64> = range.worlds().map(|w| ContentHash::world_key(w.0)).collect();
        let mut hash = ContentHash::default();
        let mut counted = 0;
        for entity in event_entities(&reader) {
            let events = reader.events(catalogue, &reader.entity_rows(entity)?, *range, |_| true)?;
            event_row_keys(&mut row_keys, &world_keys, &events.rows);
            for (i, values) in events.block().columns.iter().enumerate() {
                hash += event_hash(entity, i, &row_keys, values);
            }
            counted += row_keys.len() as u64;
        }
        let metadata = reader.metadata();
        if ok && (hash != metadata.hash || counted != metadata.items) {
            *detail = format!(
                "worlds {range}: {counted} rows hash to {hash}, but {} rows were written as {}",
                metadata.items, metadata.hash
            );
            ok = false;
        }
        rows += counted;
        total += hash;
    }
    if ok {
        *detail = format!("{rows} rows");
    }
    Ok((total, ok))
}

/// Compares outcomes of a model with the stored ones.
pub(crate) struct Recount<'a> {
    catalogue: &'a Catalogue,
    stored: &'a RangeReader,
    /// What gives the model's values: `its events count to`.
    source: &'static str,
    pub(crate) compared: u64,
    pub(crate) different: Option<String>,
    pub(crate) failure: Option<TableError>,
}

impl<'a> Recount<'a> {
    pub(crate) fn new(catalogue: &'a Catalogue, stored: &'a RangeReader, source: &'static str) -> Self {
        Self { catalogue, stored, source, compared: 0, different: None, failure: None }
    }
}

impl Sink for Recount<'_> {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        let catalogue = self.catalogue;
        let mut different = None;
        let mut compared = 0;
        let read = each_column(catalogue, self.stored, block.entity, |outcome, stored| {
            let Some(counted) = block.columns.get(outcome).filter(|counted| !counted.is_empty()) else { return };
            compared += stored.len() as u64;
            let name = || &catalogue.kind_of(block.entity).outcomes[outcome].name;
            let entity = &catalogue.entities[block.entity].name;
            if counted.len() != stored.len() {
                let (counted, stored) = (counted.len(), stored.len());
                different = Some(format!("{} of {entity} has {counted} values for {stored} worlds", name()));
                return;
            }
            let differs = |a: f64, b: f64| a != b && !(a.is_nan() && b.is_nan());
            let world = (0..stored.len()).find(|&w| differs(number(&stored, w), number(counted, w)));
            if let Some(w) = world {
                different.get_or_insert_with(|| {
                    format!(
                        "{} of {entity} in world {} is stored as {}, but {} {}",
                        name(),
                        World(block.range.first().0 + w as u32),
                        number(&stored, w),
                        self.source,
                        number(counted, w)
                    )
                });
            }
        });
        self.compared += compared;
        self.different = self.different.take().or(different);
        if let Err(error) = read {
            self.failure.get_or_insert(error);
        }
        Ok(())
    }

    fn events(&mut self, _: EventBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }
}

fn number(values: &Values<'_>, world: usize) -> f64 {
    match values {
        Values::I16(v) => f64::from(v[world]),
        Values::I32(v) => f64::from(v[world]),
        Values::F64(v) => v[world],
    }
}

fn recount(ensemble: &StoredEnsemble, model: &dyn Model, detail: &mut String) -> Found<u64> {
    let catalogue = &ensemble.plan.catalogue;
    let mut compared = 0;
    for outcomes in &ensemble.outcomes {
        let range = &outcomes.0;
        // An earlier check reports a missing one.
        let Some(events) = ensemble.events.iter().find(|(of, _, _)| of == range) else { continue };
        let stored = ensemble.open(outcomes)?;
        let events = ensemble.open(events)?;
        let mut sink = Recount::new(catalogue, &stored, "its events count to");
        for entity in event_entities(&events) {
            let rows = events.events(catalogue, &events.entity_rows(entity)?, *range, |_| true)?;
            // The sink keeps its own errors, so this one is the model's.
            if let Err(stop) = model.recount(&rows.block(), &mut sink) {
                let name = &catalogue.entities[entity].name;
                *detail = format!("worlds {range} of {name}: {}", stop.reason(&ensemble.plan.model));
                return Ok((compared, false));
            }
        }
        if let Some(error) = sink.failure {
            return Err(error);
        }
        if let Some(different) = sink.different {
            *detail = different;
            return Ok((compared, false));
        }
        compared += sink.compared;
    }
    *detail = format!("{compared} values");
    Ok((compared, true))
}

/// Memory for outcomes while identities are checked, in bytes.
const IDENTITY_CACHE_BYTES: usize = 64 << 20;
/// Identities whose outcomes are read together.
const IDENTITIES_AT_ONCE: usize = 32;

fn check_identities(
    ensemble: &StoredEnsemble,
    model: &dyn Model,
    checks: &mut Vec<Check>,
) -> Result<(), EnsembleError> {
    let catalogue = &ensemble.plan.catalogue;
    let identities = model.identities();
    let ranges: Vec<Columns> = ensemble
        .outcomes
        .iter()
        .map(|range| {
            let one = StoredEnsemble { outcomes: vec![range.clone()], ..ensemble.clone() };
            Columns::open(one, IDENTITY_CACHE_BYTES)
        })
        .collect::<Result<_, _>>()?;
    let mut broken: Vec<Option<String>> = vec![None; identities.len()];
    for entity in (0..catalogue.entities.len()).map(Some).chain([None]) {
        let kind = entity.map(|entity| catalogue.entities[entity].kind);
        let mut held = Vec::new();
        for (identity, broken) in identities.iter().zip(&mut broken) {
            if identity.kind == kind && broken.is_none() {
                match Expression::parse(&identity.condition, catalogue, entity) {
                    Ok(expression) => held.push((expression, broken)),
                    Err(error) => *broken = Some(format!("{}: {error}", identity.condition)),
                }
            }
        }
        for columns in &ranges {
            for some in held.chunks_mut(IDENTITIES_AT_ONCE) {
                check_conditions(columns, some, entity)?;
            }
        }
    }
    let held = broken.iter().filter(|b| b.is_none()).count();
    let first = broken.into_iter().flatten().next();
    checks.push(Check {
        name: "identities hold in every world".to_owned(),
        ok: Some(first.is_none()),
        detail: first.unwrap_or_else(|| format!("{held} identities")),
    });
    Ok(())
}

/// Describes the first world that violates each condition. Reads the outcomes of all of them in one pass.
fn check_conditions(
    columns: &Columns,
    conditions: &mut [(Expression, &mut Option<String>)],
    entity: Option<usize>,
) -> Result<(), EnsembleError> {
    let named: Vec<OutcomeRef> = conditions.iter().flat_map(|(condition, _)| condition.columns()).copied().collect();
    let read = columns.get(&named)?;
    let mut rest = read.as_slice();
    for (condition, broken) in conditions {
        let (own, others) = rest.split_at(condition.columns().len());
        rest = others;
        let holds = condition.holds(own, columns.worlds());
        let first = columns.ensemble().world_numbers().enumerate().find(|(place, _)| !holds.contains(*place));
        if let (None, Some((_, world))) = (&broken, first) {
            let name = entity.map_or("", |e| columns.ensemble().plan.catalogue.entities[e].name.as_str());
            **broken = Some(format!("{} does not hold for {name} in world {world}", condition.text()));
        }
    }
    Ok(())
}
