//! One column chunk: compressed pages, their index, and the chunk's metadata.

use bytes::Bytes;
use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::codec::Compressor;

/// A finished column chunk, ready to be put into a segment.
pub struct EncodedColumn {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// What a data page holds, beside its bytes.
pub(super) struct PageFacts {
    /// Rows.
    pub(super) rows: usize,
    /// Levels: values and NULLs of all lists, or rows where the column holds no lists.
    pub(super) levels: usize,
    /// NULL rows.
    pub(super) nulls: usize,
    /// How the values are encoded.
    pub(super) encoding: Encoding,
    /// Smallest and largest integer, where they are known.
    pub(super) bounds: Option<(i64, i64)>,
}

/// Builds a column chunk page by page.
pub(super) struct ChunkWriter<'a> {
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
    bounds: Option<(i64, i64)>,
    bounds_known: bool,
}

impl<'a> ChunkWriter<'a> {
    pub(super) fn new(column: ColumnDescPtr, compressor: &'a mut Compressor) -> Self {
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

    /// Writes the dictionary: `count` values, plainly encoded. It must come first.
    pub(super) fn dictionary(&mut self, plain: &[u8], count: usize) -> Result<()> {
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

    /// Writes a data page of the first version: its levels and values.
    pub(super) fn page(&mut self, body: &[u8], facts: &PageFacts) -> Result<()> {
        let page = Page::DataPage {
            buf: self.compressor.compress(body)?,
            num_values: facts.levels as u32,
            encoding: facts.encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let at = self.write(page, body.len())?;
        self.first_page.get_or_insert(at);
        self.note(facts.encoding);
        let size = self.out.bytes_written() as i64 - at;
        self.offsets.append_offset_and_size(at, size as i32);
        self.offsets.append_row_count(facts.rows as i64);
        self.rows += facts.rows;
        self.levels += facts.levels;
        self.nulls += facts.nulls;
        self.add_bounds(facts);
        Ok(())
    }

    fn add_bounds(&mut self, facts: &PageFacts) {
        let all_null = facts.nulls == facts.rows;
        match facts.bounds {
            Some((low, high)) => {
                let wide = self.column.physical_type() == Physical::INT64;
                let bytes = |v: i64| if wide { v.to_le_bytes().to_vec() } else { (v as i32).to_le_bytes().to_vec() };
                self.index.append(false, bytes(low), bytes(high), facts.nulls as i64);
                let (l, h) = self.bounds.unwrap_or((low, high));
                self.bounds = Some((l.min(low), h.max(high)));
            }
            None if all_null => self.index.append(true, Vec::new(), Vec::new(), facts.nulls as i64),
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
        let (low, high) = self.bounds.filter(|_| self.bounds_known)?;
        let nulls = Some(self.nulls as u64);
        match self.column.physical_type() {
            Physical::INT32 => {
                Some(Statistics::Int32(ValueStatistics::new(Some(low as i32), Some(high as i32), None, nulls, false)))
            }
            Physical::INT64 => Some(Statistics::Int64(ValueStatistics::new(Some(low), Some(high), None, nulls, false))),
            _ => None,
        }
    }

    pub(super) fn finish(self) -> Result<EncodedColumn> {
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
