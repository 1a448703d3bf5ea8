//! Encodes columns of numbers and texts as column chunks.

use std::collections::HashMap;

use pages::hybrid::{push_packed, push_run};
use pages::{
    Bounds, ChunkWriter, Compressor, EncodedColumn, EncodingSet, PageFormat, PageMetadata, plain, push_level_runs,
    push_levels,
};
use parquet::basic::Encoding;
use parquet::errors::Result;

use crate::schema::SegmentSchema;

/// Rows per page of a column without lists. A reader of one row decodes a whole page.
pub const PAGE_ROWS: usize = 65_536;

/// The least integer of byte-wide indices. They are 0 to 191, then -64 to -1, so that an index is the value's low byte.
const WRAP_MIN: i64 = -64;
const WRAP_MAX: i64 = 191;

/// A column without lists: one value or NULL per row.
#[derive(Debug, Clone, Copy)]
pub enum FlatColumn<'a> {
    /// Codes of texts; 255 is NULL.
    Labels { codes: &'a [u8], dictionary: &'a [String] },
    /// 8-bit integers; `i8::MIN` is NULL if `nullable`.
    I8 { values: &'a [i8], nullable: bool },
    /// 16-bit integers; `i16::MIN` is NULL if `nullable`.
    I16 { values: &'a [i16], nullable: bool },
    /// 32-bit integers; `i32::MIN` is NULL if `nullable`.
    I32 { values: &'a [i32], nullable: bool },
    /// Real numbers, written with one zero and one NaN; NULL where `valid` is false.
    F64 { values: &'a [f64], valid: Option<&'a [bool]> },
    /// Repeated integers: (value, rows).
    IntRuns(&'a [(i32, u32)]),
    /// Repeated texts: (text, rows).
    TextRuns(&'a [(&'a str, u32)]),
}

/// One row of a column of lists.
#[derive(Debug, Clone, Copy)]
pub enum ListRows<'a> {
    I16(&'a [i16]),
    I32(&'a [i32]),
    F64(&'a [f64]),
    Null,
}

impl ListRows<'_> {
    fn len(self) -> usize {
        match self {
            Self::I16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Null => 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    /// One byte each.
    Bytes,
    /// 1, 2 or 4 bits each.
    Narrow,
    /// Runs of equal indices.
    Runs,
}

/// Encodes the columns of segments with one schema. For each segment it chooses the packing of a column from its
/// first page.
pub struct Encoder {
    schema: SegmentSchema,
    compressor: Compressor,
    encodings: EncodingSet,
    packing: HashMap<usize, Packing>,
    body: Vec<u8>,
    indices: Vec<u8>,
    present: Vec<u8>,
}

impl Encoder {
    pub fn new(schema: &SegmentSchema, format: PageFormat) -> Result<Self> {
        Ok(Self {
            schema: schema.clone(),
            compressor: Compressor::new(format.codec)?,
            encodings: format.encodings,
            packing: HashMap::new(),
            body: Vec::new(),
            indices: Vec::new(),
            present: Vec::new(),
        })
    }

    /// Starts a new segment. Its bytes do not depend on earlier segments.
    pub fn begin(&mut self) {
        self.packing.clear();
    }

    pub fn flat(&mut self, column: usize, values: FlatColumn<'_>) -> Result<EncodedColumn> {
        match values {
            FlatColumn::Labels { codes, dictionary: texts } => {
                let dictionary = plain_texts(texts.iter().map(String::as_str));
                self.narrow(column, codes, true, &dictionary, texts.len())
            }
            FlatColumn::I8 { values, nullable } => self.integers(column, values, nullable),
            FlatColumn::I16 { values, nullable } => self.integers(column, values, nullable),
            FlatColumn::I32 { values, nullable } => self.integers(column, values, nullable),
            FlatColumn::F64 { values, valid } => self.reals(column, values, valid),
            FlatColumn::IntRuns(runs) => {
                let plain = |runs: &[(i32, u32)]| runs.iter().flat_map(|(value, _)| value.to_le_bytes()).collect();
                self.runs(column, runs, plain, |value| Some(i64::from(*value)))
            }
            FlatColumn::TextRuns(runs) => {
                let plain = |runs: &[(&str, u32)]| plain_texts(runs.iter().map(|(text, _)| *text));
                self.runs(column, runs, plain, |_| None)
            }
        }
    }

    /// Encodes a column of lists, one row per page.
    pub fn lists(&mut self, column: usize, rows: &[ListRows<'_>]) -> Result<EncodedColumn> {
        let mut chunk = ChunkWriter::new(self.schema.columns.column(column), &mut self.compressor);
        let is_integer = |row: &ListRows<'_>| matches!(row, ListRows::I16(_) | ListRows::I32(_));
        if self.encodings == EncodingSet::Dense && rows.iter().any(is_integer) {
            chunk.dictionary(&wrapped_dictionary(256), 256)?;
        }
        for row in rows {
            self.body.clear();
            let count = row.len();
            push_list_levels(&mut self.body, count);
            let encoding = match row {
                ListRows::I16(values) => list_of_integers(&mut self.body, &mut self.indices, values, self.encodings),
                ListRows::I32(values) => list_of_integers(&mut self.body, &mut self.indices, values, self.encodings),
                ListRows::F64(values) => push_numbers(&mut self.body, values, |v: f64| v.to_le_bytes(), self.encodings),
                ListRows::Null => Encoding::PLAIN,
            };
            let nulls = usize::from(matches!(row, ListRows::Null));
            chunk.page(&self.body, &PageMetadata { rows: 1, levels: count.max(1), nulls, encoding, bounds: None })?;
        }
        chunk.finish()
    }

    fn integers<T: Small>(&mut self, column: usize, values: &[T], nullable: bool) -> Result<EncodedColumn> {
        let bounds = T::bounds(values, nullable);
        match bounds {
            Some((low, high)) if low < WRAP_MIN || high > WRAP_MAX => self.wide(column, values, nullable),
            _ => {
                let entries = match bounds {
                    Some((low, _)) if low < 0 => 256,
                    Some((_, high)) => high as usize + 1,
                    None => 1,
                };
                self.narrow(column, values, nullable, &wrapped_dictionary(entries), entries)
            }
        }
    }

    /// Encodes values of one byte: a dictionary of all possible values, and indices.
    fn narrow<T: Small>(
        &mut self,
        column: usize,
        values: &[T],
        nullable: bool,
        dictionary: &[u8],
        entries: usize,
    ) -> Result<EncodedColumn> {
        let width = index_width(entries);
        if !self.packing.contains_key(&column) {
            let page = &values[..values.len().min(PAGE_ROWS)];
            let packing = self.best_packing(page, nullable, width)?;
            self.packing.insert(column, packing);
        }
        let packing = self.packing[&column];
        let mut chunk = ChunkWriter::new(self.schema.columns.column(column), &mut self.compressor);
        chunk.dictionary(dictionary, entries)?;
        for page in values.chunks(PAGE_ROWS) {
            self.body.clear();
            let nulls = push_presence(&mut self.body, &mut self.present, page, nullable);
            gather(&mut self.indices, page, nulls > 0);
            push_indices(&mut self.body, &self.indices, width, packing);
            let bounds = T::bounds(page, nullable).map(integers);
            chunk.page(&self.body, &PageMetadata::of_rows(page.len(), nulls, Encoding::RLE_DICTIONARY, bounds))?;
        }
        chunk.finish()
    }

    /// Tries every packing on a page and returns the one that compresses best.
    fn best_packing<T: Small>(&mut self, page: &[T], nullable: bool, width: u32) -> Result<Packing> {
        gather(&mut self.indices, page, nullable);
        let mut best = (usize::MAX, Packing::Bytes);
        for packing in [Packing::Bytes, Packing::Narrow, Packing::Runs] {
            self.body.clear();
            push_indices(&mut self.body, &self.indices, width, packing);
            let size = self.compressor.compress(&self.body)?.len();
            if size < best.0 {
                best = (size, packing);
            }
        }
        Ok(best.1)
    }

    /// Encodes integers of more than one byte.
    fn wide<T: Small>(&mut self, column: usize, values: &[T], nullable: bool) -> Result<EncodedColumn> {
        let mut chunk = ChunkWriter::new(self.schema.columns.column(column), &mut self.compressor);
        for page in values.chunks(PAGE_ROWS) {
            self.body.clear();
            let nulls = push_presence(&mut self.body, &mut self.present, page, nullable);
            let encoding = if nulls == 0 {
                push_numbers(&mut self.body, page, integer_bytes, self.encodings)
            } else {
                let kept: Vec<T> = page.iter().copied().filter(|v| !v.is_null()).collect();
                push_numbers(&mut self.body, &kept, integer_bytes, self.encodings)
            };
            let bounds = T::bounds(page, nullable).map(integers);
            chunk.page(&self.body, &PageMetadata::of_rows(page.len(), nulls, encoding, bounds))?;
        }
        chunk.finish()
    }

    fn reals(&mut self, column: usize, values: &[f64], valid: Option<&[bool]>) -> Result<EncodedColumn> {
        let mut chunk = ChunkWriter::new(self.schema.columns.column(column), &mut self.compressor);
        for (number, page) in values.chunks(PAGE_ROWS).enumerate() {
            self.body.clear();
            self.present.clear();
            let is_valid = |row: usize| valid.is_none_or(|valid| valid[number * PAGE_ROWS + row]);
            self.present.extend((0..page.len()).map(|row| u8::from(is_valid(row))));
            let kept = page.iter().zip(&self.present).filter(|(_, present)| **present == 1);
            let kept: Vec<f64> = kept.map(|(value, _)| plain(*value)).collect();
            push_present(&mut self.body, &self.present, page.len(), kept.len());
            let encoding = push_numbers(&mut self.body, &kept, f64::to_le_bytes, self.encodings);
            chunk.page(&self.body, &PageMetadata::of_rows(page.len(), page.len() - kept.len(), encoding, None))?;
        }
        chunk.finish()
    }

    /// Encodes values in runs: a dictionary with one entry per run, and each run's index.
    fn runs<V>(
        &mut self,
        column: usize,
        runs: &[(V, u32)],
        plain: impl Fn(&[(V, u32)]) -> Vec<u8>,
        number: impl Fn(&V) -> Option<i64>,
    ) -> Result<EncodedColumn> {
        let width = (usize::BITS - runs.len().saturating_sub(1).leading_zeros()).max(1);
        let mut chunk = ChunkWriter::new(self.schema.columns.column(column), &mut self.compressor);
        let single = runs.iter().all(|(_, count)| *count == 1);
        if !single {
            chunk.dictionary(&plain(runs), runs.len())?;
        }
        let (mut run, mut used) = (0, 0);
        while run < runs.len() {
            let (first, mut rows) = (run, 0);
            let mut page: Vec<(usize, u32)> = Vec::new();
            let mut bounds: Option<(i64, i64)> = None;
            while run < runs.len() && rows < PAGE_ROWS {
                let take = (runs[run].1 as usize - used).min(PAGE_ROWS - rows);
                page.push((take, run as u32));
                if let Some(n) = number(&runs[run].0) {
                    bounds = Some(bounds.map_or((n, n), |(low, high)| (low.min(n), high.max(n))));
                }
                rows += take;
                used += take;
                if used == runs[run].1 as usize {
                    run += 1;
                    used = 0;
                }
            }
            self.body.clear();
            push_level_runs(&mut self.body, &[(rows, 1)], 1);
            let encoding = if single {
                self.body.extend_from_slice(&plain(&runs[first..run]));
                Encoding::PLAIN
            } else {
                self.body.push(width as u8);
                page.iter().for_each(|&(count, place)| push_run(&mut self.body, count, place, width));
                Encoding::RLE_DICTIONARY
            };
            chunk.page(&self.body, &PageMetadata::of_rows(rows, 0, encoding, bounds.map(integers)))?;
        }
        chunk.finish()
    }
}

/// A value of a column of small integers or texts.
trait Small: Copy {
    /// Whether the value means NULL in a nullable column.
    fn is_null(self) -> bool;
    fn index(self) -> u8;
    /// The integer; `None` for a text.
    fn number(self) -> Option<i64>;
    /// The smallest and the largest integer that is not NULL; `None` for texts and if all are NULL.
    fn bounds(values: &[Self], nullable: bool) -> Option<(i64, i64)>;
}

impl Small for u8 {
    fn is_null(self) -> bool {
        self == Self::MAX
    }
    fn index(self) -> u8 {
        self
    }
    fn number(self) -> Option<i64> {
        None
    }
    fn bounds(_: &[Self], _: bool) -> Option<(i64, i64)> {
        None
    }
}

/// Signed integers: the minimum is NULL, and the low byte is the index in the wrapped dictionary.
macro_rules! small_integers {
    ($($integer:ty),+) => {$(
        impl Small for $integer {
            fn is_null(self) -> bool {
                self == Self::MIN
            }
            fn index(self) -> u8 {
                self as u8
            }
            fn number(self) -> Option<i64> {
                Some(i64::from(self))
            }
            fn bounds(values: &[Self], nullable: bool) -> Option<(i64, i64)> {
                // Vectors compare many of a small type at once. NULL is the minimum, so it is never the largest.
                let (low, high) = pulp::Arch::new().dispatch(|| {
                    values.iter().fold((Self::MAX, Self::MIN), |(low, high), &value| {
                        let shown = if nullable && value.is_null() { Self::MAX } else { value };
                        (low.min(shown), high.max(value))
                    })
                });
                let is_empty = values.is_empty() || nullable && high == Self::MIN;
                (!is_empty).then(|| (i64::from(low), i64::from(high)))
            }
        }
    )+};
}

small_integers!(i8, i16, i32);

fn integers((low, high): (i64, i64)) -> Bounds {
    Bounds::Integers(low, high)
}

/// Appends the definition levels of a page. Returns the number of NULLs.
fn push_presence<T: Small>(body: &mut Vec<u8>, present: &mut Vec<u8>, page: &[T], nullable: bool) -> usize {
    present.clear();
    if nullable {
        present.extend(page.iter().map(|v| u8::from(!v.is_null())));
    }
    let kept = if nullable { present.iter().map(|&p| usize::from(p)).sum() } else { page.len() };
    push_present(body, present, page.len(), kept);
    page.len() - kept
}

/// Appends the definition levels of a page with `kept` values in `rows` rows.
fn push_present(body: &mut Vec<u8>, present: &[u8], rows: usize, kept: usize) {
    if kept == rows {
        push_level_runs(body, &[(rows, 1)], 1);
    } else {
        push_levels(body, present);
    }
}

/// Collects the dictionary indices of the values that are not NULL.
fn gather<T: Small>(indices: &mut Vec<u8>, page: &[T], may_hold_nulls: bool) {
    indices.clear();
    if may_hold_nulls {
        // Branch-free: writes every value, but advances only past those to keep.
        indices.resize(page.len(), 0);
        let mut kept = 0;
        for value in page {
            indices[kept] = value.index();
            kept += usize::from(!value.is_null());
        }
        indices.truncate(kept);
    } else {
        indices.extend(page.iter().map(|v| v.index()));
    }
}

/// Bits of an index into a dictionary of `entries`: 1, 2, 4 or 8, so that no index crosses a byte.
fn index_width(entries: usize) -> u32 {
    match entries {
        0..=2 => 1,
        3..=4 => 2,
        5..=16 => 4,
        _ => 8,
    }
}

fn push_indices(body: &mut Vec<u8>, indices: &[u8], width: u32, packing: Packing) {
    let width = if packing == Packing::Bytes { 8 } else { width };
    body.push(width as u8);
    if packing == Packing::Runs {
        for run in indices.chunk_by(|a, b| a == b) {
            push_run(body, run.len(), u32::from(run[0]), width);
        }
    } else {
        push_packed(body, indices, width);
    }
}

/// The integers of the indices 0 to `entries` - 1, in PLAIN encoding.
fn wrapped_dictionary(entries: usize) -> Vec<u8> {
    (0..=u8::MAX).take(entries).flat_map(|index| i32::from(wrapped(index)).to_le_bytes()).collect()
}

/// The entry of such a dictionary at an index.
pub(super) fn wrapped(index: u8) -> i16 {
    let value = i16::from(index);
    if value > WRAP_MAX as i16 { value - 256 } else { value }
}

fn plain_texts<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut plain = Vec::new();
    for text in texts {
        plain.extend_from_slice(&(text.len() as u32).to_le_bytes());
        plain.extend_from_slice(text.as_bytes());
    }
    plain
}

/// Appends the levels of a row with a list of `values` elements; 0 means NULL.
fn push_list_levels(body: &mut Vec<u8>, values: usize) {
    if values == 0 {
        push_level_runs(body, &[(1, 0)], 1);
        push_level_runs(body, &[(1, 0)], 2);
    } else {
        push_level_runs(body, &[(1, 0), (values - 1, 1)], 1);
        push_level_runs(body, &[(values, 2)], 2);
    }
}

fn list_of_integers<T: Small>(
    body: &mut Vec<u8>,
    indices: &mut Vec<u8>,
    values: &[T],
    encodings: EncodingSet,
) -> Encoding {
    // Spark 3.5 and 4.0 read wrong values if some lists of a column have a dictionary and others have none.
    if encodings == EncodingSet::Portable {
        return push_numbers(body, values, integer_bytes, encodings);
    }
    let (low, high) = T::bounds(values, false).unwrap_or((0, 0));
    if low < WRAP_MIN || high > WRAP_MAX {
        return push_numbers(body, values, integer_bytes, encodings);
    }
    let width = index_width(if low < 0 { 256 } else { high as usize + 1 });
    gather(indices, values, false);
    body.push(width as u8);
    push_packed(body, indices, width);
    Encoding::RLE_DICTIONARY
}

/// The bytes of a 32-bit Parquet integer.
fn integer_bytes<T: Small>(value: T) -> [u8; 4] {
    (value.number().unwrap_or_default() as i32).to_le_bytes()
}

/// Appends fixed-width values. Dense encoding splits them into byte planes: the upper planes compress to almost
/// nothing.
fn push_numbers<T: Copy, const N: usize>(
    body: &mut Vec<u8>,
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
    encodings: EncodingSet,
) -> Encoding {
    match encodings {
        EncodingSet::Portable => {
            body.extend(values.iter().flat_map(|&v| bytes(v)));
            Encoding::PLAIN
        }
        EncodingSet::Dense => {
            for plane in 0..N {
                body.extend(values.iter().map(|&v| bytes(v)[plane]));
            }
            Encoding::BYTE_STREAM_SPLIT
        }
    }
}
