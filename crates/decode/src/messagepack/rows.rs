//! Rows of a stream: maps of fields, or the maps under a path in them.

use super::reader::{Reader, Token};
use super::row::checked;
use super::timestamp;
use super::to_text;
use crate::batch::Batch;
use crate::error::DecodeError;
use crate::path::{self, Path};
use crate::refusal::{Refusal, Taken, refuse, refuse_field};
use crate::set::Members;
use crate::value::Value;

/// The state of a stream.
#[derive(Debug, Default, Clone)]
pub(crate) struct State {
    /// Records so far.
    position: usize,
    /// Remaining records of the current array.
    pending: u64,
    /// Whether the stream had invalid MessagePack: the next record's start is then unknown.
    broken: bool,
}

/// Reads complete records at the start of `body`, possibly not all; returns the bytes read.
pub(crate) fn read(body: &[u8], last: bool, state: &mut State, batch: &mut Batch<'_>) -> usize {
    let mut reader = Reader::new(body);
    let mut row = Row { path: Path::default(), members: Members::default(), member: Vec::new() };
    loop {
        let start = reader;
        if start.at == body.len() && last && state.pending > 0 && !state.broken {
            let reason = format!("the array ends early: {} more records are expected", state.pending);
            state.pending = 0;
            batch.refuse(state.position, Refusal { field: None, reason }, start.at..start.at);
        }
        if start.at == body.len() || batch.is_full() {
            return start.at;
        }
        if state.broken {
            let reason = "it follows invalid MessagePack".to_owned();
            batch.refuse(state.position, Refusal { field: None, reason }, start.at..body.len());
            return body.len();
        }
        if state.pending == 0
            && let Ok(Token::Array(len)) = reader.token()
        {
            state.pending = len as u64;
            continue;
        }
        reader = start;
        match reader.skip() {
            Ok(()) => {}
            Err(error) if !last && Reader::ends_early(&error) => return start.at,
            Err(error) => {
                state.broken = true;
                let refusal = Refusal { field: None, reason: error.to_string() };
                batch.refuse(state.position, refusal, start.at..body.len());
                return body.len();
            }
        }
        match row.document(start, state.position, batch) {
            Ok(true) => {}
            Ok(false) => return start.at,
            Err(refusal) => batch.refuse(state.position, *refusal, start.at..reader.at),
        }
        state.position += 1;
        state.pending = state.pending.saturating_sub(1);
    }
}

/// Buffers to read a row with.
struct Row {
    /// The enclosing maps.
    path: Path,
    members: Members,
    /// A member's text.
    member: Vec<u8>,
}

impl Row {
    /// Reads the rows of the complete document that begins here; returns false if the batch is full before it.
    fn document(&mut self, mut reader: Reader<'_>, position: usize, batch: &mut Batch<'_>) -> Taken<bool> {
        if batch.path().is_empty() {
            self.row(&mut reader, batch)?;
            return batch.keep(|| position);
        }
        reader = find(reader, batch.path())?;
        let start = reader;
        let rows = match token(&mut reader)? {
            Token::Array(rows) => rows,
            Token::Map(_) => {
                reader = start;
                1
            }
            _ => return refuse(format!("the value at `{}` is not a map", path::shown(batch.path()))),
        };
        if !batch.has_room(rows) {
            return Ok(false);
        }
        for _ in 0..rows {
            let start = reader;
            if let Err(refusal) = self.row(&mut reader, batch).and_then(|()| batch.keep_whole(|| position)) {
                reader = start;
                reader.skip().or_else(|error| refuse(error.to_string()))?;
                batch.refuse(position, *refusal, start.at..reader.at);
            }
        }
        Ok(true)
    }

    fn row(&mut self, reader: &mut Reader<'_>, batch: &mut Batch<'_>) -> Taken<()> {
        self.path.clear();
        match token(reader)?.keys("it")? {
            0 => refuse("it names no field"),
            keys => self.fields(reader, keys, batch),
        }
    }

