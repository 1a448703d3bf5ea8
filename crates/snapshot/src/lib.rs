//! A table at one moment: one version of its segments, and the rows of its log that no segment holds yet.
//!
//! Enters: a table's folder. Leaves: a [`Snapshot`], which SQL, `ask` and the shell all read.
//!
//! Guarantees
//! - a snapshot holds every row that was acknowledged before it was opened, once: it reads the log first and the table
//!   second, and drops the rows of the log that the table's version includes. A flush in between moves rows from the
//!   log to the table, so the opposite order could miss them;
//! - its columns are those of the table after the next flush;
//! - it takes no lock: writers and flushes continue beside it.
//!
//! Never writes, and knows no question.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use ingest::IngestError;
use table::disk::RealDisk;
use table::{Segment, StoredTable, Table, TableError, TableName};

/// A table that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// Its log is damaged or cannot be read.
    #[error(transparent)]
    Log(#[from] IngestError),
    /// Its segments are damaged or cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The rows of its log do not fit its columns.
    #[error("the log of the table {} does not fit its columns: {cause}", root.display())]
    Columns {
        /// The table's folder.
        root: PathBuf,
        /// What Arrow answered.
        cause: ArrowError,
    },
    /// It has layout `row`, whose files have neither versions nor a log.
    #[error("the table {} has layout row: only SQL reads it; rewrite it in another layout", root.display())]
    RowLayout {
        /// The table's folder.
        root: PathBuf,
    },
}

/// A table at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The table's folder.
    pub root: PathBuf,
    /// Its columns, those included that only unflushed rows have.
    pub schema: SchemaRef,
    /// The version of the table; `None` before the first flush.
    pub table: Option<Table>,
    /// The segments of that version.
    pub segments: Vec<Segment>,
    /// Rows that are in no segment, in the columns of `schema`, in the order of the log.
    pub unflushed: Vec<RecordBatch>,
}

impl Snapshot {
    /// Opens the table in the folder `root`; `None` if it has neither segments nor rows. Of unflushed rows that are equal
    /// in their time and in the columns `unique`, the last is kept; an empty list keeps all.
    ///
    /// # Errors
    /// If the log or the table cannot be read, or the table has layout `row`.
    pub async fn open(root: &Path, unique: &[String]) -> Result<Option<Self>, SnapshotError> {
        let waiting = ingest::waiting(root)?.unwrap_or_default();
        let (table, schema, position, segments) = match StoredTable::open(root, Arc::new(RealDisk)).await? {
            Some(StoredTable::Row(_)) => return Err(SnapshotError::RowLayout { root: root.to_owned() }),
            Some(StoredTable::Delta(table)) => {
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

/// The tables of a data folder, those included that have only a log.
///
/// # Errors
/// If the folder cannot be listed.
pub fn tables(data: &Path) -> Result<BTreeSet<TableName>, SnapshotError> {
    let mut names: BTreeSet<TableName> = table::tables(data)?.into_iter().collect();
    names.extend(ingest::tables(data)?);
    Ok(names)
}
