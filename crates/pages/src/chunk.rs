//! One column chunk: compressed pages, their index, and the chunk's metadata.

use bytes::Bytes;
use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::codec::Compressor;

/// A finished column chunk, ready to append to a segment.
pub struct EncodedColumn {
    pub bytes: Bytes,
    /// Metadata, indexes and filter, for the Parquet library's row group writer.
    pub close: ColumnCloseResult,
}

pub struct PageMetadata {
    pub rows: usize,
    /// Number of levels: values and NULLs of all lists, or rows if the column has no lists.
    pub levels: usize,
    pub nulls: usize,
    pub encoding: Encoding,
    pub bounds: Option<Bounds>,
}

impl PageMetadata {
    /// A page of a column without lists.
    pub fn of_rows(rows: usize, nulls: usize, encoding: Encoding, bounds: Option<Bounds>) -> Self {
        Self { rows, levels: rows, nulls, encoding, bounds }
    }
}

#[derive(Debug, Clone)]
pub enum Bounds {
    Integers(i64, i64),
    /// Of real numbers, none of them NaN.
    Reals(f64, f64),
    /// Of texts or bytes.
    Bytes(Vec<u8>, Vec<u8>),
}

/// Bounds of texts are truncated to this many bytes to keep footers small.
const BOUND_BYTES_MAX: usize = 64;

impl Bounds {
    fn widen(self, other: Self) -> Self {
        match (self, other) {
            (Self::Integers(a, b), Self::Integers(c, d)) => Self::Integers(a.min(c), b.max(d)),
            (Self::Reals(a, b), Self::Reals(c, d)) => Self::Reals(a.min(c), b.max(d)),
            (Self::Bytes(a, b), Self::Bytes(c, d)) => Self::Bytes(a.min(c), b.max(d)),
            // A column has one type.
            (first, _) => first,
        }
    }

    /// The bounds as a page index stores them, truncated. `None` if no short text is an upper bound.
    fn to_bytes(&self, physical: Physical) -> Option<(Vec<u8>, Vec<u8>)> {
        match self {
            Self::Integers(low, high) if physical == Physical::INT64 => {
                Some((low.to_le_bytes().to_vec(), high.to_le_bytes().to_vec()))
            }
            Self::Integers(low, high) => {
                Some(((*low as i32).to_le_bytes().to_vec(), (*high as i32).to_le_bytes().to_vec()))
            }
            Self::Reals(low, high) => {
                let (low, high) = signed_zeros(*low, *high);
                Some((low.to_le_bytes().to_vec(), high.to_le_bytes().to_vec()))
            }
            Self::Bytes(low, high) => Some((low[..cut(low)].to_vec(), above(high)?)),
        }
    }
}

/// Bounds widened so that a zero includes both signs of zero, as the Parquet specification requires.
fn signed_zeros(low: f64, high: f64) -> (f64, f64) {
    (if low == 0.0 { -0.0 } else { low }, if high == 0.0 { 0.0 } else { high })
}

/// Where to truncate a text without splitting a character.
fn cut(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.floor_char_boundary(BOUND_BYTES_MAX),
        Err(_) => bytes.len().min(BOUND_BYTES_MAX),
    }
}

/// A short text that is not below `bytes`: a prefix with its last character incremented.
fn above(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut kept = bytes[..cut(bytes)].to_vec();
    if kept.len() == bytes.len() {
        return Some(kept);
    }
    // Incrementing ASCII below DEL gives valid text; for bytes the same limit is good enough.
    while let Some(last) = kept.pop() {
        if last < 0x7E {
            kept.push(last + 1);
            return Some(kept);
        }
    }
    None
}

pub struct ChunkWriter<'a> {
    column: ColumnDescPtr,
    compressor: &'a mut Compressor,
    out: TrackedWrite<Vec<u8>>,
    offsets: OffsetIndexBuilder,
    index: ColumnIndexBuilder,
    dictionary_offset: Option<i64>,
    first_page: Option<i64>,
    encodings: Vec<Encoding>,
    uncompressed: i64,
    rows: usize,
    levels: usize,
    nulls: usize,
    bounds: Option<Bounds>,
    bounds_known: bool,
}

impl<'a> ChunkWriter<'a> {
    pub fn new(column: ColumnDescPtr, compressor: &'a mut Compressor) -> Self {
        Self {
            index: ColumnIndexBuilder::new(column.physical_type()),
            column,
            compressor,
            out: TrackedWrite::new(Vec::new()),
            offsets: OffsetIndexBuilder::new(),
            dictionary_offset: None,
            first_page: None,
            encodings: vec![Encoding::RLE],
            uncompressed: 0,
            rows: 0,
            levels: 0,
            nulls: 0,
            bounds: None,
            bounds_known: true,
        }
    }

