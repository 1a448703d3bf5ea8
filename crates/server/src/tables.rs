//! The tables of rows: their sizes, their columns and their logs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arrow::datatypes::SchemaRef;
use axum::Json;
use axum::extract::{Extension, Query, State};
use axum::http::StatusCode;
use chrono::{DateTime, SecondsFormat};
use decode::TIME;
use disk::RealDisk;
use futures::StreamExt as _;
use futures::stream;
use ingest::{LogFigures, TableFigures};
use serde::Deserialize;
use serde_json::{Value, json};
use table::{Table, TableError, TableName};
use tokio::sync::Mutex;

use crate::access::Access;
use crate::app::App;
use crate::error::{Refusal, UNKNOWN_NAME};
use crate::questions::broken;

/// Tables opened at once.
const OPENING: usize = 8;
/// File systems count time in steps of some milliseconds, so that a log may change again without a change of its time.
const STEPS: Duration = Duration::from_millis(100);

/// Facts about the segments of a table.
#[derive(Debug, Clone, Default)]
struct Facts {
    rows: u64,
    bytes: u64,
    segments: usize,
    /// An upper bound of the times, in microseconds since 1970.
    latest: Option<i64>,
    layout: String,
    schema: Option<SchemaRef>,
}

/// The facts of all tables, each with the time of the last commit before they were read.
#[derive(Default)]
pub(crate) struct Listing(Mutex<BTreeMap<TableName, (SystemTime, Facts)>>);

impl Listing {
    /// The current facts of some tables; reads those again that have a new commit. An error concerns one table only.
    async fn facts(&self, data: &Path, tables: &BTreeSet<TableName>) -> BTreeMap<TableName, Result<Facts, TableError>> {
        // One request reads them; the others wait.
        let mut known = self.0.lock().await;
        let (data, names) = (data.to_owned(), tables.clone());
        let committed = move || {
            let committed_at = |name: TableName| {
                let root = name.folder(&data);
                (Table::committed_at(&root), root, name)
            };
            names.into_iter().map(committed_at).collect::<Vec<_>>()
        };
        let stamped = tokio::task::spawn_blocking(committed).await.unwrap_or_default();
        let mut found = BTreeMap::new();
        let mut changed = Vec::new();
        for (committed, root, name) in stamped {
            match (committed, known.get(&name)) {
                (Some(committed), Some((before, facts))) if *before == committed => {
                    found.insert(name, Ok(facts.clone()));
                }
                (committed, _) => changed.push((committed, root, name)),
            }
        }
        let read = stream::iter(changed).map(async |(committed, root, name)| (committed, read(root).await, name));
        let read: Vec<_> = read.buffer_unordered(OPENING).collect().await;
        for (committed, facts, name) in read {
            let settled = committed.filter(|at| at.elapsed().is_ok_and(|since| since > STEPS));
            match (settled, &facts) {
                (Some(at), Ok(facts)) => drop(known.insert(name.clone(), (at, facts.clone()))),
                _ => drop(known.remove(&name)),
            }
            found.insert(name, facts);
        }
        found
    }

    /// Forgets tables that no longer exist.
    async fn keep(&self, tables: &BTreeSet<TableName>) {
        self.0.lock().await.retain(|name, _| tables.contains(name));
    }
}

async fn read(root: PathBuf) -> Result<Facts, TableError> {
    let Some(table) = Table::open(&root, Arc::new(RealDisk)).await? else { return Ok(Facts::default()) };
    let segments = table.segments().await?;
    Ok(Facts {
        rows: segments.iter().map(|segment| segment.rows).sum(),
        bytes: segments.iter().map(|segment| segment.bytes).sum(),
        segments: segments.len(),
        latest: segments.iter().filter_map(|segment| segment.columns.get(TIME)?.latest()).max(),
        layout: table.options()?.layout.to_string(),
        schema: Some(table.arrow_schema()?),
    })
}

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
    Query(TableQuery { table }): Query<TableQuery>,
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
            let text = format!("no table {:?}", name.to_string());
            return Err(Refusal::new(StatusCode::NOT_FOUND, text).of_kind(UNKNOWN_NAME));
        }
        Ok(described(&name, &facts, figures.as_ref()))
    });
    Ok(Json(described.await?))
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
