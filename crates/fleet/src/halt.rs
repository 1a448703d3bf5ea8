//! Requests to end a worker.

use std::time::Duration;

use tokio::sync::watch;

/// Whether and how a worker should end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Halt {
    /// Keep working.
    #[default]
    No,
    /// Commit running ranges, give back the others, then end.
    Drain,
    /// Drop running ranges, too.
    Now,
}

/// The request to end, shared by a worker's threads and tasks.
#[derive(Debug, Clone)]
pub(crate) struct HaltSignal(pub(crate) watch::Receiver<Halt>);

impl HaltSignal {
    pub(crate) fn is_halting(&self) -> bool {
        *self.0.borrow() != Halt::No
    }

    pub(crate) fn drops_all(&self) -> bool {
        *self.0.borrow() == Halt::Now
    }

    /// Waits for a request of at least this urgency.
    pub(crate) async fn asked_to(&self, end: Halt) {
        if self.0.clone().wait_for(|halt| *halt >= end).await.is_err() {
            // Without a sender, no request comes.
            std::future::pending::<()>().await;
        }
    }

    /// Sleeps; returns early at a request of at least this urgency.
    pub(crate) async fn rest(&self, pause: Duration, unless: Halt) {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = self.asked_to(unless) => {}
        }
    }
}
