//! Columns of any type and encoding, read by the Parquet library.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use arrow::compute::concat;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReaderBuilder, RowSelection};

use arrow::array::ArrayRef;

use super::open::{Opened, Place};
use crate::error::AskError;

/// Rows of some ranges of a row group, of the column at `place`; `None` where the file has it not.
pub(super) fn array(
    opened: &Opened,
    group: usize,
    ranges: &[Range<usize>],
    place: &Place,
) -> Result<Option<ArrayRef>, AskError> {
    let Place::Stored { root, .. } = *place else { return Ok(None) };
    guarded(&opened.path, || read(opened, group, ranges, root)).map(Some)
}

fn read(opened: &Opened, group: usize, ranges: &[Range<usize>], root: usize) -> Result<ArrayRef, AskError> {
    let failed = |e| AskError::parquet(&opened.path, e);
    let file = opened.file.clone();
    let rows: usize = ranges.iter().map(Range::len).sum();
    let selection = RowSelection::from_consecutive_ranges(ranges.iter().cloned(), opened.rows(group));
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, opened.footer.clone())
        .with_projection(ProjectionMask::roots(opened.footer.parquet_schema(), [root]))
        .with_row_groups(vec![group])
        .with_row_selection(selection)
        .with_batch_size(rows.max(1))
        .build()
        .map_err(failed)?;
    let mut arrays = Vec::new();
    for batch in reader {
        arrays.push(batch.map_err(|e| AskError::damaged(&opened.path, e.to_string()))?.column(0).clone());
    }
    let parts: Vec<&dyn arrow::array::Array> = arrays.iter().map(AsRef::as_ref).collect();
    let array = match &arrays[..] {
        [one] => one.clone(),
        _ => concat(&parts).map_err(|e| AskError::damaged(&opened.path, e.to_string()))?,
    };
    if array.len() != rows {
        return Err(AskError::damaged(
            &opened.path,
            format!("it has {} rows where {rows} were asked for", array.len()),
        ));
    }
    Ok(array)
}

/// Lets the Parquet library work on a segment: of damaged ones it takes some for granted, and panics.
pub(super) fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T, AskError>) -> Result<T, AskError> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(AskError::damaged(path, "the Parquet library gave up on it")))
}
