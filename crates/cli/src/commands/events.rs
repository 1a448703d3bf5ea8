//! Events of an ensemble, wherever they are: stored, or to be played again.

use anyhow::{Result, anyhow};
use ensemble::{EventRows, KeepEvents, Plan, RangeReader, StoredEnsemble};
use model::Wanted;
use world::WorldRange;

use super::model_of;

/// The events of an entity in some worlds of one completed range, the columns for which `wants` says so at least: read
/// where they are stored, played again from the seed where they are not.
pub(super) fn events_of(
    stored: &StoredEnsemble,
    entity: usize,
    worlds: WorldRange,
    wants: impl Fn(&str) -> bool,
) -> Result<EventRows> {
    let catalogue = &stored.plan.catalogue;
    let events = match stored.events.iter().find(|(range, _, _)| range.contains(worlds.first())) {
        Some((_, path, _)) => {
            let segment = RangeReader::open(path)?;
            let has = segment.facts().entities.contains(&entity);
            has.then(|| segment.events(catalogue, entity, worlds, wants)).transpose()?
        }
        None => replay(&stored.plan, entity, worlds)?,
    };
    let name = &catalogue.entities[entity].name;
    events.ok_or_else(|| anyhow!("{name} has no events: only the entities that are played have"))
}

/// Plays an entity's events again from the seed; `None` where it has none.
fn replay(plan: &Plan, entity: usize, worlds: WorldRange) -> Result<Option<EventRows>> {
    let model = model_of(plan)?;
    let mut kept = KeepEvents::default();
    model.simulate(plan.seed, worlds, Wanted { events: true, entity: Some(entity) }, &mut kept)?;
    Ok(kept.0.pop())
}
