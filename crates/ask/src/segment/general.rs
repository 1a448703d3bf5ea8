//! Columns of any type and encoding, read by the Parquet library.

use std::ops::Range;

use arrow::array::{Array, ArrayRef};
use arrow::compute::concat;
use pages::{Error, Result};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReaderBuilder, RowSelection};

use super::open::Opened;

/// Reads ranges of rows of a row group from the file's column number `root`.
pub(super) fn array(opened: &Opened, group: usize, ranges: &[Range<usize>], root: usize) -> Result<ArrayRef> {
    pages::guarded(|| read(opened, group, ranges, root))
}

fn read(opened: &Opened, group: usize, ranges: &[Range<usize>], root: usize) -> Result<ArrayRef> {
    let damaged = |e: arrow::error::ArrowError| Error::Damaged(e.to_string().into());
    let rows: usize = ranges.iter().map(Range::len).sum();
    let selection = RowSelection::from_consecutive_ranges(ranges.iter().cloned(), opened.rows(group));
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(opened.file.clone(), opened.footer.clone())
        .with_projection(ProjectionMask::roots(opened.footer.parquet_schema(), [root]))
        .with_row_groups(vec![group])
        .with_row_selection(selection)
        .with_batch_size(rows.max(1))
        .build()?;
    let arrays: Vec<ArrayRef> = reader
        .map(|batch| batch.map(|batch| batch.column(0).clone()))
        .collect::<std::result::Result<_, _>>()
        .map_err(damaged)?;
    let array = match &arrays[..] {
        [one] => one.clone(),
        _ => concat(&arrays.iter().map(AsRef::as_ref).collect::<Vec<&dyn Array>>()).map_err(damaged)?,
    };
    if array.len() != rows {
        return Err(Error::Damaged(format!("the column has {} rows instead of {rows}", array.len()).into()));
    }
    Ok(array)
}
