//! Notifications of changes in the ledger.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::{Ledger, PATIENCE, Result, in_time};

/// The channel that the triggers in `migrations/0002_changes.sql` notify.
const CHANNEL: &str = "manyworlds";
/// Pause before listening again to a ledger that is away.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the ledger may be silent before the connection is checked.
const QUIET: Duration = Duration::from_mins(1);

/// Learns when an ensemble is submitted or changes its state.
#[derive(Debug)]
pub struct Changes {
    heard: Arc<Notify>,
    listening: JoinHandle<()>,
}

impl Changes {
    /// Waits until something has changed since the last wait, but no longer than `patience`: notifications are lost while
    /// the connection is broken.
    pub async fn wait(&self, patience: Duration) {
        // After a timeout the caller looks, too.
        let _heard = tokio::time::timeout(patience, self.heard.notified()).await;
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Ledger {
    /// Begins to listen, and reconnects where the connection breaks.
    ///
    /// # Errors
    /// Where the ledger does not answer.
    pub async fn listen(&self) -> Result<Changes> {
        let options = (*self.pool().connect_options()).clone();
        let mut listener = in_time(listener(&options)).await.map_err(self.fail("be listened to"))?;
        let heard = Arc::new(Notify::new());
        let notify = heard.clone();
        let listening = tokio::spawn(async move {
            loop {
                let received = match tokio::time::timeout(QUIET, listener.recv()).await {
                    Ok(received) => received.map(drop),
                    // A dead connection is silent, too.
                    Err(_) => in_time(listener.listen(CHANNEL)).await,
                };
                notify.notify_one();
                if let Err(error) = received {
                    tracing::debug!(%error, "could not listen to the ledger");
                    tokio::time::sleep(PAUSE).await;
                    if let Ok(fresh) = in_time(self::listener(&options)).await {
                        listener = fresh;
                    }
                }
            }
        });
        Ok(Changes { heard, listening })
    }
}

/// Listens over a connection of its own, outside the pool of queries.
async fn listener(options: &PgConnectOptions) -> std::result::Result<PgListener, sqlx::Error> {
    let one = PgPoolOptions::new().max_connections(1).acquire_timeout(PATIENCE).connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&one).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}
