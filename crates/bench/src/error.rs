//! Errors of a benchmark.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use ensemble::{EnsembleError, ExpressionError};

use crate::ingest::LoadError;

/// Why an SQL engine refused a statement.
pub type SqlError = Box<dyn Error + Send + Sync>;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A setting that cannot be measured.
    #[error("{setting}: {reason}")]
    Workload {
        /// The setting.
        setting: &'static str,
        /// The reason.
        reason: String,
    },
    /// The data folder is not empty.
    #[error("{} is not empty: a benchmark needs an empty folder", .0.display())]
    NotEmpty(PathBuf),
    /// The disk is too small for what is to be measured.
    #[error(
        "{} has {free} of disk free and the largest season needs up to {needed}: name a folder on a larger disk, or \
         measure fewer worlds or no plays",
        folder.display()
    )]
    DiskSpace {
        /// The data folder.
        folder: PathBuf,
        /// The space that the experiments need at a time, as text.
        needed: String,
        /// The free space, as text.
        free: String,
    },
    /// A file or process of the benchmark failed.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The action, to follow "cannot".
        doing: &'static str,
        /// The file or program.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A measured run failed.
    #[error("`{command}` failed: {said}")]
    Run {
        /// The command.
        command: String,
        /// Its last line of output.
        said: String,
    },
    /// A measured run did not print its summary.
    #[error("`{command}` printed no summary")]
    Summary {
        /// The command.
        command: String,
        /// Why the output cannot be read.
        source: serde_json::Error,
    },
    /// An ensemble could not be read.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// A question does not fit the stored season.
    #[error("the question {question:?} does not fit the stored season")]
    Question {
        /// The question.
        question: String,
        /// The reason.
        source: ExpressionError,
    },
    /// The stored season lacks something that a question needs.
    #[error("the stored season has no {0}")]
    Missing(String),
    /// An answer is wrong.
    #[error("wrong answer: {0}")]
    Wrong(String),
    /// The SQL engine refused a statement.
    #[error("in {statement:?}")]
    Sql {
        /// The statement.
        statement: String,
        /// The reason.
        source: SqlError,
    },
    /// A table refused.
    #[error(transparent)]
    Table(#[from] table::TableError),
    /// Rows in a file could not be read or written.
    #[error("cannot read or write the rows in {}", path.display())]
    Rows {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: arrow::error::ArrowError,
    },
    /// A segment could not be read.
    #[error("cannot read the segment {}", path.display())]
    Segment {
        /// The segment.
        path: PathBuf,
        /// The reason.
        source: parquet::errors::ParquetError,
    },
    /// A server could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The user asked to stop.
    #[error("stopped before everything was measured")]
    Stopped,
}

impl BenchError {
    /// The error for a failed action on a file or process.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}
