//! Writes, in any wire format.

use std::borrow::Cow;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use decode::{DecodeError, Decoded, Format, OnConflict, Precision, Refused, Request, TIME, TIME_NANOS};
use ingest::{Conflict, Key, Renamed, Written};
use serde::Deserialize;
use serde_json::{Value, json};
use table::TableName;
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::access::Access;
use crate::app::{App, database};
use crate::error::Refusal;
use crate::query::Parameters;

/// The header with a request's key: the server stores each key once.
pub(crate) const KEY_HEADER: &str = "idempotency-key";
/// The header that selects the handling of values that do not fit their column.
pub(crate) const CONFLICT_HEADER: &str = "x-manyworlds-on-conflict";
/// Maximum rejected items listed in a reply; the rest are only counted.
const TOLD_MAX: usize = 100;
/// The header for notices about rows stored differently than sent.
const NOTICE_HEADER: HeaderName = HeaderName::from_static("x-manyworlds-notice");
/// Maximum notices in a reply.
const NOTICES_MAX: usize = 16;

#[derive(Deserialize)]
pub(crate) struct TableQuery {
    table: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct LineQuery {
    db: Option<String>,
    bucket: Option<String>,
    precision: Option<String>,
}

/// All parts of a write request except its path.
type Sent = (State<App>, Extension<Access>, HeaderMap, Body);

pub(crate) async fn message_pack(sent: Sent) -> Result<Response, Refusal> {
    let database = database(&sent.2)?.to_owned();
    write(sent, &database, Format::MessagePack).await
}

pub(crate) async fn line_protocol(Parameters(query): Parameters<LineQuery>, sent: Sent) -> Result<Response, Refusal> {
    let precision = match query.precision.as_deref() {
        // InfluxDB 1 wrote nanoseconds as `n` and microseconds as `u`.
        None | Some("" | "ns" | "n") => Precision::Nanoseconds,
        Some("us" | "u" | "µ") => Precision::Microseconds,
        Some("ms") => Precision::Milliseconds,
        Some("s") => Precision::Seconds,
        Some("m") => Precision::Minutes,
        Some("h") => Precision::Hours,
        Some(other) => return Err(Refusal::bad(format!("unknown precision {other:?}: choose ns, us, ms, s, m or h"))),
    };
    let database = match query.db.or(query.bucket) {
        Some(name) => name,
        None => database(&sent.2)?.to_owned(),
    };
    write(sent, &database, Format::LineProtocol { precision }).await
}

pub(crate) async fn json(Parameters(query): Parameters<TableQuery>, sent: Sent) -> Result<Response, Refusal> {
    write_rows(&query, sent, |table| Format::Json { table }).await
}

pub(crate) async fn csv(Parameters(query): Parameters<TableQuery>, sent: Sent) -> Result<Response, Refusal> {
    write_rows(&query, sent, |table| Format::Csv { table }).await
}

pub(crate) async fn arrow(Parameters(query): Parameters<TableQuery>, sent: Sent) -> Result<Response, Refusal> {
    write_rows(&query, sent, |table| Format::ArrowStream { table }).await
}

/// Stores rows of the table in the query string: NAME, or DATABASE.NAME.
async fn write_rows(
    query: &TableQuery,
    sent: Sent,
    format: impl FnOnce(&str) -> Format<'_>,
) -> Result<Response, Refusal> {
    let table = query.table.as_deref();
    let table = table.ok_or_else(|| Refusal::bad("a table is missing: send ?table=NAME"))?;
    let (database, table) = match table.split_once('.') {
        Some((database, table)) => (database.to_owned(), table),
        None => (database(&sent.2)?.to_owned(), table),
    };
    write(sent, &database, format(table)).await
}

async fn write(sent: Sent, database: &str, format: Format<'_>) -> Result<Response, Refusal> {
    let (State(app), Extension(access), headers, body) = sent;
    access.may_write(database)?;
    let key = match headers.get(KEY_HEADER) {
        None => None,
        Some(key) => {
            Some(Key::of(key.to_str().map_err(|_| Refusal::bad(format!("the header {KEY_HEADER} is not text")))?))
        }
    };
    let on_conflict = match headers.get(CONFLICT_HEADER).map(HeaderValue::as_bytes) {
        None | Some(b"overflow") => OnConflict::Overflow,
        Some(b"refuse") => OnConflict::Refuse,
        Some(_) => return Err(Refusal::bad(format!("{CONFLICT_HEADER} is `overflow` or `refuse`"))),
    };
    let limits = &app.settings.limits;
    let body = app.bodies.read(body, limits.body_bytes_max).await?;
    let bytes = body.len();
    let columns = match format {
        // Their values carry no types.
        Format::Json { table } | Format::Csv { table } => match TableName::new(database, table) {
            Ok(name) => app.store.columns(&name).await?,
            Err(_) => None,
        },
        _ => None,
    };
    let request = Request { now_micros: now_micros(), on_conflict, columns: columns.as_deref() };
    let decoded = beside_others(bytes, || -> Result<Decoded, DecodeError> {
        let plain: Cow<'_, [u8]> = decode::expand(&body, limits)?;
        decode::decode(format, &plain, &request, limits)
    })?;
    let Decoded { tables, mut refused, refused_beyond, finer, overflows } = decoded;
    drop(body);
    let mut named = Vec::with_capacity(tables.len());
    for (name, rows) in tables {
        match TableName::new(database, &name) {
            Ok(name) => named.push((name, rows)),
            Err(error) => refused.push(Refused {
                position: 0,
                table: Some(name),
                field: None,
                reason: format!("{error}; none of its {} rows was stored", rows.num_rows()),
            }),
        }
    }
    let written = app.store.write(named, key, on_conflict).await?;
    app.counters.wrote(bytes);
    let finer = finer.iter().map(|table| of_finer(table));
    let overflows = overflows.iter().filter(|(_, overflow)| overflow.overflow != TIME_NANOS);
    let notices = finer.chain(
        overflows.map(|(table, overflow)| of_overflow(table, overflow.rows, &overflow.name, &overflow.overflow)),
    );
    reply(&written, &refused, refused_beyond, notices.collect())
}

/// Runs the work for a body of `bytes` bytes. Meanwhile other requests have as many threads as before, if it is long.
fn beside_others<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    /// At most a few milliseconds of work, unless it expands a hundredfold.
    const SHORT: usize = 256 << 10;
    if bytes > SHORT && Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread {
        tokio::task::block_in_place(work)
    } else {
        work()
    }
}

