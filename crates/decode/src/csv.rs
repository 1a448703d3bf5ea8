//! Comma-separated values under a header, as RFC 4180 has them.
//!
//! A cell's value tells its type: an integer or float as JSON writes them, `true` and `false` (also `True`, `TRUE` ...),
//! and else text, so that `007` and `+49 30 1234` stay what they are. A quoted cell is text. An empty cell is NULL; `""`
//! is a text without letters. In a column whose first value is text, every cell is text. `time` is a number or a text
//! as of RFC 3339.

use super::column::{Kind, Value};
use super::lines::{Lines, after_newline};
use super::number::Digits;
use super::table::{Taken, check_name, refuse, refuse_field};
use super::tables::{Tables, check_table_name};
use super::{DecodeError, TIME, time};

/// Takes all lines that can be read.
pub(super) fn decode(body: &[u8], table: &str, tables: &mut Tables<'_>) -> Result<(), DecodeError> {
    check_table_name(table.as_bytes(), tables.limits)
        .map_err(|reason| DecodeError::TableName { name: table.to_owned(), reason })?;
    let mut lines = Lines::new(body);
    let mut reader = Reader { body, at: 0, scratch: Vec::new() };
    if body.starts_with(b"\xef\xbb\xbf") {
        reader.at = 3;
    }
    let header = reader.header(tables)?;
    let checked = std::str::from_utf8(body).is_ok();
    loop {
        while matches!(reader.peek(), Some(b'\n' | b'\r')) {
            reader.at += 1;
        }
        let start = reader.at;
        if start == body.len() {
            return Ok(());
        }
        if let Err(refusal) = reader.line(table, &header, checked, tables) {
            reader.at = reader.line_end(start);
            tables.refuse(lines.number(start), Some(table.as_bytes()), *refusal);
        }
    }
}

struct Reader<'a> {
    body: &'a [u8],
    at: usize,
    /// A cell without its doubled quotes.
    scratch: Vec<u8>,
}

/// A cell as found.
#[derive(Clone, Copy)]
struct Cell<'a> {
    raw: &'a [u8],
    quoted: bool,
    /// Whether quotes in it are doubled.
    doubled: bool,
}

