//! Columns without lists.

use std::ops::Range;

use parquet::basic::Type;
use parquet::file::metadata::ColumnChunkMetaData;

use crate::dictionary::{Codes, Dictionary};
use crate::encoding;
use crate::header::{Header, PageKind};
use crate::levels::presence;
use crate::read::{ColumnPages, room};
use crate::{Error, Result, delta, hybrid, split, text, with_codes};

#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Integers and booleans; arbitrary where NULL.
    Ints(Vec<i64>),
    /// Real numbers normalised by [`plain`]; arbitrary where NULL.
    Floats(Vec<f64>),
    /// Indices into `dictionary`; one past the last for NULL.
    Texts {
        codes: Codes,
        /// The texts, possibly with duplicates.
        dictionary: Dictionary,
    },
}

/// Some rows of a column without lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub values: Values,
    /// Which rows are not NULL; `None` if all are.
    pub valid: Option<Vec<bool>>,
}

/// Normalises real numbers that compare as equal: one zero, one NaN.
pub fn plain(x: f64) -> f64 {
    if x.is_nan() { f64::NAN } else { x + 0.0 }
}

/// Reads the rows of `ranges` (ascending) of a column chunk of `group_rows` rows.
pub fn read_flat(
    pages: &ColumnPages<'_>,
    chunk: &ColumnChunkMetaData,
    group_rows: usize,
    ranges: &[Range<usize>],
) -> Result<Column> {
    let column = chunk.column_descr();
    if column.max_rep_level() > 0 || column.max_def_level() > 1 {
        return Err(Error::Unsupported);
    }
    Reader::new(chunk, ranges)?.column(pages, group_rows)
}

struct Reader<'a> {
    chunk: &'a ColumnChunkMetaData,
    ranges: &'a [Range<usize>],
    rows: usize,
    out: Out,
    valid: Option<Vec<bool>>,
}

enum Out {
    Ints { values: Vec<i64>, dictionary: Vec<i64> },
    Floats { values: Vec<f64>, dictionary: Vec<f64> },
    Texts { codes: Codes, dictionary: Dictionary },
}

impl<'a> Reader<'a> {
    fn new(chunk: &'a ColumnChunkMetaData, ranges: &'a [Range<usize>]) -> Result<Self> {
        let rows: usize = ranges.iter().map(Range::len).sum();
        let out = match chunk.column_type() {
            Type::BYTE_ARRAY => {
                Out::Texts { codes: Codes::U8(Vec::with_capacity(room(rows))), dictionary: Dictionary::default() }
            }
            Type::FLOAT | Type::DOUBLE => {
                Out::Floats { values: Vec::with_capacity(room(rows)), dictionary: Vec::new() }
            }
            Type::INT32 | Type::INT64 | Type::BOOLEAN => {
                Out::Ints { values: Vec::with_capacity(room(rows)), dictionary: Vec::new() }
            }
            Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY => return Err(Error::Unsupported),
        };
        Ok(Self { chunk, ranges, rows, out, valid: None })
    }

    fn column(mut self, pages: &ColumnPages<'_>, group_rows: usize) -> Result<Column> {
        let mut buffer = Vec::new();
        let mut next = 0;
        pages.each(|page| {
            let header = &page.header;
            match header.kind {
                PageKind::Dictionary => return self.dictionary(header, page.body(&mut buffer)?),
                PageKind::Other => return Ok(()),
                PageKind::Data | PageKind::Data2 { .. } => {}
            }
            let from = page.first_row.unwrap_or(next);
            next = from.saturating_add(header.values);
            if next > group_rows {
                return Err(Error::damaged("the pages have more rows than their row group"));
            }
            let wanted: Vec<Range<usize>> = self
                .ranges
                .iter()
                .map(|range| range.start.max(from)..range.end.min(next))
                .filter(|range| range.start < range.end)
                .map(|range| range.start - from..range.end - from)
                .collect();
            if wanted.is_empty() {
                return Ok(());
            }
            self.page(header, page.body(&mut buffer)?, &wanted)
        })?;
        if self.len() != self.rows {
            return Err(Error::damaged("the pages and their row group differ in the number of rows"));
        }
        let values = match self.out {
            Out::Ints { values, .. } => Values::Ints(values),
            Out::Floats { values, .. } => Values::Floats(values),
            Out::Texts { codes, dictionary } => with_null(codes, dictionary, self.valid.as_deref()),
        };
        Ok(Column { values, valid: self.valid })
    }

