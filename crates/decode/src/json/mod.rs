//! NDJSON: one object a line.
//!
//! An object within an object is flattened: `{"a": {"b": 1}}` is the field `a.b`. Arrays are refused. A number with a
//! point or an exponent is a float, another an integer, refused where it does not fit 64 bits. `time` is a number, a text
//! as of RFC 3339, or null. A name twice in a line is refused. Blank lines are passed over.
//!
//! Rows of a stream differ ([`rows`]): the field is `a_b`, arrays are sets or texts, and no value is refused.

mod array;
mod path;
pub(super) mod rows;

pub(super) use path::shown as shown_path;

use super::column::Value;
use super::lines::{Lines, after_newline};
use super::number::Digits;
use super::set::Members;
use super::table::{Table, Taken, refuse, refuse_field, shown};
use super::tables::{Tables, check_table_name};
use super::time::{self, Moment};
use super::{DecodeError, Limits, TIME};

/// Takes all lines that can be read.
pub(super) fn decode(body: &[u8], table: &str, tables: &mut Tables<'_>) -> Result<(), DecodeError> {
    check_table_name(table.as_bytes(), tables.limits)
        .map_err(|reason| DecodeError::TableName { name: table.to_owned(), reason })?;
    let mut lines = Lines::new(body);
    let mut parser = Parser::new(body, b'.');
    loop {
        parser.pass_blank();
        let start = parser.at;
        if start == body.len() {
            return Ok(());
        }
        if let Err(refusal) = parser.line(table, tables) {
            // JSON has no newline inside a text: the line's end is certain.
            parser.at = after_newline(body, start);
            tables.refuse(lines.number(start), Some(table.as_bytes()), *refusal);
        }
    }
}

struct Parser<'a> {
    body: &'a [u8],
    at: usize,
    /// How far the body is known to be UTF-8.
    checked: usize,
    /// What stands between the names of an object and its fields.
    separator: u8,
    /// The names of the objects around, each followed by the separator.
    path: Vec<u8>,
    /// The lengths of `path` before each of them.
    objects: Vec<usize>,
    /// A text without its escapes.
    scratch: Vec<u8>,
    /// An array's members.
    members: Members,
    /// The line's time, in a request.
    time: Option<Moment>,
    /// Whether the line has named it.
    timed: bool,
    /// Whether the row has named anything.
    named: bool,
}

