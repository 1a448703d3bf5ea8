//! Comma-separated values under a header (RFC 4180).
//!
//! A cell's value determines its type: an integer or float as in JSON, `true` and `false` (also `True`, `TRUE` ...), a
//! date with a time of day, and else text, so `007` and `+49 30 1234` stay texts. A quoted cell is text, or a full time
//! with an offset. An empty cell is NULL; `""` is an empty text. In a column with text as its first value, every cell is
//! text.

pub(super) mod rows;

use super::error::DecodeError;
use super::kind::Kind;
use super::limits::Limits;
use super::lines::{check_utf8, utf8_len};
use super::names::{TIME, check_name, repeated};
use super::number::Digits;
use super::refusal::{Taken, refuse};
use super::table::Table;
use super::time;
use super::value::Value;

struct Reader<'a> {
    body: &'a [u8],
    at: usize,
    /// The start of the line or lines of the row.
    row: usize,
    /// Bytes of the body known to be UTF-8.
    checked: usize,
    /// Maximum bytes of a quoted cell.
    reach: usize,
    /// Whether the body is complete.
    last: bool,
    /// A cell without its doubled quotes.
    scratch: Vec<u8>,
}

/// A cell as found.
#[derive(Clone, Copy)]
struct Cell<'a> {
    raw: &'a [u8],
    quoted: bool,
    /// Whether it has doubled quotes.
    doubled: bool,
}

impl<'a> Reader<'a> {
    fn new(body: &'a [u8], reach: usize, last: bool) -> Self {
        Self { body, at: 0, row: 0, checked: utf8_len(body), reach, last, scratch: Vec::new() }
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
            let name = to_text(cell, &mut self.scratch);
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
        match repeated(names.iter().map(AsRef::as_ref)) {
            Some(name) => {
                let name = String::from_utf8_lossy(name);
                Err(malformed(0, format!("the column {name:?} occurs twice")))
            }
            None => Ok(names),
        }
    }

    /// Reads the cells of the line that begins here.
    fn cells(&mut self, header: &[Box<[u8]>], rows: &mut Table, limits: &Limits) -> Taken<()> {
        let start = self.at;
        self.row = start;
        for (index, name) in header.iter().enumerate() {
            if index > 0 {
                if self.peek() != Some(b',') {
                    return refuse(format!("it has {index} cells, where the header has {}", header.len()));
                }
                self.at += 1;
            }
            let cell = self.cell().map_err(|mut refusal| {
                refusal.of_field(name);
                refusal
            })?;
            let text = to_text(cell, &mut self.scratch);
            let column = rows.column(name, limits)?;
            let value = if cell.quoted {
                Value::Text(text)
            } else if text.is_empty() {
                Value::Null
            } else {
                read(text, rows.kind(column))
            };
            rows.add_written(column, value, || text.to_vec(), limits)?;
        }
        if self.peek() == Some(b',') {
            return refuse(format!("it has more cells than the header, which has {}", header.len()));
        }
        check_utf8(self.body, start..self.at, self.checked)
    }

    /// Reads the cell that begins here, up to the comma, line's end or body's end.
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
        // A report names the row's first line.
        match memchr::memchr_iter(b'\n', &self.body[self.row..start]).count() {
            0 => refuse("a quote is never closed"),
            1 => refuse("a quote that opens on the next line is never closed"),
            below => refuse(format!("a quote that opens {below} lines below is never closed")),
        }
    }

    /// The end of a refused line that begins at `start`: after the first newline outside quotes, or, if a quote is
    /// never closed, after the first newline. `None` if that needs more of the body.
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

/// A cell's text with its quotes undoubled.
#[inline]
fn to_text<'s>(cell: Cell<'s>, scratch: &'s mut Vec<u8>) -> &'s [u8] {
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

/// The value of an unquoted cell in a column that holds `kind`.
#[inline]
fn read(text: &[u8], kind: Kind) -> Value<'_> {
    if kind == Kind::Text {
        return Value::Text(text);
    }
    let digits = Digits::read(text);
    if digits.len() < text.len() || !digits.is_json() {
        return match text {
            b"true" | b"True" | b"TRUE" => Value::Bool(true),
            b"false" | b"False" | b"FALSE" => Value::Bool(false),
            // Other programs write UTC times like this; in JSON, texts must be more explicit.
            _ => time::of_utc(text).map_or(Value::Text(text), Value::Time),
        };
    }
    Value::of_number(&digits)
}
