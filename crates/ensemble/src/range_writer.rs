//! Writes one range of worlds into two segments.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use disk::Disk;
use model::{Catalogue, EventBlock, EventKind, EventValues, OutcomeBlock, Sink, Stop, Values};
use serde::{Deserialize, Serialize};
use table::{
    EncodedColumn, Encoder, FlatColumn, ListRows, PageFormat, SegmentSchema, SegmentWriter, TableError, WrittenSegment,
    plain,
};
use world::{ContentHash, WorldRange, mix64};

use crate::aggregate::{Aggregates, Follow};
use crate::declared::{check_entities, check_events, check_outcomes};
use crate::paths::RangePaths;
use crate::range_reader::RangeMetadata;
use crate::residuals::Expected;
use crate::schema::{event, event_fields, outcome, outcome_fields};

/// A thread's encoder state for one ensemble, reused from range to range.
pub struct Encoders {
    catalogue: Arc<Catalogue>,
    outcome_schema: SegmentSchema,
    event_schema: SegmentSchema,
    outcomes: Encoder,
    events: Encoder,
    /// By event column, for those stored as differences.
    expected: Vec<Option<Expected>>,
    follow: Follow,
}

impl Encoders {
    /// Encoders for a model's blocks in a page format; they also aggregate followed outcomes.
    pub fn new(catalogue: Arc<Catalogue>, format: PageFormat, follow: Follow) -> Result<Self, TableError> {
        let make = || {
            let outcome_schema = SegmentSchema::new(&outcome_fields(&catalogue))?;
            let event_schema = SegmentSchema::new(&event_fields(&catalogue))?;
            Ok((
                Encoder::new(&outcome_schema, format)?,
                Encoder::new(&event_schema, format)?,
                outcome_schema,
                event_schema,
            ))
        };
        let (outcomes, events, outcome_schema, event_schema) =
            make().map_err(|cause| TableError::Encode { path: "of the ensemble".into(), cause })?;
        let expected = (0..catalogue.events.len()).map(|column| Expected::of(&catalogue, column)).collect();
        Ok(Self { catalogue, outcome_schema, event_schema, outcomes, events, expected, follow })
    }
}

/// Time spent per phase, summed over one thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseTimes {
    pub simulate: Duration,
    /// Encoding, compressing and hashing blocks.
    pub encode: Duration,
    /// Writing, syncing and naming files.
    pub write: Duration,
}

/// A range with segments written, synced and named, but not committed yet. Another process may commit it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WrittenRange {
    pub range: WorldRange,
    pub outcomes: WrittenSegment,
    pub events: Option<WrittenSegment>,
    /// Outcome values.
    pub values: u64,
    pub event_rows: u64,
    pub outcome_hash: ContentHash,
    /// Hash of its events, if stored.
    pub event_hash: ContentHash,
    /// Aggregates of its followed outcomes.
    pub aggregates: Aggregates,
    pub times: PhaseTimes,
}

/// Writes a model's blocks for one range. Dropped unfinished, it leaves nothing behind.
pub struct RangeWriter<'a> {
    encoders: &'a mut Encoders,
    range: WorldRange,
    world_keys: Vec<u64>,
    row_keys: Vec<u64>,
    outcomes: Part,
    events: Option<Part>,
    aggregates: Aggregates,
    started: Instant,
    times: PhaseTimes,
    stop: &'a dyn Fn() -> bool,
    /// Why it takes no more blocks.
    failure: Option<Unwritten>,
}

/// The outcomes or the events of a range.
struct Part {
    segment: SegmentWriter,
    metadata: RangeMetadata,
}

impl Part {
    fn create(
        disk: &Arc<dyn Disk>,
        path: &Path,
        range: WorldRange,
        schema: &SegmentSchema,
    ) -> Result<Self, TableError> {
        let metadata = RangeMetadata { range, entities: Vec::new(), items: 0, hash: ContentHash::default() };
        Ok(Self { segment: SegmentWriter::create(disk.clone(), path, schema)?, metadata })
    }

    /// Adds the block of an entity.
    fn add(&mut self, entity: usize, columns: Vec<EncodedColumn>, items: u64) -> Result<(), TableError> {
        self.metadata.entities.push(entity);
        self.metadata.items += items;
        self.segment.row_group(columns)
    }