    fn dictionary(&mut self, header: &Header, body: &[u8]) -> Result<()> {
        let plain = Encoded { ty: self.chunk.column_type(), encoding: encoding::PLAIN, body, count: header.values };
        match &mut self.out {
            Out::Ints { dictionary, .. } => plain.ints(&[], dictionary),
            Out::Floats { dictionary, .. } => plain.floats(&[], dictionary),
            Out::Texts { codes, dictionary } => {
                text::read(encoding::PLAIN, body, header.values, dictionary)?;
                if dictionary.len() > usize::from(u8::MAX) {
                    *codes = Codes::U32(Vec::with_capacity(room(self.rows)));
                }
                Ok(())
            }
        }
    }

    /// Appends the wanted rows of a page.
    fn page(&mut self, header: &Header, mut body: &[u8], wanted: &[Range<usize>]) -> Result<()> {
        let present = presence(header, &mut body, self.chunk.column_descr().max_def_level())?;
        let count = present.as_ref().map_or(header.values, |present| present.iter().filter(|p| **p).count());
        let is_whole = present.is_none() && matches!(wanted, [all] if *all == (0..header.values));
        let before = self.len();
        self.decode(header, body, count)?;
        if !is_whole {
            self.keep(before, present.as_deref(), wanted);
        }
        self.mark(before, present.as_deref(), wanted);
        Ok(())
    }

    fn len(&self) -> usize {
        match &self.out {
            Out::Ints { values, .. } => values.len(),
            Out::Floats { values, .. } => values.len(),
            Out::Texts { codes, .. } => codes.len(),
        }
    }

    /// Appends all values of a page that are not NULL.
    fn decode(&mut self, header: &Header, body: &[u8], count: usize) -> Result<()> {
        let encoded = Encoded { ty: self.chunk.column_type(), encoding: header.encoding, body, count };
        match &mut self.out {
            Out::Ints { values, dictionary } => encoded.ints(dictionary, values),
            Out::Floats { values, dictionary } => encoded.floats(dictionary, values),
            Out::Texts { codes, dictionary } => match header.encoding {
                encoding::RLE_DICTIONARY | encoding::PLAIN_DICTIONARY => {
                    with_codes!(codes, codes => hybrid::places(body, count, dictionary.len(), codes))
                }
                of => {
                    let first = dictionary.len();
                    text::read(of, body, count, dictionary)?;
                    // These texts may outnumber the indices of a narrow type.
                    let mut wide = std::mem::replace(codes, Codes::U8(Vec::new())).into_wide();
                    wide.extend(first as u32..dictionary.len() as u32);
                    *codes = Codes::U32(wide);
                    Ok(())
                }
            },
        }
    }

    /// Keeps only the wanted rows of the values from `before` on, with a placeholder for NULL.
    fn keep(&mut self, before: usize, present: Option<&[bool]>, wanted: &[Range<usize>]) {
        fn each<T: Copy + Default>(values: &mut Vec<T>, rows: (usize, Option<&[bool]>, &[Range<usize>])) {
            let (before, present, wanted) = rows;
            let page = values.split_off(before);
            let Some(present) = present else {
                wanted.iter().for_each(|range| values.extend_from_slice(&page[range.clone()]));
                return;
            };
            let mut next = 0;
            let rows: Vec<T> = present
                .iter()
                .map(|present| {
                    let value = if *present { page[next] } else { T::default() };
                    next += usize::from(*present);
                    value
                })
                .collect();
            wanted.iter().for_each(|range| values.extend_from_slice(&rows[range.clone()]));
        }
        let rows = (before, present, wanted);
        match &mut self.out {
            Out::Ints { values, .. } => each(values, rows),
            Out::Floats { values, .. } => each(values, rows),
            Out::Texts { codes, .. } => with_codes!(codes, codes => each(codes, rows)),
        }
    }

    /// Records which rows from `before` on are NULL.
    fn mark(&mut self, before: usize, present: Option<&[bool]>, wanted: &[Range<usize>]) {
        match (present, &mut self.valid) {
            (None, None) => {}
            (None, Some(valid)) => {
                let now = wanted.iter().map(Range::len).sum::<usize>();
                valid.resize(valid.len() + now, true);
            }
            (Some(present), valid) => {
                let valid = valid.get_or_insert_with(|| vec![true; before]);
                wanted.iter().for_each(|range| valid.extend_from_slice(&present[range.clone()]));
            }
        }
    }
}

/// Sets the code of NULL rows to one past the last text.
fn with_null(codes: Codes, dictionary: Dictionary, valid: Option<&[bool]>) -> Values {
    fn mark<T: Copy>(codes: &mut [T], valid: &[bool], null: T) {
        codes.iter_mut().zip(valid).filter(|(_, valid)| !**valid).for_each(|(code, _)| *code = null);
    }
    let codes = match (codes, valid) {
        (codes, None) => codes,
        (Codes::U8(mut codes), Some(valid)) if u8::try_from(dictionary.len()).is_ok() => {
            mark(&mut codes, valid, dictionary.len() as u8);
            Codes::U8(codes)
        }
        (codes, Some(valid)) => {
            let mut wide = codes.into_wide();
            mark(&mut wide, valid, dictionary.len() as u32);
            Codes::U32(wide)
        }
    };
    Values::Texts { codes, dictionary }
}

