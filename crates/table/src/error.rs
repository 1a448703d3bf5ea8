//! What can go wrong with a table.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file system refused.
    #[error("cannot {doing} {}: {}", path.display(), describe(source))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// The Delta log could not be read or written.
    #[error("cannot {doing} the table {}: {source}", path.display())]
    Log {
        /// What was tried.
        doing: &'static str,
        /// The table's folder.
        path: PathBuf,
        /// What delta-rs answered.
        source: Box<deltalake::DeltaTableError>,
    },
    /// A segment could not be encoded.
    #[error("cannot write the segment {}: {source}", path.display())]
    Encode {
        /// The segment.
        path: PathBuf,
        /// What the Parquet library answered.
        source: ParquetError,
    },
    /// A segment is not what was written.
    #[error("the segment {} is damaged: {reason}", path.display())]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A segment that others wrote, or rewrote, with a codec that we do not read.
    #[error(
        "column {column:?} of the segment {} is compressed with {codec}: write it again with none, Snappy, LZ4_RAW or zstd",
        path.display()
    )]
    Codec {
        /// The segment.
        path: PathBuf,
        /// The column.
        column: String,
        /// What its footer names.
        codec: String,
    },
    /// The task that commits ended, with the runtime it ran on.
    #[error("the committer of the table has stopped: nothing was committed; run it again")]
    CommitterGone,
    /// What was asked of a table does not fit it.
    #[error("table {}: {reason}", path.display())]
    Options {
        /// The table's folder.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// Rows do not fit the columns of a table.
    #[error("column {column:?} of the rows for the table {} {reason}", path.display())]
    Rows {
        /// The table's folder.
        path: PathBuf,
        /// The column.
        column: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A column would have two types.
    #[error("column {column:?} of the table {} holds {have}, not {want}: rename one of them", path.display())]
    ColumnType {
        /// The table's folder.
        path: PathBuf,
        /// The column.
        column: String,
        /// The type it has.
        have: String,
        /// The type it was to have.
        want: String,
    },
}

/// What a caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Make room or grant access, then run it again.
    Environment,
    /// Another writer was faster: try again.
    Conflict,
    /// Stored data must be repaired or written again.
    Damaged,
    /// The request does not fit the table.
    Request,
}

impl TableError {
    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { .. } | Self::Encode { .. } | Self::CommitterGone => ErrorKind::Environment,
            Self::Log { source, .. } => match **source {
                deltalake::DeltaTableError::Transaction { .. } => ErrorKind::Conflict,
                _ => ErrorKind::Environment,
            },
            Self::Damaged { .. } | Self::Codec { .. } => ErrorKind::Damaged,
            Self::ColumnType { .. } | Self::Options { .. } | Self::Rows { .. } => ErrorKind::Request,
        }
    }

    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    pub(crate) fn log(doing: &'static str, path: &Path) -> impl FnOnce(deltalake::DeltaTableError) -> Self {
        let path = path.to_owned();
        move |source| Self::Log { doing, path, source: Box::new(source) }
    }

    /// An encoding error, or the I/O error inside it.
    pub(crate) fn encode(path: &Path, source: ParquetError) -> Self {
        match source {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => Self::io("write", path)(*error),
                Err(inner) => Self::Encode { path: path.to_owned(), source: ParquetError::External(inner) },
            },
            source => Self::Encode { path: path.to_owned(), source },
        }
    }

    pub(crate) fn damaged(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// The system's words, with what to do where that is known.
fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => format!("{error}: free some space and run it again; nothing committed is lost"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!("{error}: make the folder writable for this user, or choose another")
        }
        _ => error.to_string(),
    }
}
