//! Conditions over the columns of a table: binding to columns, evaluation over rows, and translation to SQL.
//!
//! NULL follows SQL: a comparison with NULL is neither true nor false, and a row matches only if the whole condition is
//! true. NaN is greater than all other numbers and equal to itself.

mod bind;
mod mask;
mod sql;

pub(crate) use bind::{Binder, Cond, Leaf, Test, days_of, micros_of};
pub(crate) use expr::Comparison;
pub(crate) use mask::Rows;
pub(crate) use sql::{column as sql_column, condition as sql_condition, quoted as sql_quoted, text as sql_text};

use expr::Expr;

use crate::error::AskError;

/// Parses a condition. `what` names the part of the question for errors.
pub(crate) fn parse(text: &str, what: &'static str) -> Result<Expr, AskError> {
    expr::parse(text).map_err(|error| AskError::Syntax { what, error })
}

#[cfg(test)]
mod tests;
