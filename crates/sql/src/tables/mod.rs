//! One schema per database: tables of inserted rows, and Delta tables of other writers.
//!
//! A query opens a table when it first names it; the engine keeps that version. A table that cannot be opened fails
//! only the queries that name it.

mod lookup;
mod nullability;
mod prune;
mod segments;
mod snapshot;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::snapshot::{Opened, Snapshot};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::TableType;
use table::{DATABASE, TableName};
use tokio::sync::OnceCell;

use crate::error::QueryError;
pub(crate) use prune::{LogStatistics, may_match};
use snapshot::SnapshotTable;

/// For some tables, the columns that identify rows: later unflushed rows replace earlier ones with the same values and
/// time.
pub type Unique = BTreeMap<TableName, Vec<String>>;

#[derive(Default)]
pub(crate) struct Tables {
    /// Sorted by name.
    entries: Vec<Entry>,
}

struct Entry {
    table: TableName,
    folder: PathBuf,
    /// Columns that identify rows, as in [`Unique`].
    unique: Vec<String>,
    opened: Arc<Opened>,
    open: OnceCell<Arc<dyn TableProvider>>,
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

impl Tables {
    /// Finds the tables of each database in a data folder; [`DATABASE`] always exists. `opened` has the tables of earlier
    /// queries.
    pub(crate) fn list(
        data: &Path,
        unique: &Unique,
        opened: &Arc<Opened>,
    ) -> Result<BTreeMap<String, Arc<Self>>, QueryError> {
        let mut databases = BTreeMap::from([(DATABASE.to_owned(), Self::default())]);
        for table in ::snapshot::tables(data)? {
            let (folder, unique) = (table.folder(data), unique.get(&table).cloned().unwrap_or_default());
            let tables = databases.entry(table.database().to_owned()).or_default();
            let opened = opened.clone();
            tables.entries.push(Entry { table, folder, unique, opened, open: OnceCell::new() });
        }
        Ok(databases.into_iter().map(|(name, tables)| (name, Arc::new(tables))).collect())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| e.table.name())
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.table.name() == name)
    }
}

impl Entry {
    async fn open(&self) -> Result<Arc<dyn TableProvider>, QueryError> {
        let snapshot = Snapshot::reopen(&self.folder, &self.unique, &self.opened).await?.ok_or_else(|| {
            let reason = format!("table {:?} has no columns yet: insert some rows first", self.table.name());
            QueryError::Invalid { reason }
        })?;
        Ok(Arc::new(SnapshotTable::new(snapshot)?))
    }
}

#[async_trait]
impl SchemaProvider for Tables {
    fn table_names(&self) -> Vec<String> {
        self.names().map(str::to_owned).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(entry) = self.entry(name) else { return Ok(None) };
        Ok(Some(entry.open.get_or_try_init(|| entry.open()).await?.clone()))
    }

    /// Does not open the table, so that broken tables can be listed.
    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        Ok(self.entry(name).map(|_| TableType::Base))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }
}

/// The schema `sim`, the default for names without a schema. It resolves unknown names in `default`.
#[derive(Debug)]
pub(crate) struct Sim {
    pub(crate) own: MemorySchemaProvider,
    pub(crate) tables: Arc<Tables>,
}

#[async_trait]
impl SchemaProvider for Sim {
    fn table_names(&self) -> Vec<String> {
        self.own.table_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        match self.own.table(name).await? {
            Some(table) => Ok(Some(table)),
            None => self.tables.table(name).await,
        }
    }

    fn register_table(&self, name: String, table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        self.own.register_table(name, table)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.own.table_exist(name) || self.tables.table_exist(name)
    }
}

/// The column types in queries: texts and bytes as views, which need no copies.
pub(crate) fn with_views(schema: &Schema) -> SchemaRef {
    let view = |field: &Field| match field.data_type() {
        DataType::Utf8 => field.clone().with_data_type(DataType::Utf8View),
        DataType::Binary => field.clone().with_data_type(DataType::BinaryView),
        _ => field.clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(|f| view(f)).collect::<Vec<_>>()))
}
