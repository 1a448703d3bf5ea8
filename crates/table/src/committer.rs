//! One committer per table and process. It combines concurrent changes into one version.

use tokio::sync::{mpsc, oneshot};

use crate::error::TableError;
use crate::log::{Change, Committed, Table};

/// Maximum changes that wait for a commit; further writers block.
const WAITING_MAX: usize = 256;

struct Request {
    change: Change,
    done: oneshot::Sender<Result<Committed, TableError>>,
}

/// Commits the changes of any number of writers in order of arrival. When dropped, it commits the remaining changes
/// and stops.
#[derive(Debug, Clone)]
pub(crate) struct Committer {
    requests: mpsc::Sender<Request>,
}

impl Committer {
    /// Starts a task that commits to `table`. Call it inside a tokio runtime.
    pub(crate) fn start(table: Table) -> Self {
        let (requests, waiting) = mpsc::channel(WAITING_MAX);
        tokio::spawn(serve(table, waiting));
        Self { requests }
    }

    /// Commits a change and returns once it is durable. Fails like [`Table::commit`].
    pub(crate) async fn commit(&self, change: Change) -> Result<Committed, TableError> {
        let (done, answer) = oneshot::channel();
        self.requests.send(Request { change, done }).await.map_err(|_| TableError::CommitterGone)?;
        answer.await.map_err(|_| TableError::CommitterGone)?
    }
}

async fn serve(mut table: Table, mut waiting: mpsc::Receiver<Request>) {
    let mut requests = Vec::new();
    while waiting.recv_many(&mut requests, WAITING_MAX).await > 0 {
        let (changes, answers): (Vec<_>, Vec<_>) = requests.drain(..).map(|r| (r.change, r.done)).unzip();
        if changes.len() > 1
            && let Ok(committed) = table.commit_all(&changes).await
        {
            answers.into_iter().zip(committed).for_each(|(done, committed)| answer(done, Ok(committed)));
            continue;
        }
        // Commit alone or one by one, so that an invalid change does not fail the others.
        for (done, change) in answers.into_iter().zip(&changes) {
            answer(done, table.commit(change).await);
        }
    }
}

/// Sends a writer the result, unless the writer has stopped waiting.
fn answer(done: oneshot::Sender<Result<Committed, TableError>>, committed: Result<Committed, TableError>) {
    if done.send(committed).is_err() {
        tracing::debug!("a writer stopped waiting for its commit");
    }
}
