//! The columns of a table: one definition for the Delta and the Parquet schema.

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field as ArrowField, Schema, TimeUnit};
use deltalake::kernel::{ArrayType, DataType, StructField};
use parquet::arrow::ArrowSchemaConverter;
use parquet::errors::ParquetError;
use parquet::schema::types::{SchemaDescPtr, TypePtr};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType {
    Text,
    Int8,
    Int16,
    Int32,
    Int64,
    Double,
    Boolean,
    /// Points in time, in microseconds UTC.
    Time,
    Int32List,
    DoubleList,
    /// Sets of texts: see [`set_type`].
    TextList,
}

/// One column. All columns are nullable, because Delta readers expect that of tables that gain columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub ty: FieldType,
}

impl Field {
    pub fn new(name: impl Into<String>, ty: FieldType) -> Self {
        Self { name: name.into(), ty }
    }

    pub(crate) fn to_delta(&self) -> StructField {
        StructField::nullable(&self.name, self.ty.to_delta())
    }

    fn to_arrow(&self) -> ArrowField {
        let list = |ty| ArrowType::List(Arc::new(ArrowField::new("element", ty, false)));
        let ty = match self.ty {
            FieldType::Text => ArrowType::Utf8,
            FieldType::Int8 => ArrowType::Int8,
            FieldType::Int16 => ArrowType::Int16,
            FieldType::Int32 => ArrowType::Int32,
            FieldType::Int64 => ArrowType::Int64,
            FieldType::Double => ArrowType::Float64,
            FieldType::Boolean => ArrowType::Boolean,
            FieldType::Time => ArrowType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            FieldType::Int32List => list(ArrowType::Int32),
            FieldType::DoubleList => list(ArrowType::Float64),
            FieldType::TextList => set_type(),
        };
        ArrowField::new(&self.name, ty, true)
    }
}

impl FieldType {
    /// Whether this type matches a table's column. Sets also match lists of nullable texts, which other writers
    /// declare.
    pub(crate) fn is_in(self, column: &DataType) -> bool {
        *column == self.to_delta()
            || self == Self::TextList && *column == DataType::from(ArrayType::new(DataType::STRING, true))
    }

    fn to_delta(self) -> DataType {
        match self {
            Self::Text => DataType::STRING,
            Self::Int8 => DataType::BYTE,
            Self::Int16 => DataType::SHORT,
            Self::Int32 => DataType::INTEGER,
            Self::Int64 => DataType::LONG,
            Self::Double => DataType::DOUBLE,
            Self::Boolean => DataType::BOOLEAN,
            Self::Time => DataType::TIMESTAMP,
            Self::Int32List => ArrayType::new(DataType::INTEGER, false).into(),
            Self::DoubleList => ArrayType::new(DataType::DOUBLE, false).into(),
            Self::TextList => ArrayType::new(DataType::STRING, false).into(),
        }
    }
}

/// The Arrow type of sets of texts: lists without NULL items. The writer of a set sorts and deduplicates its texts;
/// tables do not check this.
pub fn set_type() -> ArrowType {
    ArrowType::List(Arc::new(ArrowField::new("element", ArrowType::Utf8, false)))
}

#[derive(Debug, Clone)]
pub struct SegmentSchema {
    pub(crate) root: TypePtr,
    pub(crate) columns: SchemaDescPtr,
}

impl SegmentSchema {
    pub fn new(fields: &[Field]) -> Result<Self, ParquetError> {
        let arrow = Schema::new(fields.iter().map(Field::to_arrow).collect::<Vec<_>>());
        let columns = ArrowSchemaConverter::new().schema_root("schema").convert(&arrow)?;
        Ok(Self { root: columns.root_schema_ptr(), columns: Arc::new(columns) })
    }
}

#[cfg(test)]
mod tests {
    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    use super::*;

    #[test]
    fn types_keep_their_parquet_form() {
        use FieldType::{Boolean, Double, DoubleList, Int8, Int16, Int32, Int32List, Int64, Text, TextList, Time};
        let types = [Text, Int8, Int16, Int32, Int64, Double, Boolean, Time, Int32List, DoubleList, TextList];
        let fields: Vec<Field> = types.iter().map(|ty| Field::new(format!("{ty:?}"), *ty)).collect();
        let expected = "message schema {
            optional binary Text (STRING); optional int32 Int8 (INTEGER(8,true));
            optional int32 Int16 (INTEGER(16,true)); optional int32 Int32; optional int64 Int64;
            optional double Double; optional boolean Boolean; optional int64 Time (TIMESTAMP(MICROS,true));
            optional group Int32List (LIST) { repeated group list { required int32 element; } }
            optional group DoubleList (LIST) { repeated group list { required double element; } }
            optional group TextList (LIST) { repeated group list { required binary element (STRING); } }
        }";
        let expected = SchemaDescriptor::new(Arc::new(parse_message_type(expected).unwrap()));
        assert_eq!(*SegmentSchema::new(&fields).unwrap().columns, expected);
    }

    #[test]
    fn sets_have_equal_arrow_parquet_delta_types() {
        let field = Field::new("groups", FieldType::TextList);
        let ours = SegmentSchema::new(std::slice::from_ref(&field)).unwrap().columns;
        let arrow = Schema::new(vec![ArrowField::new("groups", set_type(), true)]);
        let converted = ArrowSchemaConverter::new().schema_root("schema").convert(&arrow).unwrap();
        assert_eq!(ours.root_schema(), converted.root_schema());
        assert_eq!(ours.column(0).path().string(), "groups.list.element");
        assert_eq!(field.to_delta().data_type().to_string(), "array<string>");
        let nullable = |has| DataType::from(ArrayType::new(DataType::STRING, has));
        assert_eq!(field.to_delta().data_type(), &nullable(false));
        assert!(field.ty.is_in(&nullable(true)) && !field.ty.is_in(&DataType::STRING));
    }
}
