//! What all handlers share, and which handler has which path.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware;
use axum::routing::{get, post};
use ingest::Store;
use query::MakeModel;
use table::DATABASE;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::ensembles::Warm;
use crate::error::Refusal;
use crate::metrics::Metrics;
use crate::settings::Settings;
use crate::tokens::Tokens;
use crate::{access, ensembles, influx, metrics, sql, write};

/// The header that names a database, as clients of the peer send it.
pub(crate) const DATABASE_HEADER: &str = "x-arc-database";

#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) store: Arc<Store>,
    pub(crate) make_model: MakeModel,
    pub(crate) warm: Warm,
    /// Who may do what; `None` where everybody may do everything.
    pub(crate) tokens: Option<Tokens>,
    pub(crate) metrics: Metrics,
    /// Room for questions.
    pub(crate) questions: Semaphore,
}

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl App {
    pub(crate) fn new(settings: Settings, store: Arc<Store>, make_model: MakeModel, tokens: Option<Tokens>) -> Self {
        let questions = Semaphore::new(settings.questions);
        Self(Arc::new(Shared {
            settings,
            store,
            make_model,
            warm: Warm::default(),
            tokens,
            metrics: Metrics::default(),
            questions,
        }))
    }

    pub(crate) fn router(self) -> Router {
        let guarded = Router::new()
            .route("/api/v1/write/msgpack", post(write::message_pack))
            .route("/api/v1/write", post(write::message_pack))
            .route("/api/v1/write/line-protocol", post(write::line_protocol))
            .route("/api/v2/write", post(write::line_protocol))
            .route("/write", post(write::line_protocol))
            .route("/api/v1/write/json", post(write::json))
            .route("/api/v1/write/csv", post(write::csv))
            .route("/api/v1/write/arrow", post(write::arrow))
            .route("/api/v1/query", post(sql::query))
            .route("/api/v1/query/arrow", post(sql::query_arrow))
            .route("/api/v1/sql", post(sql::sql))
            .route("/query", get(influx::query).post(influx::query))
            .route("/api/v1/ensembles", get(ensembles::ensembles))
            .route("/api/v1/price", post(ensembles::price))
            .route("/api/v1/outcome", post(ensembles::outcome))
            .route("/metrics", get(metrics::metrics))
            .route_layer(middleware::from_fn_with_state(self.clone(), access::check));
        Router::new()
            .merge(guarded)
            .route("/health", get(metrics::health))
            .route("/ready", get(metrics::ready))
            .route("/ping", get(metrics::ping).head(metrics::ping))
            .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path"))
            .with_state(self)
    }

    /// Room for one more question; waits for it.
    pub(crate) async fn room(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        self.questions.acquire().await.map_err(|_| Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "closing"))
    }

    /// The whole body of a request.
    pub(crate) async fn body(&self, body: Body) -> Result<Bytes, Refusal> {
        let limit = self.settings.limits.body_bytes_max;
        let patience: Duration = self.settings.request_timeout;
        let read = tokio::time::timeout(patience, axum::body::to_bytes(body, limit)).await.map_err(|_| {
            let text = format!("the request did not arrive within {} s", patience.as_secs());
            Refusal::new(StatusCode::REQUEST_TIMEOUT, text)
        })?;
        read.map_err(|error| {
            use std::error::Error as _;
            if error.source().is_some_and(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>) {
                let text = format!("the body is longer than the {limit} bytes that are allowed: send smaller requests");
                return Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text);
            }
            Refusal::bad(format!("the body broke off: {error}"))
        })
    }
}

/// The database that a request is about, where its address does not say.
pub(crate) fn database(headers: &HeaderMap) -> Result<&str, Refusal> {
    match headers.get(DATABASE_HEADER) {
        None => Ok(DATABASE),
        Some(name) => name.to_str().map_err(|_| Refusal::bad(format!("{DATABASE_HEADER} is no text"))),
    }
}
