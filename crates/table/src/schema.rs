//! The columns of a table: one definition for the Delta and the Parquet schema.

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field as ArrowField};
use deltalake::kernel::{ArrayType, DataType, StructField};
use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type, TypePtr};

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

    fn to_parquet(&self) -> Result<Type, ParquetError> {
        let primitive = |name: &str, physical, repetition, logical: Option<LogicalType>| {
            Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(logical).build()
        };
        let int = |bits| Some(LogicalType::integer(bits, true));
        let optional = Repetition::OPTIONAL;
        let name = &self.name;
        match self.ty {
            FieldType::Text => primitive(name, Physical::BYTE_ARRAY, optional, Some(LogicalType::String)),
            FieldType::Int8 => primitive(name, Physical::INT32, optional, int(8)),
            FieldType::Int16 => primitive(name, Physical::INT32, optional, int(16)),
            FieldType::Int32 => primitive(name, Physical::INT32, optional, None),
            FieldType::Int64 => primitive(name, Physical::INT64, optional, None),
            FieldType::Double => primitive(name, Physical::DOUBLE, optional, None),
            FieldType::Boolean => primitive(name, Physical::BOOLEAN, optional, None),
            FieldType::Time => {
                primitive(name, Physical::INT64, optional, Some(LogicalType::timestamp(true, TimeUnit::MICROS)))
            }
            FieldType::Int32List | FieldType::DoubleList | FieldType::TextList => {
                let (physical, logical) = match self.ty {
                    FieldType::Int32List => (Physical::INT32, None),
                    FieldType::DoubleList => (Physical::DOUBLE, None),
                    _ => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                };
                let element = primitive("element", physical, Repetition::REQUIRED, logical)?;
                let list = Type::group_type_builder("list")
                    .with_repetition(Repetition::REPEATED)
                    .with_fields(vec![Arc::new(element)])
                    .build()?;
                Type::group_type_builder(name)
                    .with_repetition(optional)
                    .with_converted_type(ConvertedType::LIST)
                    .with_logical_type(Some(LogicalType::List))
                    .with_fields(vec![Arc::new(list)])
                    .build()
            }
        }
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

/// The columns of a segment, in order.
#[derive(Debug, Clone)]
pub struct SegmentSchema {
    pub(crate) root: TypePtr,
    pub(crate) columns: SchemaDescPtr,
}

impl SegmentSchema {
    /// Creates the Parquet schema of some columns.
    pub fn new(fields: &[Field]) -> Result<Self, ParquetError> {
        let fields = fields.iter().map(|f| f.to_parquet().map(Arc::new)).collect::<Result<_, _>>()?;
        let root = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
        Ok(Self { columns: Arc::new(SchemaDescriptor::new(root.clone())), root })
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::Schema;
    use parquet::arrow::ArrowSchemaConverter;

    use super::*;

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
