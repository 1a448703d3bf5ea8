//! Rows of PostgreSQL's tables.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListBuilder, StringArray, StringBuilder, new_null_array,
};
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use datafusion::error::Result;

use super::CATALOG;
use super::layout::{Kind, Layout};

pub(super) enum Column {
    Integers(Vec<i64>),
    Optional(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
    Booleans(Vec<bool>),
    /// The same value in all rows.
    Integer(i64),
    Text(&'static str),
    Boolean(bool),
    /// A list of one text.
    ListOf(String),
}

impl Column {
    pub(super) fn texts(values: impl IntoIterator<Item = String>) -> Self {
        Self::Texts(values.into_iter().map(Some).collect())
    }

    /// The number of rows; `None` for a column with the same value in all.
    fn rows(&self) -> Option<usize> {
        match self {
            Self::Integers(values) => Some(values.len()),
            Self::Optional(values) => Some(values.len()),
            Self::Texts(values) => Some(values.len()),
            Self::Booleans(values) => Some(values.len()),
            Self::Integer(_) | Self::Text(_) | Self::Boolean(_) | Self::ListOf(_) => None,
        }
    }

    fn array(self, rows: usize) -> ArrayRef {
        match self {
            Self::Integers(values) => Arc::new(Int64Array::from(values)),
            Self::Optional(values) => Arc::new(Int64Array::from(values)),
            Self::Texts(values) => Arc::new(StringArray::from(values)),
            Self::Booleans(values) => Arc::new(BooleanArray::from(values)),
            Self::Integer(value) => Arc::new(Int64Array::from(vec![value; rows])),
            Self::Text(value) => Arc::new(StringArray::from(vec![value; rows])),
            Self::Boolean(value) => Arc::new(BooleanArray::from(vec![value; rows])),
            Self::ListOf(value) => {
                let mut lists = ListBuilder::new(StringBuilder::new());
                (0..rows).for_each(|_| lists.append_value([Some(&value)]));
                Arc::new(lists.finish())
            }
        }
    }
}

/// Rows of a table. Columns that are not given are zero or false in `pg_catalog`, and NULL otherwise.
pub(super) fn batch(of: Layout, mut given: Vec<(&'static str, Column)>) -> Result<RecordBatch> {
    let rows = given.iter().find_map(|(_, column)| column.rows()).unwrap_or(0);
    let default = |kind: Kind| -> ArrayRef {
        match kind {
            Kind::Boolean => Arc::new(BooleanArray::from(vec![false; rows])),
            Kind::Integer if of.schema == CATALOG => Arc::new(Int64Array::from(vec![0; rows])),
            Kind::Integer => new_null_array(&DataType::Int64, rows),
            Kind::Float => Arc::new(Float64Array::from(vec![0.0; rows])),
            Kind::Text => new_null_array(&DataType::Utf8, rows),
            Kind::Integers => new_null_array(&DataType::new_list(DataType::Int64, true), rows),
            Kind::Texts => new_null_array(&DataType::new_list(DataType::Utf8, true), rows),
        }
    };
    let mut columns = Vec::new();
    for (name, kind) in of.columns() {
        let place = given.iter().position(|(given, _)| *given == name);
        let array = place.map_or_else(|| default(kind), |place| given.swap_remove(place).1.array(rows));
        columns.push((name, array, true));
    }
    // Columns of earlier releases that tools still read.
    columns.extend(given.into_iter().map(|(name, column)| (name, column.array(rows), true)));
    Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
}
