//! MessagePack tokens, without recursion. Claimed lengths cause no allocation.

use crate::error::DecodeError;
use crate::refusal::{Taken, refuse};
use crate::value::Value;

const FLOAT_64: u8 = 0xcb;
const UINT_64: u8 = 0xcf;
const INT_64: u8 = 0xd3;
/// The first and last of texts whose length is in the same byte.
const SHORT_TEXT: u8 = 0xa0;
const SHORT_TEXT_LAST: u8 = 0xbf;

const ENDS_EARLY: &str = "it ends early";

/// A token: a scalar, or the head of a container.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    Value(Value<'a>),
    /// An integer above `i64::MAX`.
    Huge(u64),
    Binary,
    Extension {
        tag: i8,
        bytes: &'a [u8],
    },
    /// Number of values that follow.
    Array(usize),
    /// Number of key-value pairs that follow.
    Map(usize),
}

impl<'a> Token<'a> {
    /// Its name in errors.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Value(value) => value.kind().word(),
            Self::Huge(_) => "an integer over 9223372036854775807",
            Self::Binary => "binary data",
            Self::Extension { .. } => "an extension",
            Self::Array(_) => "an array",
            Self::Map(_) => "a map",
        }
    }

    /// The number of keys of a map, which `what` has to be.
    #[inline]
    pub(super) fn keys(self, what: &str) -> Taken<usize> {
        match self {
            Self::Map(keys) => Ok(keys),
            other => refuse(format!("{what} is {}, but a map is expected", other.word())),
        }
    }

    /// The text that `what` has to be.
    #[inline]
    pub(super) fn text(self, what: &str) -> Taken<&'a [u8]> {
        match self {
            Self::Value(Value::Text(text)) => Ok(text),
            other => refuse(format!("{what} is {}, but text is expected", other.word())),
        }
    }
}

