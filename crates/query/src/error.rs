//! What can go wrong with a question.

use std::sync::Arc;

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use ensemble::EnsembleError;
use model::UnknownName;
use snapshot::SnapshotError;
use table::TableError;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The stored ensembles could not be read.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// The question needs an ensemble that could not be read when the snapshot was taken.
    #[error(transparent)]
    Unreadable(Arc<EnsembleError>),
    /// A segment could not be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A table could not be opened.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The text is no SQL.
    #[error("this is not SQL as it is understood here: {reason}")]
    Syntax {
        /// Where it stopped making sense.
        reason: String,
    },
    /// The statement is larger than any that is answered.
    #[error("the statement is too large: {reason}")]
    TooLarge {
        /// Of what it has too much.
        reason: String,
    },
    /// The statement would change something.
    #[error("{statement} is refused: only questions are answered here (SELECT, EXPLAIN, SHOW TABLES, DESCRIBE)")]
    Refused {
        /// What was asked for.
        statement: String,
    },
    /// A name stands for nothing.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A table function was called with something that it cannot take.
    #[error("{function}: {reason}")]
    Arguments {
        /// The function as it should be called.
        function: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The question makes no sense of what there is.
    #[error("the question cannot be answered: {reason}")]
    Invalid {
        /// Why not.
        reason: String,
    },
    /// The condition on a table's rows makes no sense of them.
    #[error("the condition cannot be used: {reason}")]
    Condition {
        /// Why not.
        reason: String,
    },
    /// The answer needs more memory than it may take.
    #[error("the answer needs more memory than it may take: select fewer columns or rows ({reason})")]
    Memory {
        /// Who asked for how much.
        reason: String,
    },
}

const TABLES: [&str; 3] = ["outcomes", "events", "ensembles"];
const FUNCTIONS: [&str; 2] = ["worlds", "events"];

/// What [`no_table`] says is missing.
pub(crate) const NO_TABLE: &str = "no table";

/// There is no table `name`; there are those of ensembles, and `others`.
pub(crate) fn no_table<'a>(name: &str, others: impl IntoIterator<Item = &'a str>) -> QueryError {
    unknown(NO_TABLE, name, TABLES.into_iter().chain(others))
}

fn unknown<'a>(what: &str, name: &str, names: impl IntoIterator<Item = &'a str>) -> QueryError {
    UnknownName::new(what, name, names).into()
}

impl From<QueryError> for DataFusionError {
    fn from(error: QueryError) -> Self {
        Self::External(Box::new(error))
    }
}

/// What DataFusion reports, in our words; an error of our own comes back as it was.
impl From<DataFusionError> for QueryError {
    fn from(error: DataFusionError) -> Self {
        match error {
            DataFusionError::External(inner) => match inner.downcast::<Self>() {
                Ok(own) => *own,
                Err(other) => Self::Invalid { reason: one_line(&other.to_string()) },
            },
            DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => Self::from(*inner),
            DataFusionError::Collection(mut errors) if !errors.is_empty() => Self::from(errors.swap_remove(0)),
            DataFusionError::SQL(error, _) => Self::Syntax { reason: syntax(&error.to_string()) },
            DataFusionError::SchemaError(error, _) => unknown_column(&error),
            DataFusionError::Plan(text) => plan_error(&text),
            DataFusionError::ResourcesExhausted(text) => Self::Memory { reason: one_line(&text) },
            // What several pieces of a question wait for fails for all of them, and comes wrapped.
            other => match other.find_root() {
                DataFusionError::ResourcesExhausted(text) => Self::Memory { reason: one_line(text) },
                _ => Self::Invalid { reason: one_line(&message(&other)) },
            },
        }
    }
}

/// The innermost message, without the names of the layers it came through.
fn message(error: &DataFusionError) -> String {
    let root = error.find_root();
    let text = match std::error::Error::source(root) {
        Some(source) => source.to_string(),
        None => root.message().into_owned(),
    };
    // Of an error in a condition that is evaluated while a segment is read, DataFusion keeps how Rust prints it.
    let printed = text.split_once("Error evaluating filter predicate: ").map(|(_, printed)| printed);
    let reason = printed.and_then(|printed| printed.split_once("reason: \"")?.1.split_once('"'));
    match reason {
        Some((reason, _)) => reason.to_owned(),
        None if BY_ZERO.iter().any(|words| text.contains(words)) => "division by zero".to_owned(),
        None => text,
    }
}

/// A division by zero, as Rust prints it and as Arrow tells it.
const BY_ZERO: [&str; 2] = ["DivideByZero", "Divide by zero"];

fn one_line(text: &str) -> String {
    let text = text.split("\n\nbacktrace").next().unwrap_or(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}

fn syntax(text: &str) -> String {
    one_line(text.trim_start_matches("sql parser error: "))
}

fn unknown_column(error: &SchemaError) -> QueryError {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            unknown("no column", &field.name, valid_fields.iter().map(|f| f.name.as_str()))
        }
        SchemaError::AmbiguousReference { field } => QueryError::Invalid {
            reason: format!("column {:?} is in more than one table: write it as table.column", field.name),
        },
        other => QueryError::Invalid { reason: one_line(&other.to_string()) },
    }
}

/// Reads the name out of the messages that tell of one.
fn plan_error(text: &str) -> QueryError {
    let quoted = |prefix: &str, suffix: &str| {
        let (name, rest) = text.strip_prefix(prefix)?.split_once('\'')?;
        rest.starts_with(suffix).then(|| name.to_owned())
    };
    if let Some(name) = quoted("table '", " not found") {
        let name = name.strip_prefix("manyworlds.").unwrap_or(&name);
        return no_table(name.strip_prefix("sim.").unwrap_or(name), []);
    }
    if let Some(name) = quoted("table function '", " not found") {
        return unknown("no table function", &name, FUNCTIONS);
    }
    if let Some(name) = quoted("Invalid function '", "") {
        let near = text.rsplit_once("Did you mean '").map(|(_, near)| near.trim_end_matches(['?', '\'']).to_owned());
        let (what, nearest) = ("no function".to_owned(), near.into_iter().collect());
        return UnknownName { what, name, nearest, have: Vec::new() }.into();
    }
    QueryError::Invalid { reason: one_line(text) }
}
