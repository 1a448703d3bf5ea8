//! Copies row groups between segments without decoding their pages.

use std::fs::File;

use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::page_index::column_index::ColumnIndexMetaData;

use super::write::RowsWriter;
use crate::log::Segment;

impl RowsWriter {
    /// Whether [`Self::copy`] may copy the row groups of a segment. They must have the columns and options of this one. No
    /// secondary index may need the rows, and no small row group may result, which encoding the rows would join to others.
    pub(crate) fn copies(&self, segment: &Segment, footer: &ParquetMetaData) -> bool {
        let options = &self.target.options;
        let about = footer.file_metadata();
        let is_large = |rows: usize| 2 * rows > options.group_rows;
        self.lookup.is_none()
            && self.group.as_ref().is_none_or(|group| is_large(group.rows))
            && about.key_value_metadata().is_some_and(|entries| entries.contains(&options.in_footer()))
            && about.schema_descr().columns() == self.parquet.columns()
            && footer.row_groups().iter().all(|group| is_large(group.num_rows() as usize))
            && self.nulls.keys().all(|set| nulls(segment, set).is_some())
    }

    /// Copies all row groups of a segment that [`Self::copies`] accepts; `footer` has its page indexes.
    pub(crate) fn copy(
        &mut self,
        segment: &Segment,
        file: &File,
        footer: &ParquetMetaData,
    ) -> Result<(), ParquetError> {
        self.finish_group()?;
        for (group, about) in footer.row_groups().iter().enumerate() {
            let mut out = self.writer.next_row_group()?;
            for (leaf, chunk) in about.columns().iter().enumerate() {
                let index = footer.column_index().map(|index| index[group][leaf].clone());
                let close = ColumnCloseResult {
                    bytes_written: chunk.compressed_size() as u64,
                    rows_written: about.num_rows() as u64,
                    metadata: chunk.clone(),
                    bloom_filter: Sbbf::read_from_column_chunk(chunk, file)?,
                    column_index: index.filter(|index| !matches!(index, ColumnIndexMetaData::NONE)),
                    offset_index: footer.offset_index().map(|index| index[group][leaf].clone()),
                };
                out.append_column(file, close)?;
            }
            out.close()?;
            self.segment.rows += about.num_rows() as u64;
        }
        for (set, count) in &mut self.nulls {
            *count += nulls(segment, set).unwrap_or(0);
        }
        Ok(())
    }
}

/// The NULLs of a column, if the log of the table says so.
fn nulls(segment: &Segment, column: &str) -> Option<u64> {
    segment.columns.get(column)?.nulls
}
