//! Definition and repetition levels: which rows are NULL, and where lists begin.

use crate::encoding;
use crate::header::{Header, PageKind};
use crate::read::room;
use crate::{Error, Result, hybrid};

/// Appends levels of `width` bits as runs (count, level), after their length as version 1 data pages store it.
pub fn push_level_runs(out: &mut Vec<u8>, runs: &[(usize, u32)], width: u32) {
    with_length(out, |out| {
        for &(count, level) in runs.iter().filter(|(count, _)| *count > 0) {
            hybrid::push_run(out, count, level, width);
        }
    });
}

/// Appends levels of 0 and 1 after their length.
pub fn push_levels(out: &mut Vec<u8>, levels: &[u8]) {
    if levels.iter().all(|&level| level == 1) {
        push_level_runs(out, &[(levels.len(), 1)], 1);
    } else {
        with_length(out, |out| hybrid::push_packed(out, levels, 1));
    }
}

fn with_length(out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    push(out);
    let length = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

/// Removes the repetition levels of a list column from the front of a page's body. They come first.
pub fn repetition_levels<'a>(header: &Header, body: &mut &'a [u8]) -> Result<&'a [u8]> {
    match header.kind {
        PageKind::Data2 { repetitions, .. } => cut(body, Some(repetitions)),
        _ => cut(body, None),
    }
}

/// Removes the definition levels of a column with NULLs or lists from the front of a page's body.
pub fn definition_levels<'a>(header: &Header, body: &mut &'a [u8]) -> Result<&'a [u8]> {
    match header.kind {
        PageKind::Data2 { definitions, .. } => cut(body, Some(definitions)),
        _ if header.level_encoding != encoding::RLE => Err(Error::Unsupported),
        _ => cut(body, None),
    }
}

/// Removes `length` bytes from the front, or as many as the first four bytes say.
fn cut<'a>(body: &mut &'a [u8], length: Option<usize>) -> Result<&'a [u8]> {
    let length = if let Some(length) = length {
        length
    } else {
        let (length, rest) = body.split_first_chunk::<4>().ok_or(Error::SHORT)?;
        *body = rest;
        u32::from_le_bytes(*length) as usize
    };
    body.split_off(..length).ok_or(Error::SHORT)
}

/// Removes the levels from `body` and returns which rows are not NULL; `None` if all are. For columns without lists.
pub(crate) fn presence(header: &Header, body: &mut &[u8], level_max: i16) -> Result<Option<Vec<bool>>> {
    if level_max == 0 {
        return Ok(None);
    }
    let levels = definition_levels(header, body)?;
    if hybrid::is_one_run(levels, header.values, 1) {
        return Ok(None);
    }
    let mut present: Vec<u8> = Vec::with_capacity(room(header.values));
    hybrid::read(levels, 1, header.values, &mut present)?;
    Ok(Some(present.into_iter().map(|level| level == 1).collect()))
}
