//! Columns of 64-bit numbers with a dictionary.
//!
//! The Parquet library writes the same pages in three times the processor time: it appends index by index. A column chunk
//! of mostly different numbers is stored plain.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use hashbrown::HashMap;
use pages::{Bounds, ChunkWriter, EncodedColumn, PageMetadata, hybrid, push_levels};
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
    let numbers = Numbers::of(parts);
    let dictionary = Dictionary::of(&numbers.bits);
    let entries = dictionary.as_ref().map(|d| plain(&d.entries));
    if let (Some(dictionary), Some(entries)) = (&dictionary, &entries) {
        chunk.dictionary(entries, dictionary.entries.len())?;
    }
    let mut body = Vec::new();
    let mut next = 0;
    for rows in numbers.present.chunks(extras.page_rows) {
        body.clear();
        if nullable {
            push_levels(&mut body, rows);
        }
        let values = next..next + rows.iter().map(|present| usize::from(*present)).sum::<usize>();
        next = values.end;
        let nulls = rows.len() - values.len();
        let bounds = if extras.statistics { numbers.bounds(&numbers.bits[values.clone()]) } else { None };
        let encoding = if let Some(dictionary) = &dictionary {
            body.push(dictionary.width as u8);
            hybrid::push(&mut body, &dictionary.codes[values], dictionary.width);
            Encoding::RLE_DICTIONARY
        } else {
            body.extend_from_slice(&plain(&numbers.bits[values]));
            Encoding::PLAIN
        };
        chunk.page(&body, &PageMetadata::of_rows(rows.len(), nulls, encoding, bounds))?;
    }
    let mut encoded = chunk.finish()?;
    if extras.bloom {
        let distinct = entries.unwrap_or_else(|| plain(&numbers.bits));
        let hashes: Vec<u64> = distinct.chunks_exact(8).map(|bytes| XxHash64::oneshot(0, bytes)).collect();
        encoded.close.bloom_filter = Some(filter(&hashes, BLOOM_FALSE_POSITIVES));
    }
    Ok(encoded)
}

/// Numbers in `PLAIN` encoding.
fn plain(bits: &[u64]) -> Vec<u8> {
    bits.iter().flat_map(|bits| bits.to_le_bytes()).collect()
}

/// The numbers of a column chunk.
struct Numbers {
    /// Whether they are integers; otherwise they are real.
    whole: bool,
    /// The numbers that are not NULL.
    bits: Vec<u64>,
    /// 1 for each row with a number, 0 for NULL.
    present: Vec<u8>,
}

impl Numbers {
    fn of(parts: &[ArrayRef]) -> Self {
        let rows = parts.iter().map(arrow::array::Array::len).sum();
        let whole = parts.first().is_some_and(|part| *part.data_type() == DataType::Int64);
        let mut numbers = Self { whole, bits: Vec::with_capacity(rows), present: Vec::with_capacity(rows) };
        for part in parts {
            if whole {
                numbers.push(part, part.as_primitive::<Int64Type>().values(), |value| value as u64);
            } else {
                numbers.push(part, part.as_primitive::<Float64Type>().values(), f64::to_bits);
            }
        }
        numbers
    }

    fn push<T: Copy>(&mut self, part: &ArrayRef, values: &[T], to_bits: impl Fn(T) -> u64) {
        match part.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => {
                self.bits.extend(values.iter().map(|value| to_bits(*value)));
                self.present.resize(self.present.len() + values.len(), 1);
            }
            Some(nulls) => {
                let valid = values.iter().zip(nulls).filter(|(_, valid)| *valid);
                self.bits.extend(valid.map(|(value, _)| to_bits(*value)));
                self.present.extend(nulls.iter().map(u8::from));
            }
        }
    }

    /// The bounds of some of the numbers, none of which is NaN.
    fn bounds(&self, bits: &[u64]) -> Option<Bounds> {
        if bits.is_empty() {
            return None;
        }
        Some(if self.whole {
            let values = bits.iter().map(|bits| *bits as i64);
            let (low, high) = values.fold((i64::MAX, i64::MIN), |(low, high), v| (low.min(v), high.max(v)));
            Bounds::Integers(low, high)
        } else {
            let values = bits.iter().map(|bits| f64::from_bits(*bits));
            let from = (f64::INFINITY, f64::NEG_INFINITY);
            let (low, high) = values.fold(from, |(low, high), v| (low.min(v), high.max(v)));
            Bounds::Reals(low, high)
        })
    }
}

/// The distinct numbers of a column chunk, in the order in which they first appear, and the index of each number.
struct Dictionary {
    entries: Vec<u64>,
    codes: Vec<u32>,
    /// Bits of an index.
    width: u32,
}

impl Dictionary {
    /// `None` if plain numbers take less.
    fn of(bits: &[u64]) -> Option<Self> {
        let mut places: HashMap<u64, u32> = HashMap::new();
        let mut entries = Vec::new();
        let codes = bits.iter().map(|bits| {
            *places.entry(*bits).or_insert_with(|| {
                entries.push(*bits);
                entries.len() as u32 - 1
            })
        });
        let codes: Vec<u32> = codes.collect();
        let width = (u32::BITS - (entries.len().max(1) as u32 - 1).leading_zeros()).max(1);
        let size = 64 * entries.len() + width as usize * codes.len();
        (size < 64 * bits.len()).then_some(Self { entries, codes, width })
    }
}

#[cfg(test)]
mod tests;
