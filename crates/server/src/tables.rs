//! The tables of rows: their sizes, their columns and their logs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use chrono::{DateTime, SecondsFormat};
use ingest::{LogFigures, TableFigures};
use model::UnknownName;
use serde::Deserialize;
use serde_json::{Value, json};
use table::{TableError, TableName};

use crate::access::Access;
use crate::app::App;
use crate::error::{Refusal, UNKNOWN_NAME};
use crate::listing::Facts;
use crate::query::Parameters;
use crate::questions::broken;

/// Lists the tables that the request may read.
pub(crate) async fn tables(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Vec<Value>>, Refusal> {
    access.may_read()?;
    let (asked, asking) = (app.clone(), access.clone());
    let listed = app.questions.ask(&access, |_place| async move {
        let (names, figures) = asked.named().await?;
        asked.tables.keep(&names).await;
        let names = names.into_iter().filter(|name| asking.may_read_of(name.database()).is_ok()).collect();
        let facts = asked.tables.facts(&asked.settings.data, &names).await;
        Ok(facts.iter().map(|(name, facts)| listed(name, facts, figures.get(name))).collect())
    });
    Ok(Json(listed.await?))
}

#[derive(Deserialize)]
pub(crate) struct TableQuery {
    table: Option<String>,
}

/// Describes one table.
pub(crate) async fn table(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Parameters(TableQuery { table }): Parameters<TableQuery>,
) -> Result<Json<Value>, Refusal> {
    access.may_read()?;
    let table = table.ok_or_else(|| Refusal::bad("a table is missing: send ?table=NAME"))?;
    let name: TableName = table.parse()?;
    access.may_read_of(name.database())?;
    let asked = app.clone();
    let described = app.questions.ask(&access, |_place| async move {
        let of_name = name.clone();
        let store = asked.store.clone();
        let figures = tokio::task::spawn_blocking(move || store.figures_of(&of_name)).await.map_err(|e| broken(&e))?;
        let facts = asked.tables.facts(&asked.settings.data, &BTreeSet::from([name.clone()])).await;
        let facts = facts.into_iter().next().map_or_else(|| Ok(Facts::default()), |(_, facts)| facts)?;
        if facts.schema.is_none() && figures.is_none() {
            let data = asked.settings.data.clone();
            let missing = tokio::task::spawn_blocking(move || no_table(&data, &name));
            return Err(missing.await.unwrap_or_else(|e| broken(&e)));
        }
        Ok(described(&name, &facts, figures.as_ref()))
    });
    Ok(Json(described.await?))
}

/// Refuses a table that is missing, and suggests similar names of its database, which the request may read.
pub(crate) fn no_table(data: &Path, missing: &TableName) -> Refusal {
    let tables = match snapshot::tables(data) {
        Ok(tables) => tables.into_iter().filter(|table| table.database() == missing.database()),
        Err(error) => return error.into(),
    };
    let names: Vec<String> = tables.map(|table| table.to_string()).collect();
    let unknown = UnknownName::new("no table", &missing.to_string(), names.iter().map(String::as_str));
    Refusal::new(StatusCode::NOT_FOUND, unknown.to_string()).of_kind(UNKNOWN_NAME)
}

/// Reports the logs of the tables that the request may read.
pub(crate) async fn logs(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Vec<Value>>, Refusal> {
    access.may_read()?;
    let store = app.store.clone();
    let logs = tokio::task::spawn_blocking(move || store.logs()).await.map_err(|error| broken(&error))?;
    let readable = logs.into_iter().filter(|log| access.may_read_of(log.table.database()).is_ok());
    let log = |LogFigures { table, bytes, rows, first, next }: LogFigures| json!({"table": table.to_string(), "bytes": bytes, "rows": rows, "first": first, "next": next});
    Ok(Json(readable.map(log).collect()))
}

impl App {
    /// All tables, and the figures of those that received rows.
    async fn named(&self) -> Result<(BTreeSet<TableName>, BTreeMap<TableName, TableFigures>), Refusal> {
        let (data, store) = (self.settings.data.clone(), self.store.clone());
        let named = tokio::task::spawn_blocking(move || {
            let figures = store.table_figures().into_iter().map(|figures| (figures.table.clone(), figures));
            Ok::<_, Refusal>((snapshot::tables(&data)?, figures.collect()))
        });
        named.await.map_err(|error| broken(&error))?
    }
}

/// A table in the list. A flush that commits meanwhile may make its rows count twice, or not at all, for a moment.
fn listed(name: &TableName, facts: &Result<Facts, TableError>, figures: Option<&TableFigures>) -> Value {
    let none = Facts::default();
    let known = facts.as_ref().unwrap_or(&none);
    let trouble = facts.as_ref().err().map(ToString::to_string);
    json!({
        "table": name.to_string(),
        "database": name.database(),
        "name": name.name(),
        "rows": known.rows + figures.map_or(0, |figures| figures.waiting_rows),
        "bytes": known.bytes,
        "segments": known.segments,
        "newest": newest(known, figures),
        "acknowledged": figures.map_or(0, |figures| figures.acknowledged),
        "trouble": trouble,
    })
}

fn described(name: &TableName, facts: &Facts, figures: Option<&TableFigures>) -> Value {
    let schema = figures.map(|figures| &figures.schema).or(facts.schema.as_ref());
    let columns = schema.iter().flat_map(|schema| schema.fields().iter()).map(
        |field| json!({"name": field.name(), "type": field.data_type().to_string(), "nullable": field.is_nullable()}),
    );
    json!({
        "table": name.to_string(),
        "database": name.database(),
        "name": name.name(),
        "columns": columns.collect::<Vec<_>>(),
        "rows": facts.rows + figures.map_or(0, |figures| figures.waiting_rows),
        "rows_in_log": figures.map_or(0, |figures| figures.waiting_rows),
        "bytes": facts.bytes,
        "segments": facts.segments,
        "layout": facts.layout,
        "newest": newest(facts, figures),
        "acknowledged": figures.map_or(0, |figures| figures.acknowledged),
    })
}

/// The time of the newest row, as text.
fn newest(facts: &Facts, figures: Option<&TableFigures>) -> Option<String> {
    let micros = facts.latest.max(figures.and_then(|figures| figures.latest))?;
    Some(DateTime::from_timestamp_micros(micros)?.to_rfc3339_opts(SecondsFormat::Micros, true))
}
