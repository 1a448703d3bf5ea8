//! The file format of secondary indexes.

use twox_hash::XxHash64;

use pages::varint;

pub(super) const BLOCK_ENTRIES: usize = 2048;
/// The last bytes of a file.
pub(super) const MAGIC: &[u8; 8] = b"MWLOOK01";
/// The tail: offset, length and uncompressed length of the index, the hash of these and of the index, and [`MAGIC`].
pub(super) const TAIL_BYTES: usize = 40;
/// Bytes at the start of the tail that the hash covers.
pub(super) const HASHED_TAIL_BYTES: usize = 24;

pub(super) fn hash(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Index {
    pub(super) rows: u64,
    pub(super) groups: usize,
    pub(super) columns: Vec<Column>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) form: Form,
    /// Blocks, in the order of their keys.
    pub(super) blocks: Vec<Block>,
    /// The last key; empty if the column has none.
    pub(super) last: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// All keys consist of `prefix` and `width` bytes (at most 8) that form a number. Stores deltas.
    Number { prefix: Vec<u8>, width: usize },
    /// Arbitrary keys. Stores the length shared with the previous key, and the rest.
    Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) first: Vec<u8>,
    pub(super) at: u64,
    pub(super) bytes: usize,
    pub(super) raw_bytes: usize,
    pub(super) hash: u64,
    /// One bit per row group that occurs in the block.
    pub(super) groups: Vec<u8>,
}

impl Index {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for n in [self.rows, self.groups as u64, self.columns.len() as u64] {
            varint::push(&mut out, n);
        }
        for column in &self.columns {
            push_section(&mut out, column.name.as_bytes());
            let (prefix, width) = match &column.form {
                Form::Number { prefix, width } => (&prefix[..], *width as u64),
                Form::Text => (&[][..], TEXT),
            };
            varint::push(&mut out, width);
            push_section(&mut out, prefix);
            varint::push(&mut out, column.blocks.len() as u64);
            for block in &column.blocks {
                push_section(&mut out, &block.first);
                for n in [block.at, block.bytes as u64, block.raw_bytes as u64] {
                    varint::push(&mut out, n);
                }
                out.extend_from_slice(&block.hash.to_le_bytes());
                out.extend_from_slice(&block.groups);
            }
            push_section(&mut out, &column.last);
        }
        out
    }

    /// Parses the format of [`Self::to_bytes`]; `None` if invalid.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut from = Cursor(bytes);
        let (rows, groups, columns) = (from.varint()?, from.varint()? as usize, from.varint()?);
        let mut index = Self { rows, groups, columns: Vec::new() };
        for _ in 0..columns {
            let name = String::from_utf8(from.section()?.to_vec()).ok()?;
            let width = from.varint()?;
            let prefix = from.section()?.to_vec();
            let form = if width == TEXT { Form::Text } else { Form::Number { prefix, width: width as usize } };
            let mut blocks = Vec::new();
            for _ in 0..from.varint()? {
                blocks.push(Block {
                    first: from.section()?.to_vec(),
                    at: from.varint()?,
                    bytes: from.varint()? as usize,
                    raw_bytes: from.varint()? as usize,
                    hash: u64::from_le_bytes(from.take(8)?.try_into().ok()?),
                    groups: from.take(groups.div_ceil(8))?.to_vec(),
                });
            }
            index.columns.push(Column { name, form, blocks, last: from.section()?.to_vec() });
        }
        from.0.is_empty().then_some(index)
    }
}

/// The width that marks text keys.
const TEXT: u64 = 9;

/// Appends bytes after their length.
pub(super) fn push_section(out: &mut Vec<u8>, bytes: &[u8]) {
    varint::push(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads from the front of a slice.
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        self.0.split_off(..count)
    }

    pub(super) fn section(&mut self) -> Option<&'a [u8]> {
        let count = self.varint()?;
        self.take(usize::try_from(count).ok()?)
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        varint::read(&mut self.0)
    }
}