/// A position in a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) body: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self { body, at: 0 }
    }

    #[cold]
    pub(super) fn malformed(&self, reason: impl Into<String>) -> DecodeError {
        DecodeError::Malformed { format: "MessagePack", reason: reason.into(), at: self.at }
    }

    #[cold]
    pub(super) fn ended(&self) -> DecodeError {
        self.malformed(ENDS_EARLY)
    }

    /// Whether more bytes may resolve the error.
    pub(super) fn ends_early(error: &DecodeError) -> bool {
        matches!(error, DecodeError::Malformed { reason, .. } if reason == ENDS_EARLY)
    }

    #[inline]
    fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        match self.body.get(self.at..).and_then(|rest| rest.get(..len)) {
            Some(bytes) => {
                self.at += len;
                Ok(bytes)
            }
            None => Err(self.ended()),
        }
    }

    #[inline]
    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.body.get(self.at..).and_then(<[u8]>::first_chunk::<N>) {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(self.ended()),
        }
    }

    #[inline]
    fn len8(&mut self) -> Result<usize, DecodeError> {
        Ok(self.fixed::<1>()?[0] as usize)
    }

    #[inline]
    fn len16(&mut self) -> Result<usize, DecodeError> {
        Ok(u16::from_be_bytes(self.fixed()?) as usize)
    }

    #[inline]
    fn len32(&mut self) -> Result<usize, DecodeError> {
        Ok(u32::from_be_bytes(self.fixed()?) as usize)
    }

    /// The next token. Does not check texts for UTF-8.
    #[inline]
    pub(super) fn token(&mut self) -> Result<Token<'a>, DecodeError> {
        let [tag] = self.fixed()?;
        let value = match tag {
            0x00..=0x7f => Value::Int(i64::from(tag)),
            0xe0..=0xff => Value::Int(i64::from(tag as i8)),
            SHORT_TEXT..=SHORT_TEXT_LAST => Value::Text(self.take(usize::from(tag & 0x1f))?),
            FLOAT_64 => Value::Float(f64::from_be_bytes(self.fixed()?)),
            0xca => Value::Float(f64::from(f32::from_be_bytes(self.fixed()?))),
            0xc0 => Value::Null,
            0xc2 => Value::Bool(false),
            0xc3 => Value::Bool(true),
            0xcc => Value::Int(i64::from(self.fixed::<1>()?[0])),
            0xcd => Value::Int(i64::from(u16::from_be_bytes(self.fixed()?))),
            0xce => Value::Int(i64::from(u32::from_be_bytes(self.fixed()?))),
            UINT_64 => {
                let value = u64::from_be_bytes(self.fixed()?);
                match i64::try_from(value) {
                    Ok(value) => Value::Int(value),
                    Err(_) => return Ok(Token::Huge(value)),
                }
            }
            0xd0 => Value::Int(i64::from(i8::from_be_bytes(self.fixed()?))),
            0xd1 => Value::Int(i64::from(i16::from_be_bytes(self.fixed()?))),
            0xd2 => Value::Int(i64::from(i32::from_be_bytes(self.fixed()?))),
            INT_64 => Value::Int(i64::from_be_bytes(self.fixed()?)),
            0xd9 => Value::Text(self.sized(Self::len8)?),
            0xda => Value::Text(self.sized(Self::len16)?),
            0xdb => Value::Text(self.sized(Self::len32)?),
            _ => return self.container(tag),
        };
        Ok(Token::Value(value))
    }

    fn container(&mut self, tag: u8) -> Result<Token<'a>, DecodeError> {
        let token = match tag {
            0x80..=0x8f => Token::Map(usize::from(tag & 0x0f)),
            0x90..=0x9f => Token::Array(usize::from(tag & 0x0f)),
            0xdc => Token::Array(self.len16()?),
            0xdd => Token::Array(self.len32()?),
            0xde => Token::Map(self.len16()?),
            0xdf => Token::Map(self.len32()?),
            0xc4 => self.sized(Self::len8).map(|_| Token::Binary)?,
            0xc5 => self.sized(Self::len16).map(|_| Token::Binary)?,
            0xc6 => self.sized(Self::len32).map(|_| Token::Binary)?,
            0xc7 => self.extension(Self::len8)?,
            0xc8 => self.extension(Self::len16)?,
            0xc9 => self.extension(Self::len32)?,
            0xd4..=0xd8 => self.extension(|_| Ok(1 << (tag - 0xd4)))?,
            _ => {
                self.at -= 1;
                return Err(self.malformed(format!("no value begins with {tag:#04x}")));
            }
        };
        Ok(token)
    }

    /// The bytes behind their length.
    #[inline]
    fn sized(&mut self, len: impl Fn(&mut Self) -> Result<usize, DecodeError>) -> Result<&'a [u8], DecodeError> {
        let len = len(self)?;
        self.take(len)
    }

    fn extension(&mut self, len: impl Fn(&mut Self) -> Result<usize, DecodeError>) -> Result<Token<'a>, DecodeError> {
        let len = len(self)?;
        let tag = i8::from_be_bytes(self.fixed()?);
        Ok(Token::Extension { tag, bytes: self.take(len)? })
    }

    /// The next value, if it is a float of 64 bits; else nothing is read.
    #[inline]
    pub(super) fn float(&mut self) -> Option<f64> {
        let (&tag, rest) = self.body.get(self.at..)?.split_first()?;
        let bytes = rest.first_chunk().filter(|_| tag == FLOAT_64)?;
        self.at += 1 + bytes.len();
        Some(f64::from_be_bytes(*bytes))
    }

    /// The next value, if it is an integer written in 64 bits; else nothing is read.
    #[inline]
    pub(super) fn long(&mut self) -> Option<i64> {
        let (&tag, rest) = self.body.get(self.at..)?.split_first()?;
        let value = i64::from_be_bytes(*rest.first_chunk()?);
        // An unsigned one may be above all signed ones.
        let is_long = tag == INT_64 || (tag == UINT_64 && value >= 0);
        is_long.then(|| self.at += 1 + size_of::<i64>()).map(|()| value)
    }

    /// The next value, if it is a text of up to 31 bytes; else nothing is read.
    #[inline]
    pub(super) fn short_text(&mut self) -> Option<&'a [u8]> {
        let (&tag, rest) = self.body.get(self.at..)?.split_first()?;
        let text = rest.get(..usize::from(tag & 0x1f)).filter(|_| (SHORT_TEXT..=SHORT_TEXT_LAST).contains(&tag))?;
        self.at += 1 + text.len();
        Some(text)
    }

    /// Passes these bytes; `None` if others follow.
    #[inline]
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Option<()> {
        self.body.get(self.at..)?.starts_with(bytes).then(|| self.at += bytes.len())
    }

    /// Skips one value with its contents.
    #[inline]
    pub(super) fn skip(&mut self) -> Result<(), DecodeError> {
        let mut due = 1u64;
        while due > 0 {
            due -= 1;
            match self.token()? {
                Token::Array(len) => due += len as u64,
                Token::Map(len) => due += 2 * len as u64,
                _ => {}
            }
        }
        Ok(())
    }
}
