//! What can go wrong with a measurement.

use std::io;
use std::path::PathBuf;

use ensemble::{EnsembleError, ExpressionError};

use crate::ingest::LoadError;
use crate::reads::SqlError;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A setting that cannot be measured.
    #[error("{setting}: {reason}")]
    Workload {
        /// Which.
        setting: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The data folder holds something already.
    #[error("{} is not empty: a bench needs a folder of its own", .0.display())]
    NotEmpty(PathBuf),
    /// The disk is too small for what is to be measured.
    #[error(
        "{} has {free} of disk free and the largest season needs up to {needed}: name a folder on a larger disk, or \
         measure fewer worlds or no plays",
        folder.display()
    )]
    Room {
        /// The data folder.
        folder: PathBuf,
        /// What the experiments take at a time, for people.
        needed: String,
        /// What the disk has, for people.
        free: String,
    },
    /// A file or process of the bench's own.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A measured run failed.
    #[error("`{command}` failed: {said}")]
    Run {
        /// The command.
        command: String,
        /// What it said last.
        said: String,
    },
    /// A measured run printed something else than its summary.
    #[error("`{command}` printed no summary")]
    Summary {
        /// The command.
        command: String,
        /// Why it does not read.
        source: serde_json::Error,
    },
    /// What was stored could not be read.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// A question of the workload does not fit the stored season.
    #[error("the question {question:?} does not fit the stored season")]
    Question {
        /// The question.
        question: String,
        /// Why.
        source: ExpressionError,
    },
    /// The stored season lacks what a question is about.
    #[error("the stored season has no {0}")]
    Missing(String),
    /// An answer that is not the right one.
    #[error("wrong answer: {0}")]
    Wrong(String),
    /// The SQL engine refused.
    #[error("in {statement:?}")]
    Sql {
        /// The statement.
        statement: String,
        /// Why.
        source: SqlError,
    },
    /// A table refused.
    #[error(transparent)]
    Table(#[from] table::TableError),
    /// Rows in a file could not be read or written.
    #[error("cannot read or write the rows in {}", path.display())]
    Spool {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: arrow::error::ArrowError,
    },
    /// A segment could not be read.
    #[error("cannot read the segment {}", path.display())]
    Segment {
        /// The segment.
        path: PathBuf,
        /// Why not.
        source: parquet::errors::ParquetError,
    },
    /// A server could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Asked to stop.
    #[error("stopped before everything was measured")]
    Stopped,
}
