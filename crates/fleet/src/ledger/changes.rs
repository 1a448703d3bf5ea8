//! Hearing of changes in the ledger when they are made.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::{Ledger, PATIENCE, Result, in_time};

/// What the ledger's triggers call, in `migrations/0002_changes.sql`.
const CHANNEL: &str = "manyworlds";
/// How long to wait for a ledger that is gone before it is listened to anew.
const PAUSE: Duration = Duration::from_secs(1);
/// How long it may be quiet before it is asked whether it is still there.
const QUIET: Duration = Duration::from_mins(1);

/// Hears when an ensemble comes, and when its state changes.
#[derive(Debug)]
pub struct Changes {
    heard: Arc<Notify>,
    listening: JoinHandle<()>,
}

impl Changes {
    /// Waits until something has changed since the last wait, but no longer than `patience`: what is told while the
    /// connection is broken is not heard.
    pub async fn wait(&self, patience: Duration) {
        // Either way it is time to look.
        let _heard = tokio::time::timeout(patience, self.heard.notified()).await;
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Ledger {
    /// Begins to listen; where the connection breaks, again and again.
    ///
    /// # Errors
    /// Where the ledger does not answer.
    pub async fn listen(&self) -> Result<Changes> {
        let options = (*self.pool().connect_options()).clone();
        let mut listener = in_time(listener(&options)).await.map_err(self.fail("be listened to"))?;
        let heard = Arc::new(Notify::new());
        let tell = heard.clone();
        let listening = tokio::spawn(async move {
            loop {
                let received = match tokio::time::timeout(QUIET, listener.recv()).await {
                    Ok(received) => received.map(drop),
                    // A dead connection is quiet, too.
                    Err(_) => in_time(listener.listen(CHANNEL)).await,
                };
                tell.notify_one();
                if let Err(error) = received {
                    tracing::debug!(%error, "the ledger is not heard");
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

/// Listens over a connection that it keeps: not one of those that questions wait for.
async fn listener(options: &PgConnectOptions) -> std::result::Result<PgListener, sqlx::Error> {
    let one = PgPoolOptions::new().max_connections(1).acquire_timeout(PATIENCE).connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&one).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}
