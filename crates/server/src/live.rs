//! Rows that a store has taken in, for questions.

use std::sync::Arc;

use ingest::Store;
use query::{FreshRows, LiveTables};
use table::TableName;

#[derive(Debug)]
pub(crate) struct Live(pub(crate) Arc<Store>);

impl LiveTables for Live {
    fn names(&self) -> Vec<TableName> {
        self.0.tables()
    }

    fn fresh(&self, name: &TableName) -> Result<Option<FreshRows>, String> {
        let fresh = self.0.fresh(name).map_err(|e| e.to_string())?;
        Ok(fresh.map(|f| FreshRows { schema: f.schema, rows: f.rows }))
    }
}
