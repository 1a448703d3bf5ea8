//! Statements of InfluxDB's and Arc's clients that are not SQL: listing databases and tables.
//!
//! The first row creates its database and table, so `CREATE DATABASE` has no effect. Clients send it before their rows,
//! and give up without a reply.

use axum::body::Body;
use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Json, http::Method};
use serde::Deserialize;
use serde_json::json;
use table::TableName;

use crate::access::Access;
use crate::app::{App, database};
use crate::error::Refusal;
use crate::query::Parameters;
use crate::sql;
use crate::statement::Statement;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct InfluxQuery {
    q: Option<String>,
    db: Option<String>,
}

/// Answers `/query` of InfluxDB 1.
pub(crate) async fn query(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Parameters(mut asked): Parameters<InfluxQuery>,
    method: Method,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    if asked.q.is_none() && method == Method::POST {
        let form = app.question_body(body).await?;
        let form = Uri::try_from([b"/?", &form[..]].concat());
        let form = form.ok().and_then(|uri| Query::<InfluxQuery>::try_from_uri(&uri).ok());
        asked.q = form.and_then(|Query(form)| form.q);
    }
    let text = asked.q.ok_or_else(|| Refusal::bad("a query is missing: send ?q=SHOW DATABASES"))?;
    let statement = Statement::of(&text).ok_or_else(|| {
        Refusal::bad(format!(
            "unsupported statement {text:?}: send SHOW DATABASES, SHOW MEASUREMENTS or CREATE DATABASE, or SQL to \
             POST /api/v1/sql"
        ))
    })?;
    if let Statement::Create(name) = &statement {
        TableName::new(name, "t").map_err(|_| Refusal::bad(format!("{name:?} cannot name a database")))?;
        access.may_write(name)?;
    }
    let database = match asked.db {
        Some(name) => name,
        None => database(&headers)?.to_owned(),
    };
    let name = if statement == Statement::Databases { "databases" } else { "measurements" };
    match statement.in_sql(&database) {
        Some(sql) => sql::series(app, access, name, sql, database).await,
        None => Ok(Json(json!({"results": [{"statement_id": 0}]})).into_response()),
    }
}
