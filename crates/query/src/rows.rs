//! Columns of numbers and words as Arrow arrays.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow::array::{
    Array as _, ArrayRef, Int8Array, Int16Array, Int32Array, RecordBatchOptions, StringBuilder, StringViewArray,
    UInt32Array,
};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::writer::{EncoderOptions, JsonArray, make_encoder};
use arrow::json::{Writer, WriterBuilder};
use arrow::record_batch::RecordBatch;
use model::{EventColumn, EventKind, EventValues, NULL_I8, NULL_I16, NULL_I32, NULL_LABEL};
use table::FlatValues;

use crate::error::QueryError;

/// A column of words.
pub(crate) fn text(name: &str, nullable: bool) -> Field {
    Field::new(name, DataType::Utf8View, nullable)
}

/// A column of whole numbers that world numbers and row numbers fit in.
pub(crate) fn int(name: &str) -> Field {
    Field::new(name, DataType::Int32, false)
}

/// The type of a model's event column.
pub(crate) fn event_type(column: &EventColumn) -> DataType {
    match column.kind {
        EventKind::Label(_) => DataType::Utf8View,
        EventKind::I8 => DataType::Int8,
        EventKind::I16 => DataType::Int16,
        EventKind::I32 => DataType::Int32,
    }
}

/// Some columns of a schema, or all.
pub(crate) fn project(schema: &Schema, columns: Option<&Vec<usize>>) -> Result<(SchemaRef, Vec<usize>), ArrowError> {
    let columns = columns.cloned().unwrap_or_else(|| (0..schema.fields().len()).collect());
    Ok((Arc::new(schema.project(&columns)?), columns))
}

/// A batch that may have rows without columns.
pub(crate) fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, QueryError> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(|e| invalid(&e))
}

/// Words by their places in a list; places past its end are NULL. The words themselves are stored once.
pub(crate) fn words(list: &StringViewArray, places: impl Iterator<Item = u32>) -> Result<ArrayRef, QueryError> {
    let known = list.len() as u32;
    let places: UInt32Array = places.map(|p| (p < known).then_some(p)).collect();
    take(list, &places, None).map_err(|e| invalid(&e))
}

/// An event column as a model emitted it.
pub(crate) fn emitted(column: &EventColumn, values: EventValues<'_>) -> Result<ArrayRef, QueryError> {
    let nullable = column.nullable;
    match values {
        EventValues::Label(codes) => {
            let EventKind::Label(labels) = &column.kind else {
                return Err(misfit(column));
            };
            let null = u32::from(NULL_LABEL);
            let place = |&code: &u8| if u32::from(code) == null { u32::MAX } else { u32::from(code) };
            words(&StringViewArray::from_iter_values(labels), codes.iter().map(place))
        }
        EventValues::I8(v) => {
            let present = |&x: &i8| (!nullable || x != NULL_I8).then_some(x);
            Ok(Arc::new(v.iter().map(present).collect::<Int8Array>()))
        }
        EventValues::I16(v) => {
            let present = |&x: &i16| (!nullable || x != NULL_I16).then_some(x);
            Ok(Arc::new(v.iter().map(present).collect::<Int16Array>()))
        }
        EventValues::I32(v) => {
            let present = |&x: &i32| (!nullable || x != NULL_I32).then_some(x);
            Ok(Arc::new(v.iter().map(present).collect::<Int32Array>()))
        }
    }
}

/// An event column as it was stored.
pub(crate) fn stored(column: &EventColumn, values: FlatValues) -> Result<ArrayRef, QueryError> {
    const NULL: i32 = i32::MIN;
    match (values, event_type(column)) {
        (FlatValues::Texts { codes: places, dictionary: list }, DataType::Utf8View) => {
            words(&StringViewArray::from_iter_values(list), places.into_iter())
        }
        (FlatValues::Integers(v), DataType::Int8) => {
            Ok(Arc::new(v.into_iter().map(|x| (x != NULL).then_some(x as i8)).collect::<Int8Array>()))
        }
        (FlatValues::Integers(v), DataType::Int16) => {
            Ok(Arc::new(v.into_iter().map(|x| (x != NULL).then_some(x as i16)).collect::<Int16Array>()))
        }
        (FlatValues::Integers(v), DataType::Int32) => {
            Ok(Arc::new(v.into_iter().map(|x| (x != NULL).then_some(x)).collect::<Int32Array>()))
        }
        _ => Err(misfit(column)),
    }
}

fn misfit(column: &EventColumn) -> QueryError {
    QueryError::Invalid { reason: format!("event column {:?} is not what the catalogue says", column.name) }
}

pub(crate) fn invalid(error: &ArrowError) -> QueryError {
    QueryError::Invalid { reason: error.to_string() }
}

/// Writes rows as one JSON array of objects: every key is there in each, NULL as `null`, and no rows are `[]`.
pub struct JsonRows<W: Write> {
    writer: Writer<W, JsonArray>,
    schema: SchemaRef,
}

impl<W: Write> JsonRows<W> {
    /// Rows of `schema`, to be written to `out`. A column that is called like another gets a number after its name.
    pub fn new(out: W, schema: &Schema) -> Self {
        Self { writer: WriterBuilder::new().with_explicit_nulls(true).build(out), schema: distinct_names(schema) }
    }

    /// Writes some more of them.
    ///
    /// # Errors
    /// Where `out` does not take them, or they have other columns.
    pub fn write(&mut self, rows: &RecordBatch) -> Result<(), ArrowError> {
        self.writer.write(&RecordBatch::try_new(self.schema.clone(), rows.columns().to_vec())?)
    }

    /// Ends the array, and gives `out` back.
    ///
    /// # Errors
    /// Where `out` does not take it.
    pub fn finish(mut self) -> Result<W, ArrowError> {
        self.writer.finish()?;
        Ok(self.writer.into_inner())
    }
}

/// Rows whose cells can each be written as one text, for formats that have nothing else: sets and other values with parts
/// become their JSON.
///
/// # Errors
/// Where JSON has no form for a value.
pub fn in_cells(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let cell = |(field, column): (&FieldRef, &ArrayRef)| -> Result<(FieldRef, ArrayRef), ArrowError> {
        if !field.data_type().is_nested() {
            return Ok((field.clone(), column.clone()));
        }
        let options = EncoderOptions::default();
        let mut encoder = make_encoder(field, column, &options)?;
        let mut texts = StringBuilder::new();
        let mut text = Vec::new();
        for row in 0..column.len() {
            if encoder.is_null(row) {
                texts.append_null();
                continue;
            }
            text.clear();
            encoder.encode(row, &mut text);
            texts.append_value(std::str::from_utf8(&text).map_err(|e| ArrowError::JsonError(e.to_string()))?);
        }
        let field = field.as_ref().clone().with_data_type(DataType::Utf8);
        Ok((Arc::new(field), Arc::new(texts.finish())))
    };
    let cells = rows.schema_ref().fields().iter().zip(rows.columns()).map(cell);
    let (fields, columns): (Vec<_>, Vec<_>) = cells.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
}

/// The columns with a number after every name that another has already: a key of an object must be one value's.
fn distinct_names(schema: &Schema) -> SchemaRef {
    let mut seen = HashMap::new();
    let rename = |field: &FieldRef| {
        let times = seen.entry(field.name().clone()).and_modify(|n| *n += 1).or_insert(1);
        if *times == 1 {
            field.clone()
        } else {
            Arc::new((**field).clone().with_name(format!("{}_{times}", field.name())))
        }
    };
    Arc::new(Schema::new(schema.fields().iter().map(rename).collect::<Vec<FieldRef>>()))
}
