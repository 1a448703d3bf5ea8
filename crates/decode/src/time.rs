//! Times as clients write them: microseconds since 1970 for time columns, and the nanoseconds past them.
//!
//! The magnitude of each number determines its unit, so that no value changes another's meaning.

use arrow::compute::kernels::cast_utils::string_to_datetime;
use chrono::format::{Item, Parsed, StrftimeItems};
use chrono::{DateTime, NaiveDate, SecondsFormat, TimeDelta, Utc};

/// Numbers below this are seconds.
const SECONDS: u64 = 10_000_000_000;
/// Numbers below this are milliseconds.
const MILLISECONDS: u64 = 10_000_000_000_000;
/// Numbers below this are microseconds, and from here on nanoseconds.
const MICROSECONDS: u64 = 10_000_000_000_000_000;
/// Times are at most this many microseconds from 1970, 262,000 years: all have dates, which queries show.
const MICROS_MAX: i64 = 262_000 * 31_556_952_000_000;
/// Digits of a second's fraction in microseconds.
const MICROSECOND_DIGITS: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// Microseconds since 1970.
    pub(super) micros: i64,
    /// Nanoseconds past that microsecond: 0 to 999.
    pub(super) nanos: i64,
}

impl Moment {
    pub(super) const fn of_micros(micros: i64) -> Self {
        Self { micros, nanos: 0 }
    }

    #[inline]
    pub(super) const fn of_nanos(nanos: i64) -> Self {
        Self { micros: nanos.div_euclid(1_000), nanos: nanos.rem_euclid(1_000) }
    }

    /// Its microseconds, if it has no nanoseconds.
    pub(super) fn whole(self) -> Option<i64> {
        (self.nanos == 0).then_some(self.micros)
    }

    /// As RFC 3339.
    pub(super) fn to_text(self) -> String {
        match DateTime::from_timestamp_micros(self.micros) {
            Some(time) => (time + TimeDelta::nanoseconds(self.nanos)).to_rfc3339_opts(SecondsFormat::AutoSi, true),
            None => self.micros.to_string(),
        }
    }
}

impl From<DateTime<Utc>> for Moment {
    fn from(time: DateTime<Utc>) -> Self {
        Self { micros: time.timestamp_micros(), nanos: i64::from(time.timestamp_subsec_nanos() % 1_000) }
    }
}

/// The moment, unless it is too far from 1970 to have a date.
pub(super) fn in_range(moment: Moment) -> Option<Moment> {
    (-MICROS_MAX..=MICROS_MAX).contains(&moment.micros).then_some(moment)
}

/// The moment of an integer of unknown unit.
#[inline]
pub(super) fn of_int(value: i64) -> Moment {
    match value.unsigned_abs() {
        0..SECONDS => Moment::of_micros(value * 1_000_000),
        SECONDS..MILLISECONDS => Moment::of_micros(value * 1_000),
        MILLISECONDS..MICROSECONDS => Moment::of_micros(value),
        _ => Moment::of_nanos(value),
    }
}

/// The moment of a float of unknown unit, to the microsecond, the precision of doubles at present times. `None` if out
/// of range.
pub(super) fn of_float(value: f64) -> Option<Moment> {
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
    // NaN fails the comparison.
    (micros.abs() < MICROS_MAX as f64).then(|| Moment::of_micros(micros.round() as i64))
}

/// The moment of an RFC 3339 text, in UTC without an offset; `None` for any other text.
pub(super) fn of_text(text: &[u8]) -> Option<Moment> {
    usual(text).map(Moment::of_micros).or_else(|| {
        let text = std::str::from_utf8(text).ok()?;
        string_to_datetime(&Utc, text).ok().map(Moment::from)
    })
}

/// The microseconds of a text like `2026-01-18T22:48:33Z` or `2026-01-18T22:48:33.250Z`, which most texts are; `None` for
/// others.
fn usual(text: &[u8]) -> Option<i64> {
    let (start, fraction) = text.split_first_chunk::<19>()?;
    if behind_seconds(text)? != b"Z" || start[10] != b'T' {
        return None;
    }
    let two = |at: usize| 10 * u32::from(start[at] - b'0') + u32::from(start[at + 1] - b'0');
    let date = NaiveDate::from_ymd_opt((100 * two(0) + two(2)) as i32, two(5), two(8))?;
    let (hour, minute, second) = (two(11), two(14), two(17));
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let digits = fraction.iter().filter(|byte| byte.is_ascii_digit()).chain(std::iter::repeat(&b'0'));
    let micros = digits.take(MICROSECOND_DIGITS).fold(0, |micros, digit| 10 * micros + i64::from(digit - b'0'));
    let seconds = i64::from(date.to_epoch_days()) * 86_400 + i64::from(3_600 * hour + 60 * minute + second);
    Some(seconds * 1_000_000 + micros)
}

