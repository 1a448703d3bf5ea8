//! The PostgreSQL wire protocol: queries of `psql`, drivers and tools run through `query`, under the same limits and
//! tokens as queries over HTTP.
//!
//! Enters: connections. Leaves: rows, sent batch by batch while the query runs, or errors with PostgreSQL's codes.
//! `pgwire` reads and writes the messages; this module interprets them.

mod authorize;
mod backends;
mod commands;
mod copy;
mod cursors;
mod error;
mod intervals;
mod parameters;
mod session;
mod startup;
mod statements;
mod values;
mod wire;
mod words;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::app::App;
use crate::connections::{Accepted, Listener};
use crate::tls::Tls;
use backends::Running;

/// The ALPN name of the protocol; TLS clients may send it.
pub(crate) const ALPN: &[u8] = b"postgresql";

/// A bound listener that does not serve yet.
pub(crate) struct Door {
    listener: Listener,
    tls: Option<Tls>,
}

impl Door {
    pub(crate) fn new(listener: Listener, tls: Option<Tls>) -> Self {
        Self { listener, tls }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves until `closing` turns true; then closes idle connections, and gives running statements `grace` to finish.
    pub(crate) async fn run(self, app: App, mut closing: watch::Receiver<bool>, grace: Duration) {
        let shared = Arc::new(Shared { app, tls: self.tls, running: Running::default() });
        let mut sessions = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept(&mut closing) => accepted,
                _ = sessions.join_next(), if !sessions.is_empty() => continue,
            };
            let Some(Accepted { stream, permit, .. }) = accepted else { break };
            let (shared, closing) = (shared.clone(), closing.clone());
            sessions.spawn(async move {
                if let Err(error) = startup::converse(stream, &shared, closing).await {
                    tracing::debug!(%error, "connection closed early");
                }
                drop(permit);
            });
        }
        drop(self.listener);
        let ended = async { while sessions.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, ended).await.is_err() {
            tracing::warn!("cancelled statements that did not end in time");
        }
    }
}

/// State that all connections share.
struct Shared {
    app: App,
    tls: Option<Tls>,
    running: Running,
}

/// Waits until the client is gone, even while the server does not read from it.
async fn gone(watch: &TcpStream) {
    const STEP: Duration = Duration::from_millis(100);
    while watch.ready(tokio::io::Interest::READABLE).await.is_ok_and(|ready| !ready.is_read_closed()) {
        tokio::time::sleep(STEP).await;
    }
}
