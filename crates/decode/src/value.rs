//! One value of a row.

use super::kind::Kind;
use super::number::Digits;
use super::set::Members;
use super::time::Moment;

/// A value as a format writes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Int(i64),
    Float(f64),
    Bool(bool),
    /// UTF-8, checked by the caller.
    Text(&'a [u8]),
    /// Microseconds since 1970. Like the next variants, only in rows of streams.
    Time(i64),
    /// Sorted and distinct.
    Set(&'a Members),
    /// A number outside 64-bit integers and floats: no column takes it.
    Huge,
}

impl Value<'_> {
    /// The value of a number as JSON writes it: an integer, or with a point or an exponent a float.
    #[inline]
    pub(super) fn of_number(digits: &Digits<'_>) -> Self {
        let value = if digits.is_integer() { digits.int().map(Self::Int) } else { digits.float().map(Self::Float) };
        value.unwrap_or_else(|| digits.exact_float().map_or(Self::Huge, Self::Float))
    }

    /// As JSON; a text as is.
    pub(super) fn to_text(self) -> Vec<u8> {
        match self {
            Self::Null => b"null".to_vec(),
            Self::Int(value) => value.to_string().into_bytes(),
            // The shortest text that reads back the same.
            Self::Float(value) => format!("{value:?}").into_bytes(),
            Self::Bool(value) => value.to_string().into_bytes(),
            Self::Time(micros) => Moment::of_micros(micros).to_text().into_bytes(),
            Self::Text(text) => text.to_vec(),
            // Only the format that writes them knows how.
            Self::Set(_) | Self::Huge => Vec::new(),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Nothing,
            Self::Int(_) | Self::Huge => Kind::Int,
            Self::Float(_) => Kind::Float,
            Self::Bool(_) => Kind::Bool,
            Self::Text(_) => Kind::Text,
            Self::Time(_) => Kind::Time,
            Self::Set(_) => Kind::Set,
        }
    }
}
