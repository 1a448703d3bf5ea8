//! Writes a segment: column chunks in row groups, then the footer, then sync and rename.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pages::EncodedColumn;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use serde::{Deserialize, Serialize};

use crate::error::TableError;
use crate::new_file::NewFile;
use crate::schema::SegmentSchema;
use disk::Disk;

pub(crate) const CREATED_BY: &str = concat!("manyworlds version ", env!("CARGO_PKG_VERSION"));
const BUFFER_BYTES: usize = 1 << 20;

/// A durable segment under its final name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenSegment {
    pub path: PathBuf,
    pub bytes: u64,
    pub rows: u64,
}

/// A segment being written under a temporary name. Dropping it unfinished removes it.
pub struct SegmentWriter {
    path: PathBuf,
    writer: SerializedFileWriter<BufWriter<NewFile>>,
    rows: u64,
}

impl SegmentWriter {
    /// Creates a segment with the final name `path`, and missing folders.
    pub fn create(disk: Arc<dyn Disk>, path: &Path, schema: &SegmentSchema) -> Result<Self, TableError> {
        let file = NewFile::create(disk, path)?;
        let properties = WriterProperties::builder().set_created_by(CREATED_BY.to_owned()).build();
        let buffered = BufWriter::with_capacity(BUFFER_BYTES, file);
        let writer = SerializedFileWriter::new(buffered, schema.root.clone(), Arc::new(properties))
            .map_err(|source| TableError::encode(path, source))?;
        Ok(Self { path: path.to_owned(), writer, rows: 0 })
    }

    /// Appends a row group: one chunk per column, in order.
    pub fn row_group(&mut self, columns: Vec<EncodedColumn>) -> Result<(), TableError> {
        let rows = columns.first().map_or(0, |c| c.close.rows_written);
        let append = || {
            let mut group = self.writer.next_row_group()?;
            for column in columns {
                group.append_column(&column.bytes, column.close)?;
            }
            group.close()
        };
        append().map_err(|source| TableError::encode(&self.path, source))?;
        self.rows += rows;
        Ok(())
    }

    /// Writes the footer with key-value metadata, then syncs and names the segment.
    pub fn finish(self, metadata: Vec<(String, String)>) -> Result<WrittenSegment, TableError> {
        let Self { path, mut writer, rows } = self;
        for (key, value) in metadata {
            writer.append_key_value_metadata(KeyValue::new(key, value));
        }
        let buffered = writer.into_inner().map_err(|source| TableError::encode(&path, source))?;
        let mut file = buffered.into_inner().map_err(|e| TableError::io("write", &path)(e.into_error()))?;
        let bytes = file.finish()?;
        Ok(WrittenSegment { path, bytes, rows })
    }
}
