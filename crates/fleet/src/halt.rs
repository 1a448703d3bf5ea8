//! Asking a worker to end.

use std::time::Duration;

use tokio::sync::watch;

/// How a worker is asked to end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Halt {
    /// Keep working.
    #[default]
    No,
    /// Commit the ranges under way, give back the others, then end.
    Drain,
    /// Drop the ranges under way, too.
    Now,
}

/// The request to end, as threads and tasks of a worker see it.
#[derive(Debug, Clone)]
pub(crate) struct HaltSignal(pub(crate) watch::Receiver<Halt>);

impl HaltSignal {
    pub(crate) fn is_halting(&self) -> bool {
        *self.0.borrow() != Halt::No
    }

    pub(crate) fn drops_all(&self) -> bool {
        *self.0.borrow() == Halt::Now
    }

    /// Waits until the worker is asked to end at least this urgently.
    pub(crate) async fn asked_to(&self, end: Halt) {
        if self.0.clone().wait_for(|halt| *halt >= end).await.is_err() {
            // The sender is gone, so the request never comes.
            std::future::pending::<()>().await;
        }
    }

    /// Sleeps, or returns early when the worker is asked to end at least this urgently.
    pub(crate) async fn rest(&self, pause: Duration, unless: Halt) {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = self.asked_to(unless) => {}
        }
    }
}