/// The microseconds of a text that is a full RFC 3339 date, time and offset. Rejects looser forms, and nanoseconds,
/// which would be lost.
pub(super) fn of_rfc3339(text: &[u8]) -> Option<i64> {
    let is_offset = match behind_seconds(text)? {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', a, b, b':', c, d] => [a, b, c, d].iter().all(|b| b.is_ascii_digit()),
        _ => false,
    };
    if is_offset { of_text(text).map(|time| time.micros) } else { None }
}

/// As [`of_rfc3339`], for a text without an offset, in UTC.
pub(super) fn of_utc(text: &[u8]) -> Option<i64> {
    behind_seconds(text)?.is_empty().then(|| of_text(text).map(|time| time.micros))?
}

/// The rest after a full date and time, no finer than a microsecond, at the start of a text.
fn behind_seconds(text: &[u8]) -> Option<&[u8]> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let (start, rest) = text.split_at_checked(SHAPE.len())?;
    let right = |(byte, shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        b'T' => matches!(byte, b'T' | b't' | b' '),
        _ => byte == shape,
    };
    if !start.iter().zip(SHAPE).all(right) {
        return None;
    }
    let Some(fraction) = rest.strip_prefix(b".") else { return Some(rest) };
    let digits = fraction.iter().position(|b| !b.is_ascii_digit()).unwrap_or(fraction.len());
    let is_finer = fraction[..digits].iter().skip(MICROSECOND_DIGITS).any(|digit| *digit != b'0');
    (digits > 0 && !is_finer).then(|| &fraction[digits..])
}

/// A strftime format of times.
#[derive(Debug, Clone)]
pub(super) struct Format(Vec<Item<'static>>);

impl Format {
    /// `None` for an invalid format.
    pub(super) fn new(format: &str) -> Option<Self> {
        StrftimeItems::new(format).parse_to_owned().ok().map(Self)
    }

    /// The moment of a text; UTC without an offset, midnight without a time of day. `None` for a text in another
    /// format.
    pub(super) fn read(&self, text: &[u8]) -> Option<Moment> {
        let mut parsed = Parsed::new();
        chrono::format::parse(&mut parsed, std::str::from_utf8(text).ok()?, self.0.iter()).ok()?;
        if parsed.timestamp().is_none() {
            if parsed.hour_div_12().is_none() && parsed.hour_mod_12().is_none() {
                parsed.set_hour(0).ok()?;
            }
            if parsed.minute().is_none() {
                parsed.set_minute(0).ok()?;
            }
        }
        let time = match parsed.offset() {
            Some(_) => parsed.to_datetime().ok()?.to_utc(),
            None => parsed.to_naive_datetime_with_offset(0).ok()?.and_utc(),
        };
        Some(time.into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_library(text: &str) -> Option<i64> {
        string_to_datetime(&Utc, text).ok().map(|time| time.timestamp_micros())
    }

    #[test]
    fn usual_times_are_read_here() {
        for text in
            ["2026-01-18T22:48:33Z", "2026-01-18T22:48:33.25Z", "1969-12-31T23:59:59.999999Z", "0000-01-01T00:00:00Z"]
        {
            assert_eq!(usual(text.as_bytes()), by_library(text), "{text}");
            assert!(usual(text.as_bytes()).is_some(), "{text}");
        }
        for text in [
            "2026-01-18",
            "2026-01-18T22:48:33",
            "2026-01-18 22:48:33Z",
            "2026-01-18T22:48:33+01:00",
            "2026-01-18T22:48:33.Z",
            "2026-01-18T22:48:33.1234567Z",
            "2026-01-18T22:48:33.12x4Z",
            "2026-02-29T00:00:00Z",
            "2026-01-18T24:00:00Z",
            "2026-01-18T22:60:33Z",
            "2026-01-18T22:48:60Z",
        ] {
            assert_eq!(usual(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn usual_times_are_those_of_the_library(
            text in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,6})?Z",
        ) {
            let micros = usual(text.as_bytes());
            prop_assert!(micros.is_none() || micros == by_library(&text));
            prop_assert_eq!(of_text(text.as_bytes()).map(|time| time.micros), by_library(&text));
        }
    }
}
