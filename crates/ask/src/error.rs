//! Errors of questions.

use std::io;
use std::path::{Path, PathBuf};

/// Why a question failed.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The question names a column that the table does not have.
    #[error("unknown column {name:?}{}", did_you_mean(near, all))]
    UnknownColumn {
        name: String,
        /// Similar names, the most similar first.
        near: Vec<String>,
        /// All column names.
        all: Vec<String>,
    },
    /// A part of the question violates its grammar or does not fit the columns it names.
    #[error("{what}: {error}")]
    Syntax {
        /// The part of the question.
        what: &'static str,
        /// The error, with its position.
        error: expr::Error,
    },
    /// A part of the question does not support the type of its column.
    #[error("cannot {what}: the column holds {holds}, not {needs}")]
    Type {
        /// What failed, such as `compute avg(host)`.
        what: String,
        column: String,
        /// What the column holds.
        holds: String,
        /// What it must hold.
        needs: &'static str,
    },
    /// Parts of the question contradict each other.
    #[error("{reason}")]
    Invalid {
        /// Why, and what to do.
        reason: String,
    },
    /// The answer exceeds the memory limit.
    #[error(
        "the question needs more than the {} MB memory limit ({}): narrow it by conditions or time, or ask for fewer groups",
        limit >> 20,
        wanted
    )]
    Memory {
        /// The limit, in bytes.
        limit: usize,
        /// What takes the memory.
        wanted: String,
    },
    /// An exact integer result does not fit 38 digits.
    #[error("{what} exceeds 38 digits: scale the values down, or narrow the question")]
    Overflow {
        /// What overflowed.
        what: String,
    },
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The operation, as a verb.
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// A segment is not valid Parquet.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file of the segment.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A partial answer cannot be read.
    #[error("{name}: {reason}")]
    Partial {
        /// The name of the partial answer.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl AskError {
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid { reason: reason.into() }
    }

    pub(crate) fn unknown_column<'a>(name: &str, columns: impl Iterator<Item = &'a str>) -> Self {
        /// Least similarity (Jaro-Winkler) of a suggestion.
        const ALIKE: f64 = 0.7;
        const NEAR_MAX: usize = 3;
        let all: Vec<String> = columns.map(str::to_owned).collect();
        let score = |other: &String| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
        let mut scored: Vec<(f64, &String)> = all.iter().map(|c| (score(c), c)).filter(|(s, _)| *s >= ALIKE).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let near = scored.into_iter().take(NEAR_MAX).map(|(_, c)| c.clone()).collect();
        Self::UnknownColumn { name: name.to_owned(), near, all }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.into() }
    }

    /// Converts an error of reading a segment's pages.
    pub(crate) fn pages(path: &Path, error: pages::Error) -> Self {
        match error {
            pages::Error::Io(source) => Self::Io { action: "read", path: path.to_owned(), source },
            other => Self::damaged(path, other.to_string()),
        }
    }
}

fn did_you_mean(near: &[String], all: &[String]) -> String {
    if near.is_empty() {
        return format!(": the columns are {}", all.join(", "));
    }
    let quoted: Vec<String> = near.iter().map(|n| format!("{n:?}")).collect();
    format!(" (did you mean {}?)", quoted.join(" or "))
}
