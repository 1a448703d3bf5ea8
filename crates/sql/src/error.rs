//! Errors of queries.

use std::sync::Arc;

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;
use ensemble::EnsembleError;
use model::UnknownName;
use snapshot::SnapshotError;
use table::TableError;

/// The reason that a query failed.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The stored ensembles cannot be read.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// The query needs an ensemble that was unreadable when the snapshot was taken.
    #[error(transparent)]
    Unreadable(Arc<EnsembleError>),
    /// A segment cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A table cannot be opened.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The text is not valid SQL.
    #[error("invalid SQL: {reason}")]
    Syntax {
        /// The reason, with its position.
        reason: String,
    },
    /// The statement exceeds a size limit.
    #[error("the statement is too large: {reason}")]
    TooLarge {
        /// The exceeded limit.
        reason: String,
    },
    /// The statement is not a query.
    #[error("cannot run {statement}: only queries are allowed (SELECT, EXPLAIN, SHOW TABLES, DESCRIBE)")]
    Refused {
        /// The first keyword of the statement.
        statement: String,
    },
    /// A name is unknown.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// The arguments of a table function are invalid.
    #[error("{function}: {reason}")]
    Arguments {
        /// The signature of the function.
        function: &'static str,
        reason: String,
    },
    /// The query does not fit the data.
    #[error("cannot answer the query: {reason}")]
    Invalid { reason: String },
    /// The condition does not fit the rows of its table.
    #[error("invalid condition: {reason}")]
    Condition { reason: String },
    /// The answer needs more memory than the limit.
    #[error("the query exceeds its memory limit: select fewer columns or rows ({reason})")]
    Memory {
        /// The memory consumer and its request.
        reason: String,
    },
}

impl QueryError {
    pub(crate) fn too_deep() -> Self {
        Self::TooLarge { reason: "it is nested too deeply".to_owned() }
    }
}

const TABLES: [&str; 3] = ["outcomes", "events", "ensembles"];
const FUNCTIONS: [&str; 2] = ["worlds", "events"];

/// The `what` of [`no_table`].
pub(crate) const NO_TABLE: &str = "no table";

/// The error for an unknown table. Suggests tables of ensembles and `others`.
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

/// Translates errors of DataFusion; errors of this crate stay unchanged.
impl From<DataFusionError> for QueryError {
    fn from(error: DataFusionError) -> Self {
        match error {
            DataFusionError::External(inner) => match inner.downcast::<Self>() {
                Ok(own) => *own,
                Err(other) => Self::Invalid { reason: one_line(&other.to_string()) },
            },
            DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => Self::from(*inner),
            DataFusionError::Collection(mut errors) if !errors.is_empty() => Self::from(errors.swap_remove(0)),
            DataFusionError::SQL(error, _) if *error == ParserError::RecursionLimitExceeded => Self::too_deep(),
            DataFusionError::SQL(error, _) => Self::Syntax { reason: syntax(&error.to_string()) },
            DataFusionError::SchemaError(error, _) => unknown_column(&error),
            DataFusionError::Plan(text) => plan_error(&text),
            DataFusionError::ResourcesExhausted(text) => Self::Memory { reason: one_line(&text) },
            // Partitions that wait for the same failed input get the error in a wrapper.
            other => match other.find_root() {
                DataFusionError::ResourcesExhausted(text) => Self::Memory { reason: one_line(text) },
                _ => Self::Invalid { reason: one_line(&message(&other)) },
            },
        }
    }
}

/// The innermost message, without the names of wrapping layers.
fn message(error: &DataFusionError) -> String {
    let root = error.find_root();
    let text = match std::error::Error::source(root) {
        Some(source) => source.to_string(),
        None => root.message().into_owned(),
    };
    // If a pushed-down condition fails, DataFusion keeps only the text of Rust's `Debug`.
    let printed = text.split_once("Error evaluating filter predicate: ").map(|(_, printed)| printed);
    let reason = printed.and_then(|printed| printed.split_once("reason: \"")?.1.split_once('"'));
    match reason {
        Some((reason, _)) => reason.to_owned(),
        None if BY_ZERO.iter().any(|pattern| text.contains(pattern)) => "division by zero".to_owned(),
        None => text,
    }
}

/// A division by zero in the texts of Rust's `Debug` and of Arrow.
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
        SchemaError::AmbiguousReference { field } => {
            QueryError::Invalid { reason: format!("ambiguous column {:?}: write it as table.column", field.name) }
        }
        other => QueryError::Invalid { reason: one_line(&other.to_string()) },
    }
}

/// Recovers the name from messages about unknown names.
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
