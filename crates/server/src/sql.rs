//! Questions in SQL.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::csv::WriterBuilder as CsvBuilder;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use arrow::json::writer::{EncoderOptions, make_encoder};
use axum::body::Body;
use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use query::{Engine, Ensembles, JsonRows, LiveTables, Options, in_cells};
use serde::Deserialize;
use serde_json::json;
use table::SIM;

use crate::access::Access;
use crate::app::{App, DATABASE_HEADER, database};
use crate::error::Refusal;
use crate::influx::Statement;
use crate::live::Live;

#[derive(Deserialize)]
pub(crate) struct Question {
    sql: String,
}

#[derive(Deserialize)]
pub(crate) struct FormatQuery {
    format: Option<String>,
}

/// All that a question brings besides what its address says.
type Asked = (State<App>, Extension<Access>, HeaderMap, Body);

/// In the shape that clients of the peer expect: rows as arrays of values.
pub(crate) async fn query(asked: Asked) -> Result<Response, Refusal> {
    let started = Instant::now();
    answer(asked, move |answer| as_arrays(answer, started)).await
}

/// The names that a question tells, in the shape that clients of InfluxDB expect.
pub(crate) async fn series(
    app: App,
    access: Access,
    name: &'static str,
    sql: String,
    database: String,
) -> Result<Response, Refusal> {
    access.may_read()?;
    answer_in_time(app, access, sql, database, move |answer| as_series(name, answer)).await
}

pub(crate) async fn query_arrow(asked: Asked) -> Result<Response, Refusal> {
    answer(asked, as_arrow).await
}

/// In the format asked for, by name or by the type that the client takes: JSON (an array of objects), CSV or Arrow.
pub(crate) async fn sql(Query(format): Query<FormatQuery>, asked: Asked) -> Result<Response, Refusal> {
    match format.format.as_deref() {
        None => match accepted(&asked.2) {
            CSV => answer(asked, as_csv).await,
            ARROW => answer(asked, as_arrow).await,
            _ => answer(asked, as_json).await,
        },
        Some("json") => answer(asked, as_json).await,
        Some("csv") => answer(asked, as_csv).await,
        Some("arrow") => answer(asked, as_arrow).await,
        Some(other) => Err(Refusal::bad(format!("{other:?} is no format: choose json, csv or arrow"))),
    }
}

const JSON: &str = "application/json";
const CSV: &str = "text/csv";
const ARROW: &str = "application/vnd.apache.arrow.stream";

/// The type that a client likes best of those there are; JSON where it likes others, or does not say.
fn accepted(headers: &HeaderMap) -> &'static str {
    let liked = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut best = (0.0, JSON);
    for range in liked.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f64>().ok()).unwrap_or(1.0);
        let known = [JSON, CSV, ARROW].into_iter().find(|known| *known == kind);
        // Whoever takes anything gets JSON.
        let known = known.or_else(|| matches!(kind.as_str(), "*/*" | "application/*").then_some(JSON));
        if let Some(known) = known.filter(|_| weight > best.0) {
            best = (weight, known);
        }
    }
    best.1
}

struct Answer {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

async fn answer(
    (State(app), Extension(access), headers, body): Asked,
    write: impl FnOnce(&Answer) -> Result<Response, Refusal> + Send + 'static,
) -> Result<Response, Refusal> {
    access.may_read()?;
    let database = database(&headers)?.to_owned();
    if headers.contains_key(DATABASE_HEADER) {
        access.may_read_of(&database)?;
    }
    let Question { sql } = app.question(body).await.map_err(|e| e.after("send {\"sql\": \"...\"}"))?;
    let sql = Statement::of(&sql).and_then(|statement| statement.in_sql(&database)).unwrap_or(sql);
    answer_in_time(app, access, sql, database, write).await
}

async fn answer_in_time(
    app: App,
    access: Access,
    sql: String,
    database: String,
    write: impl FnOnce(&Answer) -> Result<Response, Refusal> + Send + 'static,
) -> Result<Response, Refusal> {
    app.metrics.asked();
    let asked = app.clone();
    app.questions.ask(|_| async move { write(&ask(asked, access, sql, database).await?) }).await
}

/// What answers questions about the data as it is now, as far as `access` goes.
pub(crate) async fn open_engine(app: &App, access: &Access, database: &str) -> Result<Engine, Refusal> {
    let options = Options { memory_bytes: app.settings.question_memory, ..Options::default() };
    let live: Arc<dyn LiveTables> = Arc::new(Live(app.store.clone()));
    let scope = access.scope(database);
    let data = &app.settings.data;
    let ensembles = if scope.sees(SIM) { app.warm.ensembles(data).await? } else { Ensembles::default() };
    Ok(Engine::open_live(data, ensembles, app.make_model.clone(), options, &live, scope)?)
}

async fn ask(app: App, access: Access, sql: String, database: String) -> Result<Answer, Refusal> {
    let engine = open_engine(&app, &access, &database).await?;
    let mut rows = engine.query(&sql).await.map_err(|e| access.explain(e))?;
    let schema = rows.schema();
    let (mut batches, mut bytes) = (Vec::new(), 0);
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        bytes += batch.get_array_memory_size();
        if bytes > app.settings.question_memory {
            let text = format!("the answer is larger than {} bytes: ask for less", app.settings.question_memory);
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text));
        }
        batches.push(batch);
    }
    Ok(Answer { schema, batches })
}

