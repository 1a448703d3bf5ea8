//! Reads columns of files without a cast where only their nullability differs from the table's.

use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::error::Result;
use datafusion::physical_expr_adapter::{
    DefaultPhysicalExprAdapterFactory, PhysicalExprAdapter, PhysicalExprAdapterFactory,
};

/// DataFusion casts a column that is NOT NULL in a file and nullable in its table, and asks no Bloom filter for a list
/// of values of a cast column.
#[derive(Debug)]
pub(super) struct NotNullInFile;

impl PhysicalExprAdapterFactory for NotNullInFile {
    fn create(&self, table: SchemaRef, file: SchemaRef) -> Result<Arc<dyn PhysicalExprAdapter>> {
        let field = |of_table: &Arc<Field>| match file.field_with_name(of_table.name()) {
            Ok(of_file) if of_table.data_type() == of_file.data_type() && of_table.is_nullable() => {
                Arc::new(of_file.clone())
            }
            _ => of_table.clone(),
        };
        let fields: Vec<_> = table.fields().iter().map(field).collect();
        let table = Schema::new_with_metadata(fields, table.metadata().clone());
        DefaultPhysicalExprAdapterFactory.create(Arc::new(table), file)
    }
}
