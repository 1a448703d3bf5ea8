//! All routes: one table for the router and the `OpenAPI` document.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use axum::{Json, Router, middleware};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::api::{In, Route, document};
use crate::app::App;
use crate::error::Refusal;
use crate::{ask, authenticate, ensembles, guard, influx, metrics, sql, worlds, write};

const JSON: &str = "application/json";
const ARROW: &str = "application/vnd.apache.arrow.stream";

/// Routes each request to its handler.
pub(crate) fn router(app: App) -> Router {
    let (guarded, open): (Vec<_>, Vec<_>) = routes().into_iter().partition(|route| route.guarded);
    let router = |routes: Vec<Route>| {
        routes.into_iter().fold(Router::new(), |router, route| router.route(route.path, route.handler))
    };
    router(guarded)
        .route_layer(middleware::from_fn_with_state(app.clone(), authenticate::check))
        .merge(router(open))
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path"))
        .layer(middleware::from_fn(check_query))
        .layer(middleware::from_fn_with_state(app.hosts.clone(), guard::check))
        .with_state(app)
}

/// Refuses query strings that are not text: decoding would replace bytes in the names of databases and tables.
async fn check_query(request: Request, next: Next) -> Result<Response, Refusal> {
    if percent_decode_str(request.uri().query().unwrap_or_default()).decode_utf8().is_err() {
        return Err(Refusal::bad("the query string is not UTF-8: encode names in UTF-8, then with %"));
    }
    Ok(next.run(request).await)
}

fn routes() -> Vec<Route> {
    let mut routes = writes();
    routes.extend(questions());
    routes.extend(others());
    routes
}

fn writes() -> Vec<Route> {
    let message_pack = |path| {
        let summary = "Store rows in MessagePack: columnar, rows, or batches of both";
        Route::post(path, write::message_pack, summary).writes("application/msgpack", &json!({}))
    };
    let line_protocol = |path| {
        let summary = "Store rows in line protocol";
        let precision = json!({"type": "string", "enum": ["ns", "n", "us", "u", "ms", "s", "m", "h"], "default": "ns"});
        Route::post(path, write::line_protocol, summary)
            .takes(In::Query, "db", text(), "The database")
            .takes(In::Query, "bucket", text(), "The database, in version 2 of the protocol")
            .takes(In::Query, "precision", precision, "Unit of times")
            .writes("text/plain", &text())
    };
    let table = |route: Route| route.needs(In::Query, "table", text(), "The table, as NAME or DATABASE.NAME");
    vec![
        message_pack("/api/v1/write/msgpack"),
        message_pack("/api/v1/write"),
        line_protocol("/api/v1/write/line-protocol"),
        line_protocol("/api/v2/write"),
        line_protocol("/write"),
        table(Route::post("/api/v1/write/json", write::json, "Store rows, one JSON object per line"))
            .writes("application/x-ndjson", &text()),
        table(Route::post("/api/v1/write/csv", write::csv, "Store rows in CSV with a header"))
            .writes("text/csv", &text()),
        table(Route::post("/api/v1/write/arrow", write::arrow, "Store rows of an Arrow IPC stream"))
            .writes(ARROW, &json!({})),
    ]
}

