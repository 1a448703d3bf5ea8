//! The fate of each request, as its sender knows it.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use super::rows::{TABLES, table_of};

/// The fate of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Sent without a reply: stored completely or not at all.
    Sent,
    /// Sent by a process that failed: may be stored in part.
    Torn,
    /// Acknowledged: stored completely, once.
    Acknowledged,
    /// Refused: not stored.
    Refused,
}

/// All requests with numbered rows, by number.
#[derive(Default)]
pub(super) struct Ledger(Mutex<State>);

#[derive(Default)]
struct State {
    fates: Vec<Fate>,
    /// Unanswered requests with a key; they may be sent again.
    again: BTreeSet<u64>,
    /// By table: requests below this number may be removed.
    removed: [u64; TABLES as usize],
    /// By table: requests below this number are removed, and must not come back.
    gone: [u64; TABLES as usize],
}

impl Ledger {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request, and returns its number.
    pub(super) fn begin(&self) -> u64 {
        let mut state = self.state();
        state.fates.push(Fate::Sent);
        state.fates.len() as u64 - 1
    }

    /// Adds `count` requests to one table, and returns their numbers.
    pub(super) fn begin_for(&self, table: usize, count: usize) -> Vec<u64> {
        let mut state = self.state();
        let mut requests = Vec::new();
        while requests.len() < count {
            let request = state.fates.len() as u64;
            let is_ours = table_of(request) == table;
            // Requests to other tables are skipped, and never sent.
            state.fates.push(if is_ours { Fate::Sent } else { Fate::Refused });
            requests.extend(is_ours.then_some(request));
        }
        requests
    }

    pub(super) fn set(&self, request: u64, fate: Fate) {
        self.state().fates[request as usize] = fate;
    }

    /// Keeps a request with a key, to send it again later.
    pub(super) fn keep(&self, request: u64) {
        self.state().again.insert(request);
    }

    /// Takes a request to send again, if any.
    pub(super) fn take_kept(&self) -> Option<u64> {
        self.state().again.pop_first()
    }

    pub(super) fn len(&self) -> u64 {
        self.state().fates.len() as u64
    }

    pub(super) fn fates(&self) -> Vec<Fate> {
        self.state().fates.clone()
    }

    /// Notes that requests below `request` may be removed from a table.
    pub(super) fn remove_below(&self, table: usize, request: u64) {
        let below = &mut self.state().removed[table];
        *below = (*below).max(request);
    }

    /// The number below which requests of a table may be removed.
    pub(super) fn removed_below(&self, table: usize) -> u64 {
        self.state().removed[table]
    }

    /// Notes that requests below `request` are removed from a table. The caller must not send any of them again.
    pub(super) fn gone_below(&self, table: usize, request: u64) {
        let mut state = self.state();
        state.gone[table] = state.gone[table].max(request);
    }

    /// The number below which requests of a table must be removed.
    pub(super) fn is_gone_below(&self, table: usize) -> u64 {
        self.state().gone[table]
    }

    /// The first request that may be sent again.
    pub(super) fn first_kept(&self) -> Option<u64> {
        self.state().again.first().copied()
    }

    /// The acknowledged requests of a table that are not removed.
    pub(super) fn acknowledged(&self, table: usize) -> Vec<u64> {
        let state = self.state();
        let of_table = (state.removed[table]..state.fates.len() as u64).filter(|request| table_of(*request) == table);
        of_table.filter(|request| state.fates[*request as usize] == Fate::Acknowledged).collect()
    }

    /// The number of requests of a table that may be stored.
    pub(super) fn sent(&self, table: usize) -> u64 {
        let state = self.state();
        let of_table = state.fates.iter().zip(0..).filter(|(_, request)| table_of(*request) == table);
        of_table.filter(|(fate, _)| **fate != Fate::Refused).count() as u64
    }
}

/// The values of a row, and whether it was acknowledged; `None` if it was refused.
type Sent = Option<(Map<String, Value>, bool)>;

/// The rows of mixed types, by number.
#[derive(Default)]
pub(super) struct MessyLedger(Mutex<Vec<Sent>>);

impl MessyLedger {
    pub(super) fn rows(&self) -> MutexGuard<'_, Vec<Sent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
