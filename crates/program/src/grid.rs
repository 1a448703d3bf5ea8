//! The values of a range: a place for each world of each entity.

use std::sync::Arc;

use model::{OutcomeBlock, OutcomeKind, Sink, Stop, Values};
use world::{World, WorldRange};

use crate::events::Events;
use crate::layout::Layout;
use crate::numbers::Column;

/// What is wrong with an answer, and where.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub(crate) reason: String,
    /// Index into the catalogue's entities.
    pub(crate) entity: Option<u32>,
    pub(crate) world: Option<World>,
}

impl Fault {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), entity: None, world: None }
    }
}

/// Collects the records of an answer, which come in any order.
#[derive(Debug)]
pub(crate) struct Grid {
    layout: Arc<Layout>,
    range: WorldRange,
    /// Whether a record has come, by entity and world.
    seen: Vec<bool>,
    records: usize,
    /// By kind and outcome: the worlds of the kind's first entity, then of its next.
    columns: Vec<Vec<Column>>,
    pub(crate) events: Events,
}

impl Grid {
    pub(crate) fn new(layout: Arc<Layout>, range: WorldRange) -> Self {
        let column = |kind: OutcomeKind| match kind {
            OutcomeKind::Real => Column::Real(Vec::new()),
            _ => Column::Whole(Vec::new()),
        };
        let kinds = layout.catalogue.kinds.iter();
        let columns = kinds.map(|kind| kind.outcomes.iter().map(|outcome| column(outcome.kind)).collect()).collect();
        let events = Events::new(layout.clone(), range);
        Self { layout, range, seen: Vec::new(), records: 0, columns, events }
    }

    /// Forgets all records, and begins another range, with events or without.
    pub(crate) fn begin(&mut self, range: WorldRange, with_events: bool) {
        self.range = range;
        self.events.begin(range, with_events);
        self.records = 0;
        self.seen.clear();
        self.seen.resize(self.layout.entities() * range.count(), false);
        for (kind, columns) in self.columns.iter_mut().enumerate() {
            let values = self.layout.entities_of(kind) * range.count();
            // Values of an earlier range are overwritten, or the range is incomplete.
            columns.iter_mut().for_each(|column| match column {
                Column::Whole(column) => column.resize(values, 0),
                Column::Real(column) => column.resize(values, 0.0),
            });
        }
    }

    pub(crate) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Records so far.
    pub(crate) fn records(&self) -> usize {
        self.records
    }

    /// Records of a complete range.
    pub(crate) fn records_max(&self) -> usize {
        self.seen.len()
    }

    /// Notes a record, and returns its kind and the place of its values in the columns of the kind.
    #[inline]
    pub(crate) fn claim(&mut self, entity: u32, world: i64) -> Result<(usize, u32), Fault> {
        let (offset, worlds) = (self.offset(entity, world)? as usize, self.range.count());
        let seen = &mut self.seen[entity as usize * worlds + offset];
        if *seen {
            return Err(Fault {
                reason: "two records have this world and entity: print one".to_owned(),
                entity: Some(entity),
                world: Some(World(world as u32)),
            });
        }
        *seen = true;
        self.records += 1;
        let (kind, place) = self.layout.place(entity as usize);
        Ok((kind, (place * worlds + offset) as u32))
    }

    /// The place of a world in the range.
    ///
    /// # Errors
    /// If it is outside; names the entity.
    #[inline]
    pub(crate) fn offset(&self, entity: u32, world: i64) -> Result<u32, Fault> {
        let (first, worlds) = (i64::from(self.range.first().0), self.range.count());
        let offset = world.wrapping_sub(first);
        if (0..worlds as i64).contains(&offset) {
            return Ok(offset as u32);
        }
        let last = first + worlds as i64 - 1;
        let reason = format!("a record has world {world}, outside the range from {first} to {last}");
        Err(Fault { reason, entity: Some(entity), world: None })
    }

    /// The values of an outcome of a kind, for the places of [`Self::claim`].
    pub(crate) fn column(&mut self, kind: usize, outcome: usize) -> &mut Column {
        &mut self.columns[kind][outcome]
    }

    /// Checks that all records have come.
    pub(crate) fn check_complete(&self) -> Result<(), Fault> {
        let Some(missing) = self.seen.iter().position(|seen| !seen) else { return Ok(()) };
        let (entity, offset) = (missing / self.range.count(), missing % self.range.count());
        Err(Fault {
            reason: format!("the record is missing: the answer has {} of {} records", self.records, self.records_max()),
            entity: Some(entity as u32),
            world: Some(World(self.range.first().0 + offset as u32)),
        })
    }

    /// Passes on the events and the outcomes of all entities, or of one.
    pub(crate) fn send(&mut self, only: Option<usize>, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (entities, worlds) = (0..self.layout.entities(), self.range.count());
        let mut narrow: Vec<Vec<i16>> = Vec::new();
        for entity in entities.filter(|entity| only.is_none_or(|only| only == *entity)) {
            self.events.send(entity, sink)?;
            let (kind, place) = self.layout.place(entity);
            let (columns, first) = (&self.columns[kind], place * worlds);
            narrow.resize_with(columns.len(), Vec::new);
            let values = columns.iter().zip(&mut narrow).map(|(column, narrow)| match column {
                Column::Real(values) => Values::F64(&values[first..first + worlds]),
                Column::Whole(values) => narrowed(&values[first..first + worlds], narrow),
            });
            sink.outcomes(OutcomeBlock { entity, range: self.range, columns: values.collect() })?;
        }
        Ok(())
    }
}

/// The values in the narrowest type that fits.
fn narrowed<'a>(values: &'a [i32], into: &'a mut Vec<i16>) -> Values<'a> {
    // Without branches, to use vectors: bits that 16 do not hold.
    let wide = values.iter().fold(0, |wide, value| wide | (value ^ (value << 16 >> 16)));
    if wide != 0 {
        return Values::I32(values);
    }
    into.clear();
    into.extend(values.iter().map(|value| *value as i16));
    Values::I16(into)
}
