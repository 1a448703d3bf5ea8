//! Columns of texts or bytes with common prefixes.
//!
//! Parquet's `DELTA_BYTE_ARRAY` stores the length of the prefix that each value shares with the previous one, and the
//! rest. The Parquet library uses the longest such prefix. For random texts with a common start (telephone numbers),
//! the varying lengths cost more than they save. Here all values of a page share only the page's common prefix. The
//! lengths compress to almost no bytes, and the compressor sees only the differences.

use arrow::array::{Array, ArrayRef, AsArray, GenericByteArray};
use arrow::datatypes::{ByteArrayType, DataType};
use pages::{Bounds, ChunkWriter, EncodedColumn, PageMetadata, delta, push_levels};
use parquet::basic::Encoding;
use parquet::errors::Result;
use twox_hash::XxHash64;

use super::bloom::filter;
use super::extras::Extras;
use super::limits::BLOOM_FALSE_POSITIVES;

pub(super) fn encode(
    mut chunk: ChunkWriter<'_>,
    parts: &[ArrayRef],
    nullable: bool,
    extras: Extras,
) -> Result<EncodedColumn> {
    let mut values: Vec<Option<&[u8]>> = Vec::with_capacity(parts.iter().map(arrow::array::Array::len).sum());
    parts.iter().for_each(|part| push_values(&mut values, part));
    let mut page = Page::default();
    for rows in values.chunks(extras.page_rows) {
        let metadata = page.encode(rows, nullable, extras.statistics);
        chunk.page(&page.body, &metadata)?;
    }
    let mut encoded = chunk.finish()?;
    if extras.bloom {
        let hashes: Vec<u64> = values.iter().flatten().map(|v| XxHash64::oneshot(0, v)).collect();
        encoded.close.bloom_filter = Some(filter(&hashes, BLOOM_FALSE_POSITIVES));
    }
    Ok(encoded)
}

fn push_values<'a>(values: &mut Vec<Option<&'a [u8]>>, array: &'a ArrayRef) {
    match array.data_type() {
        DataType::Utf8 => push_all(values, array.as_string::<i32>()),
        _ => push_all(values, array.as_binary::<i32>()),
    }
}

fn push_all<'a, T: ByteArrayType>(values: &mut Vec<Option<&'a [u8]>>, array: &'a GenericByteArray<T>) {
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        Some(_) => values.extend(array.iter().map(|v| v.map(AsRef::as_ref))),
        None => values.extend((0..array.len()).map(|i| Some(array.value(i).as_ref()))),
    }
}

/// The body of a page, with reusable buffers.
#[derive(Default)]
struct Page {
    body: Vec<u8>,
    present: Vec<u8>,
    lengths: Vec<i32>,
    suffixes: Vec<u8>,
}

impl Page {
    fn encode(&mut self, rows: &[Option<&[u8]>], nullable: bool, with_bounds: bool) -> PageMetadata {
        self.body.clear();
        if nullable {
            self.present.clear();
            self.present.extend(rows.iter().map(|v| u8::from(v.is_some())));
            push_levels(&mut self.body, &self.present);
        }
        let values = || rows.iter().flatten().copied();
        let count = values().count();
        let prefix = common_prefix(values());
        // The first value has no predecessor.
        let shared = |place: usize| if place == 0 { 0 } else { prefix };
        self.lengths.clear();
        self.lengths.extend((0..count).map(|place| shared(place) as i32));
        delta::push(&mut self.body, &self.lengths);
        self.lengths.clear();
        self.suffixes.clear();
        for (place, value) in values().enumerate() {
            let suffix = &value[shared(place)..];
            self.lengths.push(suffix.len() as i32);
            self.suffixes.extend_from_slice(suffix);
        }
        delta::push(&mut self.body, &self.lengths);
        self.body.extend_from_slice(&self.suffixes);
        let bounds = if with_bounds { bounds(values()) } else { None };
        PageMetadata::of_rows(rows.len(), rows.len() - count, Encoding::DELTA_BYTE_ARRAY, bounds)
    }
}

fn common_prefix<'a>(mut values: impl Iterator<Item = &'a [u8]>) -> usize {
    let Some(mut prefix) = values.next() else { return 0 };
    for value in values {
        // Almost always true after the first values.
        if !value.starts_with(prefix) {
            let alike = prefix.iter().zip(value).take_while(|(a, b)| a == b).count();
            prefix = &prefix[..alike];
        }
    }
    prefix.len()
}

fn bounds<'a>(values: impl Iterator<Item = &'a [u8]>) -> Option<Bounds> {
    let (low, high) = values.fold(None, |bounds: Option<(&[u8], &[u8])>, value| {
        Some(bounds.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    })?;
    Some(Bounds::Bytes(low.to_vec(), high.to_vec()))
}