/// A text as found between two quotes.
#[derive(Clone, Copy)]
struct Quoted<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> Parser<'a> {
    fn new(body: &'a [u8], separator: u8) -> Self {
        Self {
            body,
            at: 0,
            checked: std::str::from_utf8(body).map_or_else(|error| error.valid_up_to(), str::len),
            separator,
            path: Vec::new(),
            objects: Vec::new(),
            scratch: Vec::new(),
            members: Members::default(),
            time: None,
            timed: false,
            named: false,
        }
    }

    /// Passes over blank lines, and what a line is indented by.
    #[inline]
    fn pass_blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    #[inline]
    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Passes over a byte that must come.
    #[inline]
    fn expect(&mut self, byte: u8) -> Taken<()> {
        self.skip_spaces();
        if self.peek() != Some(byte) {
            return self.unexpected(&format!("`{}`", char::from(byte)));
        }
        self.at += 1;
        Ok(())
    }

    #[cold]
    fn unexpected<T>(&self, due: &str) -> Taken<T> {
        match self.peek() {
            None | Some(b'\n') => refuse(format!("the line breaks off where {due} is due")),
            Some(_) => {
                let rest = &self.body[self.at..];
                let end = rest.iter().take(16).position(|b| *b == b'\n').unwrap_or(rest.len().min(16));
                refuse(format!("{:?} stands where {due} is due", String::from_utf8_lossy(&rest[..end])))
            }
        }
    }

    /// Takes the line that begins here.
    fn line(&mut self, table: &str, tables: &mut Tables<'_>) -> Taken<()> {
        let limits = tables.limits;
        let place = tables.open(table.as_bytes())?;
        let start = self.at;
        self.row(tables.table(place), limits)?;
        self.end_line(start)?;
        tables.commit(place, self.time)
    }

    /// Takes the object that begins here.
    fn row(&mut self, table: &mut Table, limits: &Limits) -> Taken<()> {
        self.path.clear();
        self.objects.clear();
        self.time = None;
        self.timed = false;
        self.named = false;
        if self.peek() == Some(b'[') {
            return refuse("it is an array: send one object a line");
        }
        self.expect(b'{')?;
        self.object(table, limits)
    }

    /// Passes over the end of the line that began at `start`.
    fn end_line(&mut self, start: usize) -> Taken<()> {
        self.skip_spaces();
        match self.peek() {
            None => {}
            Some(b'\n') => self.at += 1,
            Some(_) => return self.unexpected("the line's end"),
        }
        if self.at > self.checked && std::str::from_utf8(&self.body[start..self.at]).is_err() {
            return refuse("the line is no UTF-8");
        }
        Ok(())
    }

    /// Takes the members of an object whose `{` was read, and of the objects within.
    fn object(&mut self, table: &mut Table, limits: &Limits) -> Taken<()> {
        let mut opened = true;
        loop {
            self.skip_spaces();
            let mut empty = opened && self.peek() == Some(b'}');
            if !empty {
                opened = self.member(table, limits)?;
                if opened {
                    continue;
                }
            }
            opened = false;
            // A comma brings the next member; a brace ends the object, which is a member's value of the one around.
            loop {
                self.skip_spaces();
                if self.peek() == Some(b',') && !empty {
                    self.at += 1;
                    break;
                }
                empty = false;
                self.expect(b'}')?;
                match self.objects.pop() {
                    Some(len) => self.path.truncate(len),
                    None => return Ok(()),
                }
            }
        }
    }

    /// Takes a name and its value. Where that is an object, says so and stands behind its `{`.
    #[inline]
    fn member(&mut self, table: &mut Table, limits: &Limits) -> Taken<bool> {
        let start = self.at;
        let guessed = self.pass_guess(table);
        let name = if guessed {
            Quoted { raw: &self.body[start + 1..self.at - 1], escaped: false }
        } else {
            self.quoted("a name")?
        };
        self.expect(b':')?;
        self.skip_spaces();
        self.named = true;
        if self.peek() == Some(b'{') {
            return self.enter(name, table, limits);
        }
        let is_time = !table.is_stream() && self.path.is_empty() && name.raw == TIME.as_bytes();
        let column = match (guessed, is_time) {
            (true, _) => table.take_guess(),
            (false, true) => 0,
            (false, false) => self.column(name, table, limits)?,
        };
        if table.is_stream() {
            return self.stream_value(name, column, table, limits);
        }
        let value = match self.scalar(name)? {
            Scalar::Text(quoted) => Value::Text(spell(quoted, &mut self.scratch)?),
            Scalar::Value(value) => value,
            Scalar::Huge(raw) => return refuse_field(name.raw, format!("{} does not fit 64 bits", shown(raw))),
        };
        if !is_time {
            table.put(column, value, limits)?;
        } else if self.timed {
            return refuse_field(TIME.as_bytes(), "the name stands there twice");
        } else {
            self.time = read_time(value)?;
            self.timed = true;
        }
        Ok(false)
    }

    /// Passes over the name that likely comes next, where it does.
    #[inline]
    fn pass_guess(&mut self, table: &Table) -> bool {
        let Some(guess) = table.plain_guess().filter(|_| self.path.is_empty()) else { return false };
        let rest = &self.body[self.at..];
        let len = guess.len();
        let right = rest.len() > len + 1 && rest[0] == b'"' && rest[len + 1] == b'"' && rest[1..].starts_with(guess);
        if right {
            self.at += len + 2;
        }
        right
    }

    /// The column of a name, under the names of the objects around.
    fn column(&mut self, name: Quoted<'_>, table: &mut Table, limits: &Limits) -> Taken<usize> {
        if self.path.is_empty() {
            return table.column(spell(name, &mut self.scratch)?, limits);
        }
        let len = self.path.len();
        self.path.extend_from_slice(spell(name, &mut self.scratch)?);
        let column = table.column(&self.path, limits);
        self.path.truncate(len);
        column
    }

    /// Goes into an object and says so, unless it is left out.
    fn enter(&mut self, name: Quoted<'_>, table: &Table, limits: &Limits) -> Taken<bool> {
        let around = self.path.len();
        self.path.extend_from_slice(spell(name, &mut self.scratch)?);
        if table.excludes(&self.path) {
            self.path.truncate(around);
            self.pass_value()?;
            return Ok(false);
        }
        self.at += 1;
        self.objects.push(around);
        // The line's own object is a level as well.
        if self.objects.len() >= limits.depth_max {
            return refuse_field(name.raw, format!("objects are nested over {} levels deep", limits.depth_max));
        }
        self.path.push(self.separator);
        if self.path.len() > limits.name_bytes_max {
            return refuse_field(
                name.raw,
                format!("names of nested objects have over {} bytes", limits.name_bytes_max),
            );
        }
        Ok(true)
    }

    /// A text, from its first quote on; the place is behind its second.
    #[inline]
    fn quoted(&mut self, due: &str) -> Taken<Quoted<'a>> {
        if self.peek() != Some(b'"') {
            return self.unexpected(due);
        }
        let start = self.at + 1;
        let mut escaped = false;
        self.at = start;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(Quoted { raw: &self.body[start..self.at - 1], escaped });
                }
                b'\\' => {
                    escaped = true;
                    self.at += 2;
                }
                0..0x20 => break,
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.body.len());
        self.unexpected("a closing quote")
    }

    #[inline]
    fn scalar(&mut self, name: Quoted<'_>) -> Taken<Scalar<'a>> {
        let value = match self.peek() {
            Some(b'"') => return Ok(Scalar::Text(self.quoted("a text")?)),
            Some(b'-' | b'0'..=b'9') => return self.number(),
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            Some(b'[') => return refuse_field(name.raw, "it is an array, where a number, text or boolean is due"),
            _ => return self.unexpected("a value"),
        };
        Ok(Scalar::Value(value))
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Taken<Value<'a>> {
        if !self.body[self.at..].starts_with(word.as_bytes()) {
            return self.unexpected("a value");
        }
        self.at += word.len();
        Ok(value)
    }

    #[inline]
    fn number(&mut self) -> Taken<Scalar<'a>> {
        let digits = Digits::read(&self.body[self.at..]);
        if !digits.is_json() {
            return self.unexpected("a number");
        }
        let raw = &self.body[self.at..self.at + digits.len()];
        self.at += digits.len();
        let value = if digits.is_integer() { digits.int().map(Value::Int) } else { digits.float().map(Value::Float) };
        Ok(value.map_or(Scalar::Huge(raw), Scalar::Value))
    }
}

