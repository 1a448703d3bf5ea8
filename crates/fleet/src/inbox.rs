//! Ranges that a worker has messages for and has not taken up, ensemble by ensemble in turn.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lapin::options::{BasicAckOptions, BasicNackOptions};
use lapin::{Acker, Channel};
use world::WorldRange;

use crate::broker::Link;
use crate::job::Job;
use crate::progress::Progress;

/// A message that a worker has.
pub(crate) struct Assignment {
    pub(crate) job: Arc<Job>,
    pub(crate) range: WorldRange,
    pub(crate) acker: Acker,
    /// Stays open until the message is answered.
    pub(crate) _channel: Channel,
    /// The connection that it came over.
    pub(crate) link: Arc<Link>,
    /// Whether it got on since it was asked last.
    pub(crate) progress: Arc<Progress>,
    /// From the message's making to its arrival.
    pub(crate) dispatch: Duration,
    pub(crate) arrived: Instant,
}

impl Assignment {
    /// Tells the broker that the range is settled.
    pub(crate) async fn acknowledge(&self) {
        if let Err(error) = self.link.ask(self.acker.ack(BasicAckOptions::default())).await {
            // It comes again, and is found to be done.
            tracing::debug!(%error, range = %self.range, "the broker was not told that it is done");
        }
    }

    /// Lets the broker hand the range out again.
    pub(crate) async fn requeue(&self) {
        self.refuse(true).await;
    }

    /// Puts the message among the broker's dead letters.
    pub(crate) async fn give_up(&self) {
        self.refuse(false).await;
    }

    async fn refuse(&self, requeue: bool) {
        if let Err(error) = self.link.ask(self.acker.nack(BasicNackOptions { requeue, multiple: false })).await {
            // The connection is gone, and with it this worker's hold on the message.
            tracing::debug!(%error, range = %self.range, "the broker was not told of it");
        }
    }
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<i64, VecDeque<Assignment>>,
    /// The ensemble that was served last.
    last: i64,
    is_closed: bool,
}

/// What player threads take assignments from.
#[derive(Default)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, assignment: Assignment) {
        self.lock().waiting.entry(assignment.job.id).or_default().push_back(assignment);
        self.changed.notify_one();
    }

    /// The next assignment, of the ensemble after the one that was served last; waits for one. `None` once it is closed.
    pub(crate) fn take(&self) -> Option<Assignment> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            let after = state.last + 1;
            let next = state.waiting.range(after..).next().or_else(|| state.waiting.iter().next());
            if let Some(ensemble) = next.map(|(ensemble, _)| *ensemble) {
                state.last = ensemble;
                let queue = state.waiting.get_mut(&ensemble);
                let taken = queue.and_then(VecDeque::pop_front);
                if state.waiting.get(&ensemble).is_none_or(VecDeque::is_empty) {
                    state.waiting.remove(&ensemble);
                }
                if taken.is_some() {
                    return taken;
                }
                continue;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes out what waits of an ensemble.
    pub(crate) fn withdraw(&self, ensemble: i64) -> VecDeque<Assignment> {
        self.lock().waiting.remove(&ensemble).unwrap_or_default()
    }

    /// Takes out everything that waits.
    pub(crate) fn clear(&self) -> Vec<Assignment> {
        std::mem::take(&mut self.lock().waiting).into_values().flatten().collect()
    }

    /// Lets all who wait go; nothing is handed out any more.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }
}
