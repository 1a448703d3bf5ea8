//! Opens a server's doors, serves until a stop, then drains the connections.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use disk::RealDisk;
use ingest::{Failing, Store};
use model::Models;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::app::App;
use crate::connections::Listener;
use crate::door::Door;
use crate::error::ServerError;
use crate::routes::router;
use crate::sampling::watch_itself;
use crate::settings::Settings;
use crate::tls::{self, Tls};
use crate::tokens::Tokens;
use crate::{flight, pg};

/// Time for running requests to finish after a stop.
const GRACE: Duration = Duration::from_secs(20);

/// A server that listens and does not serve yet.
pub struct Server {
    http: Door,
    postgres: Option<pg::Door>,
    flight: Option<Door>,
    app: App,
}

impl Server {
    /// Opens the data folder, replays acknowledged rows from the logs, and listens.
    ///
    /// # Errors
    /// If the server cannot use the folder or listen on the address.
    pub async fn open(settings: Settings, models: &Arc<Models>) -> Result<Self, ServerError> {
        let tokens = settings.token_file.clone().map(Tokens::open).transpose()?;
        check_addresses(&settings, tokens.is_some())?;
        let tls = |protocols: &'static [&'static [u8]]| {
            settings.tls.as_ref().map(|files| Tls::open(files.clone(), protocols)).transpose()
        };
        let (tls_of_http, tls_of_postgres, tls_of_flight) = (tls(&tls::HTTP)?, tls(&[pg::ALPN])?, tls(&[tls::HTTP2])?);
        let store = Store::open(&settings.data, Arc::new(RealDisk), settings.store.clone()).await?;
        let (connections, patience) = (settings.connections, settings.request_timeout);
        let http = Door::new(Listener::bind(settings.listen, connections).await?, tls_of_http, patience);
        let postgres = match settings.postgres {
            None => None,
            Some(address) => Some(pg::Door::new(Listener::bind(address, connections).await?, tls_of_postgres)),
        };
        let flight = match settings.flight {
            None => None,
            Some(address) => {
                let listener = Listener::bind(address, connections).await?;
                Some(Door::new(listener, tls_of_flight, patience).http2_only())
            }
        };
        // Port 0 is the one that the system chose.
        let settings = Settings { listen: http.address(), ..settings };
        let app = App::new(settings, store, models, tokens)?;
        Ok(Self { http, postgres, flight, app })
    }

    /// The listening address.
    pub fn address(&self) -> SocketAddr {
        self.http.address()
    }

    /// The listening address for PostgreSQL clients, if any.
    pub fn postgres_address(&self) -> Option<SocketAddr> {
        self.postgres.as_ref().map(pg::Door::address)
    }

    /// The listening address for Arrow Flight clients, if any.
    pub fn flight_address(&self) -> Option<SocketAddr> {
        self.flight.as_ref().map(Door::address)
    }

    /// Whether it serves TLS.
    pub fn is_secure(&self) -> bool {
        self.http.is_secure()
    }

    /// Serves until `stop` ends, finishes running requests, and flushes all rows to tables. Returns the tables that
    /// could not be written; their rows stay in the logs.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Vec<Failing> {
        let app = self.app;
        // Before the doors open, so that the first sample misses no request.
        let watching = tokio::spawn(watch_itself(app.clone()));
        let (close, closing) = watch::channel(false);
        let mut doors = JoinSet::new();
        doors.spawn(self.http.run(router(app.clone()), closing.clone(), GRACE));
        if let Some(door) = self.postgres {
            doors.spawn(door.run(app.clone(), closing.clone(), GRACE));
        }
        if let Some(door) = self.flight {
            doors.spawn(door.run(flight::router(app.clone()), closing, GRACE));
        }
        stop.await;
        watching.abort();
        app.closing.store(true, Ordering::Relaxed);
        close.send_replace(true);
        // Runs finish their ranges while requests finish.
        let runs = app.watch.runs.clone();
        let runs = tokio::spawn(async move { runs.close(GRACE).await });
        while let Some(ended) = doors.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a listener failed");
            }
        }
        let processes = app.processes.clone();
        let ended = tokio::task::spawn_blocking(move || processes.close());
        let failing = app.store.close().await;
        if let Err(panic) = ended.await {
            tracing::error!(error = %panic, "query processes were not ended");
        }
        if let Err(panic) = runs.await {
            tracing::error!(error = %panic, "runs were not ended");
        }
        failing
    }
}

/// Whether the server may listen on its addresses: other machines need tokens.
fn check_addresses(settings: &Settings, has_tokens: bool) -> Result<(), ServerError> {
    let addresses = [Some(settings.listen), settings.postgres, settings.flight];
    let mut public = addresses.into_iter().flatten().filter(|address| !address.ip().is_loopback());
    if let Some(address) = public.next().filter(|_| !has_tokens) {
        return Err(ServerError::Open { address });
    }
    match settings.postgres.filter(|address| !address.ip().is_loopback()) {
        Some(address) if settings.tls.is_none() => Err(ServerError::Plain { address }),
        _ => Ok(()),
    }
}

/// Opens a server and runs it until `stop` ends.
///
/// # Errors
/// See [`Server::open`].
pub async fn serve(
    settings: Settings,
    models: &Arc<Models>,
    ready: impl FnOnce(&Server),
    stop: impl Future<Output = ()>,
) -> Result<Vec<Failing>, ServerError> {
    let server = Server::open(settings, models).await?;
    ready(&server);
    Ok(server.run(stop).await)
}
