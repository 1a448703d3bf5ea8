//! MessagePack as Arc's clients send it: columnar maps, rows, and batches of either.
//!
//! - columnar `{"m": table, "columns": {"time": [...], name: [...]}}`; `tag_keys`, which newer clients add to mark
//!   tags, is skipped: a tag is a column like others;
//! - row `{"m": table, "t": time, "h": host, "fields": {}, "tags": {}}`. A tag is text: numbers and booleans are
//!   written as text. `h` is the tag `host`, and `tags` may repeat it with the same value;
//! - batch `{"batch": [...]}`, or an array of maps.
//!
//! Keys come in any order. A map with an unknown key is refused, because the key would be lost. Times are numbers, RFC
//! 3339 texts, or MessagePack timestamps.
//!
//! Rows of a stream are maps of fields ([`rows`]).

mod columnar;
mod reader;
mod row;
pub(super) mod rows;
mod shape;
mod to_text;

use reader::{Reader, Token};
use shape::Shape;

use super::error::DecodeError;
use super::refusal::{Refusal, Taken, refuse, refuse_field, shown};
use super::tables::Tables;
use super::time::{self, Moment};
use super::value::Value;

/// Items whose shape is noted, at most: a body of many shapes gains nothing.
const SHAPES_MAX: usize = 16;

/// Why an item ends early.
enum Stop {
    /// The rest of the body is unreadable.
    Broken(DecodeError),
    Refused(Box<Refusal>),
}

impl From<DecodeError> for Stop {
    fn from(error: DecodeError) -> Self {
        Self::Broken(error)
    }
}

impl From<Box<Refusal>> for Stop {
    fn from(refusal: Box<Refusal>) -> Self {
        Self::Refused(refusal)
    }
}

pub(super) fn decode(body: &[u8], tables: &mut Tables<'_>) -> Result<(), DecodeError> {
    let mut reader = Reader::new(body);
    let start = reader;
    match reader.token()? {
        Token::Array(len) => items(&mut reader, len, tables)?,
        Token::Map(keys) => {
            if let Some(mut batch) = batch(reader, keys)? {
                let Token::Array(len) = batch.token()? else {
                    return Err(batch.malformed("`batch` is not an array"));
                };
                items(&mut batch, len, tables)?;
                // `batch` is the only key: the rest follows the map.
                reader = batch;
            } else {
                reader = start;
                item(&mut reader, 0, tables)?;
            }
        }
        other => return Err(start.malformed(format!("it is {}, but a map or an array is expected", other.word()))),
    }
    if reader.at < body.len() {
        return Err(reader.malformed("something follows its end"));
    }
    Ok(())
}

/// The value of the key `batch`, if the map begins with it.
fn batch(mut reader: Reader<'_>, keys: usize) -> Result<Option<Reader<'_>>, DecodeError> {
    if keys == 0 || reader.token()? != Token::Value(Value::Text(b"batch")) {
        return Ok(None);
    }
    if keys > 1 {
        return Err(reader.malformed("other keys stand beside `batch`"));
    }
    Ok(Some(reader))
}

fn items(reader: &mut Reader<'_>, len: usize, tables: &mut Tables<'_>) -> Result<(), DecodeError> {
    let mut shape: Option<Shape<'_>> = None;
    let mut shapes_left = SHAPES_MAX;
    for position in 0..len {
        if shape.as_ref().is_some_and(|shape| shape.take(reader, tables)) {
            continue;
        }
        let start = *reader;
        let is_taken = item(reader, position, tables)?;
        shape = if is_taken && shapes_left > 0 { Shape::of(start, tables) } else { None };
        shapes_left -= usize::from(shape.is_some());
    }
    Ok(())
}

/// Reads one item or reports it as refused; either way the reader ends up after it. Returns whether it was taken.
fn item(reader: &mut Reader<'_>, position: usize, tables: &mut Tables<'_>) -> Result<bool, DecodeError> {
    let start = *reader;
    match take_item(reader, tables) {
        Ok(()) => Ok(true),
        Err(Stop::Broken(error)) => Err(error),
        Err(Stop::Refused(refusal)) => {
            *reader = start;
            reader.skip()?;
            tables.refuse(position, table_name(start), *refusal);
            Ok(false)
        }
    }
}

/// The parts of an item found so far.
#[derive(Default)]
struct Parts<'a> {
    table: Option<&'a [u8]>,
    time: Option<Moment>,
    host: Option<Token<'a>>,
    fields: Option<Reader<'a>>,
    tags: Option<Reader<'a>>,
    columns: Option<columnar::Columns<'a>>,
}

