//! A chunk of a stream, read by several threads.
//!
//! Each thread reads a piece of the chunk. It assumes that the pieces before it add no columns, end with a record and hold
//! no lines. If they add columns or end otherwise, the piece is read again; their lines are added afterwards.

use std::ops::Range;
use std::thread;

use super::RowReader;
use crate::decoded::Rows;
use crate::error::DecodeError;
use crate::lines::after_newline;
use crate::request::RowFormat;

/// The start of a stream, before threads, which need its columns: a sixteenth of its first chunk.
const HEAD_PART: usize = 16;

/// Results of consecutive calls to [`RowReader::read`]. Only the last can be an error.
#[derive(Default)]
struct Reads {
    reads: Vec<Result<Rows, DecodeError>>,
    taken: usize,
}

impl Reads {
    fn extend(&mut self, more: Self) {
        self.reads.extend(more.reads);
        self.taken += more.taken;
    }

    fn has_failed(&self) -> bool {
        self.reads.last().is_some_and(Result::is_err)
    }

    /// Adds lines before the first.
    fn move_down(&mut self, lines: usize) {
        for rows in self.reads.iter_mut().flatten() {
            rows.refused.iter_mut().for_each(|record| record.position += lines);
            rows.overflows.iter_mut().for_each(|overflow| overflow.position += lines);
        }
    }
}

impl RowReader {
    /// Reads all complete records at the start of `bytes`, on up to `pieces` threads. Returns the results of consecutive
    /// calls to [`Self::read`], up to the first error. Each call takes at least one byte.
    ///
    /// One thread reads MessagePack.
    pub fn read_all(
        &mut self,
        bytes: &[u8],
        last: bool,
        now_micros: i64,
        pieces: usize,
    ) -> Vec<Result<Rows, DecodeError>> {
        let is_cut = pieces > 1 && self.format != RowFormat::MessagePack;
        let mut done = Reads::default();
        let read = |reader: &mut Self, range: Range<usize>| {
            reader.read_each(&bytes[range.clone()], last && range.end == bytes.len(), now_micros)
        };
        if is_cut && !self.begun {
            done = read(self, 0..after_newline(bytes, bytes.len() / HEAD_PART));
        }
        // A reader that has not begun takes the first line for a header.
        let pieces = cut(bytes, done.taken, if is_cut && self.begun { pieces } else { 1 });
        let base = self.ahead();
        thread::scope(|scope| {
            let begin = |piece: &Range<usize>| {
                let (mut reader, piece) = (base.ahead(), piece.clone());
                scope.spawn(move || (read(&mut reader, piece), reader))
            };
            let ahead: Vec<_> = pieces.iter().skip(1).map(begin).collect();
            let mut ahead = std::iter::once(None).chain(ahead.into_iter().map(Some));
            for (piece, ahead) in pieces.iter().zip(&mut ahead) {
                if done.has_failed() {
                    break;
                }
                match ahead.map(thread::ScopedJoinHandle::join) {
                    // An error names its line, so it must be read again.
                    Some(Ok((mut reads, reader)))
                        if done.taken == piece.start
                            && self.table.has_columns_of(&base.table)
                            && !reads.has_failed() =>
                    {
                        let lines = self.line - base.line;
                        reads.move_down(lines);
                        *self = Self { line: reader.line + lines, ..reader };
                        done.extend(reads);
                    }
                    Some(Err(panic)) => std::panic::resume_unwind(panic),
                    _ => done.extend(read(self, done.taken..piece.end)),
                }
            }
        });
        done.reads
    }

    /// A reader of later bytes that expects no other columns and no lines until there.
    fn ahead(&self) -> Self {
        Self {
            format: self.format,
            limits: self.limits.clone(),
            table: self.table.without_rows(),
            begun: self.begun,
            stamps: self.stamps,
            line: self.line,
            header: self.header.clone(),
            packed: self.packed.clone(),
        }
    }

    /// Calls [`Self::read`] while it takes bytes.
    fn read_each(&mut self, bytes: &[u8], last: bool, now_micros: i64) -> Reads {
        let mut done = Reads::default();
        while done.taken < bytes.len() && !done.has_failed() {
            let read = self.read(&bytes[done.taken..], last, now_micros);
            match &read {
                Ok(rows) if rows.taken == 0 => break,
                Ok(rows) => done.taken += rows.taken,
                Err(_) => {}
            }
            done.reads.push(read);
        }
        done
    }
}

/// Cuts the bytes from `start` on at line ends into up to `pieces` pieces of about the same size.
fn cut(bytes: &[u8], start: usize, pieces: usize) -> Vec<Range<usize>> {
    let size = (bytes.len() - start).div_ceil(pieces);
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(pieces);
    for nth in 1..=pieces {
        let from = ranges.last().map_or(start, |range| range.end);
        let end = after_newline(bytes, (start + nth * size).clamp(from, bytes.len()));
        if end > from {
            ranges.push(from..end);
        }
    }
    ranges
}
