//! Turns rows into segments, in the order of time or nearly so.

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
/// Smaller batches are joined: a segment is written batch by batch.
const BATCH_ROWS: usize = 1_000;
/// Batches keep their rows together if they overlap by at most this fraction (1/64) of the segment's time: a question
/// about a time reads at most that much more, and ordering each row takes a tenth of a server's time.
const OVERLAP: i64 = 64;

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
    if partition == Partition::None
        && let Some(batches) = batches_in_order(batches)
    {
        let batches = joined(&batches).map_err(&unfit)?;
        return Ok(vec![appender.write(&batches, None)?]);
    }
    let Some(order) = order(batches) else { return Ok(vec![appender.write(batches, None)?]) };
    let write = |(part, rows): (Option<String>, &[Row])| {
        let rows = in_order(batches, rows).map_err(&unfit)?;
        Ok(appender.write(&rows, part.as_deref())?)
    };
    partition.cut(&order).into_iter().map(write).collect()
}

/// The batches by their first time, if that orders their rows nearly by time.
fn batches_in_order(batches: &[RecordBatch]) -> Option<Vec<RecordBatch>> {
    let span = |batch: &RecordBatch| {
        let times = times(batch)?;
        let span = (*times.first()?, *times.last()?);
        times.is_sorted().then_some((span, batch.clone()))
    };
    let filled = batches.iter().filter(|batch| batch.num_rows() > 0);
    let mut spans = filled.map(span).collect::<Option<Vec<_>>>()?;
    spans.sort_by_key(|((first, _), _)| *first);
    let Some(((first, _), _)) = spans.first() else { return Some(batches.to_vec()) };
    let first = *first;
    let last = spans.iter().map(|((_, last), _)| *last).max()?;
    let mut before = first;
    let are_near = spans.iter().all(|((from, to), _)| {
        let overlap = before.saturating_sub(*from);
        before = before.max(*to);
        overlap <= last.saturating_sub(first) / OVERLAP
    });
    are_near.then(|| spans.into_iter().map(|(_, batch)| batch).collect())
}

fn times(rows: &RecordBatch) -> Option<&[i64]> {
    Some(rows.column_by_name(TIME)?.as_primitive_opt::<TimestampMicrosecondType>()?.values())
}

/// Joins neighbours that are small.
fn joined(batches: &[RecordBatch]) -> Result<Vec<RecordBatch>, ArrowError> {
    let mut rows = 0;
    let groups = batches.chunk_by(|before, _| {
        rows += before.num_rows();
        let goes_on = rows < BATCH_ROWS;
        rows = if goes_on { rows } else { 0 };
        goes_on
    });
    groups.map(|group| concat_batches(&group[0].schema(), group)).collect()
}

/// Rows by time, stable. `None` if they have no times.
fn order(batches: &[RecordBatch]) -> Option<Vec<Row>> {
    let mut order = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for (batch, rows) in batches.iter().enumerate() {
        order.extend(times(rows)?.iter().enumerate().map(|(row, time)| (*time, batch as u32, row as u32)));
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

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::Arc;

    use arrow::array::{Int64Array, TimestampMicrosecondArray};

    use super::*;

    /// Rows of these times; `n` counts them from `first` on.
    fn batch(times: impl IntoIterator<Item = i64>, first: i64) -> RecordBatch {
        let times = TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC");
        let numbers = Int64Array::from_iter_values(first..first + times.len() as i64);
        RecordBatch::try_from_iter([(TIME, Arc::new(times) as _), ("n", Arc::new(numbers) as _)]).unwrap()
    }

    fn ordered(batches: &[RecordBatch]) -> Option<Vec<i64>> {
        let ordered = batches_in_order(batches)?;
        Some(ordered.iter().flat_map(|rows| times(rows).unwrap().to_vec()).collect())
    }

    #[test]
    fn batches_keep_together_only_if_they_hardly_overlap() {
        let spans = |spans: &[Range<i64>]| -> Vec<_> { spans.iter().map(|span| batch(span.clone(), 0)).collect() };
        // In turn, and equal at the border.
        assert_eq!(ordered(&spans(&[20..40, 0..20, 40..64])), Some((0..64).collect()));
        // 640 microseconds: ten may overlap.
        let near = ordered(&spans(&[0..110, 101..640])).unwrap();
        assert_eq!(near, (0..110).chain(101..640).collect::<Vec<_>>());
        assert_eq!(ordered(&spans(&[0..110, 90..640])), None);
        // A long batch overlaps all later ones.
        assert_eq!(ordered(&spans(&[0..640, 100..120, 630..640])), None);
        // One that is in no order itself.
        assert_eq!(ordered(&[batch([3, 1, 2], 0)]), None);
        assert_eq!(ordered(&spans(&[0..0, 5..8, 0..0, 1..3])), Some(vec![1, 2, 5, 6, 7]));
        assert_eq!(ordered(&[batch([], 0)]), Some(vec![]));
    }

    #[test]
    fn small_batches_are_joined_in_order() {
        let sizes = [1, 2, 996, 1, 3_000, 5, 999, 7];
        let mut first = 0;
        let batches: Vec<_> = sizes.iter().map(|size| (batch(first..first + size, first), first += size).0).collect();
        let joined = joined(&batches).unwrap();
        let rows: Vec<_> = joined.iter().map(RecordBatch::num_rows).collect();
        assert_eq!(rows, [1_000, 3_000, 1_004, 7]);
        let whole = |batches: &[RecordBatch]| concat_batches(&batches[0].schema(), batches).unwrap();
        assert_eq!(whole(&joined), whole(&batches));
    }
}
