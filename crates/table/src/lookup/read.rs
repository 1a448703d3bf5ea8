//! Looks up the row groups of keys.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::format::{Block, Column, Cursor, Form, HASHED_TAIL_BYTES, Index, MAGIC, TAIL_BYTES, hash};
use super::keys::KeyRange;
use super::path_of;
use super::write::big_endian;
use crate::log::Segment;

/// Bytes to read first, from the end of a file; usually they include the whole index.
const END_BYTES: u64 = 16 << 10;

/// The secondary index of one segment. Its blocks are read on demand.
#[derive(Debug)]
pub struct Lookup {
    path: PathBuf,
    index: Index,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// For each row group, whether it may hold a requested row; always true if it does.
    pub groups: Vec<bool>,
    pub bytes: u64,
}

impl Lookup {
    /// Opens the secondary index of a segment of the table in the folder `root`. `None` if it is missing, or damaged
    /// (logs a warning).
    pub fn open(root: &Path, segment: &Segment) -> Option<Self> {
        let path = path_of(&root.join(&segment.path));
        let file = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            opened => opened,
        };
        match file.and_then(|file| read_index(&file)) {
            Ok(index) if is_of(&index, segment) => Some(Self { path, index }),
            Ok(_) => warned(&path, &"it belongs to another segment"),
            Err(error) => warned(&path, &error),
        }
    }

    pub fn groups(&self) -> usize {
        self.index.groups
    }

    /// Approximate memory in bytes.
    pub fn memory(&self) -> usize {
        let of_block = |block: &Block| size_of::<Block>() + block.first.len() + block.groups.len();
        self.index.columns.iter().flat_map(|column| &column.blocks).map(of_block).sum()
    }

    /// The row groups that have a key of `column` in one of the ranges; `None` if unknown.
    pub fn find(&self, column: &str, ranges: &[KeyRange]) -> Option<Found> {
        let column = self.index.columns.iter().find(|c| c.name == column)?;
        let groups = vec![false; self.index.groups];
        let mut search = Search { path: &self.path, file: None, column, groups, bytes: 0 };
        match ranges.iter().try_for_each(|range| search.range(range)) {
            Ok(()) => Some(Found { groups: search.groups, bytes: search.bytes }),
            Err(error) => warned(&self.path, &error),
        }
    }
}

#[cfg(test)]
impl Lookup {
    pub(super) fn blocks(&self) -> Vec<usize> {
        self.index.columns.iter().map(|column| column.blocks.len()).collect()
    }
}

/// Whether the index matches the segment's numbers of rows and row groups, if the log records them.
fn is_of(index: &Index, segment: &Segment) -> bool {
    (segment.rows == 0 || segment.rows == index.rows) && segment.groups().is_none_or(|groups| groups == index.groups)
}

fn warned<T>(path: &Path, reason: &dyn std::fmt::Display) -> Option<T> {
    tracing::warn!(
        "cannot use the secondary index {} ({reason}): answers are correct but slower; compacting or clustering the table \
         rebuilds it",
        path.display()
    );
    None
}

fn damaged() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the file is damaged")
}

fn read_index(file: &File) -> io::Result<Index> {
    let length = file.metadata()?.len();
    let from = length.saturating_sub(END_BYTES);
    let mut end = vec![0; (length - from) as usize];
    file.read_exact_at(&mut end, from)?;
    let tail = end.len().checked_sub(TAIL_BYTES).ok_or_else(damaged)?;
    let mut words = Cursor(&end[tail..]);
    let mut word = || Some(u64::from_le_bytes(words.take(8)?.try_into().ok()?));
    let (at, bytes, raw_bytes, hashed) = (word(), word(), word(), word());
    let (Some(at), Some(bytes), Some(raw_bytes), Some(hashed)) = (at, bytes, raw_bytes, hashed) else {
        return Err(damaged());
    };
    if words.0 != MAGIC || at.checked_add(bytes) != Some(length - TAIL_BYTES as u64) {
        return Err(damaged());
    }
    // Read a long index again as a whole.
    if at < from {
        end = vec![0; (length - at) as usize];
        file.read_exact_at(&mut end, at)?;
    }
    let index = &end[end.len() - TAIL_BYTES - bytes as usize..];
    if hash(&index[..bytes as usize + HASHED_TAIL_BYTES]) != hashed {
        return Err(damaged());
    }
    let raw = zstd::bulk::decompress(&index[..bytes as usize], raw_bytes as usize)?;
    Index::from_bytes(&raw).ok_or_else(damaged)
}

struct Search<'a> {
    path: &'a Path,
    /// Opened when the first block is read.
    file: Option<File>,
    column: &'a Column,
    groups: Vec<bool>,
    bytes: u64,
}

