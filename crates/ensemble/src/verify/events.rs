//! Checks stored events, and counts outcomes from them.

use model::{EventBlock, Model};
use table::TableError;
use world::{ContentHash, WorldRange};

use super::recount::{Recount, Recounted};
use super::{Check, Found, Opened, Progress, each_entity};
use crate::plan::EventMode;
use crate::range_reader::RangeReader;
use crate::range_writer::{event_hash, event_row_keys};
use crate::stored::{RangeFile, StoredEnsemble};

const RECOUNT: &str = "outcomes recount from the events";

/// What one entity's events in one range are.
struct EntityEvents {
    rows: u64,
    hash: ContentHash,
    recounted: Recounted,
}

/// Reads every event, recomputes the hash, and has the model, if any, count outcomes from them.
pub(super) fn check_events(
    ensemble: &StoredEnsemble,
    model: Option<&dyn Model>,
    progress: &Progress,
    recounted: &mut Recounted,
    detail: &mut String,
) -> Found<ContentHash> {
    let mut total = ContentHash::default();
    let (mut rows, mut ok) = (0u64, true);
    let has_events = |range: &WorldRange| ensemble.events.iter().any(|(of, _, _)| of == range);
    if let Some((range, _, _)) = ensemble.outcomes.iter().find(|(range, _, _)| !has_events(range)) {
        *detail = format!("the events of worlds {range} are missing");
        ok = false;
    }
    let open = |segment: &RangeFile| {
        let opened = Opened::open(ensemble, segment)?;
        let entities = opened.reader.metadata().entities.clone();
        let outcomes = ensemble.outcomes.iter().find(|(range, _, _)| *range == opened.range);
        let stored = outcomes.filter(|_| model.is_some()).map(|outcomes| ensemble.open(outcomes)).transpose()?;
        Ok(((opened, stored), entities))
    };
    let work = |(opened, stored): &(Opened, Option<RangeReader>), entity: usize| {
        read_entity(ensemble, opened, entity, model.zip(stored.as_ref()))
    };
    progress.begin("reading events");
    each_entity(&ensemble.events, progress, open, work, |(opened, _), entities: Vec<EntityEvents>| {
        let hash: ContentHash = entities.iter().map(|entity| entity.hash).sum();
        let counted: u64 = entities.iter().map(|entity| entity.rows).sum();
        let metadata = opened.reader.metadata();
        if ok && (hash != metadata.hash || counted != metadata.items) {
            *detail = format!(
                "worlds {}: {counted} rows hash to {hash}, but {} rows were written as {}",
                opened.range, metadata.items, metadata.hash
            );
            ok = false;
        }
        rows += counted;
        total += hash;
        for entity in entities {
            match (&mut *recounted, entity.recounted) {
                (Ok(sum), Ok(compared)) => *sum += compared,
                (Ok(_), Err(difference)) => *recounted = Err(difference),
                (Err(_), _) => {}
            }
        }
    })?;
    if ok {
        *detail = format!("{rows} rows");
    }
    Ok((total, ok))
}

/// Reads the events of an entity. With a model, counts outcomes from them and compares them with those of a segment.
fn read_entity(
    ensemble: &StoredEnsemble,
    opened: &Opened,
    entity: usize,
    counting: Option<(&dyn Model, &RangeReader)>,
) -> Result<EntityEvents, TableError> {
    let Opened { range, reader, world_keys } = opened;
    let events = reader.events(&ensemble.plan.catalogue, &reader.entity_rows(entity)?, *range, |_| true)?;
    let block = events.block();
    let mut row_keys = Vec::new();
    event_row_keys(&mut row_keys, world_keys, &events.rows);
    let columns = block.columns.iter().enumerate();
    Ok(EntityEvents {
        rows: row_keys.len() as u64,
        hash: columns.map(|(column, values)| event_hash(entity, column, &row_keys, values)).sum(),
        recounted: counting.map_or(Ok(0), |(model, stored)| recount(ensemble, model, stored, &block)),
    })
}

/// Counts outcomes from the events of one entity, and compares them with the stored ones.
fn recount(ensemble: &StoredEnsemble, model: &dyn Model, stored: &RangeReader, events: &EventBlock<'_>) -> Recounted {
    let catalogue = &ensemble.plan.catalogue;
    let mut sink = Recount::new(catalogue, stored, "its events count to");
    // The sink keeps its own errors, so this one is the model's.
    if let Err(stop) = model.recount(events, &mut sink) {
        let name = &catalogue.entities[events.entity].name;
        return Err(format!("worlds {} of {name}: {}", events.range, stop.reason(&ensemble.plan.model)));
    }
    sink.found()
}

/// The check of recounted outcomes; without anything to compare, it has no result.
pub(super) fn recount_check(ensemble: &StoredEnsemble, recounted: Recounted) -> Check {
    if recounted == Ok(0) {
        let detail = format!("nothing to recount: model {} counts no outcome from events", ensemble.plan.model);
        return Check { name: RECOUNT.to_owned(), ok: None, detail };
    }
    Check::of_values(RECOUNT, recounted)
}

pub(super) fn nothing_to_recount(ensemble: &StoredEnsemble) -> Check {
    let why = match ensemble.plan.events {
        EventMode::Store | EventMode::Compact => "no world is stored yet",
        EventMode::Replay => "events are not stored but replayed",
    };
    Check { name: RECOUNT.to_owned(), ok: None, detail: format!("nothing to recount: {why}") }
}