    fn finish(self) -> Result<WrittenSegment, TableError> {
        self.segment.finish(self.metadata.to_pairs())
    }
}

/// Why a range is not written.
#[derive(Debug)]
pub enum Unwritten {
    /// The caller asked to stop.
    Interrupted,
    /// The files cannot be written.
    Table(TableError),
    /// The model stopped.
    Stopped(Stop),
    /// The model's blocks differ from its catalogue; the text says why.
    Undeclared(String),
}

impl From<TableError> for Unwritten {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}

impl<'a> RangeWriter<'a> {
    /// Begins the segments of `range`. Calls `stop` before each block, and while the model waits, to check for
    /// cancellation.
    pub fn create(
        disk: &Arc<dyn Disk>,
        paths: &RangePaths,
        range: WorldRange,
        store_events: bool,
        encoders: &'a mut Encoders,
        stop: &'a dyn Fn() -> bool,
    ) -> Result<Self, TableError> {
        // File names and contents are deterministic: a range simulated twice overwrites identical files.
        encoders.outcomes.begin();
        encoders.events.begin();
        let outcomes = Part::create(disk, &paths.outcomes(range), range, &encoders.outcome_schema)?;
        let events = || Part::create(disk, &paths.events(range), range, &encoders.event_schema);
        let events = store_events.then(events).transpose()?;
        Ok(Self {
            encoders,
            range,
            world_keys: range.worlds().map(|w| ContentHash::world_key(w.0)).collect(),
            row_keys: Vec::new(),
            outcomes,
            events,
            aggregates: Aggregates::default(),
            started: Instant::now(),
            times: PhaseTimes::default(),
            stop,
            failure: None,
        })
    }

