//! Serves the requests of HTTP connections: of the HTTP API, and of Arrow Flight.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::access::Peer;
use crate::connections::{Accepted, Listener};
use crate::exchange::Activity;
use crate::tls::Tls;

/// A bound listener with its protocol. It does not serve yet.
pub(crate) struct Door {
    listener: Listener,
    manner: Manner,
}

/// Everything that a connection needs.
struct Manner {
    builder: Builder<TokioExecutor>,
    tls: Option<Tls>,
    patience: Duration,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

impl Door {
    /// A door for versions 1 and 2 of HTTP. `patience` limits the time for a request's head, between
    /// two requests, and for which a client may leave a reply unread.
    pub(crate) fn new(listener: Listener, tls: Option<Tls>, patience: Duration) -> Self {
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(patience);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(Some(patience));
        Self { listener, manner: Manner { builder, tls, patience } }
    }

    /// Admits version 2 of HTTP only.
    pub(crate) fn http2_only(mut self) -> Self {
        self.manner.builder = self.manner.builder.http2_only();
        self
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.manner.tls.is_some()
    }

    /// Serves until `closing` turns true; then gives running requests `grace` to finish.
    pub(crate) async fn run(self, router: Router, mut closing: watch::Receiver<bool>, grace: Duration) {
        let graceful = GracefulShutdown::new();
        let manner = Arc::new(self.manner);
        while let Some(Accepted { stream, peer, permit }) = self.listener.accept(&mut closing).await {
            let (manner, router, watcher) = (manner.clone(), router.clone(), graceful.watcher());
            tokio::spawn(async move {
                if let Err(error) = manner.serve(stream, peer, router, watcher).await {
                    tracing::debug!(error, "connection closed early");
                }
                drop(permit);
            });
        }
        drop(self.listener);
        if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
            tracing::warn!("cancelled requests that did not end in time");
        }
    }
}

impl Manner {
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
        let activity = Activity::new();
        let (answerer, begun) = (TowerToHyperService::new(router), activity.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            let exchange = begun.begin();
            request.extensions_mut().insert(Peer(peer));
            let answered = answerer.call(request);
            async move { answered.await.map(|response| response.map(|body| exchange.reply(body))) }
        });
        let connection = self.builder.serve_connection(TokioIo::new(stream), service).into_owned();
        let connection = watcher.watch(connection);
        tokio::pin!(connection);
        // Hyper would wait forever: for the first bytes, which decide the version of HTTP, for another request of version 2,
        // and for a client that does not read.
        loop {
            match tokio::time::timeout(self.patience, &mut connection).await {
                Ok(ended) => return ended,
                Err(_) if activity.waits_for_client(self.patience) => {
                    return Err("no request came in time, or its reply was not read".into());
                }
                Err(_) => {}
            }
        }
    }
}
