//! Old rows go: those before a time, or all but the newest.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, BooleanArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, Schema};
use chrono::{DateTime, NaiveDate, NaiveTime};

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
    /// The oldest segments, so that the others have so many bytes at most.
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

/// Removes old rows from the table in the folder `root`.
///
/// # Errors
/// Where there is no such table, where it has no such column of times, and as [`delete_rows`].
pub async fn trim(root: &Path, disk: Arc<dyn Disk>, options: &TrimOptions) -> Result<Deleted> {
    let table = output::open(root, disk.clone()).await?;
    let schema = table.arrow_schema()?;
    let column = time_column(root, &schema, options.column.as_deref());
    let filter: Arc<dyn Filter> = match &options.limit {
        TrimLimit::Before(time) => {
            let micros = parse(time).ok_or_else(|| {
                let reason = format!("{time:?} is no time: write 2025-10-01 or 2025-10-01T12:00:00Z");
                TableError::Options { path: root.to_owned(), reason }
            })?;
            Arc::new(Before { column: column?, micros })
        }
        TrimLimit::KeepBytes(bytes) => {
            let column = if options.column.is_some() { Some(column?) } else { column.ok() };
            let segments = table.segments_by_age().await?.into_iter().map(|(_, segment)| segment).collect();
            Arc::new(Oldest(oldest(segments, column.as_deref(), *bytes)))
        }
    };
    delete_rows(root, disk, filter, options.apply).await
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
        let column = rows.column(0);
        let unit = if *column.data_type() == DataType::Date32 { DAY } else { 1 };
        let times = match column.data_type() {
            DataType::Date32 => cast(column, &DataType::Int32).and_then(|days| cast(&days, &DataType::Int64)),
            _ => cast(column, &DataType::Int64),
        };
        let times = times.map_err(|e| e.to_string())?;
        let times = arrow::array::AsArray::as_primitive::<Int64Type>(&times);
        let before = |time: i64| time.saturating_mul(unit) < self.micros;
        debug_assert_eq!(times.len(), rows.num_rows());
        Ok(times.iter().map(|time| time.map(before)).collect())
    }
}

/// Whole segments.
struct Oldest(BTreeSet<String>);

impl Filter for Oldest {
    fn fate(&self, segment: &Segment) -> Fate {
        if self.0.contains(&segment.path) { Fate::Remove } else { Fate::Keep }
    }

    fn columns(&self) -> Vec<String> {
        Vec::new()
    }

    fn doomed(&self, rows: &RecordBatch) -> std::result::Result<BooleanArray, String> {
        Ok(BooleanArray::from(vec![false; rows.num_rows()]))
    }
}

/// The segments past `keep` bytes, counted from the newest. Their age is that of their newest row where all have one in
/// their statistics, and else that of their commit.
fn oldest(mut segments: Vec<Segment>, column: Option<&str>, keep: u64) -> BTreeSet<String> {
    let newest = |s: &Segment| s.columns.get(column?)?.latest();
    if segments.iter().all(|s| newest(s).is_some()) {
        segments.sort_by_key(newest);
    }
    let mut bytes = 0;
    let past = segments.into_iter().rev().skip_while(|s| {
        bytes += s.bytes;
        bytes <= keep
    });
    past.map(|s| s.path).collect()
}
