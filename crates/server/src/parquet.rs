//! Answers as Parquet files, for downloads.

use std::io::Write;

use ::parquet::arrow::{ArrowSchemaConverter, ArrowWriter};
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

/// Bytes of encoded rows in memory at which a row group ends.
const GROUP_BYTES: usize = 16 << 20;

/// Begins a file of rows of `schema`.
///
/// # Errors
/// [`ArrowError::NotYetImplemented`] if Parquet has no type for a column.
pub(crate) fn writer<W: Write + Send>(out: W, schema: &SchemaRef) -> Result<ArrowWriter<W>, ArrowError> {
    if let Err(error) = ArrowSchemaConverter::new().convert(schema) {
        return Err(ArrowError::NotYetImplemented(format!("Parquet cannot hold a column: {error}")));
    }
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    Ok(ArrowWriter::try_new(out, schema.clone(), Some(properties))?)
}

/// Writes a batch of rows; keeps at most one row group in memory.
pub(crate) fn write<W: Write + Send>(writer: &mut ArrowWriter<W>, batch: &RecordBatch) -> Result<(), ArrowError> {
    let written = writer.write(batch).and_then(|()| match writer.in_progress_size() {
        GROUP_BYTES.. => writer.flush(),
        _ => Ok(()),
    });
    written.map_err(|error| match error {
        ParquetError::NYI(what) => ArrowError::NotYetImplemented(what),
        error => error.into(),
    })
}
