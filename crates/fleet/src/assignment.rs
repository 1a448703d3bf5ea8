//! A range that the broker delivered to this worker.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ensemble::WrittenRange;
use lapin::options::{BasicAckOptions, BasicNackOptions};
use lapin::{Acker, Channel};
use run::Times;
use world::WorldRange;

use crate::broker::Link;
use crate::job::Job;
use crate::progress::Progress;

/// A range and its message.
pub(crate) struct Assignment {
    pub(crate) job: Arc<Job>,
    pub(crate) range: WorldRange,
    pub(crate) acker: Acker,
    /// Stays open until the message is answered.
    pub(crate) _channel: Channel,
    /// The connection that the message came over.
    pub(crate) link: Arc<Link>,
    pub(crate) progress: Arc<Progress>,
    /// Time from publishing the message to its arrival.
    pub(crate) dispatch: Duration,
    pub(crate) arrived: Instant,
}

/// A played range, not committed yet.
pub(crate) struct Played {
    pub(crate) assignment: Assignment,
    pub(crate) written: WrittenRange,
    pub(crate) times: Times,
}

impl Assignment {
    /// Acknowledges the message: the range is done.
    pub(crate) async fn acknowledge(&self) {
        if let Err(error) = self.link.ask(self.acker.ack(BasicAckOptions::default())).await {
            // The broker delivers the message again, and the ledger then shows the range as done.
            tracing::debug!(%error, range = %self.range, "could not acknowledge a message");
        }
    }

    pub(crate) async fn requeue(&self) {
        self.refuse(true).await;
    }

    /// Moves the message to the broker's dead letters.
    pub(crate) async fn give_up(&self) {
        self.refuse(false).await;
    }

    async fn refuse(&self, requeue: bool) {
        if let Err(error) = self.link.ask(self.acker.nack(BasicNackOptions { requeue, multiple: false })).await {
            // The connection is gone, so the broker requeues its messages.
            tracing::debug!(%error, range = %self.range, "could not return a message");
        }
    }
}
