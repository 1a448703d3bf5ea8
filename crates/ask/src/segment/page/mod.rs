//! Pages of Parquet as questions want them: texts as places in a dictionary, whole numbers as they are.
//!
//! What the Parquet library does in general is done here for the layouts that tables are written in, without making
//! values that are only counted. Whatever else there is comes back as [`None`] and is left to the library.

mod delta;
mod header;
mod hybrid;
mod set;
mod split;
mod text;

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{Compression, Type};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::Length as _;

use self::header::{Header, Kind as PageKind};
use super::open::{Opened, Place};
use crate::column::{Codes, Column, Kind, Values, Words, plain};
use crate::error::AskError;

/// Why a page cannot be read.
pub(super) enum Fault {
    /// It is in a layout that is left to the library.
    Foreign,
    /// It breaks the rules of its layout.
    Broken(&'static str),
}

type Read<T> = Result<T, Fault>;

const SHORT: Fault = Fault::Broken("a page ends early");

/// Values that room is made for at once: how many there are, unless a damaged page says so.
fn room(values: usize) -> usize {
    const ROOM_MAX: usize = 1 << 20;
    (values + 8).min(ROOM_MAX)
}

/// Encodings by their numbers in the format.
mod encoding {
    pub(super) const PLAIN: i32 = 0;
    pub(super) const PLAIN_DICTIONARY: i32 = 2;
    pub(super) const RLE: i32 = 3;
    pub(super) const DELTA_BINARY_PACKED: i32 = 5;
    pub(super) const DELTA_LENGTH_BYTE_ARRAY: i32 = 6;
    pub(super) const DELTA_BYTE_ARRAY: i32 = 7;
    pub(super) const RLE_DICTIONARY: i32 = 8;
    pub(super) const BYTE_STREAM_SPLIT: i32 = 9;
}

/// Rows of some ranges of a row group; `None` where the library must read them. Adds up bytes that were read.
pub(super) fn column(
    opened: &Opened,
    group: usize,
    ranges: &[Range<usize>],
    place: &Place,
    kind: Kind,
    bytes: &mut u64,
) -> Result<Option<Column>, AskError> {
    let Place::Stored { leaf: Some(leaf), bounded: true, .. } = *place else { return Ok(None) };
    let chunk = opened.metadata().row_group(group).column(leaf);
    if !is_known(chunk, kind) {
        return Ok(None);
    }
    // Rows of lists are counted from the first page on.
    let all = 0..opened.rows(group);
    let read = if kind == Kind::Set { std::slice::from_ref(&all) } else { ranges };
    let pages = Pages::read(opened, group, leaf, read).map_err(AskError::io("read", &opened.path))?;
    *bytes += pages.bytes.len() as u64;
    let read = if kind == Kind::Set {
        set::column(&pages, chunk, opened.rows(group)).map(|column| set::within(column, ranges))
    } else {
        Reader::new(chunk, kind, ranges).column(&pages, opened.rows(group))
    };
    match read {
        Ok(column) if column.len() == ranges.iter().map(Range::len).sum::<usize>() => Ok(Some(column)),
        Ok(_) => Err(AskError::damaged(&opened.path, "its pages do not hold the rows of their row group")),
        Err(Fault::Foreign) => Ok(None),
        Err(Fault::Broken(reason)) => Err(AskError::damaged(&opened.path, reason)),
    }
}

fn is_known(chunk: &ColumnChunkMetaData, kind: Kind) -> bool {
    let column = chunk.column_descr();
    let fits = match chunk.column_type() {
        Type::INT32 | Type::INT64 => kind.is_whole() && kind != Kind::Bool,
        Type::FLOAT | Type::DOUBLE => kind == Kind::Float,
        Type::BOOLEAN => kind == Kind::Bool,
        Type::BYTE_ARRAY => matches!(kind, Kind::Text | Kind::Set),
        _ => false,
    };
    let is_flat = column.max_rep_level() == 0 && column.max_def_level() <= 1;
    let is_list = column.max_rep_level() == 1 && column.max_def_level() <= 3;
    let codec = matches!(chunk.compression(), Compression::UNCOMPRESSED | Compression::ZSTD(_));
    fits && codec && if kind == Kind::Set { is_list } else { is_flat }
}

/// The pages of a column chunk: all of them, or its dictionary and those that hold rows of some ranges.
struct Pages {
    bytes: Vec<u8>,
    /// Where each begins in `bytes`, and its first row where that is known.
    places: Vec<(usize, Option<usize>)>,
}

impl Pages {
    fn read(opened: &Opened, group: usize, leaf: usize, ranges: &[Range<usize>]) -> std::io::Result<Self> {
        let chunk = opened.metadata().row_group(group).column(leaf);
        let (start, length) = chunk.byte_range();
        let locations =
            opened.metadata().offset_index().and_then(|index| Some(index.get(group)?.get(leaf)?.page_locations()));
        let wanted = ranges.iter().map(Range::len).sum::<usize>();
        // Where most pages are wanted, one read of all is the fastest.
        let Some(locations) = locations.filter(|l| !l.is_empty() && wanted * 2 < opened.rows(group)) else {
            let mut bytes = vec![0; length as usize];
            opened.file.read_at(&mut bytes, start)?;
            return Ok(Self { bytes, places: vec![(0, Some(0))] });
        };
        let outside = || std::io::Error::new(std::io::ErrorKind::InvalidData, "its index points outside of its pages");
        let mut pages = Self { bytes: Vec::new(), places: Vec::new() };
        let mut take = |from: u64, to: u64, row: Option<usize>| -> std::io::Result<()> {
            let at = pages.bytes.len();
            if from > to || from < start || to > (start + length).min(opened.file.len()) {
                return Err(outside());
            }
            pages.bytes.resize(at + (to - from) as usize, 0);
            opened.file.read_at(&mut pages.bytes[at..], from)?;
            pages.places.push((at, row));
            Ok(())
        };
        let first = locations[0].offset as u64;
        if first > start {
            take(start, first, None)?;
        }
        for (page, location) in locations.iter().enumerate() {
            let from = location.first_row_index as usize;
            let to = locations.get(page + 1).map_or(usize::MAX, |next| next.first_row_index as usize);
            if ranges.iter().any(|range| range.start < to && from < range.end) {
                let at = location.offset as u64;
                take(at, at + location.compressed_page_size as u64, Some(from))?;
            }
        }
        Ok(pages)
    }

