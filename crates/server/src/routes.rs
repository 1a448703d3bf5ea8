//! All routes: one table for the router and the `OpenAPI` document.

mod ensembles;
mod playing;
mod rows;
mod schema;
mod service;
mod sql;
mod tables;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use axum::{Json, Router, middleware};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::api::{Route, document};
use crate::app::App;
use crate::error::Refusal;
use crate::{authenticate, guard, page};

/// Routes each request to its handler.
pub(crate) fn router(app: App) -> Router {
    let (guarded, open): (Vec<_>, Vec<_>) = routes().into_iter().partition(|route| route.guarded);
    let router = |routes: Vec<Route>| {
        routes.into_iter().fold(Router::new(), |router, route| router.route(route.path, route.handler))
    };
    router(guarded)
        .route_layer(middleware::from_fn_with_state(app.clone(), authenticate::check))
        .merge(router(open))
        .merge(page::router())
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path"))
        .layer(middleware::from_fn(check_query))
        .layer(middleware::from_fn_with_state(app.hosts.clone(), guard::check))
        .layer(middleware::map_response(hide))
        .with_state(app)
}

/// Keeps other sites' pages from using a reply as something else, or at all.
async fn hide(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

/// Refuses query strings that are not text: decoding would replace bytes in the names of databases and tables.
async fn check_query(request: Request, next: Next) -> Result<Response, Refusal> {
    if percent_decode_str(request.uri().query().unwrap_or_default()).decode_utf8().is_err() {
        return Err(Refusal::bad("the query string is not UTF-8: encode names in UTF-8, then with %"));
    }
    Ok(next.run(request).await)
}

fn routes() -> Vec<Route> {
    let document = Route::get("/api/v1/openapi.json", openapi, "This document");
    let mut routes = vec![document.answers(&[schema::JSON], &json!({}), "The document")];
    for more in
        [rows::routes(), sql::routes(), ensembles::routes(), playing::routes(), service::routes(), tables::routes()]
    {
        routes.extend(more);
    }
    routes
}

async fn openapi(State(app): State<App>) -> Json<Value> {
    Json(document(&routes(), schemas(), app.tokens.is_some()))
}

/// Schemas with names, which programs use for their types.
fn schemas() -> impl Iterator<Item = (&'static str, Value)> {
    [ensembles::schemas(), playing::schemas(), service::schemas(), tables::schemas()].into_iter().flatten()
}
