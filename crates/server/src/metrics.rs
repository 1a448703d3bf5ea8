//! Health checks for people, load balancers and Prometheus.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use ingest::Failing;
use serde_json::{Value, json};

use crate::access::Access;
use crate::app::App;
use crate::error::Refusal;
use crate::settings::ShownSetting;

/// Advice for a table that cannot be written.
const WAY_OUT: &str = "its rows are safe in its log: fix the cause, and the server flushes them";

/// The content type of Prometheus's text format.
const PROMETHEUS: &str = "text/plain; version=0.0.4";

/// Replies with the fields that clients of InfluxDB read.
pub(crate) async fn health() -> Response {
    let version = env!("CARGO_PKG_VERSION");
    Json(json!({"name": "manyworlds", "message": "ready", "status": "pass", "version": version})).into_response()
}

/// Whether a load balancer should send rows here.
pub(crate) async fn ready(State(app): State<App>) -> Result<Response, Refusal> {
    let not_now = |why: &str, seconds| Refusal::new(StatusCode::SERVICE_UNAVAILABLE, why).later(seconds);
    if app.closing.load(Ordering::Relaxed) {
        return Err(not_now("the server is closing", 1));
    }
    let failing = app.store.failing();
    if failing.is_empty() {
        return Ok(Json(json!({"status": "ready"})).into_response());
    }
    // One table fails alone, unless the disk fails for all.
    let store = app.store.clone();
    let checked = tokio::task::spawn_blocking(move || store.check_disk()).await;
    if let Err(error) = checked.unwrap_or_else(|panic| Err(panic.into())) {
        tracing::error!(%error, "the data folder cannot be written");
        return Err(not_now("the server cannot write to its data folder", 5));
    }
    if app.tokens.is_some() {
        // This route needs no token, so its reply contains no names.
        return Ok(Json(json!({"status": "degraded", "failing_tables": failing.len()})).into_response());
    }
    // Other tables still accept rows, and no other server can accept rows for these.
    let tables: Vec<Value> = failing.iter().map(of_failing).collect();
    Ok(Json(json!({"status": "degraded", "tables": tables})).into_response())
}

fn of_failing(failing: &Failing) -> Value {
    json!({
        "table": failing.table.to_string(),
        "reason": failing.reason,
        "rows_in_log": failing.rows,
        "since_seconds": failing.since.as_secs(),
        "way_out": WAY_OUT,
    })
}

/// Answers the ping of line-protocol clients.
pub(crate) async fn ping() -> Response {
    let version = concat!("manyworlds-", env!("CARGO_PKG_VERSION"));
    (StatusCode::NO_CONTENT, [("x-influxdb-version", version), ("x-influxdb-build", "manyworlds")]).into_response()
}

/// Serves metrics in Prometheus's text format.
pub(crate) async fn metrics(State(app): State<App>, Extension(access): Extension<Access>) -> Result<Response, Refusal> {
    access.may_read()?;
    let store = app.store.figures();
    let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let figures = [
        ("write_requests_total", "counter", "Write requests stored", of(&app.counters.requests)),
        ("write_body_bytes_total", "counter", "Bytes of stored write requests", of(&app.counters.body_bytes)),
        ("rows_total", "counter", "Rows acknowledged", store.rows),
        ("log_groups_total", "counter", "Batches of requests written to logs", store.groups),
        ("segments_total", "counter", "Segments written", store.segments),
        ("segment_rows_total", "counter", "Rows of written segments", store.segment_rows),
        ("segment_bytes_total", "counter", "Bytes of written segments", store.segment_bytes),
        ("failures_total", "counter", "Failed writes of log batches and segments", store.failures),
        ("overloaded_total", "counter", "Requests rejected for lack of memory", store.overloaded),
        ("questions_total", "counter", "Queries received", of(&app.counters.questions)),
        ("questions_running", "gauge", "Queries in progress", app.questions.running() as u64),
        ("tables", "gauge", "Tables with received rows", store.tables),
        ("log_bytes", "gauge", "Bytes of logs on disk", store.log_bytes),
        ("waiting_rows", "gauge", "Unflushed rows", store.waiting_rows),
        ("waiting_bytes", "gauge", "Bytes of memory of unflushed rows", store.waiting_bytes),
        ("waiting_bytes_limit", "gauge", "Limit of memory for unflushed rows", store.memory_bytes),
    ];
    let mut text = String::new();
    for (name, kind, help, value) in figures {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "# HELP manyworlds_{name} {help}\n# TYPE manyworlds_{name} {kind}\nmanyworlds_{name} {value}"
        );
    }
    let failing = app.store.failing();
    let _ = writeln!(
        text,
        "# HELP manyworlds_failing_tables Tables that cannot be written\n# TYPE manyworlds_failing_tables gauge\n\
         manyworlds_failing_tables {}",
        failing.len()
    );
    if !failing.is_empty() {
        let about = "Unflushed rows of a table that cannot be written";
        let _ =
            writeln!(text, "# HELP manyworlds_failing_table_rows {about}\n# TYPE manyworlds_failing_table_rows gauge");
    }
    for Failing { table, rows, .. } in failing {
        let table = table.to_string().replace('\\', "\\\\").replace('"', "\\\"");
        let rows = rows.map_or_else(|| "NaN".to_owned(), |rows| rows.to_string());
        let _ = writeln!(text, "manyworlds_failing_table_rows{{table=\"{table}\"}} {rows}");
    }
    Ok(([(header::CONTENT_TYPE, PROMETHEUS)], text).into_response())
}

/// Reports the settings as they were given, without passwords.
pub(crate) async fn settings(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Vec<ShownSetting>>, Refusal> {
    access.may_read_all()?;
    Ok(Json(app.settings.shown.clone()))
}

/// Serves the text of `text` at `/metrics`, for a process without other routes. Returns the listening address.
///
/// # Errors
/// If it cannot listen on the address.
pub async fn serve_metrics(
    address: SocketAddr,
    text: impl Fn() -> String + Clone + Send + Sync + 'static,
) -> std::io::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    let bound = listener.local_addr()?;
    let answer = move || async move { ([(header::CONTENT_TYPE, PROMETHEUS)], text()) };
    let routes = axum::Router::new().route("/metrics", axum::routing::get(answer));
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, routes).await {
            tracing::error!(%error, "cannot serve metrics any more");
        }
    });
    Ok(bound)
}
