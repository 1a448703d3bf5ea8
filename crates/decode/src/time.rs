//! Times as clients write them, to microseconds since 1970.
//!
//! The unit of a number is told by the magnitude of each value by itself, so that no value changes another's meaning.

use arrow::compute::kernels::cast_utils::string_to_datetime;
use chrono::Utc;

/// Below this a number counts seconds.
const SECONDS: u64 = 10_000_000_000;
/// Below this it counts milliseconds.
const MILLISECONDS: u64 = 10_000_000_000_000;
/// Below this it counts microseconds, and from here on nanoseconds.
const MICROSECONDS: u64 = 10_000_000_000_000_000;

/// The microseconds that an integer of unknown unit stands for. Nanoseconds are rounded down.
#[inline]
pub(super) fn of_int(value: i64) -> i64 {
    match value.unsigned_abs() {
        0..SECONDS => value * 1_000_000,
        SECONDS..MILLISECONDS => value * 1_000,
        MILLISECONDS..MICROSECONDS => value,
        _ => value.div_euclid(1_000),
    }
}

/// The microseconds that a float of unknown unit stands for. Nothing where it is no time.
pub(super) fn of_float(value: f64) -> Option<i64> {
    let size = value.abs();
    let micros = if size < SECONDS as f64 {
        value * 1e6
    } else if size < MILLISECONDS as f64 {
        value * 1e3
    } else if size < MICROSECONDS as f64 {
        value
    } else {
        value / 1e3
    };
    // The largest float below 2^63 is far below i64::MAX; NaN fails the comparison.
    (micros.abs() < i64::MAX as f64).then(|| micros.floor() as i64)
}

/// The microseconds of a text as of RFC 3339; without an offset it is UTC. Nothing where it is no time.
pub(super) fn of_text(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    string_to_datetime(&Utc, text).ok().map(|time| time.timestamp_micros())
}