fn questions() -> Vec<Route> {
    let only = json!({"type": "string", "description": "The only ensemble that the query sees"});
    let sql = || object(&["sql"], &json!({"sql": text(), "ensemble": only}));
    let format = || json!({"type": "string", "enum": ["json", "csv", "arrow"], "default": "json"});
    let rows = object(
        &["success", "columns", "data", "row_count", "execution_time_ms"],
        &json!({
            "success": {"type": "boolean"}, "columns": list(&text()), "data": list(&list(&json!({}))),
            "row_count": {"type": "integer"}, "execution_time_ms": {"type": "number"},
        }),
    );
    let price = object(
        &["ensemble", "legs"],
        &json!({
            "ensemble": text(), "entity": text(), "legs": list(&text()), "given": list(&text()),
            "min_worlds": {"type": "integer", "default": 100},
        }),
    );
    let outcome = object(
        &["ensemble", "outcomes"],
        &json!({
            "ensemble": text(), "entities": list(&text()), "cdf": {"type": "boolean"},
            "outcomes": {
                "type": "array", "items": text(),
                "description": "Names of outcomes, or expressions such as `wins - losses`",
            },
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
            .answers(&[JSON, "text/csv", ARROW], &objects(), "The rows"),
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
            .answers(&[JSON, "text/csv", ARROW], &objects(), "One row per group")
            .refuses(&[404]),
        Route::get("/api/v1/ensembles", ensembles::ensembles, "List the ensembles")
            .guarded()
            .answers(&[JSON], &objects(), "The ensembles")
            .refuses(&[500]),
        Route::post("/api/v1/price", ensembles::price, "Estimate the probability that all conditions hold")
            .asks(&price)
            .answers(
                &[JSON],
                &json!({"type": "object"}),
                "The probability, its interval, and that of each condition alone",
            )
            .refuses(&[404]),
        Route::post("/api/v1/book", ensembles::book, "Measure the risk of a book of bets")
            .asks(&book())
            .answers(
                &[JSON],
                &json!({"type": "object"}),
                "The distribution of the profit, value at risk, expected shortfall, the worst worlds, and each bet",
            )
            .refuses(&[404]),
        Route::post("/api/v1/verify", ensembles::verify, "Check everything stored of an ensemble")
            .asks(&object(&["ensemble"], &json!({"ensemble": text()})))
            .answers(&[JSON], &json!({"type": "object"}), "The checks, and the content hashes")
            .refuses(&[404]),
        Route::post("/api/v1/outcome", ensembles::outcome, "Show how outcomes are distributed")
            .asks(&outcome)
            .answers(&[JSON], &objects(), "The distributions")
            .refuses(&[404]),
        Route::post("/api/v1/worlds", worlds::worlds, "Return the values of outcomes in each world")
            .asks(&worlds_of())
            .answers(
                &[ARROW],
                &json!({}),
                "The column `world`, and one for each outcome: booleans, 32-bit integers or 64-bit real numbers. The \
                 metadata has the ensemble's `version`",
            )
            .refuses(&[404]),
        Route::get("/api/v1/catalogue", ensembles::catalogue, "Describe the outputs and parameters of an ensemble")
            .needs(In::Query, "ensemble", text(), "The ensemble")
            .guarded()
            .answers(&[JSON], &json!({"type": "object"}), "The parameters and the catalogue")
            .refuses(&[400, 404, 500]),
        Route::post("/api/v1/correlate", ensembles::correlate, "Correlate outcomes of an ensemble")
            .asks(&object(&["ensemble"], &json!({"ensemble": text(), "entity": text(), "outcomes": list(&text())})))
            .answers(&[JSON], &json!({"type": "object"}), "The matrix of correlations")
            .refuses(&[404]),
        Route::post("/api/v1/compare", ensembles::compare, "Compare outcomes of two ensembles")
            .asks(&object(
                &["first", "second", "outcomes"],
                &json!({"first": text(), "second": text(), "outcomes": list(&text())}),
            ))
            .answers(&[JSON], &objects(), "The differences")
            .refuses(&[404]),
    ]
}

/// The schema of a query about a book of bets.
fn book() -> Value {
    let decimal = |about: &str| json!({"type": ["number", "string"], "description": about});
    let side = json!({"type": "string", "enum": ["back", "lay"], "default": "back"});
    let bet = object(
        &["legs", "stake", "odds"],
        &json!({
            "id": text(), "entity": text(), "legs": list(&text()), "stake": decimal("0 or more"),
            "odds": decimal("Decimal odds, above 1"), "side": side,
        }),
    );
    object(
        &["ensemble", "bets"],
        &json!({
            "ensemble": text(), "entity": text(), "bets": list(&bet), "given": list(&text()),
            "min_worlds": {"type": "integer", "default": 100},
            "levels": {"type": "array", "items": decimal("Between 0 and 1"), "default": [0.95, 0.99]},
            "worst": {"type": "integer", "default": 10, "maximum": 1000},
        }),
    )
}

/// The schema of a query for values in each world.
fn worlds_of() -> Value {
    let count = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    let entities = "Without entities, each outcome names its own, as in `team-03:wins`";
    let outcomes =
        "Names of outcomes, or expressions such as `wins - losses`; none for the numbers of the worlds alone";
    let mut body = object(
        &["ensemble"],
        &json!({
            "ensemble": text(), "version": count("Refuse any other version"),
            "entities": {"type": "array", "items": text(), "description": entities},
            "outcomes": {"type": "array", "items": text(), "description": outcomes},
            "first": count("Place of the first world among the stored ones"),
            "worlds": count("Worlds to return. An answer has at most 4,194,304 values, with the numbers of the worlds"),
        }),
    );
    body["additionalProperties"] = false.into();
    body
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

fn others() -> Vec<Route> {
    let state = || object(&["status"], &json!({"status": text()}));
    vec![
        Route::get("/metrics", metrics::metrics, "Metrics for Prometheus").guarded().answers(
            &["text/plain"],
            &text(),
            "The metrics",
        ),
        Route::get("/health", metrics::health, "Check that the server runs").answers(&[JSON], &state(), "It does"),
        Route::get("/ready", metrics::ready, "Check that the server accepts rows")
            .answers(&[JSON], &state(), "It does")
            .refuses(&[503]),
        Route::get("/ping", metrics::ping, "Check that the server runs, for clients of line protocol").empty("It does"),
        Route::get("/api/v1/openapi.json", openapi, "This document").answers(&[JSON], &json!({}), "The document"),
    ]
}

async fn openapi(State(app): State<App>) -> Json<Value> {
    Json(document(&routes(), app.tokens.is_some()))
}

fn text() -> Value {
    json!({"type": "string"})
}

fn list(of: &Value) -> Value {
    json!({"type": "array", "items": of})
}

fn object(required: &[&str], properties: &Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}
