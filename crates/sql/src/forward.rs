//! Methods that repeat in implementations of `DataFusion`'s traits.

/// Methods that the function `inner` answers.
macro_rules! forward {
    ($($method:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $method(&self, $($arg: $type),*) -> $result {
            self.inner.inner().$method($($arg),*)
        })*
    };
}

/// The methods of a table with a field `schema`.
macro_rules! base_table {
    () => {
        fn schema(&self) -> arrow::datatypes::SchemaRef {
            self.schema.clone()
        }

        fn table_type(&self) -> datafusion::logical_expr::TableType {
            datafusion::logical_expr::TableType::Base
        }
    };
}

pub(crate) use base_table;
pub(crate) use forward;