fn as_arrays(answer: &Answer, started: Instant) -> Result<Response, Refusal> {
    written(JSON, || {
        let columns: Vec<&String> = answer.schema.fields().iter().map(|f| f.name()).collect();
        let mut text = format!("{{\"success\":true,\"columns\":{},\"data\":[", json!(columns)).into_bytes();
        answer.batches.iter().try_for_each(|batch| rows_as_arrays(batch, &mut text))?;
        let rows: usize = answer.batches.iter().map(RecordBatch::num_rows).sum();
        let milliseconds = started.elapsed().as_secs_f64() * 1e3;
        text.extend(format!("],\"row_count\":{rows},\"execution_time_ms\":{milliseconds:.3}}}").bytes());
        Ok(text)
    })
}

fn as_json(answer: &Answer) -> Result<Response, Refusal> {
    written(JSON, || {
        let mut rows = JsonRows::new(Vec::new(), &answer.schema);
        answer.batches.iter().try_for_each(|batch| rows.write(batch))?;
        rows.finish()
    })
}

fn as_csv(answer: &Answer) -> Result<Response, Refusal> {
    written("text/csv; charset=utf-8", || {
        let mut writer = CsvBuilder::new().with_header(true).build(Vec::new());
        writer.write(&in_cells(&RecordBatch::new_empty(answer.schema.clone()))?)?;
        answer.batches.iter().try_for_each(|batch| writer.write(&in_cells(batch)?))?;
        Ok(writer.into_inner())
    })
}

fn as_arrow(answer: &Answer) -> Result<Response, Refusal> {
    written(ARROW, || {
        let mut writer = StreamWriter::try_new(Vec::new(), &answer.schema)?;
        answer.batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.into_inner()
    })
}

/// A body of a type, once it is written.
fn written(content: &'static str, write: impl FnOnce() -> Result<Vec<u8>, ArrowError>) -> Result<Response, Refusal> {
    let body = write().map_err(|error| {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the answer cannot be written: {error}"))
    })?;
    Ok(([(header::CONTENT_TYPE, content)], body).into_response())
}

fn as_series(name: &str, answer: &Answer) -> Result<Response, Refusal> {
    written(JSON, || {
        let head = r#"{"results":[{"statement_id":0,"series":[{"columns":["name"],"name":"#;
        let mut text = format!("{head}{},\"values\":[", json!(name)).into_bytes();
        answer.batches.iter().try_for_each(|batch| rows_as_arrays(batch, &mut text))?;
        text.extend(b"]}]}]}");
        Ok(text)
    })
}

/// Each row as an array of its values, in JSON.
fn rows_as_arrays(batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), ArrowError> {
    let options = EncoderOptions::default();
    let schema = batch.schema();
    let encoders = schema.fields().iter().zip(batch.columns()).map(|(f, c)| make_encoder(f, c, &options));
    let mut encoders = encoders.collect::<Result<Vec<_>, _>>()?;
    for row in 0..batch.num_rows() {
        if out.last() == Some(&b']') {
            out.push(b',');
        }
        out.push(b'[');
        for (place, encoder) in encoders.iter_mut().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            if encoder.is_null(row) { out.extend(b"null") } else { encoder.encode(row, out) }
        }
        out.push(b']');
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_what_they_like_best() {
        for (accept, expected) in [
            ("", JSON),
            ("*/*", JSON),
            ("text/html, image/png", JSON),
            ("text/csv", CSV),
            ("Text/CSV; charset=utf-8, */*;q=0.1", CSV),
            ("text/csv;q=0.5, application/vnd.apache.arrow.stream;q=0.9", ARROW),
            ("application/json, text/csv", JSON),
            ("text/csv;q=0", JSON),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            assert_eq!(accepted(&headers), expected, "{accept}");
        }
    }
}
