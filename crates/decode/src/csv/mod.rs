//! Comma-separated values under a header, as RFC 4180 has them.
//!
//! A cell's value tells its type: an integer or float as JSON writes them, `true` and `false` (also `True`, `TRUE` ...),
//! and else text, so that `007` and `+49 30 1234` stay what they are. A quoted cell is text. An empty cell is NULL; `""`
//! is a text without letters. In a column whose first value is text, every cell is text. `time` is a number or a text
//! as of RFC 3339.
//!
//! Rows of a stream differ ([`rows`]): no value is refused, and texts as of RFC 3339 may be times.

pub(super) mod rows;

use super::column::{Kind, Value};
use super::lines::Lines;
use super::number::Digits;
use super::table::{Table, Taken, check_name, refuse, refuse_field, shown};
use super::tables::{Tables, check_table_name};
use super::time::{self, Moment};
use super::{DecodeError, Limits, TIME};

/// Takes all lines that can be read.
pub(super) fn decode(body: &[u8], table: &str, tables: &mut Tables<'_>) -> Result<(), DecodeError> {
    check_table_name(table.as_bytes(), tables.limits)
        .map_err(|reason| DecodeError::TableName { name: table.to_owned(), reason })?;
    let mut lines = Lines::new(body);
    let mut reader = Reader::new(body, usize::MAX, true);
    if body.starts_with(b"\xef\xbb\xbf") {
        reader.at = 3;
    }
    let header = reader.header(tables.limits)?;
    loop {
        reader.pass_blank();
        let start = reader.at;
        if start == body.len() {
            return Ok(());
        }
        if let Err(refusal) = reader.line(table, &header, tables) {
            reader.at = reader.line_end(start).unwrap_or(body.len());
            tables.refuse(lines.number(start), Some(table.as_bytes()), *refusal);
        }
    }
}

