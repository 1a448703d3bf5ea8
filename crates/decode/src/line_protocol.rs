//! InfluxDB's line protocol: `table[,tag=value...] field=value[,field=value...] [timestamp]`.
//!
//! Follows InfluxData's reference: `\` escapes `,`, `=` and space in names and tags, and `"` and `\` in quoted texts;
//! elsewhere it is literal. Quoted texts may hold newlines. A `#` begins a comment. A line without a timestamp gets its
//! time of arrival.
//!
//! Choices that the reference leaves open
//! - The last value of a repeated field counts, as in InfluxDB. A repeated tag, or a tag and a field of one name, are
//!   refused.
//! - A tag or field called `time` is refused; InfluxDB drops the point silently.
//! - An unsigned integer (`u`) is an integer if it fits a signed 64-bit one, else refused.
//! - A refused line includes the quoted texts of its fields with their newlines, so that no text becomes a record. If
//!   its fields cannot be told apart, it ends at the next newline, and if a quote is never closed, at its first.

use super::limits::Limits;
use super::lines::{Lines, after_newline, check_utf8, utf8_len};
use super::number::{Digits, short_float};
use super::refusal::{Taken, excerpt, refuse, refuse_field, shown};
use super::request::Precision;
use super::table::Table;
use super::tables::Tables;
use super::time::{Moment, in_range};
use super::value::Value;

/// Reads all readable lines.
pub(super) fn decode(body: &[u8], precision: Precision, tables: &mut Tables<'_>) {
    let mut lines = Lines::new(body);
    let mut parser = Parser { body, at: 0, precision, checked: utf8_len(body), scratch: Vec::new() };
    loop {
        parser.skip_blank();
        let start = parser.at;
        if start == body.len() {
            return;
        }
        if let Err(refusal) = parser.line(tables) {
            let name = parser.table_name(start).to_vec();
            parser.skip_line(start);
            tables.refuse(lines.number(start), (!name.is_empty()).then_some(&name), *refusal);
        }
    }
}

struct Parser<'a> {
    body: &'a [u8],
    at: usize,
    precision: Precision,
    /// Bytes of the body known to be UTF-8.
    checked: usize,
    /// A name or text without its escapes.
    scratch: Vec<u8>,
}

/// Characters that end a part: `,` is 1, `=` 2, space 4, newline 8, and `\` 16.
const ENDS: [u8; 256] = {
    let mut ends = [0; 256];
    ends[b',' as usize] = 1;
    ends[b'=' as usize] = 2;
    ends[b' ' as usize] = 4;
    ends[b'\n' as usize] = 8;
    ends[b'\\' as usize] = 16;
    ends
};

