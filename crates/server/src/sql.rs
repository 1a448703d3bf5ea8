//! Questions in SQL.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::csv::WriterBuilder as CsvBuilder;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use arrow::json::writer::{EncoderOptions, JsonArray, make_encoder};
use arrow::json::{Writer as JsonWriter, WriterBuilder as JsonBuilder};
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use query::{Engine, Options, distinct_names};
use serde::Deserialize;
use serde_json::json;

use crate::access::Access;
use crate::app::{App, DATABASE_HEADER, database};
use crate::error::Refusal;
use crate::live::Live;

#[derive(Deserialize)]
pub(crate) struct Question {
    sql: String,
}

#[derive(Deserialize)]
pub(crate) struct FormatQuery {
    format: Option<String>,
}

type Asked = Result<Json<Question>, JsonRejection>;

/// In the shape that clients of the peer expect: rows as arrays of values.
pub(crate) async fn query(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    headers: HeaderMap,
    question: Asked,
) -> Result<Response, Refusal> {
    let started = Instant::now();
    let answer = answer(&app, access, &headers, question).await?;
    let mut data = String::from("[").into_bytes();
    for batch in &answer.batches {
        rows_as_arrays(batch, &mut data).map_err(|e| unwritten(&e))?;
    }
    data.push(b']');
    let columns: Vec<&String> = answer.schema.fields().iter().map(|f| f.name()).collect();
    let rows: usize = answer.batches.iter().map(RecordBatch::num_rows).sum();
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    let mut text = format!("{{\"success\":true,\"columns\":{},\"data\":", json!(columns)).into_bytes();
    text.append(&mut data);
    text.extend(format!(",\"row_count\":{rows},\"execution_time_ms\":{milliseconds:.3}}}").bytes());
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

pub(crate) async fn query_arrow(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    headers: HeaderMap,
    question: Asked,
) -> Result<Response, Refusal> {
    as_arrow(&answer(&app, access, &headers, question).await?)
}

/// In the format asked for: `json` (an array of objects), `csv` or `arrow`.
pub(crate) async fn sql(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Query(format): Query<FormatQuery>,
    headers: HeaderMap,
    question: Asked,
) -> Result<Response, Refusal> {
    let format = format.format.as_deref().unwrap_or("json");
    if !["json", "csv", "arrow"].contains(&format) {
        return Err(Refusal::bad(format!("{format:?} is no format: choose json, csv or arrow")));
    }
    let answer = answer(&app, access, &headers, question).await?;
    match format {
        "csv" => as_csv(&answer),
        "arrow" => as_arrow(&answer),
        _ => as_json(&answer),
    }
}

struct Answer {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

async fn answer(app: &App, access: Access, headers: &HeaderMap, question: Asked) -> Result<Answer, Refusal> {
    let Json(Question { sql }) = question.map_err(|e| Refusal::bad(format!("send {{\"sql\": \"...\"}}: {e}")))?;
    let database = database(headers)?.to_owned();
    access.may_read()?;
    if headers.contains_key(DATABASE_HEADER) {
        access.may_read_of(&database)?;
    }
    let _room = app.room().await?;
    app.metrics.asked();
    let patience = app.settings.question_timeout;
    let answered = tokio::time::timeout(patience, ask(app.clone(), access, sql, database)).await;
    answered.map_err(|_| {
        let text = format!("the question took longer than {} s: ask for less", patience.as_secs());
        Refusal::new(StatusCode::REQUEST_TIMEOUT, text)
    })?
}

async fn ask(app: App, access: Access, sql: String, database: String) -> Result<Answer, Refusal> {
    let options = Options { memory_bytes: app.settings.question_memory, ..Options::default() };
    let live = Arc::new(Live(app.store.clone()));
    let scope = access.scope(&database);
    let engine = Engine::open_live(&app.settings.data, app.make_model.clone(), options, live, scope).await?;
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

fn as_json(answer: &Answer) -> Result<Response, Refusal> {
    let write = || -> Result<Vec<u8>, ArrowError> {
        let builder = JsonBuilder::new().with_explicit_nulls(true);
        let mut writer: JsonWriter<_, JsonArray> = builder.build(Vec::new());
        let schema = distinct_names(&answer.schema);
        for batch in &answer.batches {
            writer.write(&RecordBatch::try_new(schema.clone(), batch.columns().to_vec())?)?;
        }
        writer.finish()?;
        Ok(writer.into_inner())
    };
    let text = write().map_err(|e| unwritten(&e))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

fn as_csv(answer: &Answer) -> Result<Response, Refusal> {
    let write = || -> Result<Vec<u8>, ArrowError> {
        let mut writer = CsvBuilder::new().with_header(true).build(Vec::new());
        writer.write(&RecordBatch::new_empty(answer.schema.clone()))?;
        answer.batches.iter().try_for_each(|batch| writer.write(batch))?;
        Ok(writer.into_inner())
    };
    let text = write().map_err(|e| unwritten(&e))?;
    Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], text).into_response())
}

fn as_arrow(answer: &Answer) -> Result<Response, Refusal> {
    let write = || -> Result<Vec<u8>, ArrowError> {
        let mut writer = StreamWriter::try_new(Vec::new(), &answer.schema)?;
        answer.batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.into_inner()
    };
    let bytes = write().map_err(|e| unwritten(&e))?;
    Ok(([(header::CONTENT_TYPE, "application/vnd.apache.arrow.stream")], bytes).into_response())
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

fn unwritten(error: &ArrowError) -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the answer cannot be written: {error}"))
}
