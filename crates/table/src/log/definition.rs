//! Definitions of new tables.

use std::collections::BTreeMap;

use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use deltalake::kernel::StructField;
use deltalake::kernel::engine::arrow_conversion::TryFromArrow as _;

use crate::schema::Field;

#[derive(Debug, Clone)]
pub struct Definition {
    pub(super) columns: Vec<StructField>,
    pub(super) partitions: Vec<String>,
    pub(super) comment: &'static str,
    pub(super) properties: BTreeMap<String, String>,
}

impl Definition {
    /// Defines a table with `fields` after the partition columns `partitions`. Partition columns are constant within a
    /// segment and part of its path. `comment` is one sentence for people.
    pub fn of_fields(partitions: &[Field], fields: &[Field], comment: &'static str) -> Self {
        Self {
            columns: partitions.iter().chain(fields).map(Field::to_delta).collect(),
            partitions: partitions.iter().map(|f| f.name.clone()).collect(),
            comment,
            properties: BTreeMap::new(),
        }
    }

    /// Defines a table with Arrow columns and properties in its log.
    pub(crate) fn of_schema(
        schema: &Schema,
        comment: &'static str,
        properties: BTreeMap<String, String>,
    ) -> Result<Self, ArrowError> {
        let columns = schema.fields().iter().map(|f| StructField::try_from_arrow(f.as_ref()));
        Ok(Self { columns: columns.collect::<Result<_, _>>()?, partitions: Vec::new(), comment, properties })
    }
}