impl Search<'_> {
    fn range(&mut self, range: &KeyRange) -> io::Result<()> {
        let Column { blocks, last, .. } = self.column;
        let is_past = |key: &[u8]| range.to.as_ref().is_some_and(|to| key >= &to[..]);
        if blocks.is_empty() || range.from > *last {
            return Ok(());
        }
        // Entries of `from` may start in the block before the first block with that key.
        let first = blocks.partition_point(|block| block.first < range.from).saturating_sub(1);
        for (place, block) in blocks.iter().enumerate().skip(first) {
            if is_past(&block.first) || self.groups.iter().all(|found| *found) {
                break;
            }
            let is_whole = block.first >= range.from
                && match blocks.get(place + 1) {
                    Some(next) => range.to.as_ref().is_none_or(|to| next.first < *to),
                    None => !is_past(last),
                };
            let is_new = (0..self.groups.len()).any(|g| !self.groups[g] && block.groups[g / 8] >> (g % 8) & 1 == 1);
            if is_whole {
                let groups = self.groups.iter_mut().enumerate();
                groups.for_each(|(g, found)| *found |= block.groups[g / 8] >> (g % 8) & 1 == 1);
            } else if is_new {
                self.block(block, range)?;
            }
        }
        Ok(())
    }

    fn block(&mut self, block: &Block, range: &KeyRange) -> io::Result<()> {
        let mut stored = vec![0; block.bytes];
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(File::open(self.path)?),
        };
        file.read_exact_at(&mut stored, block.at)?;
        self.bytes += block.bytes as u64;
        if hash(&stored) != block.hash {
            return Err(damaged());
        }
        let raw = zstd::bulk::decompress(&stored, block.raw_bytes)?;
        let found = match &self.column.form {
            Form::Number { prefix, width } => self.numbers(&raw, block, (prefix, *width), range),
            Form::Text => self.texts(&raw, block, range),
        };
        found.ok_or_else(damaged)
    }

    fn numbers(&mut self, raw: &[u8], block: &Block, form: (&[u8], usize), range: &KeyRange) -> Option<()> {
        // No key is above the largest number.
        let Some(from) = least(&range.from, form) else { return Some(()) };
        let to = range.to.as_ref().and_then(|to| least(to, form));
        let mut raw = Cursor(raw);
        let entries = raw.varint()?;
        let mut steps = Cursor(raw.section()?);
        let mut number = big_endian(block.first.get(form.0.len()..)?);
        for _ in 0..entries {
            number = number.checked_add(steps.varint()?)?;
            let group = self.group(&mut raw)?;
            if to.is_some_and(|to| number >= to) {
                break;
            }
            if number >= from {
                *self.groups.get_mut(group)? = true;
            }
        }
        Some(())
    }

    fn texts(&mut self, raw: &[u8], block: &Block, range: &KeyRange) -> Option<()> {
        let mut raw = Cursor(raw);
        let entries = raw.varint()?;
        let mut lengths = Cursor(raw.section()?);
        let mut bytes = Cursor(raw.section()?);
        let mut key = block.first.clone();
        for _ in 0..entries {
            let (kept, more) = (lengths.varint()? as usize, lengths.varint()? as usize);
            key.truncate(kept);
            key.extend_from_slice(bytes.take(more)?);
            let group = self.group(&mut raw)?;
            if range.to.as_ref().is_some_and(|to| key >= *to) {
                break;
            }
            if key >= range.from {
                *self.groups.get_mut(group)? = true;
            }
        }
        Some(())
    }

    fn group(&self, raw: &mut Cursor<'_>) -> Option<usize> {
        if self.groups.len() > 1 { Some(raw.varint()? as usize) } else { Some(0) }
    }
}

/// The smallest number whose key (`width` bytes after `prefix`) is at or above `bound`; `None` if there is none.
fn least(bound: &[u8], (prefix, width): (&[u8], usize)) -> Option<u64> {
    let most = if width == 0 { 0 } else { u64::MAX >> (64 - 8 * width) };
    let (head, rest) = bound.split_at(bound.len().min(prefix.len()));
    match head.cmp(&prefix[..head.len()]) {
        std::cmp::Ordering::Less => Some(0),
        std::cmp::Ordering::Greater => None,
        // A bound that is a prefix of keys is below all of them.
        std::cmp::Ordering::Equal if rest.len() <= width => {
            Some(big_endian(rest).checked_shl(8 * (width - rest.len()) as u32).unwrap_or(0))
        }
        // A longer bound is above the number that it starts with.
        std::cmp::Ordering::Equal => big_endian(&rest[..width]).checked_add(1).filter(|number| *number <= most),
    }
}