/// A value as found.
enum Scalar<'a> {
    Text(Quoted<'a>),
    Value(Value<'a>),
    /// A number that does not fit 64 bits.
    Huge(&'a [u8]),
}

/// A time; nothing inside where it is null.
fn read_time(value: Value<'_>) -> Taken<Option<Moment>> {
    let time = match value {
        Value::Null => return Ok(None),
        Value::Int(value) => Some(time::of_int(value)),
        Value::Float(value) => time::of_float(value),
        Value::Text(text) => time::of_text(text),
        Value::Bool(_) | Value::Time(_) | Value::Set(_) | Value::Huge => None,
    };
    match (time, value) {
        (Some(time), _) => Ok(Some(time)),
        (None, Value::Text(text)) => refuse_field(TIME.as_bytes(), format!("{:?} is no time", shown(text))),
        (None, value) => refuse_field(TIME.as_bytes(), format!("{} is no time", value.kind().word())),
    }
}

/// A text without its escapes.
#[inline]
fn spell<'s>(quoted: Quoted<'s>, scratch: &'s mut Vec<u8>) -> Taken<&'s [u8]> {
    if quoted.escaped { unescape(quoted.raw, scratch) } else { Ok(quoted.raw) }
}

#[inline(never)]
fn unescape<'s>(raw: &[u8], scratch: &'s mut Vec<u8>) -> Taken<&'s [u8]> {
    scratch.clear();
    let mut rest = raw;
    while let Some(place) = memchr::memchr(b'\\', rest) {
        scratch.extend_from_slice(&rest[..place]);
        rest = &rest[place + 1..];
        let Some((&escape, behind)) = rest.split_first() else { break };
        rest = behind;
        scratch.push(match escape {
            b'"' | b'\\' | b'/' => escape,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let Some((letter, behind)) = unicode(rest) else {
                    return refuse("a text has a `\\u` that stands for no character");
                };
                rest = behind;
                scratch.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => return refuse("a text has a `\\` that JSON does not know"),
        });
    }
    scratch.extend_from_slice(rest);
    Ok(scratch)
}

/// The character of the digits behind a `\u`, or of a pair of them, and what follows.
fn unicode(rest: &[u8]) -> Option<(char, &[u8])> {
    let (first, rest) = unit(rest)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some((char::from_u32(first)?, rest));
    }
    let (second, rest) = unit(rest.strip_prefix(b"\\u")?)?;
    let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    Some((char::from_u32(0x10000 + ((first - 0xd800) << 10) + low)?, rest))
}

fn unit(rest: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = rest.split_first_chunk::<4>()?;
    let mut unit = 0;
    for digit in digits {
        unit = unit * 16 + char::from(*digit).to_digit(16)?;
    }
    Some((unit, rest))
}
