//! The values of a column chunk, and its pages.

use std::hash::Hash;
use std::ops::Range;

use arrow::array::{Array, ArrayRef};
use pages::{Bounds, ChunkWriter, EncodedColumn, PageMetadata, push_level_runs, push_levels};
use parquet::basic::Encoding;
use parquet::errors::Result;
use twox_hash::XxHash64;

use super::bloom::filter;
use super::extras::Extras;
use super::limits::{BLOOM_FALSE_POSITIVES, HOUR_SHARE_MIN};

/// A value of a column chunk: a number or a text.
pub(super) trait Value: Copy + Eq + Hash {
    /// Whether its length precedes it in `PLAIN` encoding.
    const HAS_LENGTH: bool = false;

    fn bytes(self) -> impl AsRef<[u8]>;

    /// The bounds of values, if there are any.
    fn bounds(values: &[Self]) -> Option<Bounds>;

    /// The places of distinct values in ascending order, for values that take longer to compare than to look up.
    fn order(_: &[Self]) -> Option<Vec<u32>> {
        None
    }

    /// The hour of a time, counted from 1970; 0 for other values.
    fn hour(self) -> i64 {
        0
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
    /// 1 for each row with a value, 0 for NULL; empty if no row is NULL.
    present: Vec<u8>,
}

impl<T: Value> Values<T> {
    /// The values of arrays; `push` appends those of one.
    pub(super) fn of<'a>(parts: &'a [ArrayRef], push: impl Fn(&mut Self, &'a ArrayRef)) -> Self {
        let rows = parts.iter().map(Array::len).sum();
        let mut values = Self { valid: Vec::with_capacity(rows), present: Vec::new() };
        parts.iter().for_each(|part| push(&mut values, part));
        values
    }

    /// Appends the rows of an array; `all` has a value for each of them, NULL or not.
    pub(super) fn push(&mut self, array: &dyn Array, all: impl Iterator<Item = T>) {
        match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            None if self.present.is_empty() => self.valid.extend(all),
            None => {
                self.valid.extend(all);
                self.present.resize(self.present.len() + array.len(), 1);
            }
            Some(nulls) => {
                if self.present.is_empty() {
                    self.present.resize(self.valid.len(), 1);
                }
                self.valid.extend(all.zip(nulls).filter_map(|(value, present)| present.then_some(value)));
                self.present.extend(nulls.iter().map(u8::from));
            }
        }
    }

    fn rows(&self) -> usize {
        if self.present.is_empty() { self.valid.len() } else { self.present.len() }
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

    /// Writes the pages of a chunk in `PLAIN` encoding.
    pub(super) fn write_plain(&self, chunk: ChunkWriter<'_>, nullable: bool, extras: Extras) -> Result<EncodedColumn> {
        self.write(chunk, nullable, extras, &self.valid, |page, rows| {
            self.valid[rows].iter().for_each(|value| value.push_plain(page));
            Encoding::PLAIN
        })
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
        let (mut page, mut row, mut next) = (Vec::new(), 0, 0);
        while row < self.rows() {
            let rows = row..row + self.page_rows(row, next, extras);
            row = rows.end;
            page.clear();
            let present = self.present.get(rows.clone());
            let count = present.map_or(rows.len(), |present| present.iter().map(|one| usize::from(*one)).sum());
            match present {
                Some(present) if nullable => push_levels(&mut page, present),
                None if nullable => push_level_runs(&mut page, &[(count, 1)], 1),
                _ => {}
            }
            let values = next..next + count;
            next = values.end;
            let bounds = if extras.statistics { bounds(values.clone()) } else { None };
            let encoding = body(&mut page, values);
            chunk.page(&page, &PageMetadata::of_rows(rows.len(), rows.len() - count, encoding, bounds))?;
        }
        let mut encoded = chunk.finish()?;
        if extras.bloom {
            let hashes: Vec<u64> = distinct.iter().map(|value| XxHash64::oneshot(0, value.bytes().as_ref())).collect();
            encoded.close.bloom_filter = Some(filter(&hashes, BLOOM_FALSE_POSITIVES));
        }
        Ok(encoded)
    }

    /// The number of rows of the page that begins with the row `row` and the value at `next`.
    fn page_rows(&self, row: usize, next: usize, extras: Extras) -> usize {
        if extras.by_hour && self.present.is_empty() {
            return rows_by_hour(&self.valid[next..], extras.page_rows);
        }
        let max = extras.page_rows.min(self.rows() - row);
        if !T::HAS_LENGTH || extras.page_bytes == usize::MAX {
            return max;
        }
        let (mut bytes, mut values) = (0, self.valid[next..].iter());
        let fits = |row: &usize| {
            if self.present.get(*row).is_none_or(|present| *present == 1) {
                bytes += values.next().map_or(0, |value| value.plain_len());
            }
            bytes <= extras.page_bytes
        };
        (row..row + max).take_while(fits).count().max(1)
    }
}

/// The number of times of the next page, of `max` at most, so that pages rarely lie in two hours: questions by the hour
/// then read their bounds alone. Pages of times that do not ascend have some length within these limits.
fn rows_by_hour<T: Value>(times: &[T], max: usize) -> usize {
    let ahead = &times[..times.len().min(2 * max)];
    let min = max / HOUR_SHARE_MIN;
    let Some(hour) = ahead.get(min).map(|time| time.hour()) else { return ahead.len().min(max) };
    match min + ahead[min..].partition_point(|time| time.hour() <= hour) {
        end if end <= max => end.max(1),
        // Two pages of equal length, rather than a full one and a short one.
        end if end < 2 * max => end.div_ceil(2),
        _ => max,
    }
}
