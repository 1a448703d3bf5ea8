//! The Arrow types of the columns of a file.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef, Schema, TimeUnit};
use pages::guarded;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Type;
use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::TypePtr;

/// A footer whose columns have the Arrow types of the file. Times that other writers store as INT96 become microseconds: as
/// nanoseconds, which the Parquet library makes of them, times before 1677 and after 2262 wrap around.
///
/// # Errors
/// If the footer has no Arrow types.
pub fn arrow_footer(footer: Arc<ParquetMetaData>) -> pages::Result<ArrowReaderMetadata> {
    guarded(|| {
        let columns = footer.file_metadata().schema_descr().root_schema().get_fields().to_vec();
        let is_int96 = |column: &TypePtr| column.is_primitive() && column.get_physical_type() == Type::INT96;
        let read = ArrowReaderMetadata::try_new(footer, ArrowReaderOptions::new())?;
        if !columns.iter().any(is_int96) {
            return Ok(read);
        }
        let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
        let typed = |(field, column): (&FieldRef, &TypePtr)| -> FieldRef {
            if is_int96(column) { field.as_ref().clone().with_data_type(micros.clone()).into() } else { field.clone() }
        };
        let fields: Vec<FieldRef> = read.schema().fields().iter().zip(&columns).map(typed).collect();
        let schema = Schema::new_with_metadata(fields, read.schema().metadata().clone());
        let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
        Ok(ArrowReaderMetadata::try_new(read.metadata().clone(), options)?)
    })
}
