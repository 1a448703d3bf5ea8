//! Builds a segment's secondary index while its rows are written.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::Schema;

use super::format::{self, BLOCK_ENTRIES, Block, Column, Form, Index, MAGIC, hash, push_section};
use super::{keys, path_of};
use crate::error::TableError;
use crate::new_file::NewFile;
use crate::prefix::shared;
use disk::Disk;
use pages::varint;

/// Bits of an entry that hold its row group; the key is above them.
const GROUP_BITS: u32 = 32;
const LEVEL: i32 = 1;

pub(crate) struct LookupWriter {
    path: PathBuf,
    columns: Vec<Collected>,
}

struct Collected {
    name: String,
    /// The column's position in a batch.
    place: usize,
    keys: Keys,
}

enum Keys {
    /// Key and row group, packed.
    Numbers(Vec<u128>),
    Texts(Texts),
}

/// Keys, contiguous in memory.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    groups: Vec<u32>,
}

impl LookupWriter {
    /// Starts the index of `segment`; `None` if no column is indexed.
    pub(crate) fn new(segment: &Path, schema: &Schema, columns: &[String]) -> Option<Self> {
        let collected = |name: &String| {
            let place = schema.index_of(name).ok()?;
            let is_number = keys::numbers(&*arrow::array::new_empty_array(schema.field(place).data_type())).is_some();
            let keys = if is_number { Keys::Numbers(Vec::new()) } else { Keys::Texts(Texts::default()) };
            Some(Collected { name: name.clone(), place, keys })
        };
        let columns: Vec<_> = columns.iter().filter_map(collected).collect();
        (!columns.is_empty()).then(|| Self { path: path_of(segment), columns })
    }

    pub(crate) fn add(&mut self, rows: &RecordBatch, group: usize) {
        for column in &mut self.columns {
            column.keys.add(rows.column(column.place), group as u32);
        }
    }

    /// Writes, syncs and names the file. `rows` and `groups` are those of the segment.
    pub(crate) fn finish(self, disk: Arc<dyn Disk>, rows: u64, groups: usize) -> Result<(), TableError> {
        let mut file = NewFile::create(disk, &self.path)?;
        let written = write(&mut file, self.columns, rows, groups);
        written.map_err(TableError::io("write", &self.path))?;
        file.finish().map(drop)
    }
}

fn write(file: &mut NewFile, columns: Vec<Collected>, rows: u64, groups: usize) -> io::Result<()> {
    let mut index = Index { rows, groups, columns: Vec::new() };
    let mut blocks = Blocks::new(groups)?;
    for column in columns {
        // Sort and free one column at a time, to limit memory.
        let (form, last) = column.keys.encode(&mut blocks)?;
        index.columns.push(Column { name: column.name, form, blocks: std::mem::take(&mut blocks.done), last });
    }
    let raw = index.to_bytes();
    let stored = blocks.compressor.compress(&raw)?;
    let at = blocks.out.len() as u64;
    let mut out = blocks.out;
    out.extend_from_slice(&stored);
    for n in [at, stored.len() as u64, raw.len() as u64] {
        out.extend_from_slice(&n.to_le_bytes());
    }
    let hash = hash(&out[at as usize..]);
    out.extend_from_slice(&hash.to_le_bytes());
    out.extend_from_slice(MAGIC);
    debug_assert_eq!(out.len() as u64 - at, (stored.len() + format::TAIL_BYTES) as u64);
    file.write_all(&out)
}

impl Keys {
    fn add(&mut self, column: &dyn Array, group: u32) {
        match self {
            Self::Numbers(entries) => {
                let Some(numbers) = keys::numbers(column) else { return };
                entries.reserve(numbers.len());
                // Skip repetitions of the previous row at once: they are common, for example in dates.
                let mut last = entries.last().copied();
                for (row, number) in numbers.into_iter().enumerate() {
                    let entry = u128::from(number) << GROUP_BITS | u128::from(group);
                    if last != Some(entry) && column.is_valid(row) {
                        entries.push(entry);
                        last = Some(entry);
                    }
                }
            }
            Self::Texts(texts) => keys::each_key(column, |key| texts.add(keys::stored(key), group)),
        }
    }

    /// Writes the sorted entries. Returns their form and the last key.
    fn encode(self, blocks: &mut Blocks) -> io::Result<(Form, Vec<u8>)> {
        match self {
            Self::Numbers(entries) => blocks.numbers(Vec::new(), size_of::<u64>(), entries),
            Self::Texts(texts) => match texts.as_numbers() {
                Some((prefix, width, entries)) => {
                    drop(texts);
                    blocks.numbers(prefix, width, entries)
                }
                None => blocks.texts(&texts),
            },
        }
    }
}

impl Texts {
    fn add(&mut self, key: &[u8], group: u32) {
        let last = self.ends.len().wrapping_sub(1);
        if self.groups.last() == Some(&group) && self.get(last) == key {
            return;
        }
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
        self.groups.push(group);
    }

