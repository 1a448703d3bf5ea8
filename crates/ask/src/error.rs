//! What can go wrong with a question.

use std::io;
use std::path::{Path, PathBuf};

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// A column is named that the table has not.
    #[error("there is no column {name:?}{}", did_you_mean(near, all))]
    UnknownColumn {
        /// The name.
        name: String,
        /// The names nearest to it, the nearest first.
        near: Vec<String>,
        /// All names.
        all: Vec<String>,
    },
    /// Something that was written does not follow its grammar, or makes no sense of the columns it names.
    #[error("{what}: {error}")]
    Syntax {
        /// Which part of the question.
        what: &'static str,
        /// What is wrong, and where.
        error: expr::Error,
    },
    /// A column holds something that a part of the question cannot take.
    #[error("{what} of {column:?} cannot be told: it holds {holds}, and {what} needs {needs}")]
    Type {
        /// The part of the question.
        what: String,
        /// The column.
        column: String,
        /// What it holds.
        holds: String,
        /// What the part needs.
        needs: &'static str,
    },
    /// The parts of the question do not go together.
    #[error("{reason}")]
    Invalid {
        /// Why, and what to do.
        reason: String,
    },
    /// The answer needs more memory than there may be.
    #[error(
        "this question needs more than the {} MB of memory it may have ({}): narrow it by conditions or time, or ask for fewer groups",
        limit >> 20,
        wanted
    )]
    Memory {
        /// Bytes it may have.
        limit: usize,
        /// What takes them.
        wanted: String,
    },
    /// An integer grew past what is counted exactly.
    #[error("{what} grew past 38 digits: divide the column in the question, or narrow it")]
    Overflow {
        /// What was added up.
        what: String,
    },
    /// A file cannot be read or written.
    #[error("could not {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A segment does not hold what Parquet says it must.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Partial answers that do not belong together, or are none.
    #[error("{name}: {reason}")]
    Partial {
        /// The partial answer.
        name: String,
        /// Why it cannot be merged.
        reason: String,
    },
}

impl AskError {
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid { reason: reason.into() }
    }

    pub(crate) fn unknown_column<'a>(name: &str, columns: impl Iterator<Item = &'a str>) -> Self {
        /// Names at least this alike are told.
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

    /// Why the pages of a segment cannot be read.
    pub(crate) fn pages(path: &Path, error: pages::Error) -> Self {
        match error {
            pages::Error::Io(source) => Self::Io { action: "read", path: path.to_owned(), source },
            other => Self::damaged(path, other.to_string()),
        }
    }
}

fn did_you_mean(near: &[String], all: &[String]) -> String {
    if near.is_empty() {
        return format!(": there are {}", all.join(", "));
    }
    let quoted: Vec<String> = near.iter().map(|n| format!("{n:?}")).collect();
    format!(": did you mean {}?", quoted.join(" or "))
}
