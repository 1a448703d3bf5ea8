//! Smallest and largest values of a file's columns, in the form of the Delta log.

use std::collections::BTreeMap;

use arrow::datatypes::{DataType, Schema};
use chrono::{DateTime, NaiveDate, SecondsFormat, TimeDelta};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::statistics::Statistics;
use serde_json::Value;

use crate::log::ColumnStatistics;

/// Digits of a decimal that every JSON reader keeps.
const EXACT_DIGITS: u8 = 15;

/// Merges the column statistics of a file's row groups. Omits unknown bounds and those that JSON cannot represent;
/// missing bounds exclude nothing. Each column must be one leaf.
pub(crate) fn of_file(schema: &Schema, metadata: &ParquetMetaData) -> BTreeMap<String, ColumnStatistics> {
    let column = |(place, field): (usize, &arrow::datatypes::FieldRef)| {
        // Statistics on the texts of sets do not apply to sets.
        if field.data_type().is_nested() {
            return None;
        }
        let groups = metadata.row_groups().iter().map(|group| group.column(place).statistics());
        Some((field.name().clone(), merged(&groups.collect::<Vec<_>>(), field.data_type())?))
    };
    schema.fields().iter().enumerate().filter_map(column).collect()
}

fn merged(groups: &[Option<&Statistics>], ty: &DataType) -> Option<ColumnStatistics> {
    let nulls = groups.iter().map(|group| group.as_ref()?.null_count_opt()).sum::<Option<u64>>();
    let nulls = nulls.filter(|_| !groups.is_empty());
    // A group without bounds may be all NULL, but this is not certain.
    let bounds = groups.iter().map(|group| bounds(group.as_ref()?, ty)).collect::<Option<Vec<_>>>();
    let whole = bounds
        .into_iter()
        .flatten()
        .reduce(|(low, high), (l, h)| (if l.below(&low) { l } else { low }, if high.below(&h) { h } else { high }));
    let (min, max) = whole.map_or((None, None), |(low, high)| (Some(low.0), Some(high.0)));
    (nulls.is_some() || min.is_some()).then_some(ColumnStatistics { min, max, nulls })
}

/// A bound as JSON. The JSON sorts like the column's values.
struct Bound(Value);

impl Bound {
    fn below(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Value::String(a), Value::String(b)) => a < b,
            (a, b) => match (a.as_i64(), b.as_i64()) {
                (Some(a), Some(b)) => a < b,
                _ => a.as_f64() < b.as_f64(),
            },
        }
    }
}

fn bounds(statistics: &Statistics, ty: &DataType) -> Option<(Bound, Bound)> {
    let pair = |low: Option<Value>, high: Option<Value>| Some((Bound(low?), Bound(high?)));
    let integers = |low: i64, high: i64| pair(integer(low, ty), integer(high, ty));
    match statistics {
        Statistics::Int32(s) => integers(i64::from(*s.min_opt()?), i64::from(*s.max_opt()?)),
        Statistics::Int64(s) => integers(*s.min_opt()?, *s.max_opt()?),
        Statistics::Float(s) => pair(real(f64::from(*s.min_opt()?)), real(f64::from(*s.max_opt()?))),
        Statistics::Double(s) => pair(real(*s.min_opt()?), real(*s.max_opt()?)),
        Statistics::ByteArray(s) if *ty == DataType::Utf8 => {
            let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(Value::from);
            pair(text(s.min_opt()?.data()), text(s.max_opt()?.data()))
        }
        _ => None,
    }
}

fn integer(value: i64, ty: &DataType) -> Option<Value> {
    match ty {
        DataType::Date32 => {
            let day = NaiveDate::default().checked_add_signed(TimeDelta::try_days(value)?)?;
            in_four_digits(chrono::Datelike::year(&day)).then(|| day.format("%Y-%m-%d").to_string().into())
        }
        DataType::Timestamp(..) => {
            let time = DateTime::from_timestamp_micros(value)?;
            in_four_digits(chrono::Datelike::year(&time))
                .then(|| time.to_rfc3339_opts(SecondsFormat::Micros, true).into())
        }
        DataType::Decimal128(precision, scale) => {
            (*precision <= EXACT_DIGITS).then(|| real(value as f64 / 10_f64.powi(i32::from(*scale)))).flatten()
        }
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Some(value.into()),
        _ => None,
    }
}

/// Whether the text of a year sorts like its number.
fn in_four_digits(year: i32) -> bool {
    (0..=9999).contains(&year)
}

/// JSON has no infinities. Drops the sign of zeros, because it does not affect the order.
fn real(value: f64) -> Option<Value> {
    value.is_finite().then(|| (value + 0.0).into())
}
