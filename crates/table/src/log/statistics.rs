//! Statistics of a segment's column in the log.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};
use serde_json::Value;

/// Fractional digits of a second that all writers keep in the log; some truncate the rest.
const DIGITS_KEPT: usize = 3;
/// Maximum loss by truncation, in microseconds.
const CUT_OFF: i64 = 999;

/// Statistics of a segment's column. Missing values are unknown and exclude nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnStatistics {
    /// A lower bound in the form of the Delta log: numbers as numbers, times and dates as text.
    pub min: Option<Value>,
    /// An upper bound. Times may be truncated: use [`Self::latest`].
    pub max: Option<Value>,
    pub nulls: Option<u64>,
}

impl ColumnStatistics {
    /// Statistics of an integer column with values from `min` to `max`.
    pub fn between(min: i64, max: i64) -> Self {
        Self { min: Some(min.into()), max: Some(max.into()), nulls: None }
    }

    /// A lower bound of the column's times or dates, in microseconds since 1970.
    pub fn earliest(&self) -> Option<i64> {
        micros(self.min.as_ref()?.as_str()?)
    }

    /// An upper bound of the column's times or dates, in microseconds since 1970. A text in milliseconds may be
    /// truncated, so it counts as the end of its millisecond.
    pub fn latest(&self) -> Option<i64> {
        let text = self.max.as_ref()?.as_str()?;
        let cut_off = if text.len() > DATE.len() && fraction_digits(text) <= DIGITS_KEPT { CUT_OFF } else { 0 };
        micros(text)?.checked_add(cut_off)
    }
}

const DATE: &str = "2025-10-01";

/// Microseconds since 1970 of a UTC time, with or without a zone, or of the start of a date.
fn micros(text: &str) -> Option<i64> {
    if text.len() == DATE.len() {
        let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
        return Some(date.and_time(NaiveTime::MIN).and_utc().timestamp_micros());
    }
    let with_zone = DateTime::parse_from_rfc3339(text).map(|time| time.timestamp_micros());
    let without =
        |_| NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").map(|t| t.and_utc().timestamp_micros());
    with_zone.or_else(without).ok()
}

fn fraction_digits(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, fraction)| fraction.bytes().take_while(u8::is_ascii_digit).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(text: &str) -> [Option<i64>; 2] {
        let statistics = ColumnStatistics { min: Some(text.into()), max: Some(text.into()), nulls: None };
        [statistics.earliest(), statistics.latest()]
    }

    #[test]
    fn truncated_times_widen_the_bounds() {
        for (text, from, to) in [
            ("1970-01-01T00:00:01.000Z", 1_000_000, 1_000_999),
            ("1970-01-01T00:00:01.000000Z", 1_000_000, 1_000_000),
            ("1970-01-01T00:00:01.0009Z", 1_000_900, 1_000_900),
            ("1970-01-01T00:00:01Z", 1_000_000, 1_000_999),
            ("1970-01-01T01:00:01.5+01:00", 1_500_000, 1_500_999),
            ("1970-01-01T00:00:01.250", 1_250_000, 1_250_999),
            ("1969-12-31T23:59:59.999Z", -1_000, -1),
            ("1970-01-02", 86_400_000_000, 86_400_000_000),
        ] {
            assert_eq!(bounds(text), [Some(from), Some(to)], "{text}");
        }
        assert_eq!(bounds("soon"), [None; 2]);
        assert_eq!(ColumnStatistics::between(1, 2).latest(), None);
    }
}
