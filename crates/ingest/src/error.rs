//! Errors of ingest.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use table::TableError;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The file system failed.
    #[error("cannot {doing} {}: {cause}", path.display())]
    Io {
        /// The operation.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// A log file is corrupt.
    #[error("the log file {} is damaged: {reason}; move it away to start without what it holds", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The defect.
        reason: String,
    },
    /// Entries of the log are missing.
    #[error(
        "the log file {} begins again at entry {found} where entry {missing} is missing: a file was removed or is \
         damaged; move it away to start without what it holds",
        path.display()
    )]
    Gap {
        /// The file.
        path: PathBuf,
        /// The first missing entry.
        missing: u64,
        /// The entry found instead.
        found: u64,
    },
    /// A table could not be read or written.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Rows could not be converted to the log's format.
    #[error("cannot keep rows for the table {table}: {cause}")]
    Rows {
        /// The table.
        table: String,
        /// Arrow's error.
        cause: arrow::error::ArrowError,
    },
    /// The memory budget for waiting rows is used up.
    #[error(
        "{waiting} bytes wait to be written, of {limit} that may: nothing of this request was stored; send it again in \
         {} s", after.as_secs()
    )]
    Overloaded {
        /// Bytes that wait.
        waiting: u64,
        /// The limit in bytes.
        limit: u64,
        /// When to retry.
        after: Duration,
    },
    /// The rows of a table cannot be written, and its backlog is full.
    #[error("{table} takes no rows now: {reason}; its rows are safe in its log; send this again in {} s", after.as_secs())]
    Failing {
        /// The table.
        table: String,
        /// Why its rows cannot be written.
        reason: String,
        /// When to retry.
        after: Duration,
    },
    /// The maximum number of tables exists.
    #[error(
        "{table} would be a new table, and there are {limit}, as many as may be: nothing of it was stored; write \
             to one that is there, or drop some"
    )]
    TooManyTables {
        /// The table that was not created.
        table: String,
        /// The maximum number of tables.
        limit: usize,
    },
    /// The store is being closed.
    #[error("the store is closing: nothing of this request was stored; send it again later")]
    Closing,
    /// Another process has the data folder open.
    #[error("{} is in use by another server: stop it first, or choose another folder", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// Another process holds the digest lock.
    #[error(
        "the log of {} is being digested by another process, or a server that runs does it by and by: nothing needs \
         to be done; try again later to be sure", path.display()
    )]
    Digesting {
        /// The table's folder.
        path: PathBuf,
    },
    /// A group of rows could not be written to the log.
    #[error("{0}: nothing of this request was stored")]
    Log(String),
}

impl IngestError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Self::Io { doing, path, cause }
    }
}
