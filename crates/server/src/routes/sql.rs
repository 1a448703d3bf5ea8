//! Routes for queries about rows, and in SQL.

use serde_json::{Value, json};

use super::schema::{ARROW, CSV, JSON, PARQUET, list, object, text};
use crate::api::{In, Route};
use crate::{ask, influx, sql};

pub(super) fn routes() -> Vec<Route> {
    let only = json!({"type": "string", "description": "The only ensemble that the query sees"});
    let sql = || object(&["sql"], &json!({"sql": text(), "ensemble": only}));
    let format = || json!({"type": "string", "enum": ["json", "csv", "arrow", "parquet"], "default": "json"});
    let rows = object(
        &["success", "columns", "data", "row_count", "execution_time_ms"],
        &json!({
            "success": {"type": "boolean"}, "columns": list(&text()), "data": list(&list(&json!({}))),
            "row_count": {"type": "integer"}, "execution_time_ms": {"type": "number"},
        }),
    );
    let statement = |route: Route| {
        route
            .takes(In::Query, "q", text(), "`SHOW DATABASES`, `SHOW MEASUREMENTS` or `CREATE DATABASE d`")
            .takes(In::Query, "db", text(), "The database whose tables to list")
            .of_database()
            .guarded()
            .answers(&[JSON], &json!({"type": "object"}), "Names, one per row")
            .refuses(&[400, 408, 413, 500])
    };
    let objects = || list(&json!({"type": "object"}));
    vec![
        Route::post("/api/v1/sql", sql::sql, "Query in SQL")
            .takes(In::Query, "format", format(), "Format of the answer. Default: the header `accept`")
            .of_database()
            .asks(&sql())
            .answers(&[JSON, CSV, ARROW, PARQUET], &objects(), "The rows"),
        Route::post("/api/v1/query", sql::query, "Query in SQL; rows as arrays").of_database().asks(&sql()).answers(
            &[JSON],
            &rows,
            "The rows",
        ),
        Route::post("/api/v1/query/arrow", sql::query_arrow, "Query in SQL; rows as an Arrow IPC stream")
            .of_database()
            .asks(&sql())
            .answers(&[ARROW], &json!({}), "The rows"),
        statement(Route::get("/query", influx::query, "List databases and tables, for clients of InfluxDB")),
        statement(Route::post("/query", influx::query, "List databases and tables, with a form as the body"))
            .body("application/x-www-form-urlencoded", &json!({})),
        Route::post("/api/v1/ask", ask::ask, "Aggregate rows by group, with the options of the command `ask`")
            .takes(In::Query, "format", format(), "Format of the answer. Default: the header `accept`")
            .of_database()
            .asks(&groups())
            .answers(&[JSON, CSV, ARROW, PARQUET], &objects(), "One row per group")
            .refuses(&[404]),
    ]
}

/// The schema of a query about groups.
fn groups() -> Value {
    let columns = || list(&text());
    let number = || json!({"type": "integer", "minimum": 0});
    let mut body = object(
        &["table"],
        &json!({
            "table": text(), "group": columns(), "count": {"type": "boolean"}, "avg": columns(), "sum": columns(),
            "min": columns(), "max": columns(), "stddev": columns(), "distinct": columns(), "quantiles": columns(),
            "hist": columns(), "loghist": columns(), "time_bucket": text(), "time": text(), "since": text(),
            "until": text(), "where": list(&text()), "weight": text(), "replace": list(&text()), "sort": text(),
            "asc": {"type": "boolean"}, "limit": number(), "samples": number(), "columns": columns(),
        }),
    );
    body["additionalProperties"] = false.into();
    body
}
