//! The server: ingests rows over HTTP and answers questions, over HTTP and for PostgreSQL clients.
//!
//! Enters: a data folder, [`Settings`], and requests in the wire formats of `decode` or in SQL. Leaves: replies that
//! say what was stored, what was not, and why. Rows go to `ingest`, SQL questions to separate processes.
//!
//! Guarantees
//! - a write succeeds only after its rows are durable;
//! - a reply names every refused part of a request;
//! - questions change nothing;
//! - no request, however large, slow or wrong, exceeds the memory and time of the settings, or ends the server.
//!
//! Handlers are thin: they know HTTP, but no formats, logs or plans.

mod access;
mod api;
mod app;
mod ask;
mod ensembles;
mod error;
mod failures;
mod guard;
mod influx;
mod metrics;
mod pg;
mod processes;
mod questions;
mod routes;
mod serve;
mod settings;
mod sql;
mod tls;
mod tokens;
mod write;

pub use error::ServerError;
pub use metrics::serve_metrics;
pub use processes::answer_questions;
pub use serve::{Server, serve};
pub use settings::{Settings, TlsFiles};
pub use tokens::{Grant, TokenError, TokenFile};