struct Reader<'a> {
    body: &'a [u8],
    at: usize,
    /// How far the body is known to be UTF-8.
    checked: usize,
    /// Bytes of a quoted cell at most.
    reach: usize,
    /// Whether nothing follows the body.
    last: bool,
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
    fn new(body: &'a [u8], reach: usize, last: bool) -> Self {
        let checked = std::str::from_utf8(body).map_or_else(|error| error.valid_up_to(), str::len);
        Self { body, at: 0, checked, reach, last, scratch: Vec::new() }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    fn pass_blank(&mut self) {
        while matches!(self.peek(), Some(b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The names of the columns.
    fn header(&mut self, limits: &Limits) -> Result<Vec<Box<[u8]>>, DecodeError> {
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
                check_name(name, limits)
                    .map_err(|refusal| malformed(at, format!("column {}: {}", names.len() + 1, refusal.reason)))?;
            }
            names.push(name.into());
            if names.len() > limits.columns_max + 1 {
                return Err(malformed(at, format!("over {} columns, as many as are allowed", limits.columns_max)));
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
    fn line(&mut self, table: &str, header: &[Box<[u8]>], tables: &mut Tables<'_>) -> Taken<()> {
        let limits = tables.limits;
        let place = tables.open(table.as_bytes())?;
        let row_time = self.cells(header, tables.table(place), limits)?;
        tables.commit(place, row_time)
    }

    /// Takes the cells of the line that begins here; its time, in a request.
    fn cells(&mut self, header: &[Box<[u8]>], rows: &mut Table, limits: &Limits) -> Taken<Option<Moment>> {
        let start = self.at;
        let mut row_time = None;
        for (index, name) in header.iter().enumerate() {
            if index > 0 {
                if self.peek() != Some(b',') {
                    return refuse(format!("it has {index} cells, where the header has {}", header.len()));
                }
                self.at += 1;
            }
            let cell = self.cell()?;
            let text = spell(cell, &mut self.scratch);
            if !rows.is_stream() && **name == *TIME.as_bytes() {
                row_time = read_time(text, cell.quoted)?;
                continue;
            }
            let column = rows.column(name, limits)?;
            let value = if cell.quoted {
                Some(Value::Text(text))
            } else if text.is_empty() {
                Some(Value::Null)
            } else if rows.kind(column) == Kind::Text {
                Some(Value::Text(text))
            } else {
                read(text)
            };
            match value {
                _ if rows.is_stream() => {
                    rows.take(column, value.unwrap_or_else(|| huge(text)), || text.to_vec(), limits)?;
                }
                Some(value) => rows.put(column, value, limits)?,
                None => return refuse_huge(text, name),
            }
        }
        if self.peek() == Some(b',') {
            return refuse(format!("it has more cells than the header, which has {}", header.len()));
        }
        if self.at > self.checked && std::str::from_utf8(&self.body[start..self.at]).is_err() {
            return refuse("the line is no UTF-8");
        }
        Ok(row_time)
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
            if at - start > self.reach {
                return refuse(format!("a quote is not closed within {} bytes", self.reach));
            }
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
    /// quote is never closed, and then behind its first newline. Nothing where more of the body must tell.
    fn line_end(&self, start: usize) -> Option<usize> {
        let rest = &self.body[start..];
        let first =
            || memchr::memchr(b'\n', rest).map(|place| start + place + 1).or(self.last.then_some(self.body.len()));
        let mut opened = None;
        for found in memchr::memchr2_iter(b'"', b'\n', rest) {
            match (rest[found], opened) {
                (_, Some(quote)) if found - quote > self.reach => return first(),
                (b'"', Some(_)) => opened = None,
                (b'"', None) => opened = Some(found),
                (_, None) => return Some(start + found + 1),
                (_, Some(_)) => {}
            }
        }
        match opened {
            Some(quote) if self.last || rest.len() - quote > self.reach => first(),
            Some(_) => None,
            None => self.last.then_some(self.body.len()),
        }
    }
}

/// A cell's text, its quotes halved.
#[inline]
fn spell<'s>(cell: Cell<'s>, scratch: &'s mut Vec<u8>) -> &'s [u8] {
    if cell.doubled { halve_quotes(cell.raw, scratch) } else { cell.raw }
}

#[inline(never)]
fn halve_quotes<'s>(raw: &[u8], scratch: &'s mut Vec<u8>) -> &'s [u8] {
    scratch.clear();
    let mut rest = raw;
    while let Some(place) = memchr::memchr(b'"', rest) {
        scratch.extend_from_slice(&rest[..=place]);
        rest = &rest[place + 2..];
    }
    scratch.extend_from_slice(rest);
    scratch
}

/// What an unquoted cell says. Nothing where it is a number that does not fit 64 bits.
#[inline]
fn read(text: &[u8]) -> Option<Value<'_>> {
    let digits = Digits::read(text);
    if digits.len() < text.len() || !digits.is_json() {
        return Some(match text {
            b"true" | b"True" | b"TRUE" => Value::Bool(true),
            b"false" | b"False" | b"FALSE" => Value::Bool(false),
            _ => Value::Text(text),
        });
    }
    if digits.is_integer() { digits.int().map(Value::Int) } else { digits.float().map(Value::Float) }
}

#[cold]
fn huge(text: &[u8]) -> Value<'_> {
    Digits::read(text).exact_float().map_or(Value::Huge, Value::Float)
}

#[cold]
fn refuse_huge<T>(text: &[u8], name: &[u8]) -> Taken<T> {
    let reason = format!("{} does not fit 64 bits: quote it to store it as text", String::from_utf8_lossy(text));
    refuse_field(name, reason)
}

fn read_time(text: &[u8], quoted: bool) -> Taken<Option<Moment>> {
    if text.is_empty() && !quoted {
        return Ok(None);
    }
    let time = match read(text) {
        Some(Value::Int(value)) => Some(time::of_int(value)),
        Some(Value::Float(value)) => time::of_float(value),
        Some(_) => time::of_text(text),
        None => return refuse_huge(text, TIME.as_bytes()),
    };
    if time.is_some() {
        return Ok(time);
    }
    refuse_field(TIME.as_bytes(), format!("{:?} is no time", shown(text)))
}
