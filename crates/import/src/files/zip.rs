//! Arrays of NumPy's format `.npz`: a ZIP archive of `.npy` files, stored or deflated.

use std::fs::File;
use std::io::{BufReader, Read, Seek as _, SeekFrom};

use flate2::CrcReader;
use flate2::read::DeflateDecoder;

use super::npy::{self, Array};

/// A file of the archive, as its directory describes it.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    method: u16,
    is_encrypted: bool,
    checksum: u32,
    stored_bytes: u64,
    bytes: u64,
    /// Where its own header is.
    at: u64,
}

/// Bytes of the record at the end of an archive without its comment, and of the longest comment.
const END_BYTES: usize = 22;
const COMMENT_BYTES_MAX: u64 = 1 << 16;
/// A number that is elsewhere, because it does not fit.
const ELSEWHERE: u32 = u32::MAX;

/// All arrays of an archive, in its order.
pub(super) fn arrays(file: &mut File, limit: usize) -> Result<Vec<Array>, String> {
    let unreadable = |error: std::io::Error| format!("the archive does not read: {error}");
    let directory = directory(file).map_err(unreadable)?.ok_or("the archive has no directory, or a damaged one")?;
    let mut left = limit;
    let mut arrays = Vec::new();
    for entry in directory {
        let Some(name) = entry.name.strip_suffix(".npy") else {
            return Err(format!("the archive holds {:?}, which is no array", entry.name));
        };
        left = left
            .checked_sub(entry.bytes as usize)
            .ok_or_else(|| format!("the arrays do not fit in {} MB of memory: import them one by one", limit >> 20))?;
        arrays.push(array(file, name, &entry, limit)?);
    }
    Ok(arrays)
}

fn array(file: &mut File, name: &str, entry: &Entry, limit: usize) -> Result<Array, String> {
    let damaged = |_: std::io::Error| format!("array {name:?} is damaged");
    let mut header = [0; 30];
    file.seek(SeekFrom::Start(entry.at)).map_err(damaged)?;
    file.read_exact(&mut header).map_err(damaged)?;
    if entry.is_encrypted || !header.starts_with(b"PK\x03\x04") {
        return Err(format!("array {name:?} is encrypted or damaged"));
    }
    let skipped = u16_at(&header, 26).zip(u16_at(&header, 28)).map_or(0, |(a, b)| i64::from(a) + i64::from(b));
    file.seek(SeekFrom::Current(skipped)).map_err(damaged)?;
    let stored = BufReader::new((&*file).take(entry.stored_bytes));
    let read = |mut from: CrcReader<Box<dyn Read + '_>>| {
        let array = npy::read(name.to_owned(), &mut from, limit)?;
        let is_whole = from.crc().sum() == entry.checksum;
        if is_whole { Ok(array) } else { Err(format!("array {name:?} is damaged: its checksum differs")) }
    };
    match entry.method {
        0 => read(CrcReader::new(Box::new(stored))),
        8 => read(CrcReader::new(Box::new(DeflateDecoder::new(stored)))),
        method => Err(format!("array {name:?} is compressed by method {method}: only deflate is supported")),
    }
}

/// The entries of an archive; `None` if they do not read.
fn directory(file: &mut File) -> std::io::Result<Option<Vec<Entry>>> {
    let length = file.seek(SeekFrom::End(0))?;
    let tail_bytes = length.min(COMMENT_BYTES_MAX + END_BYTES as u64);
    let tail = read_at(file, length - tail_bytes, tail_bytes)?;
    let Some(end) = tail.windows(END_BYTES).rposition(|bytes| bytes.starts_with(b"PK\x05\x06")) else {
        return Ok(None);
    };
    let record = &tail[end..];
    let mut place = u32_at(record, 12).zip(u32_at(record, 16)).map(|(bytes, at)| (u64::from(bytes), u64::from(at)));
    if let Some(locator) = end.checked_sub(20).map(|at| &tail[at..end]).filter(|l| l.starts_with(b"PK\x06\x07")) {
        let large = read_at(file, u64_at(locator, 8).unwrap_or(length), 56)?;
        place = u64_at(&large, 40).zip(u64_at(&large, 48));
    }
    let Some((bytes, at)) = place.filter(|(bytes, at)| at.checked_add(*bytes).is_some_and(|end| end <= length)) else {
        return Ok(None);
    };
    Ok(entries(&read_at(file, at, bytes)?))
}

fn entries(mut directory: &[u8]) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    while directory.starts_with(b"PK\x01\x02") {
        let number = |at| u16_at(directory, at).map(usize::from);
        let (name_bytes, extra_bytes) = (number(28)?, number(30)?);
        let name = directory.get(46..46 + name_bytes)?;
        let extra = directory.get(46 + name_bytes..46 + name_bytes + extra_bytes)?;
        let mut large = large_numbers(extra);
        let mut size = |at| match u32_at(directory, at)? {
            ELSEWHERE => large.next(),
            size => Some(u64::from(size)),
        };
        // The order of the numbers that are elsewhere.
        let bytes = size(24)?;
        let stored_bytes = size(20)?;
        let at = size(42)?;
        entries.push(Entry {
            name: String::from_utf8_lossy(name).into_owned(),
            method: u16_at(directory, 10)?,
            is_encrypted: u16_at(directory, 8)? & 1 == 1,
            checksum: u32_at(directory, 16)?,
            stored_bytes,
            bytes,
            at,
        });
        directory = directory.get(46 + name_bytes + extra_bytes + number(32)?..)?;
    }
    Some(entries)
}

/// The 64-bit numbers of an entry.
fn large_numbers(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut numbers: &[u8] = &[];
    while let (Some(id), Some(bytes)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let end = 4 + usize::from(bytes);
        if id == 1 {
            numbers = extra.get(4..end).unwrap_or_default();
        }
        extra = extra.get(end..).unwrap_or_default();
    }
    let (numbers, _) = numbers.as_chunks::<8>();
    numbers.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

fn read_at(file: &mut File, at: u64, bytes: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut read = Vec::new();
    file.take(bytes).read_to_end(&mut read)?;
    Ok(read)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}