    fn fields(&mut self, reader: &mut Reader<'_>, keys: usize, batch: &mut Batch<'_>) -> Taken<()> {
        for _ in 0..keys {
            let name = token(reader)?.text("a field's name")?;
            let start = *reader;
            if let Token::Map(keys) = token(reader)? {
                if batch.table.excludes(self.path.field(name)) {
                    *reader = start;
                    pass(reader)?;
                } else if self.path.depth() + 1 >= batch.limits.depth_max {
                    return refuse_field(name, format!("maps are nested over {} levels deep", batch.limits.depth_max));
                } else {
                    self.path.enter();
                    self.fields(reader, keys, batch)?;
                    self.path.leave();
                }
            } else {
                *reader = start;
                self.value(name, reader, batch)?;
            }
        }
        Ok(())
    }

    /// Reads the value of a field.
    fn value(&mut self, name: &[u8], reader: &mut Reader<'_>, batch: &mut Batch<'_>) -> Taken<()> {
        let (table, limits) = (&mut *batch.table, batch.limits);
        let place = table.nested(&mut self.path, name, limits)?;
        if table.is_excluded(place) {
            pass(reader)?;
            return table.add_value(place, Value::Null, limits);
        }
        let start = *reader;
        match token(reader)? {
            Token::Value(value) => table.add_value(place, checked(value, self.path.last())?, limits),
            Token::Huge(value) => {
                let float = (value as f64 as u128 == u128::from(value)).then_some(value as f64);
                table.add_written(
                    place,
                    float.map_or(Value::Huge, Value::Float),
                    || value.to_string().into_bytes(),
                    limits,
                )
            }
            Token::Extension { tag: -1, bytes } if let Some(time) = timestamp(bytes) => {
                let text = time.to_text().into_bytes();
                let value = time.whole().map_or(Value::Text(&text), Value::Time);
                table.add_written(place, value, || text.clone(), limits)
            }
            Token::Array(len) => {
                // Check now that the array converts to JSON, so that it can be converted later.
                let text = to_text::json(start).or_else(|reason| refuse_field(self.path.last(), reason))?;
                if self.set(reader, len)? {
                    return table.add_written(place, Value::Set(&self.members), || text.clone(), limits);
                }
                *reader = start;
                pass(reader)?;
                table.add_value(place, Value::Text(&text), limits)
            }
            other => refuse_field(self.path.last(), format!("it is {}, which no column holds", other.word())),
        }
    }

    /// Reads an array of scalars as a set of texts; returns false for other arrays.
    fn set(&mut self, reader: &mut Reader<'_>, len: usize) -> Taken<bool> {
        self.members.clear();
        for _ in 0..len {
            let token = token(reader)?;
            if let Token::Value(Value::Text(text)) = token {
                self.members.push(text);
                continue;
            }
            self.member.clear();
            if !to_text::scalar(token, &mut self.member) {
                return Ok(false);
            }
            self.members.push(&self.member);
        }
        self.members.sort();
        Ok(true)
    }
}

/// The value under a path.
fn find<'a>(mut reader: Reader<'a>, path: &[Box<[u8]>]) -> Taken<Reader<'a>> {
    for (depth, name) in path.iter().enumerate() {
        let keys = if let Token::Map(keys) = token(&mut reader)? { keys } else { 0 };
        let mut found = None;
        for _ in 0..keys {
            let right = token(&mut reader)? == Token::Value(Value::Text(name));
            if right && found.replace(reader).is_some() {
                return refuse(format!("the name {:?} occurs twice", String::from_utf8_lossy(name)));
            }
            pass(&mut reader)?;
        }
        match found {
            Some(value) => reader = value,
            None => return refuse(format!("it has nothing at `{}`", path::shown(&path[..=depth]))),
        }
    }
    Ok(reader)
}

/// The next token of a complete record.
#[inline]
fn token<'a>(reader: &mut Reader<'a>) -> Taken<Token<'a>> {
    reader.token().or_else(|error| refuse(error.to_string()))
}

fn pass(reader: &mut Reader<'_>) -> Taken<()> {
    reader.skip().or_else(|error: DecodeError| refuse(error.to_string()))
}
