//! Conversion of batches to the types and columns of a table.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt64Array, new_null_array};
use arrow::compute::{CastOptions, cast, cast_with_options, take};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use arrow::util::display::FormatOptions;

use crate::error::TableError;
use crate::schema::set_type;

/// Values that do not fit are errors, not NULL.
const EXACT: CastOptions<'static> = CastOptions { safe: false, format_options: FormatOptions::new() };

/// The stored form of columns: times in microseconds UTC, unsigned integers one width wider, texts and bytes in their
/// plain types, lists of texts as sets. Errors name the column.
pub fn storable(root: &Path, schema: &Schema) -> Result<SchemaRef, TableError> {
    let refuse = |column: &str, reason: String| TableError::rows(root, column, reason);
    let mut fields: Vec<Field> = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        if fields.iter().any(|f| f.name() == field.name()) {
            return Err(refuse(field.name(), "another column has this name: rename one of them".to_owned()));
        }
        let ty = stored_type(field.data_type())
            .ok_or_else(|| refuse(field.name(), format!("type {} is not supported", field.data_type())))?;
        fields.push(Field::new(field.name(), ty, field.is_nullable()));
    }
    Ok(Arc::new(Schema::new(fields)))
}

fn stored_type(ty: &DataType) -> Option<DataType> {
    Some(match ty {
        DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Float32
        | DataType::Float64
        | DataType::Date32
        | DataType::Utf8
        | DataType::Binary => ty.clone(),
        DataType::Decimal128(precision, scale) if *scale >= 0 && *scale as u8 <= *precision => ty.clone(),
        DataType::UInt8 => DataType::Int16,
        DataType::UInt16 => DataType::Int32,
        DataType::UInt32 => DataType::Int64,
        DataType::UInt64 => DataType::Decimal128(20, 0),
        DataType::Float16 => DataType::Float32,
        DataType::Date64 => DataType::Date32,
        DataType::Timestamp(..) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => DataType::Binary,
        DataType::Dictionary(_, values) => stored_type(values)?,
        ty if is_list_of_texts(ty) => set_type(),
        _ => return None,
    })
}

/// Converts a batch to a table's columns: finds columns by name, and returns them in the table's order and types.
/// Missing nullable columns become NULL. Fails if a value cannot be converted without loss. Errors name the column.
pub fn conform(root: &Path, schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch, TableError> {
    if batch.schema_ref() == schema {
        return Ok(batch.clone());
    }
    let refuse = |column: &str, reason: String| TableError::rows(root, column, reason);
    let unknown = batch.schema_ref().fields().iter().find(|f| schema.field_with_name(f.name()).is_err());
    if let Some(field) = unknown {
        return Err(refuse(field.name(), "it is not in the table: omit it".to_owned()));
    }
    let column = |field: &Arc<Field>| -> Result<ArrayRef, TableError> {
        let Some(values) = batch.column_by_name(field.name()) else {
            if field.is_nullable() {
                return Ok(new_null_array(field.data_type(), batch.num_rows()));
            }
            return Err(refuse(field.name(), "it is missing and must not be NULL".to_owned()));
        };
        if values.null_count() > 0 && !field.is_nullable() {
            return Err(refuse(field.name(), format!("it must not be NULL, but is in {} rows", values.null_count())));
        }
        if values.data_type() == field.data_type() {
            return Ok(values.clone());
        }
        let mismatch = || refuse(field.name(), format!("it holds {}, not {}", values.data_type(), field.data_type()));
        if stored_type(values.data_type()).as_ref() != Some(field.data_type())
            && !widens(values.data_type(), field.data_type())
        {
            return Err(mismatch());
        }
        if *field.data_type() == set_type() && values.data_type().is_nested() {
            return set_of(values).ok_or_else(|| refuse(field.name(), "a set contains NULL".to_owned()));
        }
        let stored = cast_with_options(values, field.data_type(), &EXACT);
        let stored = stored.map_err(|e| refuse(field.name(), e.to_string()))?;
        if loses_digits(values, &stored).map_err(|e| refuse(field.name(), e.to_string()))? {
            let reason = "its times are finer than microseconds: round them, or insert them as integers";
            return Err(refuse(field.name(), reason.to_owned()));
        }
        Ok(stored)
    };
    let columns = schema.fields().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(schema.clone(), columns).map_err(|e| refuse("", e.to_string()))
}

/// Whether the stored times lose digits.
fn loses_digits(values: &ArrayRef, stored: &ArrayRef) -> Result<bool, ArrowError> {
    match values.data_type() {
        DataType::Timestamp(TimeUnit::Nanosecond, _) | DataType::Date64 => {
            Ok(cast(&cast(stored, values.data_type())?, &DataType::Int64)?.as_ref()
                != cast(values, &DataType::Int64)?.as_ref())
        }
        _ => Ok(false),
    }
}

/// Whether `to` can represent every value of `from`.
fn widens(from: &DataType, to: &DataType) -> bool {
    let rank = |ty: &DataType| match ty {
        DataType::Int8 => Some(1),
        DataType::Int16 => Some(2),
        DataType::Int32 => Some(3),
        DataType::Int64 => Some(4),
        _ => None,
    };
    match (rank(from), rank(to)) {
        (Some(from), Some(to)) => from < to,
        _ => {
            *from == DataType::Float32 && *to == DataType::Float64
                || *from == DataType::Null
                // Other writers' lists may have nullable items.
                || is_list_of_texts(from) && is_list_of_texts(to)
        }
    }
}

fn is_list_of_texts(ty: &DataType) -> bool {
    match ty {
        DataType::List(item) | DataType::LargeList(item) => stored_type(item.data_type()) == Some(DataType::Utf8),
        _ => false,
    }
}

/// Converts lists of texts to sets; `None` if a text is NULL or the column holds anything else.
pub fn set_of(column: &ArrayRef) -> Option<ArrayRef> {
    if *column.data_type() == set_type() {
        return Some(column.clone());
    }
    if !is_list_of_texts(column.data_type()) {
        return None;
    }
    let as_list = DataType::List(Arc::new(Field::new("element", DataType::Utf8, true)));
    let mut lists = cast(column, &as_list).ok()?;
    if lists.as_list::<i32>().values().logical_null_count() > 0 {
        // Ignores NULL texts outside of all lists: those of NULL lists and of slices.
        let rows = UInt64Array::from_iter_values(0..lists.len() as u64);
        lists = take(&lists, &rows, None).ok()?;
    }
    cast(&lists, &set_type()).ok()
}
