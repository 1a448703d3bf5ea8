//! `manyworlds info`: the contents of a table, or the facts of an ensemble.

mod ensemble;

use anyhow::{Context as _, Result};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::{Map, Value, json};
use sql::{Engine, quoted};
use table::TableName;

use super::named::{Named, find};
use super::sql::table_in_sql;
use crate::args::{Format, InfoArgs};
use crate::output::{Table, cell, count, print, print_json};

/// Number of most frequent texts to show per column.
const COMMONEST: usize = 3;

pub(crate) async fn info(args: &InfoArgs) -> Result<()> {
    match find(&args.named).await? {
        Named::Table(name, engine) => of_table(&name, &engine, args.format.format).await,
        Named::Ensemble(stored) => ensemble::info(&stored, args.format.format),
    }
}

async fn of_table(name: &TableName, engine: &Engine, format: Format) -> Result<()> {
    let table = table_in_sql(name);
    let schema = engine.query(&format!("SELECT * FROM {table} LIMIT 0")).await?.schema();
    let (rows, mut columns) = figures(engine, &table, &schema).await?;
    for (field, column) in schema.fields().iter().zip(&mut columns) {
        if is_text(field.data_type()) {
            column["commonest"] = commonest(engine, &table, field.name()).await?;
        }
    }
    let whole = json!({"table": name.to_string(), "rows": rows, "columns": columns});
    match format {
        Format::Json => print_json(&whole),
        Format::Csv => print(&listed(&columns).to_csv()),
        Format::Table => print(&format!("table {name}, {} rows\n\n{}", count(rows), listed(&columns))),
    }
}

fn is_text(ty: &DataType) -> bool {
    matches!(ty, DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8)
}

/// Statistics of a column, by name and SQL.
fn measures(field: &Field) -> Vec<(&'static str, String)> {
    let name = quoted(field.name());
    let mut measures = vec![("nulls", format!("count(*) - count({name})"))];
    if field.data_type().is_nested() {
        return measures;
    }
    if *field.data_type() != DataType::Boolean {
        measures.extend([("min", format!("min({name})")), ("max", format!("max({name})"))]);
    }
    if field.data_type().is_numeric() {
        measures.extend([("mean", format!("avg({name})")), ("stddev", format!("stddev({name})"))]);
    }
    measures
}

/// The row count of a table and the statistics of its columns.
async fn figures(engine: &Engine, table: &str, schema: &SchemaRef) -> Result<(u64, Vec<Value>)> {
    let of_columns: Vec<_> = schema.fields().iter().map(|field| measures(field)).collect();
    let expressions = of_columns.iter().flatten().map(|(_, sql)| sql.as_str());
    let expressions: Vec<&str> = ["count(*)"].into_iter().chain(expressions).collect();
    let aliased: Vec<String> = expressions.iter().enumerate().map(|(i, sql)| format!("{sql} AS m{i}")).collect();
    let answer = one_batch(engine, &format!("SELECT {} FROM {table}", aliased.join(", "))).await?;
    let answer = answer.context("a count has a row")?;
    let mut values = answer.columns().iter();
    let rows = values.next().map_or(0, |rows| rows.as_primitive::<Int64Type>().value(0)) as u64;
    let mut columns = Vec::new();
    for (field, measures) in schema.fields().iter().zip(of_columns) {
        let mut statistics = Map::from_iter([
            ("column".to_owned(), json!(field.name())),
            ("type".to_owned(), json!(type_of(field.data_type()))),
        ]);
        for ((name, _), value) in measures.iter().zip(&mut values) {
            statistics.insert((*name).to_owned(), json_of(value)?);
        }
        columns.push(Value::Object(statistics));
    }
    Ok((rows, columns))
}

/// The single batch of a small answer.
async fn one_batch(engine: &Engine, sql: &str) -> Result<Option<RecordBatch>> {
    let mut rows = engine.query(sql).await?;
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        if batch.num_rows() > 0 {
            return Ok(Some(batch));
        }
    }
    Ok(None)
}

/// The name of a type in these tables.
fn type_of(ty: &DataType) -> String {
    match ty {
        ty if ty.is_integer() => "integers".to_owned(),
        ty if ty.is_floating() => "real numbers".to_owned(),
        ty if is_text(ty) => "text".to_owned(),
        DataType::Boolean => "true or false".to_owned(),
        DataType::Timestamp(..) => "times".to_owned(),
        DataType::Date32 => "days".to_owned(),
        DataType::List(_) | DataType::ListView(_) | DataType::LargeList(_) => "sets".to_owned(),
        other => other.to_string(),
    }
}

/// The first value of a column: a JSON number, or text.
fn json_of(values: &ArrayRef) -> Result<Value> {
    if values.is_null(0) {
        return Ok(Value::Null);
    }
    Ok(match values.data_type() {
        ty if ty.is_integer() => json!(cast(values, &DataType::Int64)?.as_primitive::<Int64Type>().value(0)),
        ty if ty.is_floating() => json!(cast(values, &DataType::Float64)?.as_primitive::<Float64Type>().value(0)),
        _ => json!(ArrayFormatter::try_new(values, &FormatOptions::default())?.value(0).try_to_string()?),
    })
}

/// The most frequent texts of a column, with their counts.
async fn commonest(engine: &Engine, table: &str, column: &str) -> Result<Value> {
    let name = quoted(column);
    let sql = format!(
        "SELECT CAST({name} AS VARCHAR) AS word, count(*) AS n FROM {table} WHERE {name} IS NOT NULL GROUP BY {name} ORDER \
         BY n DESC, word LIMIT {COMMONEST}"
    );
    let Some(answer) = one_batch(engine, &sql).await? else { return Ok(json!([])) };
    let words = cast(answer.column(0), &DataType::Utf8)?;
    let (words, counts) = (words.as_string::<i32>(), answer.column(1).as_primitive::<Int64Type>());
    Ok((0..answer.num_rows()).map(|row| json!({"value": words.value(row), "rows": counts.value(row)})).collect())
}

fn listed(columns: &[Value]) -> Table {
    let number = |value: &Value| match value {
        Value::Number(n) if n.is_f64() => format!("{:.3}", n.as_f64().unwrap_or_default()),
        other => cell(other),
    };
    let commonest = |column: &Value| {
        let commonest = column["commonest"].as_array().into_iter().flatten();
        let commonest = commonest.map(|c| format!("{} ({})", c["value"].as_str().unwrap_or_default(), c["rows"]));
        commonest.collect::<Vec<_>>().join(", ")
    };
    Table::of(
        columns,
        &[
            ("column", &|c| cell(&c["column"])),
            ("type", &|c| cell(&c["type"])),
            ("NULL", &|c| cell(&c["nulls"])),
            ("min", &|c| number(&c["min"])),
            ("max", &|c| number(&c["max"])),
            ("mean", &|c| number(&c["mean"])),
            ("deviation", &|c| number(&c["stddev"])),
            ("commonest", &commonest),
        ],
    )
}