    /// Finishes both segments, events first, so that an outcome segment always has its events. `played` is the model's
    /// result.
    ///
    /// # Errors
    /// When the range is incomplete, or the files cannot be written.
    pub fn finish(mut self, played: Result<(), Stop>) -> Result<WrittenRange, Unwritten> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        played.map_err(Unwritten::Stopped)?;
        let of_events = self.events.as_ref().map_or(&[][..], |events| &events.metadata.entities);
        check_entities(&self.encoders.catalogue, &self.outcomes.metadata.entities, of_events)
            .map_err(Unwritten::Undeclared)?;
        let writing = Instant::now();
        let (values, outcome_hash) = (self.outcomes.metadata.items, self.outcomes.metadata.hash);
        let of_events = self.events.as_ref().map(|events| (events.metadata.items, events.metadata.hash));
        let (event_rows, event_hash) = of_events.unwrap_or_default();
        let events = self.events.map(Part::finish).transpose()?;
        let outcomes = self.outcomes.finish()?;
        self.times.write += writing.elapsed();
        self.times.simulate = self.started.elapsed().saturating_sub(self.times.encode).saturating_sub(self.times.write);
        Ok(WrittenRange {
            range: self.range,
            outcomes,
            events,
            values,
            event_rows,
            outcome_hash,
            event_hash,
            aggregates: self.aggregates,
            times: self.times,
        })
    }

    fn encode_outcomes(&mut self, block: &OutcomeBlock<'_>) -> Result<Vec<EncodedColumn>, TableError> {
        let catalogue = &self.encoders.catalogue;
        let kind = catalogue.kind_of(block.entity);
        let rows = kind.outcomes.len() as u32;
        let names: Vec<(&str, u32)> = kind.outcomes.iter().map(|o| (o.name.as_str(), 1)).collect();
        let mut scales: Vec<(i32, u32)> = Vec::new();
        for outcome in &kind.outcomes {
            match scales.last_mut() {
                Some((scale, count)) if *scale == outcome.scale => *count += 1,
                _ => scales.push((outcome.scale, 1)),
            }
        }
        let list = |reals: bool| -> Vec<ListRows<'_>> {
            let columns = block.columns.iter();
            let rows = columns.map(|values| match *values {
                Values::I16(v) if !reals => ListRows::I16(v),
                Values::I32(v) if !reals => ListRows::I32(v),
                Values::F64(v) if reals => ListRows::F64(v),
                _ => ListRows::Null,
            });
            rows.collect()
        };
        let encoder = &mut self.encoders.outcomes;
        let entity = [(catalogue.entities[block.entity].name.as_str(), rows)];
        let first_world = [(self.range.first().0 as i32, rows)];
        let with_reals = outcome_fields(catalogue).len() > outcome::REALS;
        let mut encode = || {
            let mut columns = vec![
                encoder.flat(outcome::ENTITY, FlatColumn::TextRuns(&entity))?,
                encoder.flat(outcome::OUTCOME, FlatColumn::TextRuns(&names))?,
                encoder.flat(outcome::SCALE, FlatColumn::IntRuns(&scales))?,
                encoder.flat(outcome::FIRST_WORLD, FlatColumn::IntRuns(&first_world))?,
                encoder.lists(outcome::VALUES, &list(false))?,
            ];
            if with_reals {
                columns.push(encoder.lists(outcome::REALS, &list(true))?);
            }
            Ok(columns)
        };
        encode().map_err(|cause| TableError::Encode { path: "of outcomes".into(), cause })
    }

    fn encode_events(&mut self, block: &EventBlock<'_>) -> Result<Vec<EncodedColumn>, TableError> {
        let catalogue = &self.encoders.catalogue;
        let encoder = &mut self.encoders.events;
        let rows: u32 = block.rows.iter().sum();
        let entity = [(catalogue.entities[block.entity].name.as_str(), rows)];
        let worlds: Vec<(i32, u32)> =
            self.range.worlds().zip(block.rows).filter(|(_, n)| **n > 0).map(|(w, n)| (w.0 as i32, *n)).collect();
        let numbers: Vec<i32> = block.rows.iter().flat_map(|&n| 0..n as i32).collect();
        let mut encode = || {
            let mut columns = vec![
                encoder.flat(event::ENTITY, FlatColumn::TextRuns(&entity))?,
                encoder.flat(event::WORLD, FlatColumn::IntRuns(&worlds))?,
                encoder.flat(event::NUMBER, FlatColumn::I32 { values: &numbers, nullable: false })?,
            ];
            for (i, (column, values)) in catalogue.events.iter().zip(&block.columns).enumerate() {
                if let Some(expected) = &self.encoders.expected[i] {
                    let residuals = expected.residuals(&block.columns, block.rows);
                    let values = FlatColumn::I32 { values: &residuals, nullable: false };
                    columns.push(encoder.flat(event::FIRST_OWN + i, values)?);
                    continue;
                }
                let values = match (*values, &column.kind) {
                    (EventValues::Label(codes), EventKind::Label(words)) => {
                        FlatColumn::Labels { codes, dictionary: words }
                    }
                    (EventValues::I8(values), _) => FlatColumn::I8 { values, nullable: column.nullable },
                    (EventValues::I16(values), _) => FlatColumn::I16 { values, nullable: column.nullable },
                    (EventValues::I32(values), _) => FlatColumn::I32 { values, nullable: column.nullable },
                    (EventValues::F64 { values, valid }, _) => FlatColumn::F64 { values, valid },
                    (EventValues::Label(codes), _) => FlatColumn::Labels { codes, dictionary: &[] },
                };
                columns.push(encoder.flat(event::FIRST_OWN + i, values)?);
            }
            Ok(columns)
        };
        encode().map_err(|cause| TableError::Encode { path: "of events".into(), cause })
    }
}

pub(crate) fn outcome_hash(entity: usize, outcome: usize, world_keys: &[u64], values: &Values<'_>) -> ContentHash {
    let column = (entity as u64) << 32 | outcome as u64;
    match values {
        Values::I16(v) => ContentHash::of_column(column, world_keys, v),
        Values::I32(v) => ContentHash::of_column(column, world_keys, v),
        Values::F64(v) => {
            let bits: Vec<i64> = v.iter().map(|x| x.to_bits() as i64).collect();
            ContentHash::of_column(column, world_keys, &bits)
        }
    }
}

