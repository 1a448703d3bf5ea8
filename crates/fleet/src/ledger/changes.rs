//! Notifications of changes in the ledger.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::{Ledger, PATIENCE, Result, in_time};

/// The channel that the triggers in `migrations/0002_changes.sql` notify.
const CHANNEL: &str = "manyworlds";
/// Pause before listening again after an outage of the ledger.
const PAUSE: Duration = Duration::from_secs(1);
/// Silence after which the connection is checked.
const QUIET: Duration = Duration::from_mins(1);

/// Notifies of submitted ensembles and changed states.
#[derive(Debug)]
pub struct Changes {
    heard: Arc<Notify>,
    listening: JoinHandle<()>,
}

impl Changes {
    /// Waits for a change since the last wait, for at most `patience`: a broken connection loses notifications.
    pub async fn wait(&self, patience: Duration) {
        // After a timeout, the caller looks anyway.
        let _heard = tokio::time::timeout(patience, self.heard.notified()).await;
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Ledger {
    /// Starts listening, and reconnects after a broken connection.
    ///
    /// # Errors
    /// If the ledger does not answer.
    pub async fn listen(&self) -> Result<Changes> {
        let options = (*self.pool().connect_options()).clone();
        let mut listener = in_time(listener(&options)).await.map_err(self.fail("be listened to"))?;
        let heard = Arc::new(Notify::new());
        let notify = heard.clone();
        let listening = tokio::spawn(async move {
            loop {
                let received = match tokio::time::timeout(QUIET, listener.recv()).await {
                    Ok(received) => received.map(drop),
                    // Silence may mean a dead connection, so listen anew.
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

/// Listens on a connection outside the query pool.
async fn listener(options: &PgConnectOptions) -> std::result::Result<PgListener, sqlx::Error> {
    let one = PgPoolOptions::new().max_connections(1).acquire_timeout(PATIENCE).connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&one).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}
