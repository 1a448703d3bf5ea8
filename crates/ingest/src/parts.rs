//! Parts of a table: UTC days or hours. A segment holds rows of one part.

use arrow::temporal_conversions::timestamp_us_to_datetime;
use chrono::Datelike as _;

/// Maximum segments per flush: each costs a sync and memory.
const PARTS_MAX: usize = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Partition {
    /// A segment holds rows that came together.
    #[default]
    None,
    /// A segment holds rows of one UTC day.
    Day,
    /// A segment holds rows of one UTC hour.
    Hour,
}

/// A row on its way into a segment: its time in microseconds, its batch, and its index there.
pub(crate) type Row = (i64, u32, u32);

impl Partition {
    /// The part of a time; `None` without parts, and for years without four digits.
    fn part(self, micros: i64) -> Option<String> {
        let form = match self {
            Self::None => return None,
            Self::Day => "%Y-%m-%d",
            Self::Hour => "%Y-%m-%dT%H",
        };
        let moment = timestamp_us_to_datetime(micros)?;
        (0..=9999).contains(&moment.year()).then(|| moment.format(form).to_string())
    }

    /// Microseconds of a part.
    fn length(self) -> i64 {
        let hour = 3_600_000_000;
        match self {
            Self::None => i64::MAX,
            Self::Day => 24 * hour,
            Self::Hour => hour,
        }
    }

    /// Cuts rows, ordered by time, into parts. With very many parts, the oldest rows are joined and belong to none.
    pub(crate) fn cut(self, rows: &[Row]) -> Vec<(Option<String>, &[Row])> {
        if self == Self::None {
            return vec![(None, rows)];
        }
        let number = |row: &Row| row.0.div_euclid(self.length());
        let parts: Vec<&[Row]> = rows.chunk_by(|a, b| number(a) == number(b)).collect();
        let newest = &parts[parts.len() - parts.len().min(PARTS_MAX)..];
        let (rest, _) = rows.split_at(rows.len() - newest.iter().map(|part| part.len()).sum::<usize>());
        let rest = (!rest.is_empty()).then_some((None, rest));
        rest.into_iter().chain(newest.iter().map(|part| (self.part(part[0].0), *part))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000;

    fn check(partition: Partition, times: &[i64], expected: &[(Option<&str>, usize)]) {
        let rows: Vec<Row> = times.iter().map(|time| (*time, 0, 0)).collect();
        let cut = partition.cut(&rows);
        let found: Vec<_> = cut.iter().map(|(part, rows)| (part.as_deref(), rows.len())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn rows_are_cut_at_midnight_and_at_the_hour() {
        let times = [-1, 0, DAY - 1, DAY];
        check(Partition::None, &times, &[(None, 4)]);
        check(Partition::Day, &times, &[(Some("1969-12-31"), 1), (Some("1970-01-01"), 2), (Some("1970-01-02"), 1)]);
        let hours = [("1969-12-31T23", 1), ("1970-01-01T00", 1), ("1970-01-01T23", 1), ("1970-01-02T00", 1)];
        check(Partition::Hour, &times, &hours.map(|(part, rows)| (Some(part), rows)));
    }

    #[test]
    fn moments_that_no_folder_can_be_named_for_belong_to_no_part() {
        check(Partition::Day, &[i64::MIN, 0, i64::MAX], &[(None, 1), (Some("1970-01-01"), 1), (None, 1)]);
    }

    #[test]
    fn a_flush_is_cut_into_so_many_segments_only() {
        let times: Vec<i64> = (0..2_000).map(|day| day * DAY).collect();
        let rows: Vec<Row> = times.iter().map(|time| (*time, 0, 0)).collect();
        let cut = Partition::Day.cut(&rows);
        assert_eq!((cut.len(), cut[0].0.as_deref(), cut[0].1.len()), (PARTS_MAX + 1, None, 2_000 - PARTS_MAX));
        assert!(cut[1..].iter().all(|(part, rows)| part.is_some() && rows.len() == 1));
    }
}