/// The values of a page that are not NULL.
#[derive(Clone, Copy)]
struct Encoded<'a> {
    ty: Type,
    encoding: i32,
    body: &'a [u8],
    count: usize,
}

impl<'a> Encoded<'a> {
    fn words<const BYTES: usize>(self) -> Result<&'a [[u8; BYTES]]> {
        self.body.as_chunks().0.get(..self.count).ok_or(Error::SHORT)
    }

    /// Appends the dictionary's values for the indices.
    fn looked_up<I: hybrid::Index, T: Copy>(self, dictionary: &[T], out: &mut Vec<T>) -> Result<()> {
        let mut codes: Vec<I> = Vec::with_capacity(room(self.count));
        hybrid::places(self.body, self.count, dictionary.len(), &mut codes)?;
        out.extend(codes.iter().map(|code| dictionary[code.place()]));
        Ok(())
    }

    fn ints(self, dictionary: &[i64], out: &mut Vec<i64>) -> Result<()> {
        let Self { ty, encoding, body, count } = self;
        match (encoding, ty) {
            (encoding::PLAIN, Type::INT64) => out.extend(self.words()?.iter().map(|v| i64::from_le_bytes(*v))),
            (encoding::PLAIN, Type::INT32) => {
                out.extend(self.words()?.iter().map(|v| i64::from(i32::from_le_bytes(*v))));
            }
            (encoding::PLAIN, Type::BOOLEAN) => {
                let bits = body.get(..count.div_ceil(8)).ok_or(Error::SHORT)?;
                out.extend((0..count).map(|i| i64::from(bits[i / 8] >> (i % 8) & 1)));
            }
            (encoding::RLE, Type::BOOLEAN) => {
                let mut bits: Vec<u8> = Vec::with_capacity(room(count));
                hybrid::read(body.get(4..).ok_or(Error::SHORT)?, 1, count, &mut bits)?;
                out.extend(bits.into_iter().map(i64::from));
            }
            (encoding::BYTE_STREAM_SPLIT, Type::INT64) => split::longs(body, count, out)?,
            (encoding::BYTE_STREAM_SPLIT, Type::INT32) => split::ints(body, count, out)?,
            (encoding::DELTA_BINARY_PACKED, Type::INT64) => delta::read(&mut &*body, count, out)?,
            (encoding::DELTA_BINARY_PACKED, Type::INT32) => {
                let before = out.len();
                delta::read(&mut &*body, count, out)?;
                // 32-bit deltas wrap around at 32 bits.
                out[before..].iter_mut().for_each(|v| *v = i64::from(*v as i32));
            }
            (encoding::RLE_DICTIONARY | encoding::PLAIN_DICTIONARY, _) if dictionary.len() <= 1 << 8 => {
                self.looked_up::<u8, _>(dictionary, out)?;
            }
            (encoding::RLE_DICTIONARY | encoding::PLAIN_DICTIONARY, _) => self.looked_up::<u32, _>(dictionary, out)?,
            _ => return Err(Error::Unsupported),
        }
        Ok(())
    }

    fn floats(self, dictionary: &[f64], out: &mut Vec<f64>) -> Result<()> {
        let Self { ty, encoding, body, count } = self;
        match (encoding, ty) {
            (encoding::PLAIN, Type::DOUBLE) => out.extend(self.words()?.iter().map(|v| plain(f64::from_le_bytes(*v)))),
            (encoding::PLAIN, Type::FLOAT) => {
                out.extend(self.words()?.iter().map(|v| plain(f64::from(f32::from_le_bytes(*v)))));
            }
            (encoding::BYTE_STREAM_SPLIT, Type::DOUBLE) => {
                let mut bits = Vec::with_capacity(room(count));
                split::longs(body, count, &mut bits)?;
                out.extend(bits.into_iter().map(|v| plain(f64::from_bits(v as u64))));
            }
            (encoding::BYTE_STREAM_SPLIT, Type::FLOAT) => {
                let mut bits = Vec::with_capacity(room(count));
                split::ints(body, count, &mut bits)?;
                out.extend(bits.into_iter().map(|v| plain(f64::from(f32::from_bits(v as u32)))));
            }
            (encoding::RLE_DICTIONARY | encoding::PLAIN_DICTIONARY, _) => self.looked_up::<u32, _>(dictionary, out)?,
            _ => return Err(Error::Unsupported),
        }
        Ok(())
    }
}
