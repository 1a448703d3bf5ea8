//! Errors of ingest.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use arrow::error::ArrowError;
use table::{TableError, describe_io};
use tokio::task::JoinError;

#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    #[error("{}", describe_io(doing, path, cause))]
    Io { doing: &'static str, path: PathBuf, cause: io::Error },
    #[error("the log file {} is damaged: {reason}; move it away to start without what it holds", path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error(
        "the log file {} begins again at entry {found} where entry {missing} is missing: a file was removed or is \
         damaged; move it away to start without what it holds",
        path.display()
    )]
    Gap { path: PathBuf, missing: u64, found: u64 },
    #[error(transparent)]
    Table(#[from] TableError),
    /// Rows could not be converted to the log's format.
    #[error("cannot keep rows for the table {table}: {cause}")]
    Rows { table: String, cause: ArrowError },
    #[error(
        "the backlog is full ({waiting} of {limit} bytes): nothing of this request was stored; send it again in {} s",
        after.as_secs()
    )]
    Overloaded { waiting: u64, limit: u64, after: Duration },
    /// The rows of a table cannot be written, and its backlog is full.
    #[error("{table} takes no rows now: {reason}; its rows are safe in its log; send this again in {} s", after.as_secs())]
    Failing { table: String, reason: String, after: Duration },
    #[error(
        "cannot create table {table}: there are {limit}, the maximum; none of its rows was stored; write to an existing \
         table, or drop one"
    )]
    TooManyTables { table: String, limit: usize },
    #[error("the store is closing: not all of this request was stored; send it again later")]
    Closing,
    #[error("{} is in use by another server: stop it first, or choose another folder", path.display())]
    InUse { path: PathBuf },
    /// Its log and the rows in memory belong to a folder that is no longer there.
    #[error(
        "the folder {} was removed or replaced while it was in use: put it back, or start the server again to begin a \
         new table",
        path.display()
    )]
    Replaced { path: PathBuf },
    #[error("another process is flushing the log of {}; a running server flushes it by itself", path.display())]
    Digesting { path: PathBuf },
    /// A group of rows could not be written to the log of its table.
    #[error("{reason}: no row of this request was stored in the table {table}; send it again later")]
    Log { table: String, reason: String },
    #[error("a task of the store ended early, which is a mistake of manyworlds: {0}; please report it")]
    Task(String),
}

impl IngestError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Self::Io { doing, path, cause }
    }

    pub(crate) fn rows(table: impl Display) -> impl Fn(ArrowError) -> Self {
        move |cause| Self::Rows { table: table.to_string(), cause }
    }
}

impl From<JoinError> for IngestError {
    fn from(panic: JoinError) -> Self {
        Self::Task(panic.to_string())
    }
}