impl<'a> Reader<'a> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    /// The names of the columns.
    fn header(&mut self, tables: &Tables<'_>) -> Result<Vec<Box<[u8]>>, DecodeError> {
        let malformed = |at: usize, reason: String| DecodeError::Malformed {
            format: "CSV",
            reason: format!("header: {reason}"),
            at,
        };
        let mut names: Vec<Box<[u8]>> = Vec::new();
        loop {
            let at = self.at;
            let cell = self.cell().map_err(|refusal| malformed(at, refusal.reason))?;
            let name = spell(cell, &mut self.scratch);
            if name != TIME.as_bytes() {
                check_name(name, tables.limits)
                    .map_err(|refusal| malformed(at, format!("column {}: {}", names.len() + 1, refusal.reason)))?;
            }
            names.push(name.into());
            if names.len() > tables.limits.columns_max + 1 {
                return Err(malformed(
                    at,
                    format!("over {} columns, as many as are allowed", tables.limits.columns_max),
                ));
            }
            if self.peek() != Some(b',') {
                break;
            }
            self.at += 1;
        }
        let mut sorted: Vec<&[u8]> = names.iter().map(AsRef::as_ref).collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => {
                let name = String::from_utf8_lossy(pair[0]);
                Err(malformed(0, format!("the column {name:?} stands there twice")))
            }
            None => Ok(names),
        }
    }

    /// Takes the line that begins here.
    fn line(&mut self, table: &str, header: &[Box<[u8]>], checked: bool, tables: &mut Tables<'_>) -> Taken<()> {
        let start = self.at;
        let limits = tables.limits;
        let place = tables.open(table.as_bytes())?;
        let rows = tables.table(place);
        let mut row_time = None;
        for (index, name) in header.iter().enumerate() {
            if index > 0 {
                if self.peek() != Some(b',') {
                    return refuse(format!("it has {index} cells, where the header has {}", header.len()));
                }
                self.at += 1;
            }
            let cell = self.cell()?;
            if **name == *TIME.as_bytes() {
                row_time = read_time(spell(cell, &mut self.scratch), cell.quoted)?;
                continue;
            }
            let column = rows.column(name, limits)?;
            let text = spell(cell, &mut self.scratch);
            let value = if cell.quoted {
                Value::Text(text)
            } else if text.is_empty() {
                Value::Null
            } else if rows.kind(column) == Kind::Text {
                Value::Text(text)
            } else {
                read(text, name)?
            };
            rows.put(column, value, limits)?;
        }
        if self.peek() == Some(b',') {
            return refuse(format!("it has more cells than the header, which has {}", header.len()));
        }
        if !checked && std::str::from_utf8(&self.body[start..self.at]).is_err() {
            return refuse("the line is no UTF-8");
        }
        tables.commit(place, row_time)
    }

    /// The cell that begins here; the place is at the comma, line's end or body's end behind it.
    #[inline]
    fn cell(&mut self) -> Taken<Cell<'a>> {
        if self.peek() == Some(b'"') {
            return self.quoted();
        }
        let start = self.at;
        while self.peek().is_some_and(|byte| !matches!(byte, b',' | b'\n' | b'"')) {
            self.at += 1;
        }
        if self.peek() == Some(b'"') {
            return refuse("a quote stands inside a cell that does not begin with one");
        }
        let mut raw = &self.body[start..self.at];
        if self.peek() != Some(b',') {
            raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        }
        Ok(Cell { raw, quoted: false, doubled: false })
    }

    fn quoted(&mut self) -> Taken<Cell<'a>> {
        let start = self.at + 1;
        let mut doubled = false;
        let mut at = start;
        while let Some(found) = memchr::memchr(b'"', &self.body[at..]) {
            at += found + 1;
            if self.body.get(at) == Some(&b'"') {
                doubled = true;
                at += 1;
                continue;
            }
            self.at = at;
            if self.body[at..].starts_with(b"\r\n") || self.body[at..] == *b"\r" {
                self.at += 1;
            }
            return match self.peek() {
                None | Some(b',' | b'\n') => Ok(Cell { raw: &self.body[start..at - 1], quoted: true, doubled }),
                Some(_) => refuse("something stands between a closing quote and the next comma"),
            };
        }
        refuse("a quote is never closed")
    }

    /// Where a refused line that begins at `start` ends: behind the first newline that is not in a quoted cell, unless a
    /// quote is never closed, and then behind its first newline.
    fn line_end(&self, start: usize) -> usize {
        let mut quoted = false;
        for found in memchr::memchr2_iter(b'"', b'\n', &self.body[start..]) {
            match self.body[start + found] {
                b'"' => quoted = !quoted,
                _ if !quoted => return start + found + 1,
                _ => {}
            }
        }
        if quoted { after_newline(self.body, start) } else { self.body.len() }
    }
}

/// A cell's text, its quotes halved.
#[inline]
fn spell<'s>(cell: Cell<'s>, scratch: &'s mut Vec<u8>) -> &'s [u8] {
    if !cell.doubled {
        return cell.raw;
    }
    scratch.clear();
    let mut rest = cell.raw;
    while let Some(place) = memchr::memchr(b'"', rest) {
        scratch.extend_from_slice(&rest[..=place]);
        rest = &rest[place + 2..];
    }
    scratch.extend_from_slice(rest);
    scratch
}

/// What an unquoted cell says.
#[inline]
fn read<'c>(text: &'c [u8], name: &[u8]) -> Taken<Value<'c>> {
    let digits = Digits::read(text);
    if digits.len() < text.len() || !digits.is_json() {
        return Ok(match text {
            b"true" | b"True" | b"TRUE" => Value::Bool(true),
            b"false" | b"False" | b"FALSE" => Value::Bool(false),
            _ => Value::Text(text),
        });
    }
    let value = if digits.is_integer() { digits.int().map(Value::Int) } else { digits.float().map(Value::Float) };
    match value {
        Some(value) => Ok(value),
        None => refuse_field(
            name,
            format!("{} does not fit 64 bits: quote it to store it as text", String::from_utf8_lossy(text)),
        ),
    }
}

fn read_time(text: &[u8], quoted: bool) -> Taken<Option<i64>> {
    if text.is_empty() && !quoted {
        return Ok(None);
    }
    let time = match read(text, TIME.as_bytes())? {
        Value::Int(value) => Some(time::of_int(value)),
        Value::Float(value) => time::of_float(value),
        _ => time::of_text(text),
    };
    if time.is_some() {
        return Ok(time);
    }
    let shown = String::from_utf8_lossy(&text[..text.len().min(64)]);
    refuse_field(TIME.as_bytes(), format!("{shown:?} is no time"))
}
