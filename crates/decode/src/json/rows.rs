//! Rows: one object per line, or the objects under a path in it.

use super::Parser;
use crate::batch::Batch;
use crate::lines::{Lines, after_newline};
use crate::refusal::{Taken, refuse};

/// Reads complete lines at the start of `bytes`, possibly not all; returns the bytes read.
pub(crate) fn read(bytes: &[u8], last: bool, lines: &mut Lines<'_>, batch: &mut Batch<'_>) -> usize {
    let end = if last { bytes.len() } else { memchr::memrchr(b'\n', bytes).map_or(0, |place| place + 1) };
    let body = &bytes[..end];
    let mut parser = Parser::new(body);
    loop {
        parser.pass_blank();
        let start = parser.at;
        if start == end || batch.is_full() {
            return start;
        }
        match parser.line(lines, batch) {
            Ok(true) => {}
            Ok(false) => return start,
            Err(refusal) => {
                parser.at = after_newline(body, start);
                let line = body[start..parser.at].trim_ascii_end();
                batch.refuse(lines.number(start), *refusal, start..start + line.len());
            }
        }
    }
}

impl Parser<'_> {
    /// Reads the line that begins here; returns false if the batch is full before it.
    #[inline]
    fn line(&mut self, lines: &mut Lines<'_>, batch: &mut Batch<'_>) -> Taken<bool> {
        let start = self.at;
        if !batch.path().is_empty() {
            return self.document(lines, batch);
        }
        self.named_row(batch)?;
        self.end_line(start)?;
        batch.keep(|| lines.number(start))
    }

    fn named_row(&mut self, batch: &mut Batch<'_>) -> Taken<()> {
        self.row(batch.table, batch.limits)?;
        if self.named { Ok(()) } else { refuse("it names no field") }
    }

    /// Reads the rows under the path. The whole line is valid JSON here, so a refused row leaves the others.
    fn document(&mut self, lines: &mut Lines<'_>, batch: &mut Batch<'_>) -> Taken<bool> {
        let line = self.at;
        let rows = self.find_rows(batch.path())?;
        if !batch.has_room(rows.len()) {
            return Ok(false);
        }
        let end = self.at;
        for start in rows {
            self.at = start;
            let taken = self.named_row(batch).and_then(|()| batch.keep_whole(|| lines.number(line)));
            if let Err(refusal) = taken {
                self.at = start;
                self.pass_value()?;
                batch.refuse(lines.number(line), *refusal, start..self.at);
            }
        }
        self.at = end;
        Ok(true)
    }
}
