//! The events of a range, by entity.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{EventRows, Misfit, Number, OwnedEventValues, Sink, Stop};
use world::WorldRange;

use crate::layout::Layout;

/// Collects the events of an answer, which come in any order of entities and worlds.
#[derive(Debug)]
pub(crate) struct Events {
    layout: Arc<Layout>,
    range: WorldRange,
    /// Whether the answer has events.
    pub(crate) are_wanted: bool,
    of: BTreeMap<u32, OfEntity>,
}

#[derive(Debug)]
struct OfEntity {
    /// The place of each event's world in the range.
    places: Vec<u32>,
    columns: Vec<OwnedEventValues>,
}

impl Events {
    pub(crate) fn new(layout: Arc<Layout>, range: WorldRange) -> Self {
        Self { layout, range, are_wanted: false, of: BTreeMap::new() }
    }

    /// Forgets all events, and begins another range.
    pub(crate) fn begin(&mut self, range: WorldRange, are_wanted: bool) {
        self.range = range;
        self.are_wanted = are_wanted && !self.layout.catalogue.events.is_empty();
        self.of.clear();
    }

    /// Adds an event; `place` is that of its world in the range. Its columns follow by [`Self::push`].
    pub(crate) fn add(&mut self, entity: u32, place: u32) {
        let empty = || self.layout.catalogue.events.iter().map(|column| OwnedEventValues::empty(&column.kind));
        let of = self.of.entry(entity);
        of.or_insert_with(|| OfEntity { places: Vec::new(), columns: empty().collect() }).places.push(place);
    }

    /// Adds the next value of a column of an entity's events.
    ///
    /// # Errors
    /// If the column does not accept it.
    pub(crate) fn push(&mut self, entity: u32, column: usize, number: Option<Number>) -> Result<(), Misfit> {
        let Some(of) = self.of.get_mut(&entity) else { return Ok(()) };
        of.columns[column].push(&self.layout.catalogue.events[column], number)
    }

    /// Passes on the events of an entity, if it has any.
    pub(crate) fn send(&mut self, entity: usize, sink: &mut dyn Sink) -> Result<(), Stop> {
        let Some(OfEntity { places, columns }) = self.of.remove(&(entity as u32)) else { return Ok(()) };
        sink.events(EventRows::ordered(entity, self.range, &places, columns).block())
    }
}