    /// Writes the dictionary: `count` values in PLAIN encoding. Call it before the first data page.
    pub fn dictionary(&mut self, plain: &[u8], count: usize) -> Result<()> {
        let page = Page::DictionaryPage {
            buf: self.compressor.compress(plain)?,
            num_values: count as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let at = self.write(page, plain.len())?;
        self.dictionary_offset = Some(at);
        self.note(Encoding::PLAIN);
        Ok(())
    }

    /// Writes a data page of version 1: its levels and values.
    pub fn page(&mut self, body: &[u8], metadata: &PageMetadata) -> Result<()> {
        let page = Page::DataPage {
            buf: self.compressor.compress(body)?,
            num_values: metadata.levels as u32,
            encoding: metadata.encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let at = self.write(page, body.len())?;
        self.first_page.get_or_insert(at);
        self.note(metadata.encoding);
        let size = self.out.bytes_written() as i64 - at;
        self.offsets.append_offset_and_size(at, size as i32);
        self.offsets.append_row_count(metadata.rows as i64);
        self.rows += metadata.rows;
        self.levels += metadata.levels;
        self.nulls += metadata.nulls;
        self.add_bounds(metadata);
        Ok(())
    }

    fn add_bounds(&mut self, metadata: &PageMetadata) {
        let all_null = metadata.nulls == metadata.rows;
        let physical = self.column.physical_type();
        match metadata.bounds.as_ref().and_then(|b| Some((b, b.to_bytes(physical)?))) {
            Some((bounds, (low, high))) => {
                self.index.append(false, low, high, metadata.nulls as i64);
                self.bounds = Some(match self.bounds.take() {
                    Some(widest) => widest.widen(bounds.clone()),
                    None => bounds.clone(),
                });
            }
            None if all_null => self.index.append(true, Vec::new(), Vec::new(), metadata.nulls as i64),
            None => {
                self.index.to_invalid();
                self.bounds_known = false;
            }
        }
    }

    fn write(&mut self, page: Page, uncompressed: usize) -> Result<i64> {
        let at = self.out.bytes_written();
        let mut pages = SerializedPageWriter::new(&mut self.out);
        let spec = pages.write_page(CompressedPage::new(page, uncompressed))?;
        self.uncompressed += spec.uncompressed_size as i64;
        Ok(at as i64)
    }

    fn note(&mut self, encoding: Encoding) {
        if !self.encodings.contains(&encoding) {
            self.encodings.push(encoding);
        }
    }

    fn statistics(&self) -> Option<Statistics> {
        let nulls = Some(self.nulls as u64);
        match (self.bounds.as_ref().filter(|_| self.bounds_known)?, self.column.physical_type()) {
            (Bounds::Integers(low, high), Physical::INT32) => {
                let (low, high) = (Some(*low as i32), Some(*high as i32));
                Some(Statistics::Int32(ValueStatistics::new(low, high, None, nulls, false)))
            }
            (Bounds::Integers(low, high), Physical::INT64) => {
                Some(Statistics::Int64(ValueStatistics::new(Some(*low), Some(*high), None, nulls, false)))
            }
            (Bounds::Reals(low, high), Physical::DOUBLE) => {
                let (low, high) = signed_zeros(*low, *high);
                Some(Statistics::Double(ValueStatistics::new(Some(low), Some(high), None, nulls, false)))
            }
            (bounds @ Bounds::Bytes(whole_low, whole_high), Physical::BYTE_ARRAY) => {
                let (low, high) = bounds.to_bytes(Physical::BYTE_ARRAY)?;
                let exact = (low == *whole_low, high == *whole_high);
                let (low, high) = (ByteArray::from(low), ByteArray::from(high));
                let statistics = ValueStatistics::new(Some(low), Some(high), None, nulls, false);
                Some(Statistics::ByteArray(statistics.with_min_is_exact(exact.0).with_max_is_exact(exact.1)))
            }
            _ => None,
        }
    }

    pub fn finish(self) -> Result<EncodedColumn> {
        let statistics = self.statistics();
        let compressed = self.out.bytes_written() as i64;
        let mut metadata = ColumnChunkMetaData::builder(self.column)
            .set_compression(self.compressor.in_footer())
            .set_encodings(self.encodings)
            .set_total_compressed_size(compressed)
            .set_total_uncompressed_size(self.uncompressed)
            .set_num_values(self.levels as i64)
            .set_data_page_offset(self.first_page.unwrap_or(0))
            .set_dictionary_page_offset(self.dictionary_offset);
        if let Some(statistics) = statistics {
            metadata = metadata.set_statistics(statistics);
        }
        let close = ColumnCloseResult {
            bytes_written: compressed as u64,
            rows_written: self.rows as u64,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: if self.index.valid() { Some(self.index.build()?) } else { None },
            offset_index: Some(self.offsets.build()),
        };
        Ok(EncodedColumn { bytes: Bytes::from(self.out.into_inner()?), close })
    }
}
