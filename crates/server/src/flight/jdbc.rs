//! What the JDBC driver reads and sends: it knows no views of texts and bytes, and sends times in milliseconds, whatever
//! unit the server asks for.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray as _, BinaryArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use arrow::ipc::writer::IpcWriteOptions;
use arrow_flight::{IpcMessage, SchemaAsIpc};
use axum::http::HeaderMap;
use axum::http::header::USER_AGENT;

/// The column of `GetTables` that holds the columns of each table.
const COLUMNS: &str = "table_schema";

/// Whether a request is from a client in Java, as this driver is.
pub(super) fn is_java(headers: &HeaderMap) -> bool {
    headers.get(USER_AGENT).is_some_and(|agent| agent.as_bytes().starts_with(b"grpc-java"))
}

/// The columns without views.
pub(super) fn columns(columns: &Schema) -> SchemaRef {
    changed(columns, plain).into()
}

/// The types in which the driver sends parameters.
pub(super) fn parameters(columns: &Schema) -> Schema {
    changed(columns, |of| match of {
        DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Millisecond, zone.clone()),
        DataType::Time64(_) => DataType::Time32(TimeUnit::Millisecond),
        other => plain(other),
    })
}

/// The rows without views, in [`columns`].
pub(super) fn rows(rows: &RecordBatch, columns: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let column = |(column, field): (&ArrayRef, &FieldRef)| cast(column, field.data_type());
    let found = rows.columns().iter().zip(columns.fields()).map(column).collect::<Result<_, _>>()?;
    RecordBatch::try_new(columns.clone(), found)
}

/// The rows of `GetTables`, with the columns of each table without views.
pub(super) fn tables(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let change = |(column, field): (&ArrayRef, &FieldRef)| {
        if field.name() == COLUMNS { described(column.as_binary()) } else { Ok(column.clone()) }
    };
    let found = rows.columns().iter().zip(rows.schema().fields()).map(change).collect::<Result<_, _>>()?;
    RecordBatch::try_new(rows.schema(), found)
}

fn described(schemas: &BinaryArray) -> Result<ArrayRef, ArrowError> {
    let without = |bytes: &[u8]| -> Result<Vec<u8>, ArrowError> {
        let schema = Schema::try_from(IpcMessage(bytes.to_vec().into()))?;
        let IpcMessage(bytes) = SchemaAsIpc::new(&columns(&schema), &IpcWriteOptions::default()).try_into()?;
        Ok(bytes.to_vec())
    };
    let found: Vec<_> = schemas.iter().map(|bytes| bytes.map(without).transpose()).collect::<Result<_, _>>()?;
    Ok(Arc::new(found.iter().map(Option::as_deref).collect::<BinaryArray>()))
}

fn changed(columns: &Schema, change: impl Fn(&DataType) -> DataType) -> Schema {
    let field = |field: &FieldRef| field.as_ref().clone().with_data_type(change(field.data_type()));
    Schema::new_with_metadata(columns.fields().iter().map(field).collect::<Vec<Field>>(), columns.metadata().clone())
}

fn plain(of: &DataType) -> DataType {
    let inner =
        |field: &FieldRef| -> FieldRef { field.as_ref().clone().with_data_type(plain(field.data_type())).into() };
    match of {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::Dictionary(_, values) => plain(values),
        DataType::List(item) | DataType::ListView(item) => DataType::List(inner(item)),
        DataType::LargeList(item) | DataType::LargeListView(item) => DataType::LargeList(inner(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(inner(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        DataType::Map(entries, sorted) => DataType::Map(inner(entries), *sorted),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{StringViewArray, StructArray};

    use super::*;

    #[test]
    fn nothing_is_a_view() {
        let text: ArrayRef = Arc::new(StringViewArray::from(vec![Some("a text that is not short"), None]));
        let bytes = cast(&text, &DataType::BinaryView).unwrap();
        let named = cast(&text, &DataType::Dictionary(DataType::Int32.into(), DataType::Utf8View.into())).unwrap();
        let of = Field::new("text", DataType::Utf8View, true);
        let within: ArrayRef = Arc::new(StructArray::from(vec![(of.into(), text.clone())]));
        let found = RecordBatch::try_from_iter([("t", text), ("b", bytes), ("d", named), ("s", within)]).unwrap();
        let columns = columns(&found.schema());
        let sent = rows(&found, &columns).unwrap();
        let within = DataType::Struct(vec![Field::new("text", DataType::Utf8, true)].into());
        let types: Vec<_> = columns.fields().iter().map(|field| field.data_type().clone()).collect();
        assert_eq!(types, [DataType::Utf8, DataType::Binary, DataType::Utf8, within]);
        assert_eq!(sent.column(0).as_string::<i32>().value(0), "a text that is not short");
        assert_eq!(sent.column(2).as_string::<i32>().value(0), "a text that is not short");
        assert!(sent.columns()[..3].iter().all(|column| column.is_null(1)));
    }
}
