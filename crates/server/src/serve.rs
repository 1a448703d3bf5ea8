//! Accepts connections up to a limit, serves them until a stop, then drains them.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use disk::RealDisk;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use ingest::{Failing, Store};
use sql::MakeModel;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::access::Peer;
use crate::app::App;
use crate::error::ServerError;
use crate::pg;
use crate::routes::router;
use crate::settings::Settings;
use crate::tls::{self, Tls};
use crate::tokens::Tokens;

/// Time for running requests to finish after a stop.
const GRACE: Duration = Duration::from_secs(20);

/// A server that listens and does not serve yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    connections: usize,
    patience: Duration,
    tls: Option<Tls>,
    postgres: Option<pg::Listener>,
    app: App,
}

impl Server {
    /// Opens the data folder, replays acknowledged rows from the logs, and listens.
    ///
    /// # Errors
    /// If the server cannot use the folder or listen on the address.
    pub async fn open(settings: Settings, make_model: MakeModel) -> Result<Self, ServerError> {
        let wanted = settings.listen;
        let tokens = settings.token_file.clone().map(Tokens::open).transpose()?;
        if tokens.is_none() && !wanted.ip().is_loopback() {
            return Err(ServerError::Open { address: wanted });
        }
        if let Some(address) = settings.postgres.filter(|address| !address.ip().is_loopback()) {
            if tokens.is_none() {
                return Err(ServerError::Open { address });
            }
            if settings.tls.is_none() {
                return Err(ServerError::Plain { address });
            }
        }
        let of = |protocols: &'static [&'static [u8]]| {
            settings.tls.as_ref().map(|files| Tls::open(files.clone(), protocols)).transpose()
        };
        let (tls, tls_of_postgres) = (of(&tls::HTTP)?, of(&[pg::ALPN])?);
        let store = Store::open(&settings.data, Arc::new(RealDisk), settings.store.clone()).await?;
        let failed = |cause| ServerError::Listen { address: wanted, cause };
        let listener = TcpListener::bind(wanted).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let postgres = match settings.postgres {
            None => None,
            Some(address) => {
                let bound = pg::Listener::bind(address, tls_of_postgres).await;
                Some(bound.map_err(|cause| ServerError::Listen { address, cause })?)
            }
        };
        let (connections, patience) = (settings.connections, settings.request_timeout);
        let app = App::new(settings, store, make_model, tokens)?;
        Ok(Self { listener, address, connections, patience, tls, postgres, app })
    }

    /// The listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The listening address for PostgreSQL clients, if any.
    pub fn postgres_address(&self) -> Option<SocketAddr> {
        self.postgres.as_ref().map(pg::Listener::address)
    }

    /// Whether it serves TLS.
    pub fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// Serves until `stop` ends, finishes running requests, and flushes all rows to tables. Returns the tables that
    /// could not be written; their rows stay in the logs.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Vec<Failing> {
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(self.patience);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(Some(self.patience));
        let door = Arc::new(Door { builder, tls: self.tls, patience: self.patience });
        let router = router(self.app.clone());
        let graceful = GracefulShutdown::new();
        let room = Arc::new(Semaphore::new(self.connections));
        let (close, closing) = watch::channel(false);
        let postgres = self.postgres.map(|listener| tokio::spawn(listener.run(self.app.clone(), closing, GRACE)));
        tokio::pin!(stop);
        loop {
            let accepted = async {
                let Ok(permit) = room.clone().acquire_owned().await else { std::future::pending().await };
                (self.listener.accept().await, permit)
            };
            let (accepted, permit) = tokio::select! {
                accepted = accepted => accepted,
                () = &mut stop => break,
            };
            let (stream, peer) = match accepted {
                Ok((stream, peer)) => (stream, peer.ip()),
                Err(error) => {
                    // Out of file descriptors, or the client left already: later connections may work.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "cannot set TCP_NODELAY");
            }
            let (door, router, watcher) = (door.clone(), router.clone(), graceful.watcher());
            tokio::spawn(async move {
                if let Err(error) = door.serve(stream, peer, router, watcher).await {
                    tracing::debug!(error, "connection closed early");
                }
                drop(permit);
            });
        }
        self.app.closing.store(true, Ordering::Relaxed);
        close.send_replace(true);
        drop(self.listener);
        if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
            tracing::warn!("cancelled requests that did not end in time");
        }
        if let Some(Err(error)) = match postgres {
            Some(task) => Some(task.await),
            None => None,
        } {
            tracing::error!(%error, "the PostgreSQL listener failed");
        }
        let processes = self.app.processes.clone();
        let ended = tokio::task::spawn_blocking(move || processes.close());
        let failing = self.app.store.close().await;
        if let Err(panic) = ended.await {
            tracing::error!(error = %panic, "query processes were not ended");
        }
        failing
    }
}

/// Everything that a connection needs.
struct Door {
    builder: Builder<TokioExecutor>,
    tls: Option<Tls>,
    patience: Duration,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

impl Door {
    async fn serve(&self, stream: TcpStream, peer: IpAddr, router: Router, watcher: Watcher) -> Result<(), Failure> {
        match &self.tls {
            None => self.converse(stream, peer, router, watcher).await,
            Some(tls) => {
                let stream = tokio::time::timeout(self.patience, tls.acceptor().accept(stream)).await??;
                self.converse(stream, peer, router, watcher).await
            }
        }
    }

    /// Serves requests until the client or the server closes the connection.
    async fn converse<S>(&self, stream: S, peer: IpAddr, router: Router, watcher: Watcher) -> Result<(), Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let spoke = Arc::new(AtomicBool::new(false));
        let heard = spoke.clone();
        let answerer = TowerToHyperService::new(router);
        let service = service_fn(move |mut request: Request<Incoming>| {
            heard.store(true, Ordering::Relaxed);
            request.extensions_mut().insert(Peer(peer));
            answerer.call(request)
        });
        let connection = self.builder.serve_connection(TokioIo::new(stream), service).into_owned();
        let connection = watcher.watch(connection);
        tokio::pin!(connection);
        // The first bytes decide the HTTP version, and hyper would wait for them forever.
        match tokio::time::timeout(self.patience, &mut connection).await {
            Ok(ended) => ended,
            Err(_) if spoke.load(Ordering::Relaxed) => connection.await,
            Err(_) => Err("no request came in time".into()),
        }
    }
}

/// Opens a server and runs it until `stop` ends.
///
/// # Errors
/// See [`Server::open`].
pub async fn serve(
    settings: Settings,
    make_model: MakeModel,
    ready: impl FnOnce(&Server),
    stop: impl Future<Output = ()>,
) -> Result<Vec<Failing>, ServerError> {
    let server = Server::open(settings, make_model).await?;
    ready(&server);
    Ok(server.run(stop).await)
}
