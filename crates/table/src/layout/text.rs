//! Columns of texts or bytes with common prefixes.
//!
//! Parquet's `DELTA_BYTE_ARRAY` stores the length of a prefix that each value shares with the previous one, and the rest.
//! For random texts with a common start (telephone numbers), the varying lengths of the longest such prefix cost more than
//! they save. If all values of a page share only the page's common prefix, the lengths compress to almost no bytes, and
//! the compressor sees only the differences.

use arrow::array::{ArrayRef, AsArray, GenericByteArray};
use arrow::datatypes::{ByteArrayType, DataType};
use pages::{Bounds, ChunkWriter, EncodedColumn, delta};
use parquet::basic::Encoding;
use parquet::errors::Result;

use super::extras::Extras;
use super::values::{Value, Values};
use crate::prefix::shared;

impl Value for &[u8] {
    const HAS_LENGTH: bool = true;

    fn bytes(self) -> impl AsRef<[u8]> {
        self
    }

    fn bounds(values: &[Self]) -> Option<Bounds> {
        // Most texts are within the bounds so far, which their first bytes show faster than a comparison.
        let first = *values.first()?;
        let (mut low, mut high) = ((head(first), first), (head(first), first));
        for &text in values {
            let head = head(text);
            if head <= low.0 {
                low = low.min((head, text));
            }
            if head >= high.0 {
                high = high.max((head, text));
            }
        }
        Some(Bounds::Bytes(low.1.to_vec(), high.1.to_vec()))
    }

    fn order(distinct: &[Self]) -> Option<Vec<u32>> {
        let mut ordered: Vec<u32> = (0..distinct.len() as u32).collect();
        ordered.sort_unstable_by_key(|place| distinct[*place as usize]);
        Some(ordered)
    }
}

pub(super) fn texts(parts: &[ArrayRef]) -> Values<&[u8]> {
    fn push<'a, T>(values: &mut Values<&'a [u8]>, part: &'a GenericByteArray<T>)
    where
        T: ByteArrayType<Offset = i32>,
    {
        let bytes = part.value_data();
        values.push(part, part.value_offsets().windows(2).map(|ends| &bytes[ends[0] as usize..ends[1] as usize]));
    }
    Values::of(parts, |values, part| match part.data_type() {
        DataType::Utf8 => push(values, part.as_string::<i32>()),
        _ => push(values, part.as_binary::<i32>()),
    })
}

/// The first eight bytes, as a number that orders texts that differ in these.
fn head(text: &[u8]) -> u64 {
    let head = text.first_chunk().copied().unwrap_or_else(|| {
        let mut head = [0; 8];
        head[..text.len()].copy_from_slice(text);
        head
    });
    u64::from_be_bytes(head)
}

/// What each value of a page shares with the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// The common prefix of all values.
    Common,
    /// As much as possible.
    Longest,
}

/// Encodes the length of the prefix and the rest of each value.
pub(super) fn encode_prefixes(
    prefix: Prefix,
    chunk: ChunkWriter<'_>,
    values: &Values<&[u8]>,
    nullable: bool,
    extras: Extras,
) -> Result<EncodedColumn> {
    let mut page = Page::default();
    values.write(chunk, nullable, extras, &values.valid, |out, rows| {
        page.push(out, &values.valid[rows], prefix);
        Encoding::DELTA_BYTE_ARRAY
    })
}

/// Reusable buffers of a page.
#[derive(Default)]
struct Page {
    shared: Vec<i64>,
    lengths: Vec<i64>,
    suffixes: Vec<u8>,
}

impl Page {
    fn push(&mut self, out: &mut Vec<u8>, values: &[&[u8]], prefix: Prefix) {
        self.shared.clear();
        self.lengths.clear();
        self.suffixes.clear();
        let common = if prefix == Prefix::Common { common_prefix(values) } else { 0 };
        // The first value has no predecessor.
        let mut before: &[u8] = &[];
        for value in values {
            let shared = match prefix {
                Prefix::Common => common.min(before.len()),
                Prefix::Longest => shared(before, value),
            };
            let suffix = &value[shared..];
            self.shared.push(shared as i64);
            self.lengths.push(suffix.len() as i64);
            self.suffixes.extend_from_slice(suffix);
            before = value;
        }
        delta::push(out, &self.shared);
        delta::push(out, &self.lengths);
        out.extend_from_slice(&self.suffixes);
    }
}

fn common_prefix(values: &[&[u8]]) -> usize {
    let Some(mut prefix) = values.first().copied() else { return 0 };
    for value in values {
        // Almost always true after the first values.
        if !value.starts_with(prefix) {
            prefix = &prefix[..shared(prefix, value)];
        }
    }
    prefix.len()
}