/// The weight of each event row in the hash: from its world and its number there.
pub(crate) fn event_row_keys(keys: &mut Vec<u64>, world_keys: &[u64], rows: &[u32]) {
    keys.clear();
    for (world, &count) in world_keys.iter().zip(rows) {
        keys.extend((0..u64::from(count)).map(|number| mix64(world.wrapping_add(number << 1)) | 1));
    }
}

pub(crate) fn event_hash(entity: usize, column: usize, row_keys: &[u64], values: &EventValues<'_>) -> ContentHash {
    let column = 1 << 63 | (entity as u64) << 32 | column as u64;
    match values {
        EventValues::Label(v) => ContentHash::of_column(column, row_keys, v),
        EventValues::I8(v) => ContentHash::of_column(column, row_keys, v),
        EventValues::I16(v) => ContentHash::of_column(column, row_keys, v),
        EventValues::I32(v) => ContentHash::of_column(column, row_keys, v),
        EventValues::F64 { values, valid } => {
            // NULL rows count as a column of their own, so that no number hashes as they do.
            let (mut keys, mut bits, mut nulls) = (Vec::new(), Vec::new(), Vec::new());
            for (row, (key, value)) in row_keys.iter().zip(*values).enumerate() {
                if valid.is_none_or(|valid| valid[row]) {
                    keys.push(*key);
                    bits.push(plain(*value).to_bits() as i64);
                } else {
                    nulls.push(*key);
                }
            }
            let null_column = column | 1 << 62;
            ContentHash::of_column(column, &keys, &bits)
                + ContentHash::of_column(null_column, &nulls, &vec![0i64; nulls.len()])
        }
    }
}

impl RangeWriter<'_> {
    fn check_range(&self, range: WorldRange) -> Result<(), Unwritten> {
        let wrong = || Unwritten::Undeclared(format!("the model gave worlds {range} for worlds {}", self.range));
        if range == self.range { Ok(()) } else { Err(wrong()) }
    }

    fn write_outcomes(&mut self, block: &OutcomeBlock<'_>) -> Result<(), Unwritten> {
        if (self.stop)() {
            return Err(Unwritten::Interrupted);
        }
        self.check_range(block.range)?;
        let encoding = Instant::now();
        check_outcomes(&self.encoders.catalogue, block).map_err(Unwritten::Undeclared)?;
        let columns = self.encode_outcomes(block)?;
        for (i, values) in block.columns.iter().enumerate() {
            self.outcomes.metadata.hash += outcome_hash(block.entity, i, &self.world_keys, values);
        }
        self.aggregates.take(&self.encoders.catalogue, &self.encoders.follow, block);
        let writing = Instant::now();
        self.outcomes.add(block.entity, columns, (block.columns.len() * self.range.count()) as u64)?;
        self.times.encode += writing - encoding;
        self.times.write += writing.elapsed();
        Ok(())
    }

    fn write_events(&mut self, block: &EventBlock<'_>) -> Result<(), Unwritten> {
        if self.events.is_none() {
            return Ok(());
        }
        self.check_range(block.range)?;
        let encoding = Instant::now();
        check_events(&self.encoders.catalogue, block).map_err(Unwritten::Undeclared)?;
        let columns = self.encode_events(block)?;
        let Some(events) = &mut self.events else { return Ok(()) };
        event_row_keys(&mut self.row_keys, &self.world_keys, block.rows);
        for (i, values) in block.columns.iter().enumerate() {
            events.metadata.hash += event_hash(block.entity, i, &self.row_keys, values);
        }
        let writing = Instant::now();
        events.add(block.entity, columns, block.rows.iter().map(|&n| u64::from(n)).sum())?;
        self.times.encode += writing - encoding;
        self.times.write += writing.elapsed();
        Ok(())
    }

    fn stop_on(&mut self, written: Result<(), Unwritten>) -> Result<(), Stop> {
        written.map_err(|failure| {
            self.failure = Some(failure);
            Stop::Sink
        })
    }
}

impl Sink for RangeWriter<'_> {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        let written = self.write_outcomes(&block);
        self.stop_on(written)
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        let written = self.write_events(&block);
        self.stop_on(written)
    }

    fn waiting(&mut self) -> Result<(), Stop> {
        let wanted = if (self.stop)() { Err(Unwritten::Interrupted) } else { Ok(()) };
        self.stop_on(wanted)
    }
}
