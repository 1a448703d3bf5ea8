//! Routes that store rows.

use serde_json::json;

use super::schema::{ARROW, text};
use crate::api::{In, Route};
use crate::write;

pub(super) fn routes() -> Vec<Route> {
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
