//! Ranges waiting for a player thread; takes from ensembles in turn.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::assignment::Assignment;

#[derive(Default)]
struct State {
    waiting: BTreeMap<i64, VecDeque<Assignment>>,
    /// The ensemble served last.
    last: i64,
    is_closed: bool,
}

/// The queue between the broker and the player threads.
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

    /// Waits for the next assignment, from the ensemble after the last one. `None` once the inbox is closed.
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

    /// Removes the waiting assignments of an ensemble.
    pub(crate) fn withdraw(&self, ensemble: i64) -> VecDeque<Assignment> {
        self.lock().waiting.remove(&ensemble).unwrap_or_default()
    }

    pub(crate) fn clear(&self) -> Vec<Assignment> {
        std::mem::take(&mut self.lock().waiting).into_values().flatten().collect()
    }

    /// Closes the inbox: every waiting and later `take` returns `None`.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }
}
