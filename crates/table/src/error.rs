use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use deltalake::DeltaTableError;
use parquet::errors::ParquetError;

use disk::bucket::BucketError;

pub(crate) type Result<T, E = TableError> = std::result::Result<T, E>;

/// An error of this crate. Its message includes the cause, so it has no `source()`.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("{}", describe_io(doing, path, cause))]
    Io { doing: &'static str, path: PathBuf, cause: io::Error },
    #[error("{}", describe_log(doing, path, cause))]
    Log { doing: &'static str, path: PathBuf, cause: Box<DeltaTableError> },
    #[error(
        "cannot open the table {}: line {line} of {} is damaged: restore this file from a backup",
        path.display(),
        entry.display()
    )]
    DamagedLog {
        path: PathBuf,
        entry: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    #[error("cannot write the segment {}: {cause}", path.display())]
    Encode { path: PathBuf, cause: ParquetError },
    #[error("the segment {} is damaged: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error(
        "cannot read column {column:?} of the segment {}: codec {codec} is not supported: rewrite it with none, Snappy, LZ4_RAW, gzip or zstd",
        path.display()
    )]
    Codec { path: PathBuf, column: String, codec: String },
    /// The committer's task ended with its runtime.
    #[error("the table's committer has stopped: nothing was committed; run it again")]
    CommitterGone,
    /// Another command changed the table during a rewrite.
    #[error(
        "another command inserted, rewrote or removed the segment {segment} of the table {}: nothing was changed; run it again",
        path.display()
    )]
    Overtaken { path: PathBuf, segment: String },
    /// Another command writes to a table that this command would remove, or removes the table.
    #[error(
        "the table {} is in use: its removal needs exclusive access; nothing was changed; run it again when the other \
         command is done",
        path.display()
    )]
    Busy { path: PathBuf },
    /// The folder holds Avro files of layout `row`, which older versions of this program wrote.
    #[error(
        "cannot open the table {}: an older version wrote it in layout row, which this version does not support: rewrite \
         the table in layout pruned with that version, or insert its source files into a new table; nothing was changed",
        path.display()
    )]
    RowLayout { path: PathBuf },
    /// A bug in this program.
    #[error("internal error: {0}; the table is unchanged")]
    Unexpected(String),
    /// The request does not fit the table. The reason includes a remedy.
    #[error("table {}: {reason}", path.display())]
    Options { path: PathBuf, reason: String },
    #[error(
        "invalid table name {name:?}: write NAME (up to 128 bytes) or DATABASE.NAME (up to 64 and 128 bytes), without \
         control characters, and without '.' in DATABASE"
    )]
    Name { name: String },
    #[error("the database \"sim\" is reserved for ensembles: choose another database for the table {name:?}")]
    Reserved {
        /// The table's name inside the database.
        name: String,
    },
    #[error("cannot write column {column:?} to the table {}: {reason}", path.display())]
    Rows { path: PathBuf, column: String, reason: String },
    #[error("column {column:?} of the table {} holds {have}, not {want}: rename one of them", path.display())]
    ColumnType { path: PathBuf, column: String, have: String, want: String },
    #[error("column {column:?} differs from column {have:?} of the table {} only in case: rename one of them", path.display())]
    ColumnName { path: PathBuf, column: String, have: String },
}

/// How a caller can react to an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Free space or grant access, then retry.
    Environment,
    /// Another writer was first: retry.
    Conflict,
    /// Repair or rewrite stored data.
    Damaged,
    /// Fix the request.
    Request,
}

impl TableError {
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
            | Self::ColumnName { .. }
            | Self::Options { .. }
            | Self::RowLayout { .. }
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

    /// Converts an encoding error, or the I/O error inside it.
    pub(crate) fn encode(path: &Path, cause: ParquetError) -> Self {
        match cause {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => Self::io("write", path)(*error),
                Err(inner) => Self::Encode { path: path.to_owned(), cause: ParquetError::External(inner) },
            },
            cause => Self::Encode { path: path.to_owned(), cause },
        }
    }

    pub(crate) fn options(path: &Path, reason: impl Into<String>) -> Self {
        Self::Options { path: path.to_owned(), reason: reason.into() }
    }

    pub(crate) fn no_column(path: &Path, schema: &Schema, name: &str) -> Self {
        let have = schema.fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>().join(", ");
        Self::options(path, format!("no column {name:?}: the columns are {have}"))
    }

    pub(crate) fn rows(path: &Path, column: &str, reason: String) -> Self {
        Self::Rows { path: path.to_owned(), column: column.to_owned(), reason }
    }

    /// Converts an error of reading a segment's pages.
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

/// Work on rows in memory fails only by a mistake of this program.
impl From<ArrowError> for TableError {
    fn from(error: ArrowError) -> Self {
        Self::Unexpected(error.to_string())
    }
}

/// Whether another writer was first.
pub(crate) fn is_conflict(error: &DeltaTableError) -> bool {
    matches!(error, DeltaTableError::Transaction { .. } | DeltaTableError::VersionAlreadyExists(_))
}

/// Describes a failed file operation, with advice where possible. Errors of a store are complete, and do not mention the mirror.
pub fn describe_io(doing: &str, path: &Path, error: &io::Error) -> String {
    match BucketError::inside(error) {
        Some(store) => store.to_string(),
        None => format!("cannot {doing} {}: {}", path.display(), describe(path, error)),
    }
}

/// The system's message, with advice where possible.
fn describe(path: &Path, error: &io::Error) -> String {
    let folder = path.ancestors().find(|p| p.is_dir()).unwrap_or(Path::new(".")).display();
    match error.kind() {
        io::ErrorKind::StorageFull => format!("{error}: free some space and run it again; nothing committed is lost"),
        io::ErrorKind::PermissionDenied => {
            format!("{error}: give this user access to {folder}, or choose another folder")
        }
        io::ErrorKind::ReadOnlyFilesystem => format!("{error}: make {folder} writable, or choose another folder"),
        io::ErrorKind::NotADirectory => match path.ancestors().find(|p| p.exists()) {
            Some(file) => {
                format!("{error}: {} is in the way: move or remove it, or choose another folder", file.display())
            }
            None => error.to_string(),
        },
        _ => error.to_string(),
    }
}

/// Describes a failed table operation by its root cause: the message of the store or the file system, otherwise that of
/// delta-rs.
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
    // Further lines give the place in delta-rs.
    let words = error.to_string();
    format!("cannot {doing} the table {}: {}", path.display(), words.lines().next().unwrap_or_default())
}
