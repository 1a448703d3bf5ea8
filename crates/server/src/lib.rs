//! The server: ingests rows and answers queries over HTTP, and answers queries over the PostgreSQL protocol and Arrow
//! Flight.
//!
//! Enters: a data folder, [`Settings`], and requests in the wire formats of `decode` or in SQL. Leaves: replies that
//! name the stored and the rejected rows, with reasons.
//!
//! Guarantees
//! - A write succeeds only after its rows are durable.
//! - The reply names every rejected part of a request.
//! - Queries do not change data.
//! - No request uses more memory or time than the settings allow, or ends the server.
//!
//! Handlers only translate HTTP; other crates handle formats, logs and plans.

mod access;
mod answers;
mod api;
mod app;
mod ask;
mod authenticate;
mod bodies;
mod connections;
mod counters;
mod definitions;
mod door;
mod ensembles;
mod error;
mod exchange;
mod failures;
mod flight;
mod grants;
mod guard;
mod history;
mod influx;
mod listing;
mod metrics;
mod page;
mod parquet;
mod pg;
mod playing;
mod processes;
mod query;
mod questions;
mod routes;
mod runs;
mod sampling;
mod serve;
mod session;
mod settings;
mod sql;
mod statement;
mod tables;
mod tls;
mod tokens;
mod warm;
mod worlds;
mod write;

pub use error::ServerError;
pub use metrics::serve_metrics;
pub use processes::answer_questions;
pub use runs::play_run;
pub use serve::{Server, serve};
pub use settings::{FleetSettings, Settings, ShownSetting, TlsFiles};
pub use tokens::{Grant, TokenError, TokenFile};
