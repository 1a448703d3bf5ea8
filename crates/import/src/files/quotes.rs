//! Finds what a parser of CSV passes over: a quote that is never closed, after which it takes the rest as one value, and
//! empty lines, which in a file of one column are missing values.

use std::io::{self, Read};

/// Passes bytes of a CSV file on, and follows its quotes as the parser does.
pub(super) struct Quotes<R> {
    inner: R,
    place: Place,
    /// The current line, from 1.
    line: u64,
    /// The line with the last opening quote.
    opened: u64,
    is_read: bool,
    /// Whether the current line has a byte.
    has_bytes: bool,
    /// The first empty line after one with bytes.
    empty: Option<u64>,
    /// Such a line before one with bytes.
    skipped: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    CellStart,
    Cell,
    Quoted,
    /// After a quote in a quoted cell: the closing one, or the first of a doubled one.
    Closed,
}

impl<R> Quotes<R> {
    pub(super) fn new(inner: R) -> Self {
        Self {
            inner,
            place: Place::CellStart,
            line: 1,
            opened: 0,
            is_read: false,
            has_bytes: false,
            empty: None,
            skipped: None,
        }
    }

    /// An empty line between others, which a reader of CSV skips.
    pub(super) fn skipped(&self) -> Option<u64> {
        self.skipped
    }

    /// The line of a quote that is open at the end of the file.
    pub(super) fn unclosed(&self) -> Option<u64> {
        (self.is_read && self.place == Place::Quoted).then_some(self.opened)
    }

    fn pass(&mut self, byte: u8) {
        match byte {
            b'\n' if self.place != Place::Quoted => {
                if !self.has_bytes && self.line > 1 {
                    self.empty.get_or_insert(self.line);
                }
                self.has_bytes = false;
            }
            b'\r' => {}
            _ => {
                self.has_bytes = true;
                self.skipped = self.skipped.or(self.empty);
            }
        }
        self.place = match (self.place, byte) {
            (Place::CellStart | Place::Closed, b'"') => {
                if self.place == Place::CellStart {
                    self.opened = self.line;
                }
                Place::Quoted
            }
            (Place::Quoted, b'"') => Place::Closed,
            (Place::Quoted, _) => Place::Quoted,
            (_, b',' | b'\n' | b'\r') => Place::CellStart,
            _ => Place::Cell,
        };
        self.line += u64::from(byte == b'\n');
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.is_read = read == 0 && !buffer.is_empty();
        buffer[..read].iter().for_each(|byte| self.pass(*byte));
        Ok(read)
    }
}
