//! Times as clients write them: microseconds since 1970, which columns of times hold, and the nanoseconds past them.
//!
//! The unit of a number is told by the magnitude of each value by itself, so that no value changes another's meaning.

use arrow::compute::kernels::cast_utils::string_to_datetime;
use chrono::format::{Item, Parsed, StrftimeItems};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

/// Below this a number counts seconds.
const SECONDS: u64 = 10_000_000_000;
/// Below this it counts milliseconds.
const MILLISECONDS: u64 = 10_000_000_000_000;
/// Below this it counts microseconds, and from here on nanoseconds.
const MICROSECONDS: u64 = 10_000_000_000_000_000;
/// Digits of a second's fraction that microseconds keep.
const MICROSECOND_DIGITS: usize = 6;

/// A moment.
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

    /// Its microseconds, where it is no finer than that.
    pub(super) fn whole(self) -> Option<i64> {
        (self.nanos == 0).then_some(self.micros)
    }

    /// As RFC 3339 has it.
    pub(super) fn spell(self) -> String {
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

/// The moment that an integer of unknown unit stands for.
#[inline]
pub(super) fn of_int(value: i64) -> Moment {
    match value.unsigned_abs() {
        0..SECONDS => Moment::of_micros(value * 1_000_000),
        SECONDS..MILLISECONDS => Moment::of_micros(value * 1_000),
        MILLISECONDS..MICROSECONDS => Moment::of_micros(value),
        _ => Moment::of_nanos(value),
    }
}

/// The moment that a float of unknown unit stands for, to the microsecond: a double holds present times no more exactly.
/// `None` where it is out of range.
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
    // The largest float below 2^63 is far below i64::MAX; NaN fails the comparison.
    (micros.abs() < i64::MAX as f64).then(|| Moment::of_micros(micros.round() as i64))
}

/// The moment that a text in the form of RFC 3339 names, in UTC where it has no offset; `None` for any other text.
pub(super) fn of_text(text: &[u8]) -> Option<Moment> {
    let text = std::str::from_utf8(text).ok()?;
    string_to_datetime(&Utc, text).ok().map(Moment::from)
}

/// The microseconds of a text that is a full date, time and offset as RFC 3339 has them, and nothing looser or finer: a
/// text with nanoseconds would lose them.
pub(super) fn of_rfc3339(text: &[u8]) -> Option<i64> {
    let is_offset = match behind_seconds(text)? {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', a, b, b':', c, d] => [a, b, c, d].iter().all(|b| b.is_ascii_digit()),
        _ => false,
    };
    if is_offset { of_text(text).map(|time| time.micros) } else { None }
}

/// As [`of_rfc3339`], of a text without an offset: a time of UTC.
pub(super) fn of_utc(text: &[u8]) -> Option<i64> {
    behind_seconds(text)?.is_empty().then(|| of_text(text).map(|time| time.micros))?
}

/// What follows a full date and time, no finer than a microsecond, with which a text begins.
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

/// A format of times, as strftime has it.
#[derive(Debug)]
pub(super) struct Format(Vec<Item<'static>>);

impl Format {
    /// Nothing where it is no format.
    pub(super) fn new(format: &str) -> Option<Self> {
        StrftimeItems::new(format).parse_to_owned().ok().map(Self)
    }

    /// The moment of a text; UTC where it has no offset, midnight where it has no time of day. Nothing where it is not so
    /// written.
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
