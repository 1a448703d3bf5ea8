//! The values of a column chunk, and its pages.

use std::hash::Hash;
use std::ops::Range;

use arrow::array::{Array, ArrayRef};
use pages::{Bounds, ChunkWriter, EncodedColumn, PageMetadata, push_levels};
use parquet::basic::Encoding;
use parquet::errors::Result;
use twox_hash::XxHash64;

use super::bloom::filter;
use super::extras::Extras;
use super::limits::BLOOM_FALSE_POSITIVES;

/// A value of a column chunk: a number or a text.
pub(super) trait Value: Copy + Eq + Hash {
    /// Whether its length precedes it in `PLAIN` encoding.
    const HAS_LENGTH: bool = false;

    fn bytes(self) -> impl AsRef<[u8]>;

    /// The bounds of values, if there are any.
    fn bounds(values: &[Self]) -> Option<Bounds>;

    /// The place of each distinct value in their order, for values that take longer to compare than to look up.
    fn ranks(_: &[Self]) -> Option<Vec<u32>> {
        None
    }

    /// Appends the value in `PLAIN` encoding.
    fn push_plain(self, out: &mut Vec<u8>) {
        let bytes = self.bytes();
        if Self::HAS_LENGTH {
            out.extend_from_slice(&(bytes.as_ref().len() as u32).to_le_bytes());
        }
        out.extend_from_slice(bytes.as_ref());
    }

    /// The number of bytes in `PLAIN` encoding.
    fn plain_len(self) -> usize {
        self.bytes().as_ref().len() + if Self::HAS_LENGTH { size_of::<u32>() } else { 0 }
    }
}

/// The values of a column chunk.
pub(super) struct Values<T> {
    /// Those that are not NULL.
    pub(super) valid: Vec<T>,
    /// 1 for each row with a value, 0 for NULL.
    present: Vec<u8>,
}

impl<T: Value> Values<T> {
    /// The values of arrays; `push` appends those of one.
    pub(super) fn of<'a>(parts: &'a [ArrayRef], push: impl Fn(&mut Self, &'a ArrayRef)) -> Self {
        let rows = parts.iter().map(Array::len).sum();
        let mut values = Self { valid: Vec::with_capacity(rows), present: Vec::with_capacity(rows) };
        parts.iter().for_each(|part| push(&mut values, part));
        values
    }

    /// Appends the rows of an array; `value` is the value of a row that is not NULL.
    pub(super) fn push(&mut self, array: &dyn Array, value: impl Fn(usize) -> T) {
        match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => {
                self.valid.extend((0..array.len()).map(value));
                self.present.resize(self.present.len() + array.len(), 1);
            }
            Some(nulls) => {
                self.valid.extend(nulls.valid_indices().map(value));
                self.present.extend(nulls.iter().map(u8::from));
            }
        }
    }

    /// Writes the pages of a chunk. `body` appends the values of a page, which are those in a range of `valid`, and
    /// returns their encoding. `distinct` are the values of a Bloom filter.
    pub(super) fn write(
        &self,
        chunk: ChunkWriter<'_>,
        nullable: bool,
        extras: Extras,
        distinct: &[T],
        body: impl FnMut(&mut Vec<u8>, Range<usize>) -> Encoding,
    ) -> Result<EncodedColumn> {
        self.write_bounded(chunk, nullable, extras, distinct, |rows| T::bounds(&self.valid[rows]), body)
    }

    /// As [`Self::write`]; `bounds` returns those of the values in a range of `valid`.
    pub(super) fn write_bounded(
        &self,
        mut chunk: ChunkWriter<'_>,
        nullable: bool,
        extras: Extras,
        distinct: &[T],
        bounds: impl Fn(Range<usize>) -> Option<Bounds>,
        mut body: impl FnMut(&mut Vec<u8>, Range<usize>) -> Encoding,
    ) -> Result<EncodedColumn> {
        let (mut page, mut next, mut left) = (Vec::new(), 0, &self.present[..]);
        while !left.is_empty() {
            let (rows, others) = left.split_at(self.page_rows(left, next, extras));
            left = others;
            page.clear();
            if nullable {
                push_levels(&mut page, rows);
            }
            let values = next..next + rows.iter().map(|present| usize::from(*present)).sum::<usize>();
            next = values.end;
            let nulls = rows.len() - values.len();
            let bounds = if extras.statistics { bounds(values.clone()) } else { None };
            let encoding = body(&mut page, values);
            chunk.page(&page, &PageMetadata::of_rows(rows.len(), nulls, encoding, bounds))?;
        }
        let mut encoded = chunk.finish()?;
        if extras.bloom {
            let hashes: Vec<u64> = distinct.iter().map(|value| XxHash64::oneshot(0, value.bytes().as_ref())).collect();
            encoded.close.bloom_filter = Some(filter(&hashes, BLOOM_FALSE_POSITIVES));
        }
        Ok(encoded)
    }

    /// The number of rows of the page that begins with `rows` and the value at `next`.
    fn page_rows(&self, rows: &[u8], next: usize, extras: Extras) -> usize {
        let max = extras.page_rows.min(rows.len());
        if !T::HAS_LENGTH || extras.page_bytes == usize::MAX {
            return max;
        }
        let (mut bytes, mut values) = (0, self.valid[next..].iter());
        let fits = |present: &&u8| {
            if **present == 1 {
                bytes += values.next().map_or(0, |value| value.plain_len());
            }
            bytes <= extras.page_bytes
        };
        rows[..max].iter().take_while(fits).count().max(1)
    }
}
