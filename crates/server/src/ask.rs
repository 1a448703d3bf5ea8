//! Queries about the groups of a table, with the options of the command `ask`.

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::Value;
use table::{DATABASE, TableName};

use crate::access::Access;
use crate::app::{App, database};
use crate::error::Refusal;
use crate::processes::{Ask, Question};
use crate::query::Parameters;
use crate::sql::{FormatQuery, content_type, reply};

/// Answers `{"table": "..", ..}`; the other fields are the options of `manyworlds ask`.
pub(crate) async fn ask(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Parameters(format): Parameters<FormatQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let mut request: serde_json::Map<String, Value> = app.question(body).await?;
    let Some(Value::String(name)) = request.remove("table") else {
        return Err(Refusal::bad("send {\"table\": \"...\"} and the options of the command ask"));
    };
    let table = table_of(&name, database(&headers)?)?;
    access.may_read_of(table.database())?;
    let request: ask::Request = serde_json::from_value(Value::Object(request))
        .map_err(|error| Refusal::bad(format!("cannot read the question: {error}")))?;
    let question = request.question(chrono::Utc::now().timestamp_micros())?;
    let format = format.of(&headers)?;
    let content = content_type(&format);
    // Always qualified, because a bare name with a dot would mean another table.
    let table = format!("{}.{}", table.database(), table.name());
    reply(app, access, Question::Ask(Ask { table, question, format }), content).await
}

/// `NAME` in the database of the request, or `DATABASE.NAME`.
fn table_of(name: &str, database: &str) -> Result<TableName, Refusal> {
    let table: TableName = name.parse()?;
    if name.contains('.') || database == DATABASE { Ok(table) } else { Ok(TableName::new(database, name)?) }
}