    /// Calls `take` with each page: its header, what follows it, and its first row where that is known.
    fn each(&self, mut take: impl FnMut(&Header, &[u8], Option<usize>) -> Read<()>) -> Read<()> {
        for (place, (at, row)) in self.places.iter().enumerate() {
            let end = self.places.get(place + 1).map_or(self.bytes.len(), |next| next.0);
            let mut rest = &self.bytes[*at..end];
            let mut row = *row;
            while !rest.is_empty() {
                let header = Header::read(&mut rest).ok_or(Fault::Broken("a page has no header"))?;
                let (body, after) = rest.split_at_checked(header.stored).ok_or(SHORT)?;
                rest = after;
                take(&header, body, row)?;
                // Only the first row of a run of pages is known from outside.
                row = None;
            }
        }
        Ok(())
    }
}

thread_local! {
    /// Making one for each page would cost more than most pages.
    static ZSTD: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

/// What a page holds once it is not compressed any more.
fn unpacked<'a>(header: &Header, body: &'a [u8], codec: Compression, buffer: &'a mut Vec<u8>) -> Read<&'a [u8]> {
    let levels = header.levels();
    if codec == Compression::UNCOMPRESSED || !header.compressed {
        return Ok(body);
    }
    let (plain, packed) = body.split_at_checked(levels).ok_or(SHORT)?;
    let size = header.unpacked.checked_sub(levels).ok_or(SHORT)?;
    buffer.clear();
    buffer.reserve(size);
    ZSTD.with_borrow_mut(|kept| {
        let broken = |_| Fault::Broken("a page cannot be decompressed");
        let zstd = match kept {
            Some(zstd) => zstd,
            none => none.insert(zstd::bulk::Decompressor::new().map_err(broken)?),
        };
        zstd.decompress_to_buffer(packed, buffer).map_err(broken).map(|_| ())
    })?;
    if levels > 0 {
        buffer.splice(0..0, plain.iter().copied());
    }
    Ok(buffer)
}

/// Which rows of a page are not NULL; `None` where all are. Cuts the levels off `body`.
fn presence(header: &Header, body: &mut &[u8], max: i16) -> Read<Option<Vec<bool>>> {
    if max == 0 {
        return Ok(None);
    }
    let levels = levels(header, body)?;
    if hybrid::is_one_run(levels, header.values, 1) {
        return Ok(None);
    }
    let mut present: Vec<u8> = Vec::with_capacity(room(header.values));
    hybrid::read(levels, 1, header.values, &mut present)?;
    Ok(Some(present.into_iter().map(|level| level == 1).collect()))
}

/// Cuts the definition levels off the front of a page.
fn levels<'a>(header: &Header, body: &mut &'a [u8]) -> Read<&'a [u8]> {
    let length = if let PageKind::Data2 { definitions, .. } = header.kind {
        definitions
    } else {
        if header.level_encoding != encoding::RLE {
            return Err(Fault::Foreign);
        }
        let (length, rest) = body.split_first_chunk::<4>().ok_or(SHORT)?;
        *body = rest;
        u32::from_le_bytes(*length) as usize
    };
    let (levels, rest) = body.split_at_checked(length).ok_or(SHORT)?;
    *body = rest;
    Ok(levels)
}

