//! Columns, read an array at a time: tight loops copy runs of one type.

use super::reader::{Reader, Token};
use super::row::field;
use super::{Stop, read_time};
use crate::column::{Column, Effect};
use crate::kind::Kind;
use crate::limits::Limits;
use crate::names::{NANOS_TWICE, TIME, TIME_NANOS, repeated};
use crate::refusal::{Taken, check_text, refuse, refuse_field};
use crate::request::OnConflict;
use crate::table::{Sent, differ};
use crate::tables::{Tables, Times};
use crate::time::{self, Moment};
use crate::value::Value;

/// First bytes of eight-byte values.
const FLOAT: u8 = 0xcb;
const UNSIGNED: u8 = 0xcf;
const SIGNED: u8 = 0xd3;

/// The columns of one item, of equal lengths.
pub(super) struct Columns<'a> {
    pub(super) times: Times,
    pub(super) columns: Vec<Sent<'a>>,
}

/// Reads the value of the key `columns`.
pub(super) fn read<'a>(reader: &mut Reader<'a>, tables: &Tables<'_>) -> Result<Columns<'a>, Stop> {
    let keys = reader.token()?.keys("`columns`")?;
    let mut rows = None;
    let (mut times, mut misfits) = (None, 0);
    let mut columns: Vec<Sent<'_>> = Vec::with_capacity(keys.min(64));
    for _ in 0..keys {
        let Token::Value(Value::Text(name)) = reader.token()? else {
            return Ok(refuse("a column's name is not text")?);
        };
        let len = match reader.token()? {
            Token::Array(len) => len,
            other => return Ok(refuse_field(name, format!("it is {}, but an array is expected", other.word()))?),
        };
        match rows {
            Some(rows) if rows != len => {
                return Ok(refuse_field(name, format!("it has {len} values, where columns before have {rows}"))?);
            }
            _ => rows = Some(len),
        }
        // Each value takes at least a byte: this bounds the reservation by the body.
        if len > reader.body.len() - reader.at {
            return Err(reader.ended().into());
        }
        if len.saturating_mul(keys) > tables.limits.cells_max {
            let max = tables.limits.cells_max;
            return Ok(refuse(format!("it holds more than {max} values: send fewer rows at once"))?);
        }
        if name == TIME.as_bytes() {
            if times.replace(read_times(reader, len, tables.now)?).is_some() {
                return Ok(refuse_field(name, "the name occurs twice")?);
            }
        } else if columns.len() == tables.limits.columns_max {
            let max = tables.limits.columns_max;
            return Ok(refuse_field(name, format!("the table has {max} columns, as many as are allowed"))?);
        } else {
            columns.push(read_column(reader, len, name, tables, &mut misfits)?);
        }
    }
    if columns.is_empty() {
        return Ok(refuse("it names no field")?);
    }
    if let Some(name) = repeated(columns.iter().map(|column| column.name)) {
        return Ok(refuse_field(name, "the name occurs twice")?);
    }
    let rows = rows.unwrap_or(0);
    if rows == 0 {
        return Ok(refuse("its columns are empty")?);
    }
    let times = times.unwrap_or_else(|| Times { micros: vec![tables.now; rows], nanos: None });
    if times.nanos.is_some() && columns.iter().any(|column| column.name == TIME_NANOS.as_bytes()) {
        return Ok(refuse_field(TIME_NANOS.as_bytes(), NANOS_TWICE)?);
    }
    Ok(Columns { times, columns })
}

/// Times are rarely finer than a microsecond, so a second pass reads nanoseconds only if there are any.
fn read_times(reader: &mut Reader<'_>, len: usize, now: i64) -> Result<Times, Stop> {
    let mut again = *reader;
    let mut finer = 0;
    let micros = read_moments(reader, len, now, |time| {
        finer |= time.nanos;
        time.micros
    })?;
    let nanos = match finer {
        0 => None,
        _ => Some(Column::of_ints(read_moments(&mut again, len, now, |time| time.nanos)?)),
    };
    Ok(Times { micros, nanos })
}

fn read_moments(
    reader: &mut Reader<'_>,
    len: usize,
    now: i64,
    mut part: impl FnMut(Moment) -> i64,
) -> Result<Vec<i64>, Stop> {
    let mut parts = Vec::with_capacity(len);
    while parts.len() < len {
        read_ints(reader, len, &mut parts, |value| part(time::of_int(value)));
        if parts.len() < len {
            let time = at_row(read_time(reader.token()?), parts.len())?;
            parts.push(part(time.unwrap_or(Moment::of_micros(now))));
        }
    }
    Ok(parts)
}

