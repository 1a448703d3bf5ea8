//! Lines of a body: their numbers, counted on demand, and their encoding.

use std::ops::Range;

use super::refusal::{Taken, refuse};

/// A position in a body of lines.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    body: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self::from(body, 1)
    }

    /// As [`Lines::new`], for a body that begins with line `line`.
    pub(super) fn from(body: &'a [u8], line: usize) -> Self {
        Self { body, at: 0, line }
    }

    /// The number, from 1, of the line that holds byte `at`. Call it with ascending offsets, so that each body is
    /// counted only once.
    pub(super) fn number(&mut self, at: usize) -> usize {
        self.line += memchr::memchr_iter(b'\n', &self.body[self.at..at]).count();
        self.at = at;
        self.line
    }
}

/// The first byte after the newline that follows `at`, or the body's end.
pub(super) fn after_newline(body: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &body[at..]).map_or(body.len(), |n| at + n + 1)
}

/// Bytes at the start of a body that are UTF-8.
pub(super) fn utf8_len(body: &[u8]) -> usize {
    std::str::from_utf8(body).map_or_else(|error| error.valid_up_to(), str::len)
}

/// Refuses a line that is not UTF-8, in a body whose first `checked` bytes are.
#[inline]
pub(super) fn check_utf8(body: &[u8], line: Range<usize>, checked: usize) -> Taken<()> {
    if line.end > checked && std::str::from_utf8(&body[line]).is_err() {
        return refuse("the line is not valid UTF-8");
    }
    Ok(())
}
