//! Turns rows into segments, ordered by time.

use std::path::Path;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::{concat_batches, interleave_record_batch};
use arrow::datatypes::TimestampMicrosecondType;
use arrow::error::ArrowError;
use decode::TIME;
use table::{Appender, Segment};

use crate::columns::Columns;
use crate::error::IngestError;
use crate::parts::{Partition, Row};

/// Rows copied at once.
const CHUNK_ROWS: usize = 65_536;

/// Writes fitted batches of the table in the folder `root`, at least one, as a segment that has `columns`. Blocks.
pub(crate) fn write_fitted(
    appender: &Appender,
    columns: &Columns,
    batches: &[RecordBatch],
    root: &Path,
) -> Result<Vec<Segment>, IngestError> {
    let batches = columns.conform_all(batches).map_err(IngestError::rows(root.display()))?;
    write_segments(appender, &batches, Partition::None, root)
}

/// Writes the batches, at least one and all with the same columns, of the table in the folder `root`: one segment for
/// each part. Blocks.
pub(crate) fn write_segments(
    appender: &Appender,
    batches: &[RecordBatch],
    partition: Partition,
    root: &Path,
) -> Result<Vec<Segment>, IngestError> {
    let unfit = IngestError::rows(root.display());
    if partition == Partition::None && are_in_order(batches) {
        // The first batch decides the encodings, so it has to be large enough.
        let mut rows = 0;
        let few = batches.iter().take_while(|b| (rows < CHUNK_ROWS, rows += b.num_rows()).0).count();
        let first = concat_batches(&batches[0].schema(), &batches[..few]).map_err(&unfit)?;
        let whole: Vec<RecordBatch> = std::iter::once(first).chain(batches[few..].iter().cloned()).collect();
        return Ok(vec![appender.write(&whole, None)?]);
    }
    let Some(order) = order(batches) else { return Ok(vec![appender.write(batches, None)?]) };
    let write = |(part, rows): (Option<String>, &[Row])| {
        let rows = in_order(batches, rows).map_err(&unfit)?;
        Ok(appender.write(&rows, part.as_deref())?)
    };
    partition.cut(&order).into_iter().map(write).collect()
}

/// Whether rows are ordered by time.
fn are_in_order(batches: &[RecordBatch]) -> bool {
    let mut last = i64::MIN;
    let mut goes_on = |rows: &RecordBatch| {
        let times = rows.column_by_name(TIME).and_then(|times| times.as_primitive_opt::<TimestampMicrosecondType>());
        times.is_some_and(|times| {
            let goes_on = times.values().first().is_none_or(|first| last <= *first) && times.values().is_sorted();
            last = times.values().last().copied().unwrap_or(last);
            goes_on
        })
    };
    batches.iter().all(&mut goes_on)
}

/// Rows by time, stable. `None` if they have no times.
fn order(batches: &[RecordBatch]) -> Option<Vec<Row>> {
    let mut order = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for (batch, rows) in batches.iter().enumerate() {
        let times = rows.column_by_name(TIME)?.as_primitive_opt::<TimestampMicrosecondType>()?;
        order.extend(times.values().iter().enumerate().map(|(row, time)| (*time, batch as u32, row as u32)));
    }
    if !order.is_sorted_by_key(|(time, ..)| *time) {
        order.sort_by_key(|(time, ..)| *time);
    }
    Some(order)
}

/// Copies rows into an order.
fn in_order(batches: &[RecordBatch], order: &[Row]) -> Result<Vec<RecordBatch>, ArrowError> {
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    let chunk = |rows: &[Row]| {
        let places: Vec<_> = rows.iter().map(|(_, batch, row)| (*batch as usize, *row as usize)).collect();
        interleave_record_batch(&batches, &places)
    };
    order.chunks(CHUNK_ROWS).map(chunk).collect()
}
