//! Columns of texts or bytes with common prefixes.
//!
//! Parquet's `DELTA_BYTE_ARRAY` stores the length of the prefix that each value shares with the previous one, and the
//! rest. The Parquet library uses the longest such prefix. For random texts with a common start (telephone numbers),
//! the varying lengths cost more than they save. Here all values of a page share only the page's common prefix. The
//! lengths compress to almost no bytes, and the compressor sees only the differences.

use arrow::array::{ArrayRef, AsArray, GenericByteArray};
use arrow::datatypes::{ByteArrayType, DataType};
use pages::{Bounds, ChunkWriter, EncodedColumn, delta};
use parquet::basic::Encoding;
use parquet::errors::Result;

use super::extras::Extras;
use super::values::{Value, Values};

impl Value for &[u8] {
    const HAS_LENGTH: bool = true;

    fn bytes(self) -> impl AsRef<[u8]> {
        self
    }

    fn bounds(values: &[Self]) -> Option<Bounds> {
        Some(Bounds::Bytes(values.iter().min()?.to_vec(), values.iter().max()?.to_vec()))
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

/// Encodes the common prefix of each page, and the rest of each value.
pub(super) fn encode_common(
    chunk: ChunkWriter<'_>,
    values: &Values<&[u8]>,
    nullable: bool,
    extras: Extras,
) -> Result<EncodedColumn> {
    let mut page = Page::default();
    values.write(chunk, nullable, extras, &values.valid, |out, rows| {
        page.push(out, &values.valid[rows]);
        Encoding::DELTA_BYTE_ARRAY
    })
}

/// Reusable buffers of a page.
#[derive(Default)]
struct Page {
    lengths: Vec<i64>,
    suffixes: Vec<u8>,
}

impl Page {
    fn push(&mut self, out: &mut Vec<u8>, values: &[&[u8]]) {
        let prefix = common_prefix(values);
        // The first value has no predecessor.
        let shared = |place: usize| if place == 0 { 0 } else { prefix };
        self.lengths.clear();
        self.lengths.extend((0..values.len()).map(|place| shared(place) as i64));
        delta::push(out, &self.lengths);
        self.lengths.clear();
        self.suffixes.clear();
        for (place, value) in values.iter().enumerate() {
            let suffix = &value[shared(place)..];
            self.lengths.push(suffix.len() as i64);
            self.suffixes.extend_from_slice(suffix);
        }
        delta::push(out, &self.lengths);
        out.extend_from_slice(&self.suffixes);
    }
}

fn common_prefix(values: &[&[u8]]) -> usize {
    let Some(mut prefix) = values.first().copied() else { return 0 };
    for value in values {
        // Almost always true after the first values.
        if !value.starts_with(prefix) {
            let alike = prefix.iter().zip(*value).take_while(|(a, b)| a == b).count();
            prefix = &prefix[..alike];
        }
    }
    prefix.len()
}
