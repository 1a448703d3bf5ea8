//! What can go wrong between a request and its table.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use table::TableError;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The file system refused.
    #[error("cannot {doing} {}: {cause}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system answered.
        cause: io::Error,
    },
    /// A file of the log is not what was written.
    #[error("the log file {} is damaged: {reason}; move it away to start without what it holds", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
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
        /// The first entry that is missing.
        missing: u64,
        /// The entry that is there instead.
        found: u64,
    },
    /// A table could not be read or written.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Rows could not be brought into the form that the log keeps.
    #[error("cannot keep rows for the table {table}: {cause}")]
    Rows {
        /// The table.
        table: String,
        /// What Arrow answered.
        cause: arrow::error::ArrowError,
    },
    /// As much as may wait for the disk is waiting.
    #[error(
        "{waiting} bytes wait to be written, of {limit} that may: nothing of this request was stored; send it again in \
         {} s", after.as_secs()
    )]
    Overloaded {
        /// Bytes that wait.
        waiting: u64,
        /// Bytes that may.
        limit: u64,
        /// When to try again.
        after: Duration,
    },
    /// The rows of a table cannot be written, and as many of them wait as may.
    #[error("{table} takes no rows now: {reason}; its rows are safe in its log; send this again in {} s", after.as_secs())]
    Failing {
        /// The table.
        table: String,
        /// Why its rows cannot be written.
        reason: String,
        /// When to try again.
        after: Duration,
    },
    /// There are as many tables as there may be.
    #[error(
        "{table} would be a new table, and there are {limit}, as many as may be: nothing of it was stored; write \
             to one that is there, or drop some"
    )]
    TooManyTables {
        /// The table that there is not.
        table: String,
        /// Tables that may be.
        limit: usize,
    },
    /// The store is being closed.
    #[error("the store is closing: nothing of this request was stored; send it again later")]
    Closing,
    /// Another process has the data folder.
    #[error("{} is in use by another server: stop it first, or choose another folder", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// Another process turns the log into segments.
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
