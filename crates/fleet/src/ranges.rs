//! Moves a range between broker, ledger and tables: claim, give back, fail; ends its ensemble.

use std::sync::Arc;
use std::time::Duration;

use run::Meter;
use uuid::Uuid;

use crate::assignment::Assignment;
use crate::error::FleetError;
use crate::halt::{Halt, HaltSignal};
use crate::job::Job;
use crate::ledger::{Claim, Ledger, State, Verdict};
use crate::progress::Claims;
use crate::retry::Retry;
use crate::tables::Tables;

/// Delay before a paused ensemble's range is requeued, so that it does not return at once.
const PAUSED: Duration = Duration::from_millis(200);

/// Shared by a worker's tasks and threads to move ranges.
pub(crate) struct Ranges {
    /// The worker's number in the ledger.
    pub(crate) worker: Uuid,
    pub(crate) ledger: Ledger,
    pub(crate) tables: Tables,
    pub(crate) claims: Claims,
    pub(crate) meter: Arc<Meter>,
    pub(crate) halt: HaltSignal,
    pub(crate) retry: Retry,
}

impl Ranges {
    /// Claims a range in the ledger; returns whether to play it. Settles the message otherwise.
    pub(crate) async fn claim(&self, assignment: &Assignment) -> bool {
        let (ensemble, range) = (assignment.job.id, assignment.range);
        match self.retry.run(|| self.ledger.claim(ensemble, range, self.worker)).await {
            Some(Ok(Claim::Play)) => {
                self.claims.hold(ensemble, range, &assignment.progress);
                return true;
            }
            Some(Ok(Claim::Settled)) => assignment.acknowledge().await,
            Some(Ok(Claim::Later)) => {
                self.halt.rest(PAUSED, Halt::Drain).await;
                assignment.requeue().await;
            }
            Some(Err(error)) => {
                tracing::error!(%error, %range, "could not claim a range");
                assignment.requeue().await;
            }
            // The broker requeues the message when the connection ends.
            None => {}
        }
        false
    }

    /// Releases a claimed range to other workers.
    pub(crate) async fn give_back(&self, assignment: &Assignment) {
        let (ensemble, range) = (assignment.job.id, assignment.range);
        self.claims.release(ensemble, range);
        self.meter.gave_back();
        if let Err(error) = self.ledger.give_back(ensemble, range).await {
            tracing::warn!(%error, %range, "could not note that a range is given back");
        }
        assignment.requeue().await;
    }

    /// Notes a failure; the message is requeued, or dead-lettered if the range is given up.
    pub(crate) async fn fail(&self, assignment: &Assignment, reason: &str) {
        let (ensemble, range) = (assignment.job.id, assignment.range);
        self.claims.release(ensemble, range);
        tracing::warn!(%range, reason, "a range failed");
        self.meter.failed();
        match self.retry.run(|| self.ledger.note_failure(ensemble, range, reason)).await {
            Some(Ok(Verdict::GivenUp)) => {
                assignment.give_up().await;
                self.settle(&assignment.job).await;
            }
            Some(Ok(Verdict::Again)) | None => assignment.requeue().await,
            Some(Err(error)) => {
                tracing::error!(%error, %range, "could not note a failure");
                assignment.requeue().await;
            }
        }
    }

    /// Ends an ensemble without remaining ranges; a new version then replaces the old one. Several workers may do so at
    /// once.
    pub(crate) async fn settle(&self, job: &Job) {
        if let Err(error) = self.try_to_settle(job).await {
            // The next look at the ledger retries.
            tracing::warn!(%error, ensemble = job.name(), "could not end an ensemble");
        }
    }

    async fn try_to_settle(&self, job: &Job) -> Result<(), FleetError> {
        let Some(end) = self.ledger.ended_as(job.id).await? else {
            return Ok(());
        };
        if end == State::Complete && job.replaces {
            self.tables.open(job.name()).await?.switch(&job.player.ensemble).await?;
        }
        if self.ledger.turn(job.id, &[State::Running, State::Paused], end).await? {
            tracing::info!(ensemble = job.name(), state = end.into_str(), "ended");
        }
        Ok(())
    }
}
