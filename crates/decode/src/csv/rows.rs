//! Rows under their header.

use super::Reader;
use crate::batch::Batch;
use crate::error::DecodeError;
use crate::lines::Lines;

/// Reads complete lines at the start of `bytes`, possibly not all; returns the bytes read. The first line is the
/// header.
pub(crate) fn read(
    body: &[u8],
    last: bool,
    header: &mut Option<Vec<Box<[u8]>>>,
    lines: &mut Lines<'_>,
    batch: &mut Batch<'_>,
) -> Result<usize, DecodeError> {
    // Every quote may be doubled.
    let reach = batch.limits.text_bytes_max.saturating_mul(2);
    let mut reader = Reader::new(body, reach, last);
    if header.is_none() {
        if body.is_empty() {
            return Ok(0);
        }
        let names = reader.header(batch.limits);
        let whole = if names.is_ok() { reader.at < body.len() } else { reader.line_end(0).is_some() };
        if !last && !whole {
            return Ok(0);
        }
        *header = Some(names?);
    }
    let header = header.as_deref().unwrap_or_default();
    loop {
        reader.pass_blank();
        let start = reader.at;
        if start == body.len() || batch.is_full() {
            return Ok(start);
        }
        let taken = reader.cells(header, batch.table, batch.limits);
        if !last && reader.at == body.len() {
            batch.table.rollback();
            return Ok(start);
        }
        match taken.and_then(|()| batch.keep(|| lines.number(start))) {
            Ok(true) => {}
            Ok(false) => return Ok(start),
            Err(refusal) => {
                let Some(end) = reader.line_end(start) else {
                    batch.table.rollback();
                    return Ok(start);
                };
                reader.at = end;
                let line = body[start..end].strip_suffix(b"\n").unwrap_or(&body[start..end]);
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                batch.refuse(lines.number(start), *refusal, start..start + line.len());
            }
        }
    }
}
