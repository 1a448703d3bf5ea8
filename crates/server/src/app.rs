//! State that all handlers share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::body::Body;
use axum::http::HeaderMap;
use definitions::Library;
use disk::RealDisk;
use ingest::Store;
use model::Models;
use serde::de::DeserializeOwned;
use sql::MakeModel;
use table::DATABASE;
use tokio::runtime::Handle;

use crate::bodies::{Arrived, Bodies};
use crate::counters::Counters;
use crate::error::{Refusal, ServerError};
use crate::failures::Failures;
use crate::guard::Hosts;
use crate::history::History;
use crate::listing::Listing;
use crate::processes::Pool;
use crate::questions::Questions;
use crate::runs::status::Watch;
use crate::runs::wish::Known;
use crate::runs::{Fleet, Runs};
use crate::settings::Settings;
use crate::tokens::Tokens;
use crate::warm::Warm;

/// Largest body of a query, in bytes.
const QUESTION_BYTES_MAX: usize = 2 << 20;

/// The header that names a database, from clients of Arc.
pub(crate) const DATABASE_HEADER: &str = "x-arc-database";

#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) store: Arc<Store>,
    pub(crate) make_model: MakeModel,
    pub(crate) warm: Warm,
    /// `None`: every request has all permissions.
    pub(crate) tokens: Option<Tokens>,
    pub(crate) failures: Failures,
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) counters: Counters,
    pub(crate) bodies: Bodies,
    pub(crate) questions: Questions,
    /// The processes that answer SQL.
    pub(crate) processes: Arc<Pool>,
    /// The models that requests may play: those that the program knows at its start.
    pub(crate) models: Known,
    /// What runs.
    pub(crate) watch: Watch,
    pub(crate) library: Library,
    pub(crate) tables: Listing,
    pub(crate) history: History,
    pub(crate) closing: AtomicBool,
}

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl App {
    pub(crate) fn new(
        settings: Settings,
        store: Arc<Store>,
        models: &Arc<Models>,
        tokens: Option<Tokens>,
    ) -> Result<Self, ServerError> {
        let bodies = Bodies::new(settings.store.memory_bytes, settings.request_timeout);
        let failed = ServerError::Questions;
        let questions = Questions::new(settings.questions, settings.question_timeout).map_err(failed)?;
        let (program, memory) = (settings.question_program.clone(), settings.question_memory);
        let handle = questions.handle().clone();
        let processes = Pool::new(program, &settings.data, memory, &settings.store, handle).map_err(failed)?;
        let (program, most) = (settings.run_program.clone(), settings.runs);
        let runs = Runs::new(&settings.data, program, most, Handle::current()).map_err(failed)?;
        let watch = Watch::new(settings.data.clone(), runs, settings.fleet.clone().map(Fleet::new));
        let library = Library::new(&settings.data, Arc::new(RealDisk));
        let hosts = Arc::new(Hosts::new(settings.listen.ip(), &settings.hosts));
        Ok(Self(Arc::new(Shared {
            settings,
            store,
            make_model: ensemble::make_model(models.clone()),
            warm: Warm::default(),
            tokens,
            failures: Failures::default(),
            hosts,
            counters: Counters::default(),
            bodies,
            questions,
            processes,
            models: Known(models.all()),
            watch,
            library,
            tables: Listing::default(),
            history: History::default(),
            closing: AtomicBool::new(false),
        })))
    }

    /// Reads a query in JSON from a body.
    pub(crate) async fn question<Q: DeserializeOwned>(&self, body: Body) -> Result<Q, Refusal> {
        let body = self.question_body(body).await?;
        serde_json::from_slice(&body).map_err(|error| Refusal::bad(format!("cannot read the question: {error}")))
    }

    /// Reads the whole body of a query.
    pub(crate) async fn question_body(&self, body: Body) -> Result<Arrived, Refusal> {
        self.bodies.read(body, QUESTION_BYTES_MAX).await
    }
}

/// The database of a request, for routes without one in their path.
pub(crate) fn database(headers: &HeaderMap) -> Result<&str, Refusal> {
    match headers.get(DATABASE_HEADER) {
        None => Ok(DATABASE),
        Some(name) => name.to_str().map_err(|_| Refusal::bad(format!("the header {DATABASE_HEADER} is not text"))),
    }
}
