//! Replaces rows: among rows with equal keys, only the last stays.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Schema, TimeUnit, TimestampMicrosecondType};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, Rows, SortField};
use parquet::basic::{LogicalType, TimeUnit as ParquetTimeUnit};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;

use super::{Fate, Filter};
use crate::log::Segment;

/// The keys of new rows. Stored rows with one of these keys are removed when the new rows are added.
#[derive(Debug)]
pub struct Superseding {
    /// Starts with the time column.
    columns: Vec<String>,
    keys: HashSet<Box<[u8]>>,
    times: RangeInclusive<i64>,
}

/// Keeps only the last of the rows with equal values in the column `time` and in `others`. NULL equals NULL, and a
/// missing column is NULL in every row. Batches are in order and have the same columns. Also returns the keys of the
/// rows. Without a time column, all rows stay, and the keys are `None`.
pub fn last_rows(
    batches: Vec<RecordBatch>,
    time: &str,
    others: &[String],
) -> Result<(Vec<RecordBatch>, Option<Superseding>), ArrowError> {
    let Some(schema) = batches.first().map(RecordBatch::schema) else { return Ok((batches, None)) };
    let type_of_time = schema.field_with_name(time).map(Field::data_type);
    if !matches!(type_of_time, Ok(DataType::Timestamp(TimeUnit::Microsecond, _))) {
        return Ok((batches, None));
    }
    let there = others.iter().filter(|name| *name != time && schema.field_with_name(name).is_ok());
    let columns: Vec<String> = [time.to_owned()].into_iter().chain(there.cloned()).collect();
    let mut keys = HashSet::new();
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    let mut kept = Vec::with_capacity(batches.len());
    for batch in batches.into_iter().rev() {
        let projected = batch.project(&places(&schema, &columns)?)?;
        let times = projected.column(0).as_primitive::<TimestampMicrosecondType>();
        for time in times.iter().flatten() {
            (first, last) = (first.min(time), last.max(time));
        }
        let rows = keys_of(&projected)?;
        let mut keep: Vec<bool> =
            (0..batch.num_rows()).rev().map(|row| keys.insert(rows.row(row).as_ref().into())).collect();
        keep.reverse();
        let superseded = keep.contains(&false);
        kept.push(if superseded { filter_record_batch(&batch, &BooleanArray::from(keep))? } else { batch });
    }
    kept.reverse();
    Ok((kept, Some(Superseding { columns, keys, times: first..=last })))
}

fn places(schema: &Schema, columns: &[String]) -> Result<Vec<usize>, ArrowError> {
    columns.iter().map(|name| schema.index_of(name)).collect()
}

/// Equal rows have equal keys.
fn keys_of(rows: &RecordBatch) -> Result<Rows, ArrowError> {
    let field = |column: &ArrayRef| SortField::new(column.data_type().clone());
    RowConverter::new(rows.columns().iter().map(field).collect())?.convert_columns(rows.columns())
}

impl Filter for Superseding {
    fn fate(&self, segment: &Segment) -> Fate {
        let Some(statistics) = segment.columns.get(&self.columns[0]) else { return Fate::Look };
        let after = statistics.earliest().is_some_and(|min| min > *self.times.end());
        let before = statistics.latest().is_some_and(|max| max < *self.times.start());
        if after || before { Fate::Keep } else { Fate::Look }
    }

    fn may_doom(&self, group: &RowGroupMetaData) -> bool {
        let micros = LogicalType::timestamp(true, ParquetTimeUnit::MICROS);
        let times = group.columns().iter().find(|column| {
            let described = column.column_descr();
            described.path().parts() == [self.columns[0].as_str()] && described.logical_type_ref() == Some(&micros)
        });
        let Some(Statistics::Int64(statistics)) = times.and_then(|column| column.statistics()) else { return true };
        let after = statistics.min_opt().is_some_and(|min| min > self.times.end());
        let before = statistics.max_opt().is_some_and(|max| max < self.times.start());
        !(after || before)
    }

    fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    fn doomed(&self, rows: &RecordBatch) -> Result<BooleanArray, String> {
        let keys = keys_of(rows).map_err(|e| e.to_string())?;
        Ok(keys.iter().map(|key| Some(self.keys.contains(key.as_ref()))).collect())
    }
}
