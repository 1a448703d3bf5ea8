//! Queries in SQL.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use table::SIM;

use crate::access::Access;
use crate::app::{App, DATABASE_HEADER, database};
use crate::error::Refusal;
use crate::processes::{Format, Part, Question, Sql, Wanted};
use crate::query::Parameters;
use crate::statement::Statement;

/// The body of a request.
#[derive(Deserialize)]
struct Asks {
    sql: String,
    /// The only ensemble that the query sees.
    #[serde(default)]
    ensemble: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct FormatQuery {
    format: Option<String>,
}

/// All parts of a query's request except its path.
type Asked = (State<App>, Extension<Access>, HeaderMap, Body);

/// Replies with rows as arrays of values, as Arc does.
pub(crate) async fn query(asked: Asked) -> Result<Response, Refusal> {
    answer(asked, Format::Arrays).await
}

/// Replies with the names that a query returns, as clients of InfluxDB expect.
pub(crate) async fn series(
    app: App,
    access: Access,
    name: &'static str,
    sql: String,
    database: String,
) -> Result<Response, Refusal> {
    access.may_read()?;
    answer_in_time(app, access, Asks { sql, ensemble: None }, database, Format::Series(name.to_owned())).await
}

pub(crate) async fn query_arrow(asked: Asked) -> Result<Response, Refusal> {
    answer(asked, Format::Arrow).await
}

/// Replies in the requested format, or in one that the client accepts: JSON (an array of objects), CSV or Arrow.
pub(crate) async fn sql(Parameters(format): Parameters<FormatQuery>, asked: Asked) -> Result<Response, Refusal> {
    let format = format.of(&asked.2)?;
    answer(asked, format).await
}

impl FormatQuery {
    /// The requested format, or one that the client accepts.
    pub(crate) fn of(&self, headers: &HeaderMap) -> Result<Format, Refusal> {
        match self.format.as_deref() {
            None => Ok(match accepted(headers, &[JSON, CSV, ARROW, PARQUET]) {
                CSV => Format::Csv,
                ARROW => Format::Arrow,
                PARQUET => Format::Parquet,
                _ => Format::Json,
            }),
            Some("json") => Ok(Format::Json),
            Some("csv") => Ok(Format::Csv),
            Some("arrow") => Ok(Format::Arrow),
            Some("parquet") => Ok(Format::Parquet),
            Some(other) => Err(Refusal::bad(format!("unknown format {other:?}: choose json, csv, arrow or parquet"))),
        }
    }

    /// As [`Self::of`], for answers that are never JSON; Arrow by default.
    pub(crate) fn of_columns(&self, headers: &HeaderMap) -> Result<Format, Refusal> {
        match self.format.as_deref() {
            None => Ok(match accepted(headers, &[ARROW, CSV, PARQUET]) {
                CSV => Format::Csv,
                PARQUET => Format::Parquet,
                _ => Format::Arrow,
            }),
            Some("json") => Err(Refusal::bad("values of worlds are not sent as JSON: choose arrow, csv or parquet")),
            Some(_) => self.of(headers),
        }
    }
}

/// The header for notes on an answer, such as inexact results.
const NOTE_HEADER: &str = "x-manyworlds-note";

const JSON: &str = "application/json";
const CSV: &str = "text/csv";
const ARROW: &str = "application/vnd.apache.arrow.stream";
const PARQUET: &str = "application/vnd.apache.parquet";

/// The available type that the client prefers; the first by default.
fn accepted(headers: &HeaderMap, available: &[&'static str]) -> &'static str {
    let liked = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut best = (0.0, available[0]);
    for range in liked.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f64>().ok()).unwrap_or(1.0);
        let known = available.iter().copied().find(|known| *known == kind);
        let known = known.or_else(|| matches!(kind.as_str(), "*/*" | "application/*").then_some(available[0]));
        if let Some(known) = known.filter(|_| weight > best.0) {
            best = (weight, known);
        }
    }
    best.1
}

async fn answer((State(app), Extension(access), headers, body): Asked, format: Format) -> Result<Response, Refusal> {
    access.may_read()?;
    let database = database(&headers)?.to_owned();
    if headers.contains_key(DATABASE_HEADER) {
        access.may_read_of(&database)?;
    }
    let mut asked: Asks = app.question(body).await.map_err(|e| e.after("send {\"sql\": \"...\"}"))?;
    if asked.ensemble.is_some() {
        access.may_read_of(SIM)?;
    }
    if let Some(sql) = Statement::of(&asked.sql).and_then(|statement| statement.in_sql(&database)) {
        asked.sql = sql;
    }
    answer_in_time(app, access, asked, database, format).await
}

async fn answer_in_time(
    app: App,
    access: Access,
    asked: Asks,
    database: String,
    format: Format,
) -> Result<Response, Refusal> {
    let Asks { sql: text, ensemble } = asked;
    let content = content_type(&format);
    let databases = access.databases().map(<[_]>::to_vec);
    let question =
        Question::Sql(Sql { text, ensemble, database, databases, login: None, wanted: Wanted::Body(format) });
    reply(app, access, question, content).await
}

pub(crate) fn content_type(format: &Format) -> &'static str {
    match format {
        Format::Json | Format::Arrays | Format::Series(_) => JSON,
        Format::Csv => "text/csv; charset=utf-8",
        Format::Arrow => ARROW,
        Format::Parquet => PARQUET,
    }
}

/// Collects the whole body before replying, so that the status shows whether the query succeeded.
pub(crate) async fn reply(
    app: App,
    access: Access,
    question: Question,
    content: &'static str,
) -> Result<Response, Refusal> {
    app.counters.asked();
    let (asked, asking) = (app.clone(), access.clone());
    let answered = app.questions.ask(&asking, |place| async move {
        let mut answering = asked.processes.ask(place, &question).await?;
        let (mut pieces, mut notes) = (Vec::new(), Vec::new());
        while let Some(part) = access.part(&mut answering).await? {
            match part {
                Part::Bytes(bytes) => pieces.push(Ok::<_, Infallible>(Bytes::from(bytes))),
                Part::Notes(more) => notes = more,
                Part::Types(_) | Part::Columns(_) | Part::Failed(_) | Part::Done(_) => {}
            }
        }
        Ok((pieces, notes))
    });
    let (pieces, notes) = answered.await?;
    let length: usize = pieces.iter().flatten().map(Bytes::len).sum();
    let head = [(header::CONTENT_TYPE, HeaderValue::from_static(content)), (header::CONTENT_LENGTH, length.into())];
    let mut response = (head, Body::from_stream(futures::stream::iter(pieces))).into_response();
    for note in notes {
        // Names in a note may have letters that headers do not allow.
        let value = HeaderValue::from_str(&note.escape_default().to_string());
        let value = value.map_err(|e| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
        response.headers_mut().append(NOTE_HEADER, value);
    }
    Ok(response)
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
            assert_eq!(accepted(&headers, &[JSON, CSV, ARROW]), expected, "{accept}");
        }
        let headers =
            HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static("application/*, text/csv;q=0.5"))]);
        assert_eq!(accepted(&headers, &[ARROW, CSV, PARQUET]), ARROW);
    }
}
