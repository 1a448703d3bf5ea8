//! Arguments of table functions.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use world::{World, WorldRange};

use crate::error::QueryError;

pub(crate) struct Arguments<'a> {
    function: &'static str,
    given: &'a [Expr],
}

impl<'a> Arguments<'a> {
    /// Checks the number of arguments. `function` is its signature, for errors.
    pub(crate) fn new(function: &'static str, given: &'a [Expr], count: usize) -> Result<Self, QueryError> {
        if given.len() == count {
            return Ok(Self { function, given });
        }
        Err(QueryError::Arguments { function, reason: format!("expected {count} arguments, got {}", given.len()) })
    }

    pub(crate) fn text(&self, place: usize) -> Result<String, QueryError> {
        match literal(&self.given[place]) {
            Some(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text))) => Ok(text.clone()),
            _ => Err(self.wrong(format!("argument {} must be text in single quotes", place + 1))),
        }
    }

    /// An argument that is a world's number, or a range in text such as '0-99'.
    pub(crate) fn worlds(&self, place: usize) -> Result<WorldRange, QueryError> {
        let text = match literal(&self.given[place]) {
            Some(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text))) => text.trim().to_owned(),
            Some(ScalarValue::Int64(Some(number))) => number.to_string(),
            _ => String::new(),
        };
        let one = text.parse().ok().and_then(|world| WorldRange::new(World(world), 1).ok());
        one.or_else(|| text.parse().ok()).ok_or_else(|| {
            self.wrong(format!("argument {} must be a world's number or a range in text such as '0-99'", place + 1))
        })
    }

    fn wrong(&self, reason: String) -> QueryError {
        QueryError::Arguments { function: self.function, reason }
    }
}

fn literal(argument: &Expr) -> Option<&ScalarValue> {
    match argument {
        Expr::Literal(value, _) => Some(value),
        _ => None,
    }
}
