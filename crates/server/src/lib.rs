//! The server: requests become calls of `ingest` and questions to processes, and their results replies. Over HTTP it takes rows in and
//! answers questions; clients of PostgreSQL ask it as they ask PostgreSQL.
//!
//! Enters: a data folder, [`Settings`], and requests in the wire formats of `ingest` or in SQL. Leaves: replies, which
//! say what was stored, what was not, and why.
//!
//! Promises
//! - a write is answered with success once its rows are durable, and never before;
//! - whatever of a request was refused is named in the reply;
//! - questions change nothing;
//! - no request, however large, slow or wrong, takes more memory or time than the settings allow, or ends the server.
//!
//! Handlers are thin: they know HTTP and nothing of formats, logs and plans.

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
