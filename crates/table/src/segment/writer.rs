//! Writes a segment: column chunks into row groups, a footer, then sync and name.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::chunk::EncodedColumn;
use crate::disk::{Disk, DiskFile, create_dirs, parent, temporary_name};
use crate::error::TableError;
use crate::schema::SegmentSchema;

const CREATED_BY: &str = concat!("manyworlds version ", env!("CARGO_PKG_VERSION"));
const BUFFER_BYTES: usize = 1 << 20;

/// A segment that has been written, synced and given its final name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenSegment {
    /// Where it lies.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
}

/// A segment being written, under a temporary name until it is finished. Dropped unfinished, it leaves nothing.
pub struct SegmentWriter {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    temporary: PathBuf,
    writer: Option<SerializedFileWriter<BufWriter<Synced>>>,
    rows: u64,
}

/// Adapts a [`DiskFile`], whose box the Parquet writer can own.
struct Synced(Box<dyn DiskFile>);

impl Write for Synced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl SegmentWriter {
    /// Begins the segment that will be named `path`; missing folders are made.
    pub fn create(disk: Arc<dyn Disk>, path: &Path, schema: &SegmentSchema) -> Result<Self, TableError> {
        create_dirs(&*disk, parent(path)).map_err(TableError::io("create the folder", parent(path)))?;
        let temporary = temporary_name(path);
        let file = disk.create(&temporary).map_err(TableError::io("create", &temporary))?;
        let properties = WriterProperties::builder().set_created_by(CREATED_BY.to_owned()).build();
        let buffered = BufWriter::with_capacity(BUFFER_BYTES, Synced(file));
        let writer = SerializedFileWriter::new(buffered, schema.root.clone(), Arc::new(properties))
            .map_err(|cause| failed(path, cause))?;
        Ok(Self { disk, path: path.to_owned(), temporary, writer: Some(writer), rows: 0 })
    }

    /// Appends a row group: one column chunk for each column, in order.
    pub fn row_group(&mut self, columns: Vec<EncodedColumn>) -> Result<(), TableError> {
        let Some(writer) = &mut self.writer else {
            return Err(failed(&self.path, ParquetError::General("the segment is finished".to_owned())));
        };
        let rows = columns.first().map_or(0, |c| c.close.rows_written);
        let append = || {
            let mut group = writer.next_row_group()?;
            for column in columns {
                group.append_column(&column.bytes, column.close)?;
            }
            group.close()
        };
        append().map_err(|cause| failed(&self.path, cause))?;
        self.rows += rows;
        Ok(())
    }

    /// Writes the footer with some facts about the segment, syncs it, and gives it its name.
    pub fn finish(mut self, facts: Vec<(String, String)>) -> Result<WrittenSegment, TableError> {
        let path = self.path.clone();
        let mut writer = self
            .writer
            .take()
            .ok_or_else(|| failed(&path, ParquetError::General("the segment is finished".to_owned())))?;
        for (key, value) in facts {
            writer.append_key_value_metadata(KeyValue::new(key, value));
        }
        let buffered = writer.into_inner().map_err(|cause| failed(&path, cause))?;
        let mut file = buffered.into_inner().map_err(|e| TableError::io("write", &path)(e.into_error()))?;
        file.0.sync().map_err(TableError::io("sync", &path))?;
        drop(file);
        self.disk.rename(&self.temporary, &path).map_err(TableError::io("name", &path))?;
        self.disk.sync_dir(parent(&path)).map_err(TableError::io("sync the folder of", &path))?;
        let bytes = path.metadata().map_err(TableError::io("look at", &path))?.len();
        Ok(WrittenSegment { bytes, rows: self.rows, path })
    }
}

impl Drop for SegmentWriter {
    fn drop(&mut self) {
        if self.writer.take().is_some()
            && let Err(error) = self.disk.remove(&self.temporary)
        {
            // Harmless: a temporary file is nobody's, and the next run sweeps it.
            tracing::debug!(path = %self.temporary.display(), %error, "could not remove an unfinished segment");
        }
    }
}

/// An encoding error, or the I/O error inside it.
fn failed(path: &Path, cause: ParquetError) -> TableError {
    match cause {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => TableError::io("write", path)(*error),
            Err(inner) => TableError::Encode { path: path.to_owned(), cause: ParquetError::External(inner) },
        },
        cause => TableError::Encode { path: path.to_owned(), cause },
    }
}
