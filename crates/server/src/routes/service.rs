//! Routes about the server itself.

use serde_json::json;

use super::schema::{JSON, object, text};
use crate::api::Route;
use crate::metrics;

pub(super) fn routes() -> Vec<Route> {
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
    ]
}