fn read_column<'a>(
    reader: &mut Reader<'a>,
    len: usize,
    name: &'a [u8],
    tables: &Tables<'_>,
    misfits: &mut usize,
) -> Result<Sent<'a>, Stop> {
    let mut column = read_run(reader, len, name, tables.limits)?;
    let mut out_of_place = Vec::new();
    while column.len() < len {
        let token = reader.token()?;
        let row = column.len();
        let value = match token {
            // Texts in a text column are checked together below.
            Token::Value(value) if column.kind() == Kind::Text => value,
            other => at_row(field(other, name), row)?,
        };
        at_row(check_text(name, value, tables.limits), row)?;
        let before = column.kind();
        match column.push(value) {
            Ok(Effect::Widens) => column.widen(true),
            Ok(_) => {}
            Err(_) if tables.on_conflict == OnConflict::Overflow => {
                *misfits += 1;
                tables.limits.check_misfits(*misfits)?;
                out_of_place.push((row, value.to_text()));
                column.pad(row + 1);
            }
            Err(_) => {
                let here = format!("in row {row}");
                return Ok(refuse_field(name, differ((value.kind(), &here), (before, "rows before")))?);
            }
        }
    }
    if let Some(row) = column.bad_text() {
        return Ok(refuse_field(name, format!("the text in row {row} is not valid UTF-8"))?);
    }
    Ok(Sent { name, column, out_of_place })
}

/// The values of one type at the start of an array.
fn read_run(reader: &mut Reader<'_>, len: usize, name: &[u8], limits: &Limits) -> Result<Column, Stop> {
    match reader.body.get(reader.at) {
        Some(&FLOAT) => {
            let mut values = Vec::with_capacity(len);
            let run = wide(reader, len, |tag| tag == FLOAT);
            values.extend(run.iter().map(|chunk| f64::from_be_bytes(payload(chunk))));
            Ok(Column::of_floats(values))
        }
        Some(0x00..=0x7f | 0xcc..=0xcf | 0xd0..=0xd3 | 0xe0..=0xff) => {
            let mut values = Vec::with_capacity(len);
            read_ints(reader, len, &mut values, |value| value);
            Ok(Column::of_ints(values))
        }
        Some(0xa0..=0xbf | 0xd9..=0xdb) => read_texts(reader, len, name, limits),
        _ => Ok(Column::new()),
    }
}

/// Adds integers up to `len`, another type, or a too large one.
fn read_ints(reader: &mut Reader<'_>, len: usize, values: &mut Vec<i64>, mut convert: impl FnMut(i64) -> i64) {
    while values.len() < len {
        let run = wide(reader, len - values.len(), |tag| tag == UNSIGNED || tag == SIGNED);
        let fits = |chunk: &&[u8; 9]| chunk[0] == SIGNED || chunk[1] < 0x80;
        let before = values.len();
        values.extend(run.iter().take_while(fits).map(|chunk| convert(i64::from_be_bytes(payload(chunk)))));
        let unread = run.len() - (values.len() - before);
        reader.at -= unread * 9;
        if values.len() == len {
            return;
        }
        let start = *reader;
        let Ok(Token::Value(Value::Int(value))) = reader.token() else {
            *reader = start;
            return;
        };
        values.push(convert(value));
    }
}

/// Texts up to `len` or another type.
fn read_texts(reader: &mut Reader<'_>, len: usize, name: &[u8], limits: &Limits) -> Result<Column, Stop> {
    let mut offsets = Vec::with_capacity(len + 1);
    let mut bytes = Vec::new();
    offsets.push(0);
    while offsets.len() <= len {
        let start = *reader;
        // A token would be stored in pieces and loaded whole, which stalls the processor.
        if let Some(text) = reader.short_text().filter(|text| text.len() <= limits.text_bytes_max) {
            if bytes.is_empty() {
                // Most texts of a column are about as long.
                bytes.reserve((text.len() * len).min(reader.body.len() - reader.at));
            }
            bytes.extend_from_slice(text);
            offsets.push(bytes.len() as i32);
            continue;
        }
        *reader = start;
        let Token::Value(value @ Value::Text(text)) = reader.token()? else {
            *reader = start;
            break;
        };
        at_row(check_text(name, value, limits), offsets.len() - 1)?;
        bytes.extend_from_slice(text);
        offsets.push(bytes.len() as i32);
    }
    Ok(Column::of_texts(offsets, bytes))
}

/// Skips at most `len` nine-byte values with the right first byte.
#[inline]
fn wide<'a>(reader: &mut Reader<'a>, len: usize, right: impl Fn(u8) -> bool) -> &'a [[u8; 9]] {
    let (chunks, _) = reader.body[reader.at..].as_chunks::<9>();
    let chunks = &chunks[..chunks.len().min(len)];
    let run = chunks.iter().position(|chunk| !right(chunk[0])).unwrap_or(chunks.len());
    reader.at += run * 9;
    &chunks[..run]
}

#[inline]
fn payload(chunk: &[u8; 9]) -> [u8; 8] {
    let [_, payload @ ..] = *chunk;
    payload
}

/// Adds the row to a refusal.
fn at_row<T>(taken: Taken<T>, row: usize) -> Taken<T> {
    taken.map_err(|mut refusal| {
        refusal.reason = format!("row {row}: {}", refusal.reason);
        refusal
    })
}
