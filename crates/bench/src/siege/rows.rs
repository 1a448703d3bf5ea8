//! Rows with values that follow from their numbers.
//!
//! A request has [`ROWS`] rows with unique numbers. Its own number determines its table.

use std::ops::Range;

use crate::ingest::encode::name;
use crate::ingest::records::{HOSTS, HUNDREDTHS, Records};

/// Rows of a request.
pub(super) const ROWS: u64 = 100;
/// Number of tables; requests use them in turn.
pub(super) const TABLES: u64 = 3;
pub(super) const DATABASE: &str = "siege";
/// The time of row 0: 2026-01-01, in microseconds since 1970.
const FIRST_TIME: i64 = 1_767_225_600_000_000;
/// Microseconds between rows.
const STEP: i64 = 1_000;

pub(super) fn table_of(request: u64) -> usize {
    (request % TABLES) as usize
}

/// The numbers of a request's rows.
fn rows_of(request: u64) -> Range<u64> {
    request * ROWS..(request + 1) * ROWS
}

pub(super) fn records(requests: &[u64]) -> Records {
    let mut records = Records::default();
    for row in requests.iter().flat_map(|request| rows_of(*request)) {
        records.times.push(time_of(row));
        records.hosts.push((row % u64::from(HOSTS)) as u16);
        for (values, value) in records.values.iter_mut().zip(values_of(row)) {
            values.push(value);
        }
    }
    records
}

/// The fields of a row, in hundredths. [`is_changed_in_sql`] must agree.
fn values_of(row: u64) -> [u16; 3] {
    let below = |n: u64| (n % u64::from(HUNDREDTHS)) as u16;
    [below(row * 7), below(row * 13 + 5), below(row / 3)]
}

/// The time of a row, in microseconds since 1970.
pub(super) fn time_of(row: u64) -> i64 {
    FIRST_TIME + row as i64 * STEP
}

/// The time of a request's first row.
pub(super) fn time_of_request(request: u64) -> i64 {
    time_of(request * ROWS)
}

/// The number of the row at a time, if any.
pub(super) fn row_at(time: i64) -> Option<u64> {
    let since = time.checked_sub(FIRST_TIME)?;
    (since >= 0 && since % STEP == 0).then_some((since / STEP) as u64)
}

/// Whether a row's values match its number.
pub(super) fn is_row(row: u64, host: &str, values: [f64; 3]) -> bool {
    let expected = values_of(row).map(|hundredths| f64::from(hundredths) / 100.0);
    host == name((row % u64::from(HOSTS)) as u16) && values == expected
}

/// The sum of the first field over a request's rows.
pub(super) fn first_field_sum(request: u64) -> f64 {
    rows_of(request).map(|row| f64::from(values_of(row)[0]) / 100.0).sum()
}

/// SQL that computes a row's number from its time.
pub(super) fn row_in_sql() -> String {
    format!("(CAST(time AS BIGINT) - {FIRST_TIME}) / {STEP}")
}

/// SQL that tests whether the values of row `r` differ from those of its number.
pub(super) fn is_changed_in_sql(fields: [&str; 3]) -> String {
    let [a, b, c] = fields;
    format!(
        "host IS DISTINCT FROM 'server' || lpad(CAST(r % {HOSTS} AS VARCHAR), 3, '0') \
         OR {a} IS DISTINCT FROM CAST((r * 7) % {HUNDREDTHS} AS DOUBLE) / 100.0 \
         OR {b} IS DISTINCT FROM CAST((r * 13 + 5) % {HUNDREDTHS} AS DOUBLE) / 100.0 \
         OR {c} IS DISTINCT FROM CAST((r / 3) % {HUNDREDTHS} AS DOUBLE) / 100.0"
    )
}
