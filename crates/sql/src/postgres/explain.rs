//! `EXPLAIN` with PostgreSQL's options, and its answer in PostgreSQL's form.

use std::sync::Arc;

use arrow::array::{AsArray as _, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::common::format::ExplainFormat;
use datafusion::sql::parser::Statement;

use super::rewrite::without_marks;
use super::types::{is_json, json_field};
use crate::error::QueryError;
use crate::statements::{closing, without_comments};

/// The column of an answer.
const PLAN: &str = "QUERY PLAN";

/// Writes `EXPLAIN (FORMAT json, ANALYZE) ...` as DataFusion reads it. `None` for other statements, and for options that
/// only DataFusion has. Options about details that these plans lack have no effect.
pub(crate) fn statement(sql: &str) -> Result<Option<String>, QueryError> {
    let options = strip_word(without_comments(sql), "explain").and_then(|rest| rest.strip_prefix('('));
    let Some((options, rest)) =
        options.and_then(|text| Some((text, closing(text)?))).map(|(text, at)| text.split_at(at))
    else {
        return Ok(None);
    };
    let (mut analyze, mut verbose, mut json) = (false, false, false);
    for option in options.split(',') {
        let option = option.to_lowercase();
        let mut words = option.split_whitespace();
        let (name, value) = (words.next().unwrap_or_default(), words.next().map(|value| value.trim_matches('\'')));
        let is_on = !matches!(value, Some("off" | "false" | "0"));
        match (name, value) {
            ("analyze" | "analyse", _) => analyze = is_on,
            ("verbose", _) => verbose = is_on,
            ("format", Some("json")) => json = true,
            ("format", Some("text")) => json = false,
            ("format", Some(format @ ("xml" | "yaml"))) => {
                let reason = format!("EXPLAIN (FORMAT {format}) is not supported: use JSON or TEXT");
                return Err(QueryError::Invalid { reason });
            }
            (
                "buffers" | "costs" | "generic_plan" | "memory" | "serialize" | "settings" | "summary" | "timing"
                | "wal",
                _,
            ) => {}
            _ => return Ok(None),
        }
    }
    let analyze = if analyze { "ANALYZE " } else { "" };
    let form = if json {
        "FORMAT pgjson "
    } else if verbose {
        "VERBOSE "
    } else {
        ""
    };
    Ok(Some(format!("EXPLAIN {analyze}{form}{}", &rest[1..])))
}

/// The text after a keyword and the space that follows; `None` if it does not begin with it.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    (start.eq_ignore_ascii_case(word)).then(|| without_comments(rest))
}

/// The column of the answer to an `EXPLAIN`; `None` for other statements.
pub(crate) fn columns(statement: &Statement) -> Option<SchemaRef> {
    let Statement::Explain(explain) = statement else { return None };
    let is_json = explain.options.format == Some(ExplainFormat::PostgresJSON);
    let field = if is_json { json_field(PLAN) } else { Field::new(PLAN, DataType::Utf8, true) };
    Some(Arc::new(Schema::new(vec![field])))
}

/// The rows of the answer: each line of a plan, or a plan as JSON.
pub(crate) fn rows(columns: &SchemaRef, plans: &RecordBatch) -> Result<RecordBatch, QueryError> {
    let invalid = |error: arrow::error::ArrowError| QueryError::Invalid { reason: error.to_string() };
    let texts = plans.column_by_name("plan").ok_or_else(|| QueryError::Invalid { reason: "no plan".to_owned() })?;
    let texts = cast(texts, &DataType::Utf8).map_err(invalid)?;
    let texts: Vec<String> = texts.as_string::<i32>().iter().flatten().map(without_marks).collect();
    let lines: StringArray = if is_json(columns.field(0)) {
        texts.into_iter().map(Some).collect()
    } else {
        texts.iter().flat_map(|text| text.lines()).map(Some).collect()
    };
    RecordBatch::try_new(columns.clone(), vec![Arc::new(lines)]).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_postgresql_are_translated() {
        for (sql, expected) in [
            ("EXPLAIN (FORMAT JSON) SELECT 1", Some("EXPLAIN FORMAT pgjson  SELECT 1")),
            (
                "explain(analyze, buffers off, format 'json') SELECT (1)",
                Some("EXPLAIN ANALYZE FORMAT pgjson  SELECT (1)"),
            ),
            ("/* a */ EXPLAIN (VERBOSE, ANALYZE false, COSTS) SELECT 1", Some("EXPLAIN VERBOSE  SELECT 1")),
            ("EXPLAIN (FORMAT text) SELECT 1", Some("EXPLAIN  SELECT 1")),
            ("EXPLAIN (FORMAT tree) SELECT 1", None),
            ("EXPLAIN (SELECT 1)", None),
            ("EXPLAIN SELECT 1", None),
            ("SELECT (1)", None),
        ] {
            assert_eq!(statement(sql).unwrap().as_deref(), expected, "{sql}");
        }
        let refused = statement("EXPLAIN (FORMAT yaml) SELECT 1").unwrap_err().to_string();
        assert!(refused.contains("EXPLAIN (FORMAT yaml) is not supported"), "{refused}");
    }
}
