//! Queries that run, so that clients can cancel them by their tickets.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::task::AbortHandle;

use super::Client;
use crate::answers::Answer;

/// The queries whose rows a client reads. Each lives as long as its stream.
#[derive(Default)]
pub(super) struct Runs(Mutex<Vec<Weak<Run>>>);

/// A query that runs.
pub(super) struct Run {
    /// The number in its ticket; `None`: it cannot be cancelled by a ticket.
    ticket: Option<u64>,
    /// The name of the token, if the server has tokens.
    owner: Option<String>,
    task: AbortHandle,
    cancelled: AtomicBool,
}

impl Run {
    /// Whether a client cancelled this query, so that the end of its rows is not their end.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }
}

impl Runs {
    /// Adds the query of `answer` until the result is dropped.
    pub(super) fn add(&self, client: &Client, ticket: Option<u64>, answer: &Answer) -> Arc<Run> {
        let owner = client.asker.access.name().map(str::to_owned);
        let run = Arc::new(Run { ticket, owner, task: answer.task(), cancelled: AtomicBool::new(false) });
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|run| run.strong_count() > 0);
        runs.push(Arc::downgrade(&run));
        run
    }

    /// Ends the queries that `client` runs with a ticket, also if nobody reads their rows. Returns whether there were
    /// any.
    pub(super) fn cancel(&self, client: &Client, ticket: u64) -> bool {
        let owner = client.asker.access.name();
        let runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = |run: &Arc<Run>| run.ticket == Some(ticket) && run.owner.as_deref() == owner;
        let found: Vec<_> = runs.iter().filter_map(Weak::upgrade).filter(own).collect();
        for run in &found {
            run.cancelled.store(true, Ordering::Release);
            run.task.abort();
        }
        !found.is_empty()
    }
}
