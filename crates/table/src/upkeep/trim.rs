//! Old rows go: those before a time, or all but the newest.

mod cut;

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, Schema, TimeUnit};
use arrow::error::ArrowError;
use chrono::{DateTime, NaiveDate, NaiveTime};

use self::cut::Cut;
use crate::aside::aside;
use crate::disk::Disk;
use crate::error::TableError;
use crate::log::Segment;
use crate::output;

use super::{Deleted, Fate, Filter, Result, delete_rows};

/// Microseconds of a day.
const DAY: i64 = 24 * 3_600 * 1_000_000;

/// What goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrimLimit {
    /// Rows whose time is before this one, a date or a time with its zone. Rows without a time stay.
    Before(String),
    /// The oldest rows, so that the others have so many bytes, and hardly more. A row without a time goes with the last of
    /// its segment.
    KeepBytes(u64),
}

/// What to trim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrimOptions {
    /// What goes.
    pub limit: TrimLimit,
    /// The column that says a row's time; `None` is the first one that holds times, or dates.
    pub column: Option<String>,
    /// Whether to do it, or only to tell what would be done.
    pub apply: bool,
}

/// What trimming did, or would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trimmed {
    /// The rows that go.
    pub deleted: Deleted,
    /// The times of those rows, in microseconds since 1970: from the first, which may be earlier than the oldest of them,
    /// to the second, which none of them reaches. `None` where none goes, or where it is not known.
    pub times: Option<(i64, i64)>,
}

/// Removes old rows from the table in the folder `root`. Of a segment that holds older and newer rows the older ones go; to
/// keep some bytes, at least so many are kept, by what a row of each segment takes.
///
/// # Errors
/// Where there is no such table, where it has no such column of times, and as [`delete_rows`].
pub async fn trim(root: &Path, disk: Arc<dyn Disk>, options: &TrimOptions) -> Result<Trimmed> {
    let table = output::open(root, disk.clone()).await?;
    let schema = table.arrow_schema()?;
    let segments: Vec<Segment> = table.segments_by_age().await?.into_iter().map(|(_, segment)| segment).collect();
    let earliest = |column: &str| segments.iter().filter_map(|s| s.columns.get(column)?.earliest()).min();
    let column = time_column(root, &schema, options.column.as_deref());
    let (filter, times): (Arc<dyn Filter>, _) = match &options.limit {
        TrimLimit::Before(time) => {
            let micros = parse(time).ok_or_else(|| {
                let reason = format!("{time:?} is no time: write 2025-10-01 or 2025-10-01T12:00:00Z");
                TableError::Options { path: root.to_owned(), reason }
            })?;
            let column = column?;
            let times = earliest(&column).map(|first| (first, micros));
            (Arc::new(Before { column, micros }), times)
        }
        TrimLimit::KeepBytes(bytes) => {
            let column = if options.column.is_some() { Some(column?) } else { column.ok() };
            let (folder, keep) = (root.to_owned(), *bytes);
            let cut = aside(move || Cut::new(&folder, &schema, segments, column, keep)).await?;
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
    let refuse = |reason: String| TableError::Options { path: root.to_owned(), reason };
    let Some(name) = named else {
        let first = |fits: fn(&DataType) -> bool| schema.fields().iter().find(move |f| fits(f.data_type()));
        let found = first(is_time).or_else(|| first(is_date));
        let found =
            found.ok_or_else(|| refuse("it has no column of times or dates: nothing says how old a row is".to_owned()));
        return found.map(|f| f.name().clone());
    };
    match schema.field_with_name(name) {
        Ok(field) if is_time(field.data_type()) || is_date(field.data_type()) => Ok(name.to_owned()),
        Ok(field) => Err(refuse(format!("column {name:?} holds {}: name one of times or dates", field.data_type()))),
        Err(_) => {
            let have = schema.fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>().join(", ");
            Err(refuse(format!("there is no column {name:?}: the columns are {have}")))
        }
    }
}

/// Microseconds since 1970.
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
        let Some(known) = segment.columns.get(&self.column) else { return Fate::Look };
        match (known.earliest(), known.latest()) {
            (Some(min), _) if min >= self.micros => Fate::Keep,
            (_, Some(max)) if max < self.micros && known.nulls == Some(0) => Fate::Remove,
            _ => Fate::Look,
        }
    }

    fn columns(&self) -> Vec<String> {
        vec![self.column.clone()]
    }

    fn doomed(&self, rows: &RecordBatch) -> std::result::Result<BooleanArray, String> {
        let times = micros(rows.column(0)).map_err(|e| e.to_string())?;
        Ok(times.into_iter().map(|time| time.map(|time| time < self.micros)).collect())
    }
}

/// Times or dates in microseconds since 1970.
fn micros(column: &ArrayRef) -> std::result::Result<Vec<Option<i64>>, ArrowError> {
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
