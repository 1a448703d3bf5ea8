//! Rows that are in the log of their table and in no segment yet, for questions: read from the files of the log, so that
//! any process finds them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::Schema;
use ingest::{IngestError, Waiting};
use query::{FreshRows, LiveTables};
use table::TableName;

/// The logs of a data folder.
#[derive(Debug)]
pub struct Logs {
    data: PathBuf,
    names: Vec<TableName>,
    unique: Arc<BTreeMap<TableName, Vec<String>>>,
}

impl Logs {
    /// Finds the tables of a data folder that have a log. Of rows that are equal in their time and in the columns that
    /// `unique` names for a table, questions see the last.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn find(data: &Path, unique: Arc<BTreeMap<TableName, Vec<String>>>) -> Result<Self, IngestError> {
        Ok(Self { data: data.to_owned(), names: ingest::tables(data)?, unique })
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
        let unique = self.unique.get(name).map_or(&[][..], Vec::as_slice);
        let fitted = waiting.fit(columns, 0, unique).map_err(|e| e.to_string())?;
        Ok(FreshRows { schema: fitted.schema, rows: fitted.rows })
    }
}
