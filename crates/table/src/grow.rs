//! Adds columns to an existing table.

use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef, Schema, TimeUnit};

use crate::error::TableError;
use crate::schema::{Field, FieldType, set_type};
use crate::upkeep::{LayoutChange, RewriteOptions, rewrite};
use disk::Disk;

/// Turns integer columns of the table in the folder `root` into real numbers if they are real in `schema`. Rewrites the
/// segments, because no Delta reader converts one type to the other.
pub(crate) async fn widen(root: &Path, disk: &Arc<dyn Disk>, schema: &Schema) -> Result<(), TableError> {
    let widen = schema.fields().iter().filter(|f| *f.data_type() == DataType::Float64);
    let change = LayoutChange { widen: widen.map(|f| f.name().clone()).collect(), ..LayoutChange::default() };
    let options = RewriteOptions { change, ..RewriteOptions::default() };
    rewrite(root, disk.clone(), &options).await?;
    Ok(())
}

pub(crate) fn new_column(root: &Path, field: &FieldRef) -> Result<Field, TableError> {
    let ty = match field.data_type() {
        DataType::Int8 => FieldType::Int8,
        DataType::Int16 => FieldType::Int16,
        DataType::Int32 => FieldType::Int32,
        DataType::Int64 => FieldType::Int64,
        DataType::Float64 => FieldType::Double,
        DataType::Utf8 => FieldType::Text,
        DataType::Boolean => FieldType::Boolean,
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => FieldType::Time,
        ty if *ty == set_type() => FieldType::TextList,
        other => {
            let reason = format!("holds {other}, which cannot be added to a table");
            return Err(TableError::rows(root, field.name(), reason));
        }
    };
    Ok(Field::new(field.name(), ty))
}
