//! Footers and page indexes. The Parquet library parses most, and this module checks the offsets.

use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::file::metadata::{ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::reader::{ChunkReader as _, Length as _};

use crate::thrift::Thrift;
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

/// The positions of the data pages of one column chunk. The Parquet library would parse those of all columns.
pub fn read_page_locations(file: &SharedFile, chunk: &ColumnChunkMetaData) -> Result<Vec<PageLocation>> {
    let place = chunk.offset_index_offset().zip(chunk.offset_index_length());
    let place = place.and_then(|(from, length)| Some((u64::try_from(from).ok()?, usize::try_from(length).ok()?)));
    let (from, length) = place.ok_or(Error::damaged("the page index is missing"))?;
    let bytes = file.get_bytes(from, length)?;
    page_locations(&mut Thrift(&bytes)).ok_or(Error::damaged("the page index cannot be read"))
}

fn page_locations(index: &mut Thrift<'_>) -> Option<Vec<PageLocation>> {
    let mut locations = Vec::new();
    index.fields(|index, field, ty| match field {
        1 => index.structs(|location| {
            let mut page = PageLocation { offset: -1, compressed_page_size: -1, first_row_index: -1 };
            location.fields(|location, field, ty| {
                match field {
                    1 => page.offset = location.int()?,
                    2 => page.compressed_page_size = location.int()?.try_into().ok()?,
                    3 => page.first_row_index = location.int()?,
                    _ => location.skip(ty, 0)?,
                }
                Some(())
            })?;
            let is_whole = page.offset >= 0 && page.compressed_page_size >= 0 && page.first_row_index >= 0;
            locations.push(page);
            is_whole.then_some(())
        }),
        _ => index.skip(ty, 0),
    })?;
    Some(locations)
}

/// Runs the Parquet library on a file. On damaged files it may panic. A panic becomes [`Error::Damaged`].
pub fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(Error::damaged("the Parquet library panicked")))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;

    use super::*;

    #[test]
    fn page_locations_are_those_of_the_library() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..5_000));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..5_000).map(|row| row.to_string())));
        let rows = RecordBatch::try_from_iter([("number", numbers), ("text", texts)]).unwrap();
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let properties = WriterProperties::builder()
            .set_data_page_row_count_limit(100)
            .set_write_batch_size(100)
            .set_max_row_group_row_count(Some(3_000))
            .build();
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), rows.schema(), Some(properties)).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
        let file = SharedFile::new(File::open(&path).unwrap()).unwrap();
        let (footer, _) = read_footer(&file).unwrap();
        let indexed = read_page_index(&file, footer.clone()).unwrap();
        for group in 0..2 {
            for column in 0..2 {
                let chunk = footer.row_group(group).column(column);
                let locations = read_page_locations(&file, chunk).unwrap();
                assert_eq!(&locations, indexed.offset_index().unwrap()[group][column].page_locations());
                assert_eq!(locations.len(), [30, 20][group]);
                // Cut off anywhere, it is damaged.
                let (from, length) = (chunk.offset_index_offset().unwrap(), chunk.offset_index_length().unwrap());
                let index = file.get_bytes(from as u64, length as usize).unwrap();
                assert!((0..index.len()).all(|length| page_locations(&mut Thrift(&index[..length])).is_none()));
            }
        }
    }

    #[test]
    fn page_locations_without_a_position_are_refused() {
        // A list of one struct, whose fields 1 and 2 follow, but not field 3.
        assert!(page_locations(&mut Thrift(&[0x19, 0x1C, 0x16, 8, 0x15, 20, 0, 0])).is_none());
        let whole = page_locations(&mut Thrift(&[0x19, 0x1C, 0x16, 8, 0x15, 20, 0x16, 0, 0, 0])).unwrap();
        assert_eq!(whole, [PageLocation { offset: 4, compressed_page_size: 10, first_row_index: 0 }]);
    }
}
