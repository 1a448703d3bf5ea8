//! Footers and page indexes: the Parquet library parses them, this module checks the offsets.

use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataBuilder, ParquetMetaDataReader,
};
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::reader::Length as _;

use crate::{Error, Result, SharedFile};

/// Reads the footer, and returns the number of bytes read with it. Rejects footers that point outside the file, or at
/// row groups of more than 2^32 rows.
pub fn read_footer(file: &SharedFile) -> Result<(ParquetMetaData, u64)> {
    guarded(|| {
        let mut reader = ParquetMetaDataReader::new();
        reader.try_parse(file)?;
        let bytes = reader.metadata_size().unwrap_or(0) as u64;
        let footer = reader.finish()?;
        let is_whole = footer.row_groups().iter().all(|group| {
            (0..=i64::from(u32::MAX)).contains(&group.num_rows())
                && group.columns().iter().all(|chunk| lies_within(chunk, file.len()))
        });
        if is_whole { Ok((footer, bytes)) } else { Err(Error::damaged("the footer points outside the file")) }
    })
}

/// Whether a column chunk lies within the file's bytes. The Parquet library does not check this.
fn lies_within(chunk: &ColumnChunkMetaData, bytes: u64) -> bool {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()).min(chunk.data_page_offset());
    let end = start.checked_add(chunk.compressed_size());
    start >= 0 && chunk.compressed_size() >= 0 && end.is_some_and(|end| end as u64 <= bytes)
}

/// Adds the page indexes of all columns to a footer, if the file has any.
pub fn read_page_index(file: &SharedFile, footer: ParquetMetaData) -> Result<ParquetMetaData> {
    guarded(|| {
        let mut reader =
            ParquetMetaDataReader::new_with_metadata(footer).with_page_index_policy(PageIndexPolicy::Optional);
        reader.read_page_indexes(file)?;
        Ok(reader.finish()?)
    })
}

/// The positions of the data pages of one column chunk.
pub fn read_page_locations(
    file: &SharedFile,
    footer: &ParquetMetaData,
    group: usize,
    column: usize,
) -> Result<Vec<PageLocation>> {
    const NONE: Error = Error::damaged("the page index is missing");
    let one = ParquetMetaDataBuilder::new(footer.file_metadata().clone())
        .add_row_group(footer.row_group(group).clone())
        .build();
    guarded(|| {
        let mut reader = ParquetMetaDataReader::new_with_metadata(one)
            .with_column_index_policy(PageIndexPolicy::Skip)
            .with_offset_index_policy(PageIndexPolicy::Required);
        reader.read_page_indexes(file)?;
        let indexed = reader.finish()?;
        let columns = indexed.offset_index().and_then(|groups| groups.first()).ok_or(NONE)?;
        Ok(columns.get(column).ok_or(NONE)?.page_locations().clone())
    })
}

/// Runs the Parquet library on a file. On damaged files it may panic. A panic becomes [`Error::Damaged`].
pub fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(Error::damaged("the Parquet library panicked")))
}
