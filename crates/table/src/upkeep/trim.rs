//! Removes old rows: those before a time, or all but the newest.

mod cut;

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, Schema, TimeUnit};
use arrow::error::ArrowError;
use chrono::{DateTime, NaiveDate, NaiveTime};

use self::cut::Cut;
use crate::error::TableError;
use crate::job::blocking;
use crate::log::Segment;
use crate::output;
use disk::Disk;

use super::{Deleted, Fate, Filter, Result, delete_rows};

const DAY: i64 = 24 * 3_600 * 1_000_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrimLimit {
    /// Rows with a time before this date or RFC 3339 time. Rows without a time stay.
    Before(String),
    /// The oldest rows, so that at least this many bytes remain, and hardly more. Rows without a time are removed with
    /// the last row of their segment.
    KeepBytes(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrimOptions {
    pub limit: TrimLimit,
    /// The column of row times; `None` for the first column of times, or else of dates.
    pub column: Option<String>,
    /// False for a dry run.
    pub apply: bool,
}

/// The result of trimming or of its dry run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trimmed {
    pub deleted: Deleted,
    /// Bounds on the times of the removed rows, in microseconds since 1970. The first is not after the oldest row, and
    /// the second is after the newest. `None` if no row was removed or the times are unknown.
    pub times: Option<(i64, i64)>,
}

/// Removes old rows from the table in the folder `root`. Segments with old and new rows lose only the old ones. With
/// [`TrimLimit::KeepBytes`], the size of a row is its segment's average.
pub async fn trim(root: &Path, disk: Arc<dyn Disk>, options: &TrimOptions) -> Result<Trimmed> {
    let table = output::open(root, disk.clone()).await?;
    let schema = table.arrow_schema()?;
    let segments = table.segments_by_age().await?;
    let earliest = |column: &str| segments.iter().filter_map(|s| s.columns.get(column)?.earliest()).min();
    let column = time_column(root, &schema, options.column.as_deref());
    let (filter, times): (Arc<dyn Filter>, _) = match &options.limit {
        TrimLimit::Before(time) => {
            let invalid = || format!("invalid time {time:?}: write 2025-10-01 or 2025-10-01T12:00:00Z");
            let micros = parse(time).ok_or_else(|| TableError::options(root, invalid()))?;
            let column = column?;
            let times = earliest(&column).map(|first| (first, micros));
            (Arc::new(Before { column, micros }), times)
        }
        TrimLimit::KeepBytes(bytes) => {
            let column = if options.column.is_some() { Some(column?) } else { column.ok() };
            let (folder, keep) = (root.to_owned(), *bytes);
            let cut = blocking(move || Cut::new(&folder, &schema, segments, column, keep)).await?;
            let times = cut.times();
            (Arc::new(cut), times)
        }
    };
    let deleted = delete_rows(root, disk, filter, options.apply).await?;
    Ok(Trimmed { deleted, times: times.filter(|_| deleted.rows > 0) })
}

fn time_column(root: &Path, schema: &Schema, named: Option<&str>) -> Result<String> {
    let is_time = |ty: &DataType| matches!(ty, DataType::Timestamp(..));
    let is_date = |ty: &DataType| *ty == DataType::Date32;
    let Some(name) = named else {
        let first = |fits: fn(&DataType) -> bool| schema.fields().iter().find(move |f| fits(f.data_type()));
        let found = first(is_time).or_else(|| first(is_date));
        let missing = || TableError::options(root, "it has no column of times or dates to tell the age of rows");
        return found.map(|f| f.name().clone()).ok_or_else(missing);
    };
    match schema.field_with_name(name) {
        Ok(field) if is_time(field.data_type()) || is_date(field.data_type()) => Ok(name.to_owned()),
        Ok(field) => {
            let reason = format!("column {name:?} holds {}: choose a column of times or dates", field.data_type());
            Err(TableError::options(root, reason))
        }
        Err(_) => Err(TableError::no_column(root, schema, name)),
    }
}

/// Parses to microseconds since 1970.
fn parse(text: &str) -> Option<i64> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.timestamp_micros());
    }
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    Some(date.and_time(NaiveTime::MIN).and_utc().timestamp_micros())
}

struct Before {
    column: String,
    micros: i64,
}

impl Filter for Before {
    fn fate(&self, segment: &Segment) -> Fate {
        let Some(statistics) = segment.columns.get(&self.column) else { return Fate::Look };
        match (statistics.earliest(), statistics.latest()) {
            (Some(min), _) if min >= self.micros => Fate::Keep,
            (_, Some(max)) if max < self.micros && statistics.nulls == Some(0) => Fate::Remove,
            _ => Fate::Look,
        }
    }

    fn columns(&self) -> Vec<String> {
        vec![self.column.clone()]
    }

    fn doomed(&self, rows: &RecordBatch) -> Result<BooleanArray, String> {
        let times = micros(rows.column(0)).map_err(|e| e.to_string())?;
        Ok(times.into_iter().map(|time| time.map(|time| time < self.micros)).collect())
    }
}

/// Times or dates in microseconds since 1970.
fn micros(column: &ArrayRef) -> Result<Vec<Option<i64>>, ArrowError> {
    let (unit, times) = match column.data_type() {
        DataType::Date32 => (DAY, cast(&cast(column, &DataType::Int32)?, &DataType::Int64)?),
        DataType::Timestamp(TimeUnit::Microsecond, _) => (1, cast(column, &DataType::Int64)?),
        DataType::Timestamp(_, zone) => {
            let micros = cast(column, &DataType::Timestamp(TimeUnit::Microsecond, zone.clone()))?;
            (1, cast(&micros, &DataType::Int64)?)
        }
        _ => (1, cast(column, &DataType::Int64)?),
    };
    Ok(times.as_primitive::<Int64Type>().iter().map(|time| time.map(|time| time.saturating_mul(unit))).collect())
}
