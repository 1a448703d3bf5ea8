//! Routes about the server itself: its health, sessions, tokens and settings.

use serde_json::{Value, json};

use super::schema::{JSON, boolean, list, named, nullable, object, record, text};
use crate::api::{In, Route};
use crate::{grants, metrics, session};

pub(super) fn routes() -> Vec<Route> {
    let state = || object(&["status"], &json!({"status": text()}));
    let token = || record(&json!({"token": text()}));
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
        Route::get("/api/v1/session", session::session, "Report the permissions of the request").guarded().answers(
            &[JSON],
            &named("Session"),
            "The permissions",
        ),
        Route::post("/api/v1/login", session::login, "Exchange a token for a cookie of a browser")
            .body(JSON, &token())
            .answers(&[JSON], &named("Session"), "The token's permissions, and the cookie")
            .refuses(&[400, 401, 403, 408, 413, 429, 503]),
        Route::post("/api/v1/logout", session::logout, "Remove the cookie").empty("It is removed").refuses(&[403]),
        Route::get("/api/v1/tokens", grants::list, "List the tokens")
            .guarded()
            .answers(&[JSON], &list(&named("Grant")), "Their permissions")
            .refuses(&[409]),
        Route::post("/api/v1/tokens", grants::create, "Create a token")
            .asks(&object(
                &["name"],
                &json!({
                    "name": text(), "databases": list(&text()), "read": boolean(), "write": boolean(),
                    "admin": boolean(),
                }),
            ))
            .answers(&[JSON], &token(), "The token, which is shown only once")
            .refuses(&[409]),
        Route::delete("/api/v1/tokens", grants::revoke, "Revoke a token at once")
            .needs(In::Query, "name", text(), "The token's name")
            .guarded()
            .empty("It is revoked")
            .refuses(&[400, 404, 409]),
        Route::get("/api/v1/settings", metrics::settings, "Report the settings as they were given, without passwords")
            .guarded()
            .answers(&[JSON], &list(&named("Setting")), "The settings"),
    ]
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let databases = || list(&text());
    let session = record(&json!({
        "tokens": {"type": "boolean", "description": "Whether the server asks for tokens"},
        "name": nullable(&text()), "read": boolean(), "write": boolean(), "admin": boolean(),
        "databases": nullable(&databases()), "version": text(), "fleet": boolean(),
    }));
    let grant = record(&json!({
        "name": text(), "databases": databases(), "read": boolean(), "write": boolean(), "admin": boolean(),
    }));
    let setting = record(&json!({
        "name": text(), "value": nullable(&text()), "source": text(), "secret": boolean(),
    }));
    vec![("Session", session), ("Grant", grant), ("Setting", setting)]
}
