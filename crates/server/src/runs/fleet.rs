//! The fleet that the server knows: its ledger, and what that says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ::fleet::{EnsembleStatus, FleetError, Ledger, WorkerStatus};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::settings::FleetSettings;

/// Time between questions to the ledger while somebody watches.
const LOOK_EACH: Duration = Duration::from_millis(300);
/// Time for the first answer of the ledger.
const PATIENCE: Duration = Duration::from_secs(3);

/// A fleet. Its ledger is opened when it is first needed, so that the server starts without it.
pub(crate) struct Fleet {
    pub(crate) settings: FleetSettings,
    ledger: tokio::sync::Mutex<Option<Ledger>>,
    seen: Mutex<Seen>,
    /// Counts the answers of the ledger.
    answers: watch::Sender<u64>,
}

#[derive(Default)]
struct Seen {
    at: Option<Instant>,
    /// The time at which the question was asked whose answer is in the view.
    asked_at: Option<Instant>,
    is_asking: bool,
    view: View,
}

impl Seen {
    /// Takes an answer to a question asked at `asked_at`, unless a later question has been answered.
    fn take(&mut self, asked_at: Instant, answer: Result<(Vec<EnsembleStatus>, Vec<WorkerStatus>), FleetError>) {
        if self.asked_at <= Some(asked_at) {
            self.asked_at = Some(asked_at);
            match answer {
                Ok((ensembles, workers)) => {
                    self.view = View { ensembles: Arc::new(ensembles), workers: Arc::new(workers), error: None };
                }
                Err(error) => self.view.error = Some(error.to_string()),
            }
        }
        (self.at, self.is_asking) = (Some(Instant::now()), false);
    }
}

/// What the ledger said last.
#[derive(Clone, Default)]
pub(crate) struct View {
    pub(crate) ensembles: Arc<Vec<EnsembleStatus>>,
    pub(crate) workers: Arc<Vec<WorkerStatus>>,
    /// Why the ledger does not answer now.
    pub(crate) error: Option<String>,
}

impl Fleet {
    pub(crate) fn new(settings: FleetSettings) -> Arc<Self> {
        Arc::new(Self {
            settings,
            ledger: tokio::sync::Mutex::default(),
            seen: Mutex::default(),
            answers: watch::Sender::new(0),
        })
    }

    /// # Errors
    /// If the ledger cannot be reached.
    pub(crate) async fn ledger(&self) -> Result<Ledger, FleetError> {
        let mut ledger = self.ledger.lock().await;
        if let Some(ledger) = &*ledger {
            return Ok(ledger.clone());
        }
        let address = self.settings.ledger.clone();
        // The future of its migrations cannot move between threads.
        let opening = tokio::task::spawn_blocking(move || Handle::current().block_on(Ledger::open(&address)));
        let opened = opening.await.unwrap_or_else(|panic| Err(FleetError::Thread(std::io::Error::other(panic))));
        Ok(ledger.insert(opened?).clone())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the ledger said last. Asks it again if that is old; only the first answer is waited for.
    pub(crate) async fn view(self: &Arc<Self>) -> View {
        let mut answers = self.answers.subscribe();
        let (is_first, is_old) = {
            let mut seen = self.seen();
            let is_old = !seen.is_asking && seen.at.is_none_or(|at| at.elapsed() > LOOK_EACH);
            seen.is_asking |= is_old;
            (seen.at.is_none(), is_old)
        };
        if is_old {
            let fleet = self.clone();
            tokio::spawn(async move { fleet.ask().await });
        }
        if is_first && tokio::time::timeout(PATIENCE, answers.changed()).await.is_err() {
            return View { error: Some("the ledger does not answer".to_owned()), ..self.seen().view.clone() };
        }
        self.seen().view.clone()
    }

    /// Asks the ledger now.
    pub(crate) async fn ask(&self) {
        let asked = async {
            let ledger = self.ledger().await?;
            Ok::<_, FleetError>((::fleet::status(&ledger).await?, ::fleet::workers(&ledger).await?))
        };
        let asked_at = Instant::now();
        let asked = asked.await;
        self.seen().take(asked_at, asked);
        self.answers.send_modify(|answers| *answers += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_answer_replaces_no_newer_one() {
        let mut seen = Seen::default();
        let gone = || FleetError::Thread(std::io::Error::other("gone"));
        let first = Instant::now();
        let second = first + Duration::from_millis(1);
        seen.take(second, Ok((Vec::new(), Vec::new())));
        assert!(seen.view.error.is_none());
        seen.is_asking = true;
        seen.take(first, Err(gone()));
        assert!(seen.view.error.is_none() && !seen.is_asking);
        seen.take(second + Duration::from_millis(1), Err(gone()));
        assert!(seen.view.error.is_some());
    }
}
