//! Arrow Flight SQL, and plain Flight with the tickets of InfluxDB's clients: queries of ADBC, JDBC and `pyarrow` under
//! the same limits and tokens as queries over HTTP.
//!
//! Enters: gRPC requests. Leaves: batches of rows, sent while the query runs, or errors with gRPC's codes.
//!
//! The server keeps no state between requests. A ticket and the handle of a prepared statement hold the statement and
//! its values, so they need no table, no expiry and no limit. A client cancels a query by ending its stream, or by its
//! ticket while the query runs.
//!
//! Requests may name any host: browsers speak HTTP/2 only over TLS, where the certificate has to match.

mod abilities;
mod command;
mod constants;
mod jdbc;
mod parameters;
mod runs;
mod service;
mod statement;
mod status;

use arrow_flight::flight_service_server::FlightServiceServer;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use axum::{Router, middleware};
use table::DATABASE;
use tonic::Status;

use crate::answers::Asker;
use crate::app::{App, DATABASE_HEADER};
use crate::authenticate;
use crate::error::Refusal;
use service::Service;
use status::status;

/// The routes of the protocol.
pub(crate) fn router(app: App) -> Router {
    let service = FlightServiceServer::new(Service::default());
    Router::new()
        .route_service("/arrow.flight.protocol.FlightService/{method}", service)
        .fallback(async || Status::unimplemented("this port serves Arrow Flight only").into_http::<axum::body::Body>())
        .layer(middleware::from_fn_with_state(app, admit))
}

/// A client of a request, and the database of tables that it names without one.
#[derive(Clone)]
struct Client {
    asker: Asker,
    database: String,
    /// Whether it is in Java, as the JDBC driver is.
    java: bool,
}

/// Authenticates a request and reads its body. All requests are small, also those that may have several messages.
async fn admit(State(app): State<App>, request: Request, next: Next) -> Response {
    match admitted(app, request).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => status(refusal).into_http(),
    }
}

async fn admitted(app: App, mut request: Request) -> Result<Request, Refusal> {
    let from = request.extensions().get().copied();
    let access = authenticate::access(&app, request.headers(), request.uri(), from).await?;
    access.may_read()?;
    let database = match database(request.headers())? {
        Some(name) => {
            access.may_read_of(name)?;
            name.to_owned()
        }
        None => DATABASE.to_owned(),
    };
    let body = app.question_body(std::mem::take(request.body_mut())).await?;
    *request.body_mut() = Bytes::clone(&body).into();
    let java = jdbc::is_java(request.headers());
    request.extensions_mut().insert(Client { asker: Asker { app, access }, database, java });
    Ok(request)
}

/// The database that the headers name: `database`, as clients of InfluxDB send it, or this server's own header.
fn database(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    for name in ["database", DATABASE_HEADER] {
        if let Some(value) = headers.get(name) {
            let text = std::str::from_utf8(value.as_bytes());
            return text.map(Some).map_err(|_| Refusal::bad(format!("the header {name} is not text")));
        }
    }
    Ok(None)
}
