//! A readable table at one moment: one version of its segments, and the rows of its log that no segment holds yet.
//!
//! Enters: a table's folder. Leaves: a [`Snapshot`], which SQL, `ask` and the shell read.
//!
//! Guarantees
//! - a snapshot holds every row acknowledged before it was opened, once. It reads the log first and the newest version of
//!   the table second, then drops the log's rows that this version holds. A concurrent flush moves rows from the log to
//!   the table, so the opposite order could miss them;
//! - of the log it reads only rows that no version held before;
//! - its columns are those that the table will have after a flush;
//! - it takes no lock: writers and flushes continue.
//!
//! Never writes, and knows nothing about questions.

mod opened;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use ingest::IngestError;
use table::{Segment, Table, TableError, TableName};

pub use opened::Opened;

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The log is damaged or unreadable.
    #[error(transparent)]
    Log(#[from] IngestError),
    /// The segments are damaged or unreadable.
    #[error(transparent)]
    Table(#[from] TableError),
    #[error("cannot read the log of table {}: its rows do not match the table's columns: {cause}", root.display())]
    Columns { root: PathBuf, cause: ArrowError },
}

/// A table at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The table's folder.
    pub root: PathBuf,
    /// The columns, including those that only unflushed rows have.
    pub schema: SchemaRef,
    /// The version of the table; `None` before the first flush.
    pub table: Option<Table>,
    /// The segments of that version.
    pub segments: Vec<Segment>,
    /// Rows that no segment holds, with the columns of `schema`, in log order.
    pub unflushed: Vec<RecordBatch>,
}

impl Snapshot {
    /// Opens the table in the folder `root`; `None` if it has neither segments nor rows. Of unflushed rows with equal
    /// time and equal `unique` columns, only the last is kept; an empty list keeps all.
    pub async fn open(root: &Path, unique: &[String]) -> Result<Option<Self>, SnapshotError> {
        Self::reopen(root, unique, &Opened::default()).await
    }

    /// As [`Self::open`], with the tables that were opened before.
    pub async fn reopen(root: &Path, unique: &[String], opened: &Opened) -> Result<Option<Self>, SnapshotError> {
        let mut table = opened.table(root).await?;
        let held = match &table {
            Some(table) => table.append_position().await?,
            None => 0,
        };
        let waiting = ingest::waiting(root, held)?.unwrap_or_default();
        match &mut table {
            Some(table) => table.refresh().await?,
            None => table = opened.table(root).await?,
        }
        let (table, schema, position, segments) = match table {
            Some(table) => {
                let (schema, position) = (table.arrow_schema()?, table.append_position().await?);
                let segments = table.segments().await?;
                (Some(table), schema, position, segments)
            }
            None if waiting.entries.is_empty() => return Ok(None),
            None => (None, Arc::new(Schema::empty()), 0, Vec::new()),
        };
        let fitted = waiting.fit(&schema, position, unique);
        let fitted = fitted.map_err(|cause| SnapshotError::Columns { root: root.to_owned(), cause })?;
        let unflushed = fitted.rows.into_iter().map(|(_, rows)| rows).collect();
        Ok(Some(Self { root: root.to_owned(), schema: fitted.schema, table, segments, unflushed }))
    }
}

/// The tables of a data folder, including those that have only a log.
pub fn tables(data: &Path) -> Result<BTreeSet<TableName>, SnapshotError> {
    let mut names: BTreeSet<TableName> = table::tables(data)?.into_iter().collect();
    names.extend(ingest::tables(data)?);
    Ok(names)
}