/// Reads a column without lists.
struct Reader<'a> {
    chunk: &'a ColumnChunkMetaData,
    ranges: &'a [Range<usize>],
    rows: usize,
    out: Out,
    valid: Option<Vec<bool>>,
}

/// What was read so far.
enum Out {
    Ints { values: Vec<i64>, dictionary: Vec<i64> },
    Floats { values: Vec<f64>, dictionary: Vec<f64> },
    Texts { codes: Codes, words: Words },
}

impl<'a> Reader<'a> {
    fn new(chunk: &'a ColumnChunkMetaData, kind: Kind, ranges: &'a [Range<usize>]) -> Self {
        let rows: usize = ranges.iter().map(Range::len).sum();
        let out = match kind {
            Kind::Text => Out::Texts { codes: Codes::U8(Vec::with_capacity(room(rows))), words: Words::default() },
            Kind::Float => Out::Floats { values: Vec::with_capacity(room(rows)), dictionary: Vec::new() },
            _ => Out::Ints { values: Vec::with_capacity(room(rows)), dictionary: Vec::new() },
        };
        Self { chunk, ranges, rows, out, valid: None }
    }

    fn column(mut self, pages: &Pages, group_rows: usize) -> Read<Column> {
        let codec = self.chunk.compression();
        let mut buffer = Vec::new();
        let mut next = 0;
        pages.each(|header, body, row| {
            match header.kind {
                PageKind::Dictionary => return self.dictionary(header, unpacked(header, body, codec, &mut buffer)?),
                PageKind::Other => return Ok(()),
                PageKind::Data | PageKind::Data2 { .. } => {}
            }
            let from = row.unwrap_or(next);
            next = from + header.values;
            if next > group_rows {
                return Err(Fault::Broken("a page has rows past those of its row group"));
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
            self.page(header, unpacked(header, body, codec, &mut buffer)?, &wanted)
        })?;
        let values = match self.out {
            Out::Ints { values, .. } => Values::Ints(values),
            Out::Floats { values, .. } => Values::Floats(values),
            Out::Texts { codes, words } => return Ok(texts(codes, words, self.valid)),
        };
        Ok(Column { values, valid: self.valid })
    }

    fn dictionary(&mut self, header: &Header, body: &[u8]) -> Read<()> {
        match &mut self.out {
            Out::Ints { dictionary, .. } => ints(self.chunk, encoding::PLAIN, body, header.values, &[], dictionary),
            Out::Floats { dictionary, .. } => floats(self.chunk, encoding::PLAIN, body, header.values, &[], dictionary),
            Out::Texts { codes, words } => {
                text::plain(body, header.values, words)?;
                if words.len() > usize::from(u8::MAX) {
                    *codes = Codes::U32(Vec::with_capacity(room(self.rows)));
                }
                Ok(())
            }
        }
    }

    /// Takes in the wanted rows of a page.
    fn page(&mut self, header: &Header, mut body: &[u8], wanted: &[Range<usize>]) -> Read<()> {
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
    fn decode(&mut self, header: &Header, body: &[u8], count: usize) -> Read<()> {
        let chunk = self.chunk;
        match &mut self.out {
            Out::Ints { values, dictionary } => ints(chunk, header.encoding, body, count, dictionary, values),
            Out::Floats { values, dictionary } => floats(chunk, header.encoding, body, count, dictionary, values),
            Out::Texts { codes, words } => match header.encoding {
                encoding::RLE_DICTIONARY | encoding::PLAIN_DICTIONARY => places(codes, body, count, words.len()),
                _ => {
                    let first = words.len();
                    match header.encoding {
                        encoding::PLAIN => text::plain(body, count, words)?,
                        encoding::DELTA_LENGTH_BYTE_ARRAY => text::lengths(body, count, words)?,
                        encoding::DELTA_BYTE_ARRAY => text::prefixes(body, count, words)?,
                        _ => return Err(Fault::Foreign),
                    }
                    // There may be more words than narrow places have room for.
                    let mut wide = std::mem::replace(codes, Codes::U8(Vec::new())).into_wide();
                    wide.extend(first as u32..words.len() as u32);
                    *codes = Codes::U32(wide);
                    Ok(())
                }
            },
        }
    }

    /// Keeps of the values past `before` the wanted rows only, with something where they are NULL.
    fn keep(&mut self, before: usize, present: Option<&[bool]>, wanted: &[Range<usize>]) {
        fn each<T: Copy>(
            values: &mut Vec<T>,
            before: usize,
            present: Option<&[bool]>,
            wanted: &[Range<usize>],
            null: T,
        ) {
            let page = values.split_off(before);
            let Some(present) = present else {
                wanted.iter().for_each(|range| values.extend_from_slice(&page[range.clone()]));
                return;
            };
            let mut next = 0;
            let rows: Vec<T> = present
                .iter()
                .map(|present| {
                    let value = if *present { page[next] } else { null };
                    next += usize::from(*present);
                    value
                })
                .collect();
            wanted.iter().for_each(|range| values.extend_from_slice(&rows[range.clone()]));
        }
        match &mut self.out {
            Out::Ints { values, .. } => each(values, before, present, wanted, 0),
            Out::Floats { values, .. } => each(values, before, present, wanted, 0.0),
            Out::Texts { codes: Codes::U8(codes), .. } => each(codes, before, present, wanted, 0),
            Out::Texts { codes: Codes::U16(codes), .. } => each(codes, before, present, wanted, 0),
            Out::Texts { codes: Codes::U32(codes), .. } => each(codes, before, present, wanted, 0),
        }
    }

    /// Notes which of the rows past `before` are NULL.
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

/// Codes with the place past the last word where there is NULL.
fn texts(codes: Codes, words: Words, valid: Option<Vec<bool>>) -> Column {
    let null = words.len();
    let codes = match (codes, &valid) {
        (codes, None) => codes,
        (Codes::U8(mut codes), Some(valid)) if u8::try_from(null).is_ok() => {
            codes.iter_mut().zip(valid).filter(|(_, valid)| !**valid).for_each(|(code, _)| *code = null as u8);
            Codes::U8(codes)
        }
        (codes, Some(valid)) => {
            let mut wide = codes.into_wide();
            wide.iter_mut().zip(valid).filter(|(_, valid)| !**valid).for_each(|(code, _)| *code = null as u32);
            Codes::U32(wide)
        }
    };
    Column { values: Values::Texts { codes, words: Arc::new(words) }, valid }
}

/// Appends places in a dictionary.
fn places(codes: &mut Codes, body: &[u8], count: usize, words: usize) -> Read<()> {
    match codes {
        Codes::U8(codes) => indices(body, count, words, codes),
        Codes::U16(codes) => indices(body, count, words, codes),
        Codes::U32(codes) => indices(body, count, words, codes),
    }
}

/// Appends places in a dictionary of `entries`.
fn indices<T: hybrid::Index>(body: &[u8], count: usize, entries: usize, out: &mut Vec<T>) -> Read<()> {
    if count == 0 {
        return Ok(());
    }
    let (width, packed) = body.split_first().ok_or(SHORT)?;
    let before = out.len();
    if *width == 0 && entries > 0 {
        out.resize(before + count, T::default());
        return Ok(());
    }
    hybrid::read(packed, u32::from(*width), count, out)?;
    match out[before..].iter().max() {
        Some(most) if most.place() >= entries => Err(Fault::Broken("a page points past its dictionary")),
        _ => Ok(()),
    }
}

/// Appends the values at places in a dictionary.
fn looked_up<I: hybrid::Index, T: Copy>(body: &[u8], count: usize, dictionary: &[T], out: &mut Vec<T>) -> Read<()> {
    let mut codes: Vec<I> = Vec::with_capacity(room(count));
    indices(body, count, dictionary.len(), &mut codes)?;
    out.extend(codes.iter().map(|code| dictionary[code.place()]));
    Ok(())
}

fn ints(
    chunk: &ColumnChunkMetaData,
    of: i32,
    body: &[u8],
    count: usize,
    dictionary: &[i64],
    out: &mut Vec<i64>,
) -> Read<()> {
    let ty = chunk.column_type();
    match (of, ty) {
        (encoding::PLAIN, Type::INT64) => {
            let (values, _) = body.as_chunks::<8>();
            out.extend(values.get(..count).ok_or(SHORT)?.iter().map(|v| i64::from_le_bytes(*v)));
        }
        (encoding::PLAIN, Type::INT32) => {
            let (values, _) = body.as_chunks::<4>();
            out.extend(values.get(..count).ok_or(SHORT)?.iter().map(|v| i64::from(i32::from_le_bytes(*v))));
        }
        (encoding::PLAIN, Type::BOOLEAN) => {
            let bits = body.get(..count.div_ceil(8)).ok_or(SHORT)?;
            out.extend((0..count).map(|i| i64::from(bits[i / 8] >> (i % 8) & 1)));
        }
        (encoding::RLE, Type::BOOLEAN) => {
            let mut bits: Vec<u8> = Vec::with_capacity(room(count));
            hybrid::read(body.get(4..).ok_or(SHORT)?, 1, count, &mut bits)?;
            out.extend(bits.into_iter().map(i64::from));
        }
        (encoding::BYTE_STREAM_SPLIT, Type::INT64) => split::longs(body, count, out)?,
        (encoding::BYTE_STREAM_SPLIT, Type::INT32) => split::ints(body, count, out)?,
        (encoding::DELTA_BINARY_PACKED, Type::INT64) => {
            delta::read(&mut &*body, count, out)?;
        }
        (encoding::DELTA_BINARY_PACKED, Type::INT32) => {
            let before = out.len();
            delta::read(&mut &*body, count, out)?;
            // Differences of 32 bits wrap round at 32 bits.
            out[before..].iter_mut().for_each(|v| *v = i64::from(*v as i32));
        }
        (encoding::RLE_DICTIONARY | encoding::PLAIN_DICTIONARY, _) if dictionary.len() <= 1 << 8 => {
            looked_up::<u8, _>(body, count, dictionary, out)?;
        }
        (encoding::RLE_DICTIONARY | encoding::PLAIN_DICTIONARY, _) => {
            looked_up::<u32, _>(body, count, dictionary, out)?;
        }
        _ => return Err(Fault::Foreign),
    }
    Ok(())
}

fn floats(
    chunk: &ColumnChunkMetaData,
    of: i32,
    body: &[u8],
    count: usize,
    dictionary: &[f64],
    out: &mut Vec<f64>,
) -> Read<()> {
    match (of, chunk.column_type()) {
        (encoding::PLAIN, Type::DOUBLE) => {
            let (values, _) = body.as_chunks::<8>();
            out.extend(values.get(..count).ok_or(SHORT)?.iter().map(|v| plain(f64::from_le_bytes(*v))));
        }
        (encoding::PLAIN, Type::FLOAT) => {
            let (values, _) = body.as_chunks::<4>();
            out.extend(values.get(..count).ok_or(SHORT)?.iter().map(|v| plain(f64::from(f32::from_le_bytes(*v)))));
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
        (encoding::RLE_DICTIONARY | encoding::PLAIN_DICTIONARY, _) => {
            looked_up::<u32, _>(body, count, dictionary, out)?;
        }
        _ => return Err(Fault::Foreign),
    }
    Ok(())
}
