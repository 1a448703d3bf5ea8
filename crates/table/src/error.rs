//! What can go wrong with a table.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use arrow::error::ArrowError;
use deltalake::DeltaTableError;
use parquet::errors::ParquetError;

use crate::bucket::BucketError;

/// An error of this crate. Its words include those of its cause, which is therefore no `source()`.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file system refused.
    #[error("{}", describe_io(doing, path, cause))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system answered.
        cause: io::Error,
    },
    /// The Delta log could not be read or written.
    #[error("{}", describe_log(doing, path, cause))]
    Log {
        /// What was tried.
        doing: &'static str,
        /// The table's folder.
        path: PathBuf,
        /// What delta-rs answered.
        cause: Box<DeltaTableError>,
    },
    /// An entry of the Delta log is not what was written.
    #[error(
        "cannot open the table {}: line {line} of {} is damaged: put this file back from a copy of the folder",
        path.display(),
        entry.display()
    )]
    DamagedLog {
        /// The table's folder.
        path: PathBuf,
        /// The file.
        entry: PathBuf,
        /// Where, counted from 1.
        line: usize,
    },
    /// A segment could not be encoded.
    #[error("cannot write the segment {}: {cause}", path.display())]
    Encode {
        /// The segment.
        path: PathBuf,
        /// What the Parquet library answered.
        cause: ParquetError,
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
        "column {column:?} of the segment {} is compressed with {codec}: write it again with none, Snappy, LZ4_RAW, gzip or zstd",
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
    /// A segment that was being rewritten is no longer in the table.
    #[error(
        "another command has rewritten or removed the segment {segment} of the table {} meanwhile: nothing was changed; run it again",
        path.display()
    )]
    Overtaken {
        /// The table's folder.
        path: PathBuf,
        /// The segment.
        segment: String,
    },
    /// Somebody writes to a table that is to be exchanged, or exchanges one that is to be written to.
    #[error(
        "the table {} is in use: a change from or to layout row needs it alone; nothing was changed; run it again when the \
         other command is done",
        path.display()
    )]
    Busy {
        /// The table's folder.
        path: PathBuf,
    },
    /// Something that cannot happen did.
    #[error("{0}: this is a mistake in the program; the table is as it was")]
    Unexpected(String),
    /// What was asked of a table does not fit it.
    #[error("table {}: {reason}", path.display())]
    Options {
        /// The table's folder.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// That cannot name a table.
    #[error(
        "{name:?} cannot name a table: write NAME or DATABASE.NAME, of 128 and 64 bytes at most, without control characters, \
         and without '.' in the database"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A table in the database of ensembles.
    #[error("\"sim\" holds ensembles: put the table {name:?} into another database")]
    Reserved {
        /// The table's name inside the database.
        name: String,
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
            Self::Io { cause, .. } if cause.kind() == io::ErrorKind::NotFound => ErrorKind::Damaged,
            Self::Overtaken { .. } | Self::Busy { .. } => ErrorKind::Conflict,
            Self::Log { cause, .. } if is_conflict(cause) => ErrorKind::Conflict,
            Self::Io { .. } | Self::Encode { .. } | Self::CommitterGone | Self::Unexpected(_) | Self::Log { .. } => {
                ErrorKind::Environment
            }
            Self::Damaged { .. } | Self::DamagedLog { .. } | Self::Codec { .. } => ErrorKind::Damaged,
            Self::ColumnType { .. }
            | Self::Options { .. }
            | Self::Name { .. }
            | Self::Reserved { .. }
            | Self::Rows { .. } => ErrorKind::Request,
        }
    }

    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Self::Io { doing, path, cause }
    }

    pub(crate) fn log(doing: &'static str, path: &Path) -> impl FnOnce(DeltaTableError) -> Self {
        let path = path.to_owned();
        move |cause| Self::Log { doing, path, cause: Box::new(cause) }
    }

    /// An encoding error, or the I/O error inside it.
    pub(crate) fn encode(path: &Path, cause: ParquetError) -> Self {
        match cause {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => Self::io("write", path)(*error),
                Err(inner) => Self::Encode { path: path.to_owned(), cause: ParquetError::External(inner) },
            },
            cause => Self::Encode { path: path.to_owned(), cause },
        }
    }

    /// As [`Self::encode`], of what was encoded by another library than Parquet's.
    pub(crate) fn encode_arrow(path: &Path, cause: ArrowError) -> Self {
        match cause {
            ArrowError::IoError(_, error) => Self::io("write", path)(error),
            cause => Self::encode(path, cause.into()),
        }
    }

    /// Why the pages of a segment cannot be read.
    pub(crate) fn pages(path: &Path, error: pages::Error) -> Self {
        match error {
            pages::Error::Io(cause) => Self::io("read", path)(cause),
            other => Self::damaged(path, other),
        }
    }

    pub(crate) fn damaged(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// Whether another writer was faster.
pub(crate) fn is_conflict(error: &DeltaTableError) -> bool {
    matches!(error, DeltaTableError::Transaction { .. } | DeltaTableError::VersionAlreadyExists(_))
}

/// What could not be done to a file. A store says where and what to do by itself, and does not speak of the mirror.
fn describe_io(doing: &str, path: &Path, error: &io::Error) -> String {
    match BucketError::inside(error) {
        Some(store) => store.to_string(),
        None => format!("cannot {doing} {}: {}", path.display(), describe(path, error)),
    }
}

/// The system's words, with what to do where that is known.
fn describe(path: &Path, error: &io::Error) -> String {
    let folder = path.ancestors().find(|p| p.is_dir()).unwrap_or(Path::new(".")).display();
    match error.kind() {
        io::ErrorKind::StorageFull => format!("{error}: free some space and run it again; nothing committed is lost"),
        io::ErrorKind::PermissionDenied => {
            format!("{error}: give this user access to {folder}, or choose another folder")
        }
        io::ErrorKind::ReadOnlyFilesystem => format!("{error}: make {folder} writable, or choose another folder"),
        _ => error.to_string(),
    }
}

/// What could not be done to a table, in the words of the file system or of the store where that is the cause, without
/// those of the layers above it; else in delta-rs's.
fn describe_log(doing: &str, path: &Path, error: &DeltaTableError) -> String {
    if let Some(store) = BucketError::inside(error) {
        return store.to_string();
    }
    let mut cause: Option<&dyn Error> = Some(error);
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref::<io::Error>() {
            return format!("cannot {doing} the table {}: {}", path.display(), describe(path, refused));
        }
        cause = error.source();
    }
    // What follows the first line is where delta-rs met it.
    let words = error.to_string();
    format!("cannot {doing} the table {}: {}", path.display(), words.lines().next().unwrap_or_default())
}
