//! Texts one after another, and texts that begin alike.

use super::{Fault, Read, SHORT, delta, room};
use crate::column::Words;

const NO_TEXT: Fault = Fault::Broken("a text is no UTF-8");

fn push(words: &mut Words, bytes: &[u8]) -> Read<()> {
    words.push(std::str::from_utf8(bytes).map_err(|_| NO_TEXT)?);
    Ok(())
}

/// Each with its length before it.
pub(super) fn plain(mut body: &[u8], count: usize, words: &mut Words) -> Read<()> {
    for _ in 0..count {
        let (length, rest) = body.split_first_chunk::<4>().ok_or(SHORT)?;
        let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(SHORT)?;
        push(words, text)?;
        body = rest;
    }
    Ok(())
}

/// First all lengths (`DELTA_LENGTH_BYTE_ARRAY`).
pub(super) fn lengths(mut body: &[u8], count: usize, words: &mut Words) -> Read<()> {
    let mut lengths = Vec::with_capacity(room(count));
    delta::read(&mut body, count, &mut lengths)?;
    for length in lengths {
        let (text, rest) = body.split_at_checked(usize::try_from(length).map_err(|_| SHORT)?).ok_or(SHORT)?;
        push(words, text)?;
        body = rest;
    }
    Ok(())
}

/// How much each shares with the one before, then what follows that (`DELTA_BYTE_ARRAY`).
pub(super) fn prefixes(mut body: &[u8], count: usize, words: &mut Words) -> Read<()> {
    let mut shared = Vec::with_capacity(room(count));
    delta::read(&mut body, count, &mut shared)?;
    let mut lengths = Vec::with_capacity(room(count));
    delta::read(&mut body, count, &mut lengths)?;
    let mut text: Vec<u8> = Vec::new();
    for (shared, length) in shared.into_iter().zip(lengths) {
        let (rest, after) = body.split_at_checked(usize::try_from(length).map_err(|_| SHORT)?).ok_or(SHORT)?;
        let shared = usize::try_from(shared).ok().filter(|shared| *shared <= text.len()).ok_or(SHORT)?;
        text.truncate(shared);
        text.extend_from_slice(rest);
        push(words, &text)?;
        body = after;
    }
    Ok(())
}
