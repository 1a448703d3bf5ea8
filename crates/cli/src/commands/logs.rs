//! Rows of logs that are in no segment yet, for questions at the shell: those of a server that runs, too.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use arrow::datatypes::Schema;
use ingest::Waiting;
use query::{FreshRows, LiveTables};
use table::TableName;

/// The logs of a data folder.
#[derive(Debug)]
pub(super) struct Logs {
    data: PathBuf,
    names: Vec<TableName>,
}

impl Logs {
    pub(super) fn find(data: &Path) -> Result<Self> {
        Ok(Self { data: data.to_owned(), names: ingest::tables(data)? })
    }
}

impl LiveTables for Logs {
    fn names(&self) -> Vec<TableName> {
        self.names.clone()
    }

    /// Rows as they were appended: what their columns become depends on those of the table.
    fn fresh(&self, name: &TableName) -> Result<Option<FreshRows>, String> {
        let waiting = ingest::waiting(&name.folder(&self.data)).map_err(|e| e.to_string())?;
        let rows = waiting.map(|waiting| waiting.entries).filter(|entries| !entries.is_empty());
        Ok(rows.map(|rows| FreshRows { schema: Arc::new(Schema::empty()), rows }))
    }

    fn fit(&self, name: &TableName, rows: FreshRows, columns: &Schema) -> Result<FreshRows, String> {
        let waiting = Waiting { root: name.folder(&self.data), entries: rows.rows };
        let fitted = waiting.fit(columns, 0).map_err(|e| e.to_string())?;
        Ok(FreshRows { schema: fitted.schema, rows: fitted.rows })
    }
}