    fn get(&self, i: usize) -> &[u8] {
        let from = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[from..self.ends[i]]
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|i| self.get(i))
    }

    fn prefix(&self) -> &[u8] {
        let Some(first) = self.iter().next() else { return &[] };
        self.iter().fold(first, |prefix, key| &prefix[..shared(prefix, key)])
    }

    /// For keys of equal length that differ in at most 8 bytes, such as telephone numbers: their common prefix, the
    /// number of remaining bytes, and these bytes as numbers.
    fn as_numbers(&self) -> Option<(Vec<u8>, usize, Vec<u128>)> {
        let length = self.iter().next()?.len();
        if self.iter().any(|key| key.len() != length) {
            return None;
        }
        let prefix = self.prefix();
        let width = length - prefix.len();
        if width > size_of::<u64>() {
            return None;
        }
        let entry = |(key, group): (&[u8], &u32)| {
            u128::from(big_endian(&key[prefix.len()..])) << GROUP_BITS | u128::from(*group)
        };
        Some((prefix.to_vec(), width, self.iter().zip(&self.groups).map(entry).collect()))
    }

    /// Indices of the entries, sorted by key and row group.
    fn order(&self) -> Vec<usize> {
        let skip = self.prefix().len();
        let head = |i: usize| {
            let rest = &self.get(i)[skip..];
            let mut head = [0; size_of::<u64>()];
            let bytes = rest.len().min(head.len());
            head[..bytes].copy_from_slice(&rest[..bytes]);
            u64::from_be_bytes(head)
        };
        let mut order: Vec<(u64, usize)> = (0..self.ends.len()).map(|i| (head(i), i)).collect();
        order.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| (self.get(a.1), self.groups[a.1]).cmp(&(self.get(b.1), self.groups[b.1])))
        });
        order.into_iter().map(|(_, i)| i).collect()
    }
}

/// Up to 8 bytes as a number; keys of equal length have the same order as their numbers.
pub(super) fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Encodes the blocks of one column at a time.
struct Blocks {
    groups: usize,
    compressor: zstd::bulk::Compressor<'static>,
    out: Vec<u8>,
    done: Vec<Block>,
}

impl Blocks {
    fn new(groups: usize) -> io::Result<Self> {
        Ok(Self { groups, compressor: zstd::bulk::Compressor::new(LEVEL)?, out: Vec::new(), done: Vec::new() })
    }

    fn numbers(&mut self, prefix: Vec<u8>, width: usize, mut entries: Vec<u128>) -> io::Result<(Form, Vec<u8>)> {
        entries.sort_unstable();
        entries.dedup();
        let number = |entry: &u128| (entry >> GROUP_BITS) as u64;
        let key = |entry: &u128| [&prefix[..], &number(entry).to_be_bytes()[size_of::<u64>() - width..]].concat();
        let mut steps = Vec::new();
        for chunk in entries.chunks(BLOCK_ENTRIES) {
            steps.clear();
            let mut last = number(&chunk[0]);
            for entry in chunk {
                varint::push(&mut steps, number(entry) - last);
                last = number(entry);
            }
            self.push(key(&chunk[0]), &[&steps], chunk.iter().map(|entry| *entry as u32))?;
        }
        let last = entries.last().map(key).unwrap_or_default();
        Ok((Form::Number { prefix, width }, last))
    }

    fn texts(&mut self, texts: &Texts) -> io::Result<(Form, Vec<u8>)> {
        let mut order = texts.order();
        order.dedup_by(|a, b| texts.groups[*a] == texts.groups[*b] && texts.get(*a) == texts.get(*b));
        let (mut lengths, mut bytes) = (Vec::new(), Vec::new());
        for chunk in order.chunks(BLOCK_ENTRIES) {
            lengths.clear();
            bytes.clear();
            let mut last = texts.get(chunk[0]);
            for &i in chunk {
                let key = texts.get(i);
                let kept = shared(last, key);
                varint::push(&mut lengths, kept as u64);
                varint::push(&mut lengths, (key.len() - kept) as u64);
                bytes.extend_from_slice(&key[kept..]);
                last = key;
            }
            self.push(texts.get(chunk[0]).to_vec(), &[&lengths, &bytes], chunk.iter().map(|&i| texts.groups[i]))?;
        }
        let last = order.last().map(|&i| texts.get(i).to_vec()).unwrap_or_default();
        Ok((Form::Text, last))
    }

    /// Finishes a block: sections of keys, then the entries' row groups if there are several.
    fn push(&mut self, first: Vec<u8>, keys: &[&[u8]], entries: impl ExactSizeIterator<Item = u32>) -> io::Result<()> {
        let mut raw = Vec::new();
        varint::push(&mut raw, entries.len() as u64);
        keys.iter().for_each(|section| push_section(&mut raw, section));
        let mut groups = vec![0; self.groups.div_ceil(8)];
        for group in entries {
            groups[group as usize / 8] |= 1 << (group % 8);
            if self.groups > 1 {
                varint::push(&mut raw, u64::from(group));
            }
        }
        let stored = self.compressor.compress(&raw)?;
        let at = self.out.len() as u64;
        let (bytes, raw_bytes, hash) = (stored.len(), raw.len(), hash(&stored));
        self.done.push(Block { first, at, bytes, raw_bytes, hash, groups });
        self.out.extend_from_slice(&stored);
        Ok(())
    }
}
