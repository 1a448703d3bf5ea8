//! Segments of the table `events` that hold differences from expected values: the ensemble's reader restores the values.

use std::fmt;
use std::iter::repeat_n;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, StringViewArray, new_null_array};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use ensemble::{RangeFile, StoredEnsemble};
use model::EventRows;

use crate::error::QueryError;
use crate::rows::{batch, emitted};
use crate::scan::{Out, Piece};

/// Rows to read at a time, about a page of each column.
const ROWS_AT_ONCE: usize = 65_536;

/// One segment, read by one thread.
pub(crate) struct CompactSegment {
    pub(crate) ensemble: Arc<StoredEnsemble>,
    pub(crate) segment: RangeFile,
    /// The entities to read.
    pub(crate) entities: Vec<usize>,
    pub(crate) schema: SchemaRef,
}

impl fmt::Debug for CompactSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompactSegment").field("worlds", &self.segment.0).finish_non_exhaustive()
    }
}

impl Piece for CompactSegment {
    fn produce(&self, out: &Out) -> Result<(), QueryError> {
        let Self { ensemble, segment, entities, schema } = self;
        let catalogue = &ensemble.plan.catalogue;
        let is_wanted = |column: usize| schema.column_with_name(&catalogue.events[column].name).is_some();
        let reader = ensemble.open(segment)?;
        for entity in reader.metadata().entities.iter().filter(|entity| entities.contains(entity)) {
            let rows = reader.entity_rows(*entity)?;
            let worlds_at_once = (ROWS_AT_ONCE * segment.0.count() / rows.count().max(1)).max(1);
            for worlds in segment.0.split(worlds_at_once as u32) {
                let events = reader.events(catalogue, &rows, worlds, is_wanted)?;
                if !out.give(self.batch(&events)?) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

impl CompactSegment {
    fn batch(&self, events: &EventRows) -> Result<RecordBatch, QueryError> {
        let Self { ensemble, schema, .. } = self;
        let catalogue = &ensemble.plan.catalogue;
        let block = events.block();
        let rows: usize = block.rows.iter().map(|&n| n as usize).sum();
        let text = |text: &str| Arc::new(StringViewArray::from_iter_values(repeat_n(text, rows))) as ArrayRef;
        let integers = |values: Vec<i32>| Arc::new(Int32Array::from(values)) as ArrayRef;
        let worlds = || block.range.worlds().zip(block.rows);
        let columns = schema.fields().iter().map(|field| -> Result<ArrayRef, QueryError> {
            Ok(match (field.name().as_str(), catalogue.event_column(field.name())) {
                ("ensemble", _) => text(&ensemble.plan.name),
                ("entity", _) => text(&catalogue.entities[block.entity].name),
                ("world", _) => integers(worlds().flat_map(|(w, &n)| repeat_n(w.0 as i32, n as usize)).collect()),
                ("number", _) => integers(worlds().flat_map(|(_, &n)| 0..n as i32).collect()),
                (_, Some(place)) => emitted(&catalogue.events[place], block.columns[place])?,
                (_, None) => new_null_array(field.data_type(), rows),
            })
        });
        batch(schema, columns.collect::<Result<_, _>>()?, rows)
    }
}
