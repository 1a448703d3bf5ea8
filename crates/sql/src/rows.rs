//! Columns of numbers and texts as Arrow arrays.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::sync::Arc;

use arrow::array::{
    Array as _, ArrayRef, Float64Array, Int8Array, Int16Array, Int32Array, RecordBatchOptions, StringBuilder,
    StringViewArray, UInt32Array, make_array,
};
use arrow::compute::{SortOptions, sort_to_indices, take};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::writer::{EncoderOptions, JsonArray, make_encoder};
use arrow::json::{Writer, WriterBuilder};
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use model::{EventColumn, EventKind, EventValues, NULL_I8, NULL_I16, NULL_I32, NULL_LABEL};

use crate::error::QueryError;

/// A text column.
pub(crate) fn text(name: &str, nullable: bool) -> Field {
    Field::new(name, DataType::Utf8View, nullable)
}

/// An integer column for world numbers and row numbers.
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
        EventKind::F64 => DataType::Float64,
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

/// Texts selected by index; an index past the end is NULL. Shares the texts' storage.
pub(crate) fn take_texts(list: &StringViewArray, places: impl Iterator<Item = u32>) -> Result<ArrayRef, QueryError> {
    let len = list.len() as u32;
    let places: UInt32Array = places.map(|p| (p < len).then_some(p)).collect();
    take(list, &places, None).map_err(|e| invalid(&e))
}

/// An event column as a model emitted it.
pub(crate) fn emitted(column: &EventColumn, values: EventValues<'_>) -> Result<ArrayRef, QueryError> {
    let nullable = column.nullable;
    match values {
        EventValues::Label(codes) => {
            let EventKind::Label(labels) = &column.kind else {
                return Err(type_mismatch(column));
            };
            let null = u32::from(NULL_LABEL);
            let place = |&code: &u8| if u32::from(code) == null { u32::MAX } else { u32::from(code) };
            take_texts(&StringViewArray::from_iter_values(labels), codes.iter().map(place))
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
        EventValues::F64 { values, valid } => {
            Ok(Arc::new(Float64Array::new(values.to_vec().into(), valid.map(|valid| valid.to_vec().into()))))
        }
    }
}

fn type_mismatch(column: &EventColumn) -> QueryError {
    QueryError::Invalid { reason: format!("event column {:?} does not match the catalogue", column.name) }
}

pub(crate) fn invalid(error: &ArrowError) -> QueryError {
    QueryError::Invalid { reason: error.to_string() }
}

/// Fails if a value has no text, such as a time in the year 300000. Arrow writes the text of the error in its place.
///
/// # Errors
/// Names the column.
pub fn check_texts(rows: &RecordBatch) -> Result<(), QueryError> {
    for (field, column) in rows.schema_ref().fields().iter().zip(rows.columns()) {
        check_texts_of(column).map_err(|error| {
            let reason = format!("column {:?} holds a value that has no text: {error}", field.name());
            QueryError::Invalid { reason }
        })?;
    }
    Ok(())
}

fn check_texts_of(values: &ArrayRef) -> Result<(), ArrowError> {
    if !holds_times(values.data_type()) {
        return Ok(());
    }
    if values.data_type().is_nested() {
        // A slice of lists has the parts of all lists; this keeps its own.
        let all: UInt32Array = (0..values.len() as u32).collect();
        let parts = take(values, &all, None)?.to_data();
        return parts.child_data().iter().try_for_each(|part| check_texts_of(&make_array(part.clone())));
    }
    let options = FormatOptions::default();
    let texts = ArrayFormatter::try_new(values, &options)?;
    extremes(values)?.into_iter().try_for_each(|row| texts.value(row).try_to_string().map(drop))
}

/// Whether a type holds times, dates or durations. Values of all other types have a text.
fn holds_times(of: &DataType) -> bool {
    match of {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _)
        | DataType::RunEndEncoded(_, item) => holds_times(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| holds_times(field.data_type())),
        DataType::Dictionary(_, values) => holds_times(values),
        other => other.is_temporal(),
    }
}

/// The rows of the least and the greatest value, or all rows of values that are encoded.
fn extremes(column: &ArrayRef) -> Result<Vec<usize>, ArrowError> {
    if !column.data_type().is_primitive() {
        return Ok((0..column.len()).collect());
    }
    let mut rows = Vec::new();
    for descending in [false, true] {
        let first = sort_to_indices(column, Some(SortOptions { descending, nulls_first: false }), Some(1))?;
        rows.extend(first.values().iter().map(|row| *row as usize));
    }
    Ok(rows)
}

/// Writes rows as one JSON array of objects. Every object has all keys, with `null` for NULL; no rows become `[]`.
pub struct JsonRows<W: Write> {
    writer: Writer<W, JsonArray>,
    schema: SchemaRef,
}

impl<W: Write> JsonRows<W> {
    /// Starts an array of rows of `schema`. A repeated column name gets a number as a suffix.
    pub fn new(out: W, schema: &Schema) -> Self {
        Self { writer: WriterBuilder::new().with_explicit_nulls(true).build(out), schema: distinct_names(schema) }
    }

    /// Writes more rows.
    ///
    /// # Errors
    /// If `out` fails, or the columns differ.
    pub fn write(&mut self, rows: &RecordBatch) -> Result<(), ArrowError> {
        self.writer.write(&RecordBatch::try_new(self.schema.clone(), rows.columns().to_vec())?)
    }

    /// Ends the array, and returns `out`.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn finish(mut self) -> Result<W, ArrowError> {
        self.writer.finish()?;
        Ok(self.writer.into_inner())
    }
}

/// Converts cells for formats with only simple values: sets and other nested values become JSON text.
///
/// # Errors
/// If JSON cannot represent a value.
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

/// Numbers repeated column names, because keys of a JSON object must be unique.
fn distinct_names(schema: &Schema) -> SchemaRef {
    let mut names: HashSet<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut seen = HashMap::new();
    let rename = |field: &FieldRef| {
        let times = seen.entry(field.name().clone()).and_modify(|n| *n += 1).or_insert(1);
        if *times == 1 {
            return field.clone();
        }
        loop {
            let name = format!("{}_{times}", field.name());
            if names.insert(name.clone()) {
                return Arc::new((**field).clone().with_name(name));
            }
            *times += 1;
        }
    };
    Arc::new(Schema::new(schema.fields().iter().map(rename).collect::<Vec<FieldRef>>()))
}