fn take_item(reader: &mut Reader<'_>, tables: &mut Tables<'_>) -> Result<(), Stop> {
    let keys = reader.token()?.keys("it")?;
    let mut parts = Parts::default();
    let mut named = 0u32;
    for _ in 0..keys {
        let Token::Value(Value::Text(key)) = reader.token()? else {
            return Ok(refuse("a key is not text")?);
        };
        let bit = match key {
            b"m" => {
                parts.table = Some(reader.token()?.text("`m`")?);
                1
            }
            b"t" => {
                parts.time = read_time(reader.token()?)?;
                2
            }
            b"h" => {
                parts.host = Some(reader.token()?);
                4
            }
            b"fields" => {
                parts.fields = Some(*reader);
                reader.skip()?;
                8
            }
            b"tags" => {
                parts.tags = Some(*reader);
                reader.skip()?;
                16
            }
            b"columns" => {
                parts.columns = Some(columnar::read(reader, tables)?);
                32
            }
            b"tag_keys" => {
                reader.skip()?;
                64
            }
            _ => return Ok(refuse(format!("the key {:?} is not known", String::from_utf8_lossy(key)))?),
        };
        if named & bit != 0 {
            return Ok(refuse(format!("the key {:?} occurs twice", String::from_utf8_lossy(key)))?);
        }
        named |= bit;
    }
    let Some(table) = parts.table else {
        return Ok(refuse("it names no table: the key `m` is missing")?);
    };
    match parts.columns {
        Some(_) if named & (2 | 4 | 8 | 16) != 0 => {
            Ok(refuse("it is columnar and a row at once: `columns` stands beside `t`, `h`, `fields` or `tags`")?)
        }
        Some(columns) => {
            let place = tables.open(table)?;
            Ok(tables.append(place, columns.times, columns.columns)?)
        }
        None => row::take(&parts, table, tables),
    }
}

/// The item's table, for reports.
fn table_name(mut reader: Reader<'_>) -> Option<&[u8]> {
    let Token::Map(keys) = reader.token().ok()? else { return None };
    for _ in 0..keys {
        if reader.token().ok()? == Token::Value(Value::Text(b"m")) {
            return reader.token().ok()?.text("`m`").ok();
        }
        reader.skip().ok()?;
    }
    None
}

/// A time; `None` for nil.
#[inline]
fn read_time(token: Token<'_>) -> Taken<Option<Moment>> {
    let time = match token {
        Token::Value(Value::Int(value)) => Some(time::of_int(value)),
        Token::Value(Value::Null) => return Ok(None),
        Token::Value(Value::Float(value)) => time::of_float(value),
        Token::Value(Value::Text(text)) => time::of_text(text),
        Token::Extension { tag: -1, bytes } => timestamp(bytes),
        _ => None,
    };
    if time.is_none() { no_time(token) } else { Ok(time) }
}

#[cold]
fn no_time(token: Token<'_>) -> Taken<Option<Moment>> {
    let what = match token {
        Token::Value(Value::Float(value)) => value.to_string(),
        Token::Value(Value::Text(text)) => format!("{:?}", shown(text)),
        other => other.word().to_owned(),
    };
    refuse_field(b"time", format!("{what} is not a time"))
}

/// MessagePack's own timestamp.
fn timestamp(bytes: &[u8]) -> Option<Moment> {
    let (seconds, nanos) = match *bytes {
        [a, b, c, d] => (i64::from(u32::from_be_bytes([a, b, c, d])), 0),
        [a, b, c, d, e, f, g, h] => {
            let both = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
            ((both & ((1 << 34) - 1)) as i64, (both >> 34) as u32)
        }
        [a, b, c, d, ref seconds @ ..] => {
            (i64::from_be_bytes(seconds.try_into().ok()?), u32::from_be_bytes([a, b, c, d]))
        }
        _ => return None,
    };
    (nanos < 1_000_000_000).then_some(())?;
    let micros = seconds.checked_mul(1_000_000)?.checked_add(i64::from(nanos / 1_000))?;
    time::in_range(Moment { micros, nanos: i64::from(nanos % 1_000) })
}
