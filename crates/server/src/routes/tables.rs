//! Routes about tables, their logs, and the last hour.

use serde_json::{Value, json};

use super::schema::{JSON, boolean, integer, list, map, named, nullable, number, record, text};
use crate::api::{In, Route};
use crate::{sampling, tables};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/tables", tables::tables, "List the tables of rows")
            .guarded()
            .answers(&[JSON], &list(&named("Table")), "The tables that the token may read")
            .refuses(&[408, 500]),
        Route::get("/api/v1/table", tables::table, "Describe a table of rows")
            .needs(In::Query, "table", text(), "The table, as NAME or DATABASE.NAME")
            .guarded()
            .answers(&[JSON], &named("TableDetails"), "Its columns and its size")
            .refuses(&[400, 404, 408, 500]),
        Route::get("/api/v1/logs", tables::logs, "Report the logs of tables")
            .guarded()
            .answers(&[JSON], &list(&named("Log")), "Their size, and the positions that are in no segment")
            .refuses(&[500]),
        Route::get("/api/v1/history", sampling::history, "Report rates and memory of the last hour").guarded().answers(
            &[JSON],
            &named("History"),
            "A value every 10 seconds",
        ),
    ]
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let time = || nullable(&json!({"type": "string", "format": "date-time"}));
    let table = record(&json!({
        "table": text(), "database": text(), "name": text(), "rows": integer(), "bytes": integer(),
        "segments": integer(), "newest": time(),
        "acknowledged": {"type": "integer", "description": "Rows since the server's start"},
        "trouble": {"type": ["string", "null"], "description": "Why the table cannot be read"},
    }));
    let column = record(&json!({"name": text(), "type": text(), "nullable": boolean()}));
    let details = record(&json!({
        "table": text(), "database": text(), "name": text(), "columns": list(&column), "rows": integer(),
        "rows_in_log": integer(), "bytes": integer(), "segments": integer(), "layout": text(), "newest": time(),
        "acknowledged": integer(),
    }));
    let log = record(&json!({
        "table": text(), "bytes": integer(), "rows": integer(), "first": integer(), "next": integer(),
    }));
    let history = record(&json!({
        "step_s": integer(),
        "at": {"type": "array", "items": integer(), "description": "Times in milliseconds since 1970"},
        "series": map(&list(&nullable(&number()))),
    }));
    vec![("Table", table), ("TableDetails", details), ("Log", log), ("History", history)]
}
