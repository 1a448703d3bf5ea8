//! Connections: accepted up to a limit, served until told to stop, then ended gracefully.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use ingest::Store;
use query::MakeModel;
use table::disk::RealDisk;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::app::App;
use crate::error::ServerError;
use crate::settings::Settings;

/// How long requests under way may take once the server stops.
const GRACE: Duration = Duration::from_secs(20);
/// How long a client may take to send the head of a request, and to send the next one.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// A server that listens and does not serve yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    connections: usize,
    store: Arc<Store>,
    router: Router,
}

impl Server {
    /// Opens the data folder, takes back what was acknowledged and is in no table yet, and listens.
    ///
    /// # Errors
    /// Where the folder or the address cannot be had.
    pub async fn open(settings: Settings, make_model: MakeModel) -> Result<Self, ServerError> {
        let wanted = settings.listen;
        if !wanted.ip().is_loopback() {
            return Err(ServerError::Open { address: wanted });
        }
        let store = Store::open(&settings.data, Arc::new(RealDisk), settings.store.clone()).await?;
        let failed = |cause| ServerError::Listen { address: wanted, cause };
        let listener = TcpListener::bind(wanted).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let connections = settings.connections;
        let router = App::new(settings, store.clone(), make_model).router();
        Ok(Self { listener, address, connections, store, router })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` ends; then answers what is under way, writes everything to tables, and returns.
    ///
    /// # Errors
    /// Where logs could not be made durable at the end.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(Some(HEAD_TIMEOUT));
        let graceful = GracefulShutdown::new();
        let room = Arc::new(Semaphore::new(self.connections));
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
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of file descriptors, or the client is gone already: others may have more luck.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "replies may wait for each other");
            }
            let service = TowerToHyperService::new(self.router.clone());
            let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
            let connection = graceful.watch(connection);
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(error, "a connection ended early");
                }
                drop(permit);
            });
        }
        drop(self.listener);
        if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests did not end in time and were cut off");
        }
        self.store.close().await?;
        Ok(())
    }
}

/// Opens a server and runs it until `stop` ends.
///
/// # Errors
/// As [`Server::open`] and [`Server::run`].
pub async fn serve(
    settings: Settings,
    make_model: MakeModel,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), ServerError> {
    let server = Server::open(settings, make_model).await?;
    ready(server.address());
    server.run(stop).await
}
