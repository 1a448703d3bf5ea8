//! Translates questions to SQL.

use std::fmt::Write as _;

use arrow::datatypes::Schema;
use chrono::{DateTime, SecondsFormat};

use crate::column::Kind;
use crate::error::AskError;
use crate::expression::{parse, sql_column as column, sql_condition, sql_quoted as quoted, sql_text as text};
use crate::plan::{GroupBy, Plan};
use crate::question::{Measure, Question};

type Result<T> = std::result::Result<T, AskError>;

/// A question's SQL over a table, given by database and name. `manyworlds sql` returns the same rows for it.
///
/// # Errors
/// If the question does not fit the columns, or SQL cannot express it (histograms).
pub fn sql((database, table): (&str, &str), question: &Question, schema: &Schema) -> Result<String> {
    let plan = Plan::new(question, schema)?;
    // Without the database, the name might resolve to a table of ensembles.
    let table = format!("{}.{}", quoted(database), column(table));
    let conditions = conditions(question)?;
    let filter = if conditions.is_empty() { String::new() } else { format!("\nWHERE {}", conditions.join("\n  AND ")) };
    if let Some(samples) = &question.samples {
        let columns: Vec<String> = samples.columns.iter().map(|c| column(c)).collect();
        let columns = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
        return Ok(format!("SELECT {columns}\nFROM {table}{filter}\nLIMIT {}", samples.rows));
    }
    let keys: Vec<String> =
        plan.groups.iter().map(|group| named(&key(&plan, group), &plan.names[group.column])).collect();
    let mut selected = keys.clone();
    for measured in &plan.measured {
        selected.extend(measure(question, &measured.measure)?);
    }
    let mut sql = format!("SELECT {}\nFROM {}", selected.join(",\n  "), source(&plan, &table, &filter)?);
    if !keys.is_empty() {
        let places: Vec<String> = (1..=keys.len()).map(|place| place.to_string()).collect();
        let _ = write!(sql, "\nGROUP BY {}\nORDER BY {}", places.join(", "), order(question, &plan).join(", "));
    }
    if let Some(limit) = question.limit {
        let _ = write!(sql, "\nLIMIT {limit}");
    }
    Ok(sql)
}

fn named(expression: &str, name: &str) -> String {
    if expression == column(name) { expression.to_owned() } else { format!("{expression} AS {}", quoted(name)) }
}

fn moment(micros: i64) -> String {
    let time = DateTime::from_timestamp_micros(micros).unwrap_or_default();
    format!("TIMESTAMP {}", text(&time.to_rfc3339_opts(SecondsFormat::AutoSi, true)))
}

fn conditions(question: &Question) -> Result<Vec<String>> {
    let time = column(question.time.as_deref().unwrap_or("time"));
    let since = question.since.map(|since| format!("{time} >= {}", moment(since)));
    let until = question.until.map(|until| format!("{time} < {}", moment(until)));
    let mut all: Vec<String> = since.into_iter().chain(until).collect();
    for condition in &question.conditions {
        all.push(format!("({})", sql_condition(&parse(condition, "condition")?)));
    }
    Ok(all)
}

/// The FROM clause: the table, with sets unnested.
fn source(plan: &Plan, table: &str, filter: &str) -> Result<String> {
    let sets: Vec<&GroupBy> = plan.groups.iter().filter(|group| plan.kinds[group.column] == Kind::Set).collect();
    if sets.is_empty() {
        return Ok(format!("{table}{filter}"));
    }
    let mut inner = format!("{table}{filter}");
    for group in sets {
        if !group.replacements.is_empty() {
            return Err(AskError::invalid("SQL cannot express replacements in set members"));
        }
        let name = column(&plan.names[group.column]);
        inner = format!(
            "(SELECT * EXCLUDE ({name}), unnest(CASE WHEN cardinality({name}) > 0 THEN array_distinct({name}) \
             ELSE make_array(CAST(NULL AS VARCHAR)) END) AS {name} FROM {inner})"
        );
    }
    Ok(inner)
}

fn key(plan: &Plan, group: &GroupBy) -> String {
    let name = column(&plan.names[group.column]);
    if let Some(bucket) = group.bucket {
        let origin = moment(bucket.origin());
        return format!("date_bin(INTERVAL '{} microseconds', {name}, {origin})", bucket.micros);
    }
    group.replacements.iter().fold(name, |of, (pattern, with)| {
        format!("regexp_replace({of}, {}, {}, 'g')", text(pattern.as_str()), text(with))
    })
}

/// The SELECT items of a measure.
fn measure(question: &Question, of: &Measure) -> Result<Vec<String>> {
    let x = column(of.column().unwrap_or_default());
    let w = question.weight.as_deref().map(column);
    let expression = match (of, &w) {
        (Measure::Count, None) => "count(*)".to_owned(),
        (Measure::Count, Some(w)) => format!("coalesce(sum({w}), 0)"),
        (Measure::Average(_), None) => format!("avg({x})"),
        (Measure::Average(_), Some(w)) => {
            format!("CAST(sum({w} * {x}) AS DOUBLE) / nullif(sum({w}) FILTER (WHERE {x} IS NOT NULL), 0)")
        }
        (Measure::Sum(_), None) => format!("sum({x})"),
        (Measure::Sum(_), Some(w)) => format!("sum({w} * {x})"),
        (Measure::Least(_), _) => format!("min({x})"),
        (Measure::Greatest(_), _) => format!("max({x})"),
        (Measure::Deviation(_), None) => format!("stddev({x})"),
        (Measure::Deviation(_), Some(w)) => {
            let all = format!("sum({w}) FILTER (WHERE {x} IS NOT NULL)");
            let mean = format!("power(CAST(sum({w} * {x}) AS DOUBLE), 2) / {all}");
            format!("CASE WHEN {all} > 1 THEN sqrt((CAST(sum({w} * {x} * {x}) AS DOUBLE) - {mean}) / ({all} - 1)) END")
        }
        (Measure::Distinct(_), _) => format!("count(DISTINCT {x})"),
        (Measure::Histogram(_) | Measure::LogHistogram(_), _) => {
            return Err(AskError::invalid("SQL cannot express histograms"));
        }
        (Measure::Quantiles(_, quantiles), _) => {
            let one = |(quantile, name): (&crate::question::Quantile, String)| {
                let (parts, of) = quantile.fraction();
                let rank = format!("greatest((count({x}) * {parts} + {}) / {of}, 1)", of - 1);
                let all = format!("array_agg({x} ORDER BY {x}) FILTER (WHERE {x} IS NOT NULL)");
                named(&format!("array_element({all}, {rank})"), &name)
            };
            return Ok(quantiles.iter().zip(of.names()).map(one).collect());
        }
    };
    Ok(of.names().iter().map(|name| named(&expression, name)).collect())
}

fn order(question: &Question, plan: &Plan) -> Vec<String> {
    let direction = |ascending: bool| if ascending { "ASC" } else { "DESC" };
    let first = match &question.order {
        Some(order) => Some((order.by.clone(), order.ascending)),
        None if question.bucket.is_some() => None,
        None => plan.measured[0].measure.names().into_iter().next().map(|name| (name, false)),
    };
    let keys = plan.groups.iter().map(|group| (plan.names[group.column].clone(), true));
    let mut seen = Vec::new();
    let mut all = Vec::new();
    for (name, ascending) in first.into_iter().chain(keys) {
        if !seen.contains(&name) {
            all.push(format!("{} {} NULLS LAST", quoted(&name), direction(ascending)));
            seen.push(name);
        }
    }
    all
}
