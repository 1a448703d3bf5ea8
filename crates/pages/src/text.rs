//! Texts, plain and delta-encoded.

use crate::dictionary::Dictionary;
use crate::encoding;
use crate::read::room;
use crate::{Error, Result, delta};

const NOT_UTF8: Error = Error::damaged("a text is not UTF-8");

/// Appends `count` texts.
pub fn read(of: i32, body: &[u8], count: usize, texts: &mut Dictionary) -> Result<()> {
    match of {
        encoding::PLAIN => plain(body, count, texts),
        encoding::DELTA_LENGTH_BYTE_ARRAY => lengths(body, count, texts),
        encoding::DELTA_BYTE_ARRAY => prefixes(body, count, texts),
        _ => Err(Error::Unsupported),
    }
}

fn push(texts: &mut Dictionary, bytes: &[u8]) -> Result<()> {
    texts.push(std::str::from_utf8(bytes).map_err(|_| NOT_UTF8)?);
    Ok(())
}

/// PLAIN: each text follows its length.
fn plain(mut body: &[u8], count: usize, texts: &mut Dictionary) -> Result<()> {
    for _ in 0..count {
        let (length, rest) = body.split_first_chunk::<4>().ok_or(Error::SHORT)?;
        body = rest;
        push(texts, body.split_off(..u32::from_le_bytes(*length) as usize).ok_or(Error::SHORT)?)?;
    }
    Ok(())
}

/// `DELTA_LENGTH_BYTE_ARRAY`: all lengths, then all texts.
fn lengths(mut body: &[u8], count: usize, texts: &mut Dictionary) -> Result<()> {
    let mut lengths = Vec::with_capacity(room(count));
    delta::read(&mut body, count, &mut lengths)?;
    for length in lengths {
        let length = usize::try_from(length).map_err(|_| Error::SHORT)?;
        push(texts, body.split_off(..length).ok_or(Error::SHORT)?)?;
    }
    Ok(())
}

/// `DELTA_BYTE_ARRAY`: lengths shared with the previous text, then the suffixes.
fn prefixes(mut body: &[u8], count: usize, texts: &mut Dictionary) -> Result<()> {
    let mut shared = Vec::with_capacity(room(count));
    delta::read(&mut body, count, &mut shared)?;
    let mut lengths = Vec::with_capacity(room(count));
    delta::read(&mut body, count, &mut lengths)?;
    let mut text: Vec<u8> = Vec::new();
    for (shared, length) in shared.into_iter().zip(lengths) {
        let length = usize::try_from(length).map_err(|_| Error::SHORT)?;
        let rest = body.split_off(..length).ok_or(Error::SHORT)?;
        let shared = usize::try_from(shared).ok().filter(|shared| *shared <= text.len()).ok_or(Error::SHORT)?;
        text.truncate(shared);
        text.extend_from_slice(rest);
        push(texts, &text)?;
    }
    Ok(())
}