impl<'a> Parser<'a> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    /// Skips empty lines, comments and indentation.
    fn skip_blank(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | 0 => self.at += 1,
                b'#' => self.at = after_newline(self.body, self.at),
                _ => return,
            }
        }
    }

    /// Reads the line that begins here.
    fn line(&mut self, tables: &mut Tables<'_>) -> Taken<()> {
        let start = self.at;
        let escaped = self.part(1 | 4 | 8);
        if !matches!(self.peek(), Some(b',' | b' ')) {
            return refuse("it has no field: write `table field=value`");
        }
        let limits = tables.limits;
        let raw = &self.body[start..self.at];
        let place = tables.open(if escaped { unescape(raw, b", ", &mut self.scratch) } else { raw })?;
        let table = tables.table(place);
        while self.peek() == Some(b',') {
            self.at += 1;
            self.tag(table, limits)?;
        }
        self.skip_spaces();
        let tags = table.values_put();
        loop {
            self.field(table, tags, limits)?;
            if self.peek() != Some(b',') {
                break;
            }
            self.at += 1;
        }
        let time = self.time()?;
        check_utf8(self.body, start..self.at, self.checked)?;
        tables.commit(place, time)
    }

    /// The table named by the line that begins at `start`, for reports.
    #[cold]
    fn table_name(&mut self, start: usize) -> &[u8] {
        self.at = start;
        self.part(1 | 4 | 8);
        unescape(&self.body[start..self.at], b", ", &mut self.scratch)
    }

    fn skip_spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    /// Skips a refused line. Missing and bad values are skipped, but a quote outside a text ends the attempt: so no two
    /// lines both scan the whole rest, and the work stays linear.
    #[cold]
    fn skip_line(&mut self, start: usize) {
        self.at = start;
        self.part(4 | 8);
        self.skip_spaces();
        loop {
            let name = self.at;
            self.part(1 | 2 | 4 | 8);
            let mut known = true;
            if self.peek() == Some(b'=') {
                self.at += 1;
                if self.peek() == Some(b'"') {
                    if self.quoted(b"").is_err() {
                        self.at = after_newline(self.body, start);
                        return;
                    }
                    known = self.peek().is_none_or(|byte| matches!(byte, b',' | b' ' | b'\r' | b'\n'));
                } else {
                    let value = self.at;
                    let rest = &self.body[value..];
                    self.at += rest.iter().position(|b| matches!(b, b',' | b' ' | b'\n')).unwrap_or(rest.len());
                    known = !self.body[value..self.at].contains(&b'"');
                }
            } else if self.body[name..self.at].contains(&b'"') {
                known = false;
            }
            if !known || self.peek() != Some(b',') {
                self.at = after_newline(self.body, self.at);
                return;
            }
            self.at += 1;
        }
    }

    /// The column and name of the field that begins here; stops after its `=`.
    #[inline]
    fn name(&mut self, table: &mut Table, limits: &Limits) -> Taken<(usize, &'a [u8])> {
        let start = self.at;
        if let Some(guess) = table.plain_guess() {
            let rest = &self.body[start..];
            if rest.len() > guess.len() && rest[guess.len()] == b'=' && rest.starts_with(guess) {
                self.at += guess.len() + 1;
                let name = &rest[..guess.len()];
                return Ok((table.take_guess(), name));
            }
        }
        let escaped = self.part(1 | 2 | 4 | 8);
        let raw = &self.body[start..self.at];
        if self.peek() != Some(b'=') {
            return refuse(format!("{:?} is not followed by `=` and a value", shown(raw)));
        }
        self.at += 1;
        if raw.is_empty() {
            return refuse("a tag or field has no name");
        }
        let name = if escaped { unescape(raw, b",= ", &mut self.scratch) } else { raw };
        Ok((table.column(name, limits)?, raw))
    }

    /// Moves to the first unescaped byte of `ends`; returns whether any byte was escaped.
    #[inline]
    fn part(&mut self, ends: u8) -> bool {
        let mut escaped = false;
        while let Some(byte) = self.peek() {
            let end = ENDS[usize::from(byte)];
            if end & ends != 0 {
                break;
            }
            self.at += 1;
            if end == 16 {
                escaped = true;
                // Two backslashes are two; one before a newline does not escape it.
                if self.peek().is_some_and(|next| matches!(next, b',' | b'=' | b' ')) {
                    self.at += 1;
                }
            }
        }
        escaped
    }

    #[inline]
    fn tag(&mut self, table: &mut Table, limits: &Limits) -> Taken<()> {
        let (column, name) = self.name(table, limits)?;
        let start = self.at;
        let escaped = self.part(1 | 2 | 4 | 8);
        let raw = &self.body[start..self.at];
        if self.peek() == Some(b'=') {
            return refuse_field(name, "a tag's value has a `=`: write `\\=`");
        }
        let raw = match self.peek() {
            None | Some(b'\n') => raw.strip_suffix(b"\r").unwrap_or(raw),
            _ => raw,
        };
        if raw.is_empty() {
            return refuse_field(name, "the tag has no value: leave it out instead");
        }
        let text = if escaped { unescape(raw, b",= ", &mut self.scratch) } else { raw };
        if table.add_text(column, text, limits) {
            return Ok(());
        }
        table.add_value(column, Value::Text(text), limits)
    }

    #[inline]
    fn field(&mut self, table: &mut Table, tags: usize, limits: &Limits) -> Taken<()> {
        if self.peek().is_none_or(|byte| byte == b'\n' || byte == b'\r') {
            return refuse("it has no field: write `table field=value`");
        }
        let (column, name) = self.name(table, limits)?;
        if let Some((value, len)) = short_float(&self.body[self.at..])
            && matches!(self.body.get(self.at + len), Some(b',' | b' '))
            && table.add_float(column, value)
        {
            self.at += len;
            return Ok(());
        }
        let mut escaped = false;
        let value = match self.peek() {
            Some(b'"') => {
                let quoted = self.quoted(name)?;
                escaped = quoted.1;
                Value::Text(quoted.0)
            }
            Some(b't' | b'T' | b'f' | b'F') => Value::Bool(self.boolean(name)?),
            _ => self.number(name)?,
        };
        if self.peek().is_some_and(|byte| !matches!(byte, b',' | b' ' | b'\n' | b'\r')) {
            return self.bad_value(name);
        }
        if table.was_put_since(column, tags) {
            // The last value counts.
            table.unput(column);
        }
        let value = match value {
            Value::Text(raw) if escaped => Value::Text(unescape(raw, b"\"\\", &mut self.scratch)),
            value => value,
        };
        table.add_value(column, value, limits)
    }

    /// The raw text between two quotes, and whether it has escapes; stops after the closing quote.
    fn quoted(&mut self, name: &[u8]) -> Taken<(&'a [u8], bool)> {
        let start = self.at + 1;
        let mut at = start;
        let mut escaped = false;
        while let Some(found) = memchr::memchr2(b'"', b'\\', &self.body[at..]) {
            at += found;
            if self.body[at] == b'"' {
                self.at = at + 1;
                return Ok((&self.body[start..at], escaped));
            }
            escaped = true;
            at = (at + 2).min(self.body.len());
        }
        refuse_field(name, "its text has no closing quote")
    }

    /// Refuses the text found in place of a value.
    #[cold]
    fn bad_value<T>(&self, name: &[u8]) -> Taken<T> {
        refuse_field(name, format!("no value is written {:?}", excerpt(&self.body[self.at..], 32, b", \n")))
    }

    #[inline]
    fn number(&mut self, name: &[u8]) -> Taken<Value<'a>> {
        let digits = Digits::read(&self.body[self.at..]);
        let start = self.at;
        self.at += digits.len();
        let suffix = self.peek();
        let value = match suffix {
            Some(b'i' | b'u') if digits.is_integer() => {
                self.at += 1;
                if suffix == Some(b'u') && self.body[start] == b'-' {
                    return refuse_field(name, "an unsigned integer has a sign");
                }
                digits.int().map(Value::Int)
            }
            _ if digits.is_number() => digits.float().map(Value::Float),
            _ => {
                self.at = start;
                return self.bad_value(name);
            }
        };
        match value {
            Some(value) => Ok(value),
            None => refuse_field(name, format!("{} does not fit 64 bits", shown(&self.body[start..self.at]))),
        }
    }

    fn boolean(&mut self, name: &[u8]) -> Taken<bool> {
        let rest = &self.body[self.at..];
        let len = rest.iter().take(6).take_while(|b| b.is_ascii_alphabetic()).count();
        let value = match &rest[..len] {
            b"t" | b"T" | b"true" | b"True" | b"TRUE" => true,
            b"f" | b"F" | b"false" | b"False" | b"FALSE" => false,
            _ => return self.bad_value(name),
        };
        self.at += len;
        Ok(value)
    }

    /// The line's time; stops after its newline.
    #[inline]
    fn time(&mut self) -> Taken<Option<Moment>> {
        self.skip_spaces();
        let digits = Digits::read(&self.body[self.at..]);
        let time = if digits.is_integer() {
            self.at += digits.len();
            match digits.int().and_then(|value| moment(value, self.precision)) {
                Some(time) => Some(time),
                None => return refuse("the timestamp is out of range"),
            }
        } else {
            None
        };
        self.skip_spaces();
        if self.peek() == Some(b'\r') {
            self.at += 1;
        }
        match self.peek() {
            None => Ok(time),
            Some(b'\n') => {
                self.at += 1;
                Ok(time)
            }
            Some(_) => {
                let rest = excerpt(&self.body[self.at..], 32, b"\n");
                refuse(format!("expected the timestamp or the end of the line, found {rest:?}"))
            }
        }
    }
}

#[inline]
fn moment(value: i64, precision: Precision) -> Option<Moment> {
    let micros = match precision {
        Precision::Nanoseconds => return Some(Moment::of_nanos(value)),
        Precision::Microseconds => 1,
        Precision::Milliseconds => 1_000,
        Precision::Seconds => 1_000_000,
        Precision::Minutes => 60_000_000,
        Precision::Hours => 3_600_000_000,
    };
    value.checked_mul(micros).map(Moment::of_micros).and_then(in_range)
}

/// Removes the backslash before each of `special`.
fn unescape<'s>(raw: &[u8], special: &[u8], scratch: &'s mut Vec<u8>) -> &'s [u8] {
    scratch.clear();
    let mut at = 0;
    while at < raw.len() {
        if raw[at] == b'\\' && raw.get(at + 1).is_some_and(|next| special.contains(next)) {
            at += 1;
        }
        scratch.push(raw[at]);
        at += 1;
    }
    scratch
}
