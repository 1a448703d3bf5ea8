//! Errors of a benchmark.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use arrow::error::ArrowError;
use ensemble::{EnsembleError, ExpressionError};

use crate::harness::report::number::count;

/// Why an SQL engine refused a statement.
pub type SqlError = Box<dyn Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A setting that cannot be measured.
    #[error("{setting}: {reason}")]
    Workload { setting: &'static str, reason: String },
    #[error("{} is not empty: a benchmark needs an empty folder", .0.display())]
    NotEmpty(PathBuf),
    #[error(
        "{} has {free} of disk free and the largest season needs up to {needed}: name a folder on a larger disk, or \
         measure fewer worlds or no plays",
        folder.display()
    )]
    DiskSpace { folder: PathBuf, needed: String, free: String },
    /// A file or process of the benchmark failed.
    #[error("cannot {doing} {}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    /// A measured run failed; `said` is its last line of output.
    #[error("`{command}` failed: {said}")]
    Run { command: String, said: String },
    #[error("`{command}` printed no summary")]
    Summary { command: String, source: serde_json::Error },
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    #[error("the question {question:?} does not fit the stored season")]
    Question { question: String, source: ExpressionError },
    #[error("the stored season has no {0}")]
    Missing(String),
    #[error("wrong answer: {0}")]
    Wrong(String),
    /// The SQL engine refused a statement.
    #[error("in {statement:?}")]
    Sql { statement: String, source: SqlError },
    /// The SQL engine cannot open the tables.
    #[error(transparent)]
    Engine(#[from] sql::QueryError),
    #[error(transparent)]
    Table(#[from] table::TableError),
    #[error("cannot read or write the rows in {}", path.display())]
    Rows { path: PathBuf, source: ArrowError },
    #[error("cannot read the segment {}", path.display())]
    Segment { path: PathBuf, source: parquet::errors::ParquetError },
    #[error("invalid address {given:?}: {reason}")]
    Address { given: String, reason: String },
    #[error(
        "{given:?} is another machine, {address}: a load takes all of a server's capacity; add --anywhere if you may do that"
    )]
    Elsewhere { given: String, address: SocketAddr },
    #[error("the server at {address} is gone: {} records were acknowledged", count(*acknowledged))]
    Gone { address: SocketAddr, acknowledged: u64, source: io::Error },
    #[error("the server answered {status}: {said}")]
    Refused { status: u16, said: String },
    #[error("the server's answer to {question:?} is not a count: {said}")]
    Count { question: String, said: String },
    /// Encoding a body or starting a thread failed.
    #[error("cannot {doing}")]
    Load { doing: &'static str, source: io::Error },
    /// The user asked to stop.
    #[error("stopped before everything was measured")]
    Stopped,
}

impl BenchError {
    /// An error that says what `setting` needs, unless it `holds`.
    pub(crate) fn require(holds: bool, setting: &'static str, reason: impl Into<String>) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::Workload { setting, reason: reason.into() }) }
    }

    /// The error for a failed action on a file or process.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    /// The error for rows of a file.
    pub(crate) fn rows(path: &Path) -> impl FnOnce(ArrowError) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Rows { path, source }
    }
}
