//! Accepts connections up to a limit.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::error::ServerError;

/// A bound listener.
pub(crate) struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    room: Arc<Semaphore>,
}

/// A connection of a client; dropping the permit makes room for another.
pub(crate) struct Accepted {
    pub(crate) stream: TcpStream,
    pub(crate) peer: IpAddr,
    pub(crate) permit: OwnedSemaphorePermit,
}

impl Listener {
    /// Listens on `address` for up to `connections` clients at once.
    ///
    /// # Errors
    /// If the server cannot listen on the address.
    pub(crate) async fn bind(address: SocketAddr, connections: usize) -> Result<Self, ServerError> {
        let failed = |cause| ServerError::Listen { address, cause };
        let socket = TcpListener::bind(address).await.map_err(failed)?;
        let bound = socket.local_addr().map_err(failed)?;
        Ok(Self { socket, address: bound, room: Arc::new(Semaphore::new(connections)) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection, once there is room; `None` when the server is closing.
    pub(crate) async fn accept(&self, closing: &mut watch::Receiver<bool>) -> Option<Accepted> {
        tokio::select! {
            accepted = self.next() => Some(accepted),
            () = closed(closing) => None,
        }
    }

    async fn next(&self) -> Accepted {
        let Ok(permit) = self.room.clone().acquire_owned().await else { std::future::pending().await };
        loop {
            match self.socket.accept().await {
                Ok((stream, peer)) => {
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "cannot set TCP_NODELAY");
                    }
                    return Accepted { stream, peer: peer.ip(), permit };
                }
                Err(error) => {
                    // Out of file descriptors, or the client left already: later connections may work.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }
}

/// Waits until the server is closing.
pub(crate) async fn closed(closing: &mut watch::Receiver<bool>) {
    // A dropped sender means closing, too.
    drop(closing.wait_for(|closing| *closing).await.map(drop));
}
