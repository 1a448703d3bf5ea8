//! Errors of questions.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error("unknown column {name:?}{}", did_you_mean(near, all))]
    UnknownColumn {
        name: String,
        /// Similar names, the most similar first.
        near: Vec<String>,
        all: Vec<String>,
    },
    /// A part of the question violates its grammar or does not fit the columns it names.
    #[error("{what}: {error}")]
    Syntax { what: &'static str, error: expr::Error },
    #[error("cannot {what}: the column holds {holds}, not {needs}")]
    Type {
        /// The failed computation, such as `compute avg(host)`.
        what: String,
        column: String,
        holds: String,
        needs: &'static str,
    },
    /// Parts of the question contradict each other. The reason includes a remedy.
    #[error("{reason}")]
    Invalid { reason: String },
    #[error(
        "the question needs more than the {} MB memory limit ({}): narrow it by conditions or time, or ask for fewer groups",
        limit >> 20,
        wanted
    )]
    Memory {
        limit: usize,
        /// The largest use of memory.
        wanted: String,
    },
    #[error("{what} exceeds 38 digits: scale the values down, or narrow the question")]
    Overflow { what: String },
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// A segment is not valid Parquet.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
    /// A partial answer cannot be read.
    #[error("{name}: {reason}")]
    Partial { name: String, reason: String },
}

impl AskError {
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid { reason: reason.into() }
    }

    pub(crate) fn unknown_column<'a>(name: &str, columns: impl Iterator<Item = &'a str>) -> Self {
        /// Minimum similarity (Jaro-Winkler) of a suggestion.
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
