//! Columns with a dictionary, or plain where their values are mostly different.
//!
//! The Parquet library writes the same pages in three times the processor time: it appends index by index.

use std::ops::Range;

use hashbrown::HashMap;
use pages::{ChunkWriter, EncodedColumn, hybrid};
use parquet::basic::Encoding;
use parquet::errors::Result;

use super::extras::Extras;
use super::limits::DICTIONARY_BYTES_MAX;
use super::values::{Value, Values};

/// How often values must repeat on average so that ordering them once pays.
const REPEATS_MIN: usize = 8;

pub(super) fn encode<T: Value>(
    mut chunk: ChunkWriter<'_>,
    values: &Values<T>,
    nullable: bool,
    extras: Extras,
) -> Result<EncodedColumn> {
    let Some(Dictionary { entries, codes, width }) = Dictionary::of(&values.valid) else {
        return values.write_plain(chunk, nullable, extras);
    };
    let mut plain = Vec::new();
    entries.iter().for_each(|entry| entry.push_plain(&mut plain));
    chunk.dictionary(&plain, entries.len())?;
    let repeats = extras.statistics && codes.len() > REPEATS_MIN * entries.len();
    let ranks = if repeats { T::ranks(&entries) } else { None };
    let bounds = |rows: Range<usize>| {
        let Some(ranks) = &ranks else { return T::bounds(&values.valid[rows]) };
        let rank = |code: &&u32| ranks[**code as usize];
        let codes = &codes[rows];
        let (least, greatest) = (codes.iter().min_by_key(rank)?, codes.iter().max_by_key(rank)?);
        T::bounds(&[entries[*least as usize], entries[*greatest as usize]])
    };
    // Pages hold indexes.
    let extras = Extras { page_bytes: usize::MAX, ..extras };
    values.write_bounded(chunk, nullable, extras, &entries, bounds, |page, rows| {
        page.push(width as u8);
        hybrid::push(page, &codes[rows], width);
        Encoding::RLE_DICTIONARY
    })
}

/// The distinct values of a column chunk, in the order in which they first appear, and the index of each value.
struct Dictionary<T> {
    entries: Vec<T>,
    codes: Vec<u32>,
    /// Bits of an index.
    width: u32,
}

impl<T: Value> Dictionary<T> {
    /// `None` if plain values take less, or the distinct ones too much.
    fn of(values: &[T]) -> Option<Self> {
        let mut places: HashMap<T, u32> = HashMap::new();
        let mut entries = Vec::new();
        let codes = values.iter().map(|value| {
            *places.entry(*value).or_insert_with(|| {
                entries.push(*value);
                entries.len() as u32 - 1
            })
        });
        let codes: Vec<u32> = codes.collect();
        let width = (u32::BITS - (entries.len().max(1) as u32 - 1).leading_zeros()).max(1);
        let plain = |values: &[T]| values.iter().map(|value| value.plain_len()).sum::<usize>();
        let held = plain(&entries);
        let is_smaller = held + (width as usize * codes.len()).div_ceil(8) < plain(values);
        (is_smaller && held <= DICTIONARY_BYTES_MAX).then_some(Self { entries, codes, width })
    }
}
