//! One log entry: the rows of one request, with a position, an optional key, and a checksum.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | length of the rows |
//! | 4 | 1 with a key, else 0 |
//! | 8 | position: 1, 2, 3 ... in the life of the table |
//! | 16 | key |
//! | 8 | checksum (XXH64) of all of the above and of the rows |
//! | length | the rows, an Arrow IPC stream of one batch |
//!
//! Numbers are little-endian.

use std::hash::Hasher as _;
use std::io::Cursor;

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamEncoder;
use twox_hash::XxHash64;

/// Bytes before the rows.
const HEAD: usize = 40;
const CHECKSUM: std::ops::Range<usize> = 32..40;

/// The sender's name for a request: repeated requests are stored once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub u128);

impl Key {
    /// The key of a text: a 128-bit hash.
    pub fn of(text: &str) -> Self {
        let [high, low] = [0, 1].map(|seed| u128::from(XxHash64::oneshot(seed, text.as_bytes())));
        Self(high << 64 | low)
    }
}

/// An entry to write.
#[derive(Debug)]
pub(crate) struct NewEntry {
    /// Complete once the position is known.
    head: [u8; HEAD],
    /// An Arrow IPC stream that shares the memory of the rows.
    rows: Vec<Buffer>,
    key: Option<Key>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Entry<'a> {
    pub(crate) position: u64,
    pub(crate) key: Option<Key>,
    rows: &'a [u8],
}

impl NewEntry {
    pub(crate) fn new(rows: &RecordBatch, key: Option<Key>) -> Result<Self, ArrowError> {
        let mut encoder = StreamEncoder::try_new(rows.schema_ref())?;
        let mut parts = encoder.encode(rows)?;
        parts.append(&mut encoder.finish()?);
        Ok(Self { head: [0; HEAD], rows: parts, key })
    }

    pub(crate) fn key(&self) -> Option<Key> {
        self.key
    }

    /// Completes its head, for a position.
    pub(crate) fn seal(&mut self, position: u64) {
        let length = (self.len() - HEAD) as u32;
        self.head[..4].copy_from_slice(&length.to_le_bytes());
        self.head[4..8].copy_from_slice(&u32::from(self.key.is_some()).to_le_bytes());
        self.head[8..16].copy_from_slice(&position.to_le_bytes());
        self.head[16..32].copy_from_slice(&self.key.unwrap_or(Key(0)).0.to_le_bytes());
        let checksum = checksum(&self.head, self.rows.iter().map(Buffer::as_slice));
        self.head[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    }

    /// Its bytes in the log, after [`Self::seal`].
    pub(crate) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        std::iter::once(&self.head[..]).chain(self.rows.iter().map(Buffer::as_slice))
    }

    pub(crate) fn len(&self) -> usize {
        HEAD + self.rows.iter().map(Buffer::len).sum::<usize>()
    }
}

impl<'a> Entry<'a> {
    /// Bytes of an entry's head.
    pub(crate) const HEAD: usize = HEAD;

    /// An entry's position and length, from its head alone, without a check of its checksum. `None` for zeros.
    pub(crate) fn place(head: &[u8; HEAD]) -> Option<(u64, u64)> {
        let length = u32::from_le_bytes(head[..4].try_into().ok()?);
        let position = u64::from_le_bytes(head[8..16].try_into().ok()?);
        (length > 0).then(|| (position, HEAD as u64 + u64::from(length)))
    }

    /// Takes the first entry off `bytes`; `None` without a complete one.
    pub(crate) fn take(bytes: &mut &'a [u8]) -> Option<Self> {
        let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
        let whole = bytes.get(..HEAD.checked_add(length)?)?;
        let stored = u64::from_le_bytes(whole[CHECKSUM].try_into().ok()?);
        // Every entry has rows, so a run of zeros is not an entry.
        if length == 0 || checksum(&whole[..HEAD], std::iter::once(&whole[HEAD..])) != stored {
            return None;
        }
        *bytes = &bytes[whole.len()..];
        let position = u64::from_le_bytes(whole[8..16].try_into().ok()?);
        let key = Key(u128::from_le_bytes(whole[16..32].try_into().ok()?));
        Some(Self { position, key: (whole[4] == 1).then_some(key), rows: &whole[HEAD..] })
    }

    pub(crate) fn rows(&self) -> Result<RecordBatch, ArrowError> {
        let mut reader = StreamReader::try_new(Cursor::new(self.rows), None)?;
        reader.next().unwrap_or_else(|| Err(ArrowError::IpcError("the entry has no rows".to_owned())))
    }
}

/// Covers the whole entry except the checksum itself.
fn checksum<'a>(head: &[u8], rows: impl Iterator<Item = &'a [u8]>) -> u64 {
    let mut hasher = XxHash64::with_seed(XxHash64::oneshot(0, &head[..CHECKSUM.start]));
    rows.for_each(|part| hasher.write(part));
    hasher.finish()
}
