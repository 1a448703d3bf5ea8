//! Writes batches of rows as a Parquet file: durable, in the table's encodings, with the statistics and Bloom filters
//! of its layout.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float32Type, Float64Type, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::{BloomFilterPosition, DEFAULT_WRITE_BATCH_SIZE, EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::encoding::Encodings;
use super::options::TableOptions;
use super::statistics;
use crate::disk::Disk;
use crate::error::TableError;
use crate::log::ColumnStatistics;
use crate::new_file::NewFile;
use crate::segment::CREATED_BY;

/// Rows of a row group, at most: as many distinct values as a Bloom filter of 128 KiB tells apart with one false answer
/// in a hundred (filters come in powers of two, and half-empty ones are a waste).
pub const GROUP_ROWS_MAX: usize = 106_496;
/// False answers of a Bloom filter, at most.
pub(crate) const BLOOM_FALSE_POSITIVES: f64 = 0.01;
/// Rows of a page, at most: what a question that needs one row must decode.
const PAGE_ROWS: usize = 20_000;
/// Pages that a full row group has, at least.
const GROUP_PAGES_MIN: usize = 5;
const BUFFER_BYTES: usize = 1 << 20;

/// A file of rows that has been written, synced and given its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WrittenRows {
    /// Its size.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// Its row groups.
    pub groups: u32,
    /// What is known of its columns.
    pub columns: BTreeMap<String, ColumnStatistics>,
}

/// A file of rows being written. Dropped unfinished, it leaves nothing.
pub(crate) struct RowsWriter {
    path: std::path::PathBuf,
    schema: SchemaRef,
    writer: ArrowWriter<BufWriter<NewFile>>,
    rows: u64,
}

impl RowsWriter {
    /// Begins the file `path` of about `rows` rows. `may_hold_nan` says of a column of real numbers whether it may
    /// hold NaN: NaN has no place among bounds, so such a column gets none.
    pub(crate) fn create(
        disk: Arc<dyn Disk>,
        path: &Path,
        schema: SchemaRef,
        options: &TableOptions,
        encodings: &Encodings,
        rows: usize,
        may_hold_nan: impl Fn(&str) -> bool,
    ) -> Result<Self, TableError> {
        let failed = |source| TableError::encode(path, source);
        let file = BufWriter::with_capacity(BUFFER_BYTES, NewFile::create(disk, path)?);
        let properties = properties(&schema, options, encodings, rows, may_hold_nan).map_err(failed)?;
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(file, schema.clone(), options).map_err(failed)?;
        Ok(Self { path: path.to_owned(), schema, writer, rows: 0 })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        self.rows += batch.num_rows() as u64;
        self.writer.write(batch).map_err(|source| TableError::encode(&self.path, source))
    }

    /// Writes the footer, syncs the file and gives it its name.
    pub(crate) fn finish(mut self) -> Result<WrittenRows, TableError> {
        let failed = |source| TableError::encode(&self.path, source);
        let metadata: ParquetMetaData = self.writer.finish().map_err(failed)?;
        let file = self.writer.inner_mut();
        file.flush().map_err(TableError::io("write", &self.path))?;
        let bytes = file.get_mut().finish()?;
        Ok(WrittenRows {
            bytes,
            rows: self.rows,
            groups: metadata.num_row_groups() as u32,
            columns: statistics::of_file(&self.schema, &metadata),
        })
    }
}

fn properties(
    schema: &SchemaRef,
    options: &TableOptions,
    encodings: &Encodings,
    rows: usize,
    may_hold_nan: impl Fn(&str) -> bool,
) -> Result<WriterProperties, ParquetError> {
    let group_rows = group_rows(rows, options.group_rows);
    let page_rows = PAGE_ROWS.min(options.group_rows.div_ceil(GROUP_PAGES_MIN));
    let statistics = if options.has_statistics() { EnabledStatistics::Page } else { EnabledStatistics::None };
    let mut properties = encodings
        .apply(schema)?
        .set_created_by(CREATED_BY.to_owned())
        .set_statistics_enabled(statistics)
        .set_max_row_group_row_count(Some(group_rows))
        .set_data_page_row_count_limit(page_rows)
        // Pages end where a batch of values does.
        .set_write_batch_size(page_rows.min(DEFAULT_WRITE_BATCH_SIZE))
        .set_bloom_filter_position(BloomFilterPosition::End);
    for field in schema.fields() {
        let path = ColumnPath::new(vec![field.name().clone()]);
        if matches!(field.data_type(), DataType::Float32 | DataType::Float64) && may_hold_nan(field.name()) {
            properties = properties.set_column_statistics_enabled(path.clone(), EnabledStatistics::None);
        }
        if options.bloom.contains(field.name()) {
            // Sized for a group of distinct values, then folded to what they need.
            properties = properties
                .set_column_bloom_filter_max_ndv(path.clone(), group_rows as u64)
                .set_column_bloom_filter_fpp(path, BLOOM_FALSE_POSITIVES);
        }
    }
    Ok(properties.build())
}

/// Rows of each of the row groups that `rows` rows are cut into: as few groups as may be, all about alike.
fn group_rows(rows: usize, max: usize) -> usize {
    let groups = rows.div_ceil(max).max(1);
    rows.div_ceil(groups).max(1)
}

/// Whether any of some columns of real numbers is NaN.
pub(crate) fn holds_nan(column: &ArrayRef) -> bool {
    match column.data_type() {
        DataType::Float32 => column.as_primitive::<Float32Type>().iter().flatten().any(f32::is_nan),
        DataType::Float64 => column.as_primitive::<Float64Type>().iter().flatten().any(f64::is_nan),
        _ => false,
    }
}
