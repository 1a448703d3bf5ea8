//! Intervals as PostgreSQL sends them.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray as _, IntervalMonthDayNanoArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit};
use arrow::error::ArrowError;

const DAY: i64 = 86_400_000_000_000;

/// The intervals of a column of intervals or durations. A duration, the difference of two times, has whole days and the
/// rest of a day, as in PostgreSQL.
pub(super) fn of(values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let all = cast(values, &DataType::Interval(IntervalUnit::MonthDayNano))?;
    if !matches!(values.data_type(), DataType::Duration(_)) {
        return Ok(all);
    }
    let split = |whole: IntervalMonthDayNano| IntervalMonthDayNano {
        // A number of 64 bits has up to 106,751 days.
        days: (whole.nanoseconds / DAY) as i32,
        nanoseconds: whole.nanoseconds % DAY,
        ..whole
    };
    let all: IntervalMonthDayNanoArray = all.as_primitive::<IntervalMonthDayNanoType>().unary(split);
    Ok(Arc::new(all))
}

/// Writes an interval in PostgreSQL's style: `1 year 2 mons 3 days 04:05:06.7`.
pub(super) fn text(interval: IntervalMonthDayNano) -> String {
    let (mut parts, mut after_negative) = (Vec::new(), false);
    let (years, months) = (interval.months / 12, interval.months % 12);
    for (count, unit) in [(years, "year"), (months, "mon"), (interval.days, "day")] {
        if count != 0 {
            let plus = if after_negative && count > 0 { "+" } else { "" };
            parts.push(format!("{plus}{count} {unit}{}", if count == 1 { "" } else { "s" }));
            after_negative = count < 0;
        }
    }
    let micros = interval.nanoseconds / 1000;
    if micros != 0 || parts.is_empty() {
        let sign = match micros {
            ..0 => "-",
            _ if after_negative => "+",
            _ => "",
        };
        let (seconds, fraction) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
        let fraction = if fraction == 0 { String::new() } else { format!(".{fraction:06}") };
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        parts.push(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{}", fraction.trim_end_matches('0')));
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use arrow::array::DurationMicrosecondArray;

    use super::*;

    #[test]
    fn intervals_are_written_as_postgresql_does() {
        for ((months, days, nanoseconds), expected) in [
            ((0, 0, 0), "00:00:00"),
            ((14, 3, 14_706_700_000_000), "1 year 2 mons 3 days 04:05:06.7"),
            ((0, 1, 0), "1 day"),
            ((0, 0, 360_000_000_001_000), "100:00:00.000001"),
            ((0, -1, 7_200_000_000_000), "-1 days +02:00:00"),
            ((-1, 1, -1_000_000_000), "-1 mons +1 day -00:00:01"),
        ] {
            assert_eq!(text(IntervalMonthDayNano::new(months, days, nanoseconds)), expected);
        }
    }

    #[test]
    fn differences_of_times_have_days() {
        let micros = vec![Some(118_401_000_001), Some(-90_000_000_000), None];
        let durations: ArrayRef = Arc::new(DurationMicrosecondArray::from(micros));
        let intervals = of(&durations).unwrap();
        let written: Vec<_> =
            intervals.as_primitive::<IntervalMonthDayNanoType>().iter().map(|v| v.map(text)).collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(written, [some("1 day 08:53:21.000001"), some("-1 days -01:00:00"), None]);
    }
}