/// Replies 204 if all rows are stored; otherwise lists the rejected items. Adds notices about rows stored differently
/// than sent.
fn reply(
    written: &[Written],
    refused: &[Refused],
    beyond: usize,
    mut notices: Vec<String>,
) -> Result<Response, Refusal> {
    let conflicts = written.iter().flat_map(|w| w.conflicts.iter().map(move |conflict| of_conflict(w, conflict)));
    let tables = written.iter().filter_map(|w| w.refused.as_ref().map(|reason| of_table(w, reason)));
    let renamed = written.iter().flat_map(|w| w.renamed.iter().map(move |renamed| (w, renamed)));
    let renamed = renamed.map(|(w, renamed)| of_renamed(w, renamed));
    let overflows = written.iter().flat_map(|w| w.overflows.iter().map(move |overflow| (w.table.name(), overflow)));
    notices.extend(
        overflows.map(|(table, overflow)| of_overflow(table, overflow.rows, &overflow.field, &overflow.overflow)),
    );
    notices.extend(renamed);
    let left_out: u64 = written.iter().map(|w| w.left_out).sum();
    if refused.is_empty() && left_out == 0 {
        let mut response = StatusCode::NO_CONTENT.into_response();
        for notice in notices.iter().take(NOTICES_MAX) {
            // Headers are ASCII.
            let notice = notice.escape_default().to_string();
            if let Ok(notice) = HeaderValue::from_str(&notice) {
                response.headers_mut().append(NOTICE_HEADER, notice);
            }
        }
        return Ok(response);
    }
    let stored: u64 = written.iter().map(|w| w.rows).sum();
    let count = (refused.len() + beyond) as u64 + left_out;
    let told: Vec<Value> = refused.iter().map(of_item).chain(tables).chain(conflicts).take(TOLD_MAX).collect();
    let first = told.first().map(words).unwrap_or_default();
    let of = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let error = format!("rejected {}, stored {}; first: {first}", of(count, "item"), of(stored, "row"));
    let mut refusal = Refusal::bad(error).with("stored", json!(stored)).with("refused_count", json!(count));
    refusal = refusal.with("refused", Value::Array(told));
    if !notices.is_empty() {
        refusal = refusal.with("notices", json!(notices));
    }
    Err(refusal)
}

fn of_renamed(written: &Written, renamed: &Renamed) -> String {
    let Renamed { field, column } = renamed;
    format!("table {}: field `{field}` is stored as column `{column}`", written.table)
}

fn of_overflow(table: &str, rows: usize, column: &str, overflow: &str) -> String {
    format!("table {table}: {rows} values that do not fit column `{column}` are stored as text in `{overflow}`")
}

fn of_finer(table: &str) -> String {
    format!("table {table}: `{TIME}` holds microseconds, the nanoseconds past them are stored as column `{TIME_NANOS}`")
}

fn of_item(item: &Refused) -> Value {
    json!({"position": item.position, "table": item.table, "field": item.field, "reason": item.reason})
}

fn of_table(written: &Written, reason: &str) -> Value {
    json!({"table": written.table.name(), "reason": reason})
}

/// A position in the body is not known here: rows are counted among those of their table.
fn of_conflict(written: &Written, conflict: &Conflict) -> Value {
    let (row, table) = (conflict.first + 1, written.table.name());
    json!({"row": row, "table": table, "field": conflict.field, "reason": conflict.to_string()})
}

fn words(refused: &Value) -> String {
    let text = |key: &str| refused[key].as_str().map(|t| format!("{key} {t:?}, ")).unwrap_or_default();
    let number = |key: &str| refused[key].as_u64().map(|number| format!("{key} {number}, ")).unwrap_or_default();
    let place = [text("table"), text("field"), number("position"), number("row")].concat();
    format!("{}: {}", place.trim_end_matches(", "), refused["reason"].as_str().unwrap_or_default())
}

fn now_micros() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // Times before 1970 are negative.
    since.map_or_else(|e| -(e.duration().as_micros() as i64), |d| d.as_micros() as i64)
}
