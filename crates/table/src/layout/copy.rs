//! Copies row groups between segments without decoding their pages.

use std::fs::File;
use std::path::Path;

use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::page_index::column_index::ColumnIndexMetaData;

use super::limits::GROUP_BYTES;
use super::write::RowsWriter;
use crate::error::TableError;
use crate::input::Input;
use crate::log::Segment;

/// No filter that this crate writes is as large.
const FILTER_BYTES_MAX: i32 = 16 << 20;

impl RowsWriter {
    /// Copies all row groups of a segment. Returns false, and copies none, unless they have the columns and options of this
    /// one, no secondary index needs the rows, and no small row group results, which encoding the rows would join to others.
    pub(crate) fn copy(&mut self, input: &Input) -> Result<bool, TableError> {
        let segment = &input.segment;
        if !self.copies(segment, input.metadata().metadata()) {
            return Ok(false);
        }
        let (file, footer) = input.with_page_index()?;
        // A damaged page index is as none.
        if footer.offset_index().is_none() {
            return Ok(false);
        }
        self.end_group()?;
        for group in 0..footer.num_row_groups() {
            self.copy_group(input.path(), &file, &footer, group)?;
        }
        for (set, count) in &mut self.nulls {
            *count += nulls(segment, set).unwrap_or(0);
        }
        self.segment.rows += segment.rows;
        Ok(true)
    }

    fn copies(&self, segment: &Segment, footer: &ParquetMetaData) -> bool {
        let options = &self.target.options;
        let about = footer.file_metadata();
        let is_large = |rows: usize, bytes: usize| 2 * rows > options.group_rows || 2 * bytes > GROUP_BYTES;
        let has_filter = |chunk: &ColumnChunkMetaData| {
            chunk.bloom_filter_length().is_none_or(|bytes| (0..=FILTER_BYTES_MAX).contains(&bytes))
        };
        let groups = footer.row_groups();
        self.lookup.is_none()
            && self.group.as_ref().is_none_or(|group| is_large(group.rows, group.bytes))
            && about.key_value_metadata().is_some_and(|entries| entries.contains(&options.in_footer()))
            && about.schema_descr().columns() == self.parquet.columns()
            && groups.iter().all(|group| is_large(group.num_rows() as usize, group.total_byte_size() as usize))
            && self.nulls.keys().all(|set| nulls(segment, set).is_some())
            // Damaged footers are not copied.
            && groups.iter().map(|group| group.num_rows() as u64).sum::<u64>() == segment.rows
            && groups.iter().flat_map(RowGroupMetaData::columns).all(has_filter)
    }

    fn copy_group(
        &mut self,
        from: &Path,
        file: &File,
        footer: &ParquetMetaData,
        group: usize,
    ) -> Result<(), TableError> {
        let failed = |cause| TableError::encode(&self.path, cause);
        let mut out = self.writer.next_row_group().map_err(failed)?;
        let about = footer.row_group(group);
        for (leaf, chunk) in about.columns().iter().enumerate() {
            let index = footer.column_index().map(|index| index[group][leaf].clone());
            let filter = Sbbf::read_from_column_chunk(chunk, file);
            let close = ColumnCloseResult {
                bytes_written: chunk.compressed_size() as u64,
                rows_written: about.num_rows() as u64,
                metadata: chunk.clone(),
                bloom_filter: filter.map_err(|cause| TableError::damaged(from, cause))?,
                column_index: index.filter(|index| !matches!(index, ColumnIndexMetaData::NONE)),
                offset_index: footer.offset_index().map(|index| index[group][leaf].clone()),
            };
            out.append_column(file, close).map_err(failed)?;
        }
        out.close().map_err(failed)?;
        Ok(())
    }
}

/// The NULLs of a column, if the log of the table says so.
fn nulls(segment: &Segment, column: &str) -> Option<u64> {
    segment.columns.get(column)?.nulls
}
