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

/// Entries that a dictionary has room for from the start. Growing to them step by step took a server 5% of its time.
const ENTRIES: usize = 8_192;

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
    let ordered = if repeats { T::order(&entries) } else { None };
    let ranks = ordered.as_deref().map(ranks);
    let bounds = |rows: Range<usize>| {
        let Some((ordered, ranks)) = ordered.as_ref().zip(ranks.as_ref()) else {
            return T::bounds(&values.valid[rows]);
        };
        let ranks = codes[rows].iter().map(|code| ranks[*code as usize]);
        let (least, greatest) =
            ranks.fold((u32::MAX, 0), |(least, greatest), rank| (least.min(rank), greatest.max(rank)));
        let entry = |rank: u32| Some(entries[*ordered.get(rank as usize)? as usize]);
        T::bounds(&[entry(least)?, entry(greatest)?])
    };
    // Pages hold indexes.
    let extras = Extras { page_bytes: usize::MAX, ..extras };
    values.write_bounded(chunk, nullable, extras, &entries, bounds, |page, rows| {
        page.push(width as u8);
        hybrid::push(page, &codes[rows], width);
        Encoding::RLE_DICTIONARY
    })
}

/// The rank of each entry, from the entries in order.
fn ranks(ordered: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; ordered.len()];
    for (rank, entry) in (0..).zip(ordered) {
        ranks[*entry as usize] = rank;
    }
    ranks
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
        let mut places: HashMap<T, u32> = HashMap::with_capacity(values.len().min(ENTRIES));
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
