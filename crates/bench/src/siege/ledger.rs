//! What became of each request, as far as its sender knows.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use super::rows::{TABLES, table_of};

/// What is known of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was sent, and nobody said what became of it: it may be there, whole.
    Sent,
    /// A process was to append it and did not end well: it may be there, whole or in part.
    Torn,
    /// It was acknowledged: it is there, whole, once.
    Acknowledged,
    /// It was refused: it is not there.
    Refused,
}

/// All requests of one kind, by number.
#[derive(Default)]
pub(super) struct Ledger(Mutex<State>);

#[derive(Default)]
struct State {
    fates: Vec<Fate>,
    /// Requests with a key that nobody answered, which may be sent again.
    again: BTreeSet<u64>,
    /// Requests below this number may have been removed from each table.
    removed: [u64; TABLES as usize],
    /// Requests below this number are removed from each table, and must not come back.
    gone: [u64; TABLES as usize],
}

impl Ledger {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a new request, sent from now on.
    pub(super) fn begin(&self) -> u64 {
        let mut state = self.state();
        state.fates.push(Fate::Sent);
        state.fates.len() as u64 - 1
    }

    /// The numbers of `count` new requests to one table.
    pub(super) fn begin_for(&self, table: usize, count: usize) -> Vec<u64> {
        let mut state = self.state();
        let mut requests = Vec::new();
        while requests.len() < count {
            let request = state.fates.len() as u64;
            let is_ours = table_of(request) == table;
            // Numbers of other tables are never sent.
            state.fates.push(if is_ours { Fate::Sent } else { Fate::Refused });
            requests.extend(is_ours.then_some(request));
        }
        requests
    }

    /// Says what became of a request.
    pub(super) fn set(&self, request: u64, fate: Fate) {
        self.state().fates[request as usize] = fate;
    }

    /// Keeps a request with a key for sending it again.
    pub(super) fn keep(&self, request: u64) {
        self.state().again.insert(request);
    }

    /// A request to send again, where there is one.
    pub(super) fn take_kept(&self) -> Option<u64> {
        self.state().again.pop_first()
    }

    /// How many requests there are.
    pub(super) fn len(&self) -> u64 {
        self.state().fates.len() as u64
    }

    /// What became of all of them.
    pub(super) fn fates(&self) -> Vec<Fate> {
        self.state().fates.clone()
    }

    /// Says that requests below `request` may go from a table from now on.
    pub(super) fn remove_below(&self, table: usize, request: u64) {
        let below = &mut self.state().removed[table];
        *below = (*below).max(request);
    }

    /// Below which number requests of a table may be gone.
    pub(super) fn removed_below(&self, table: usize) -> u64 {
        self.state().removed[table]
    }

    /// Says that requests below `request` are gone from a table; only where none of them may be sent again.
    pub(super) fn gone_below(&self, table: usize, request: u64) {
        let mut state = self.state();
        state.gone[table] = state.gone[table].max(request);
    }

    /// Below which number requests of a table must be gone.
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

    /// How many requests of a table may be there.
    pub(super) fn sent(&self, table: usize) -> u64 {
        let state = self.state();
        let of_table = state.fates.iter().zip(0..).filter(|(_, request)| table_of(*request) == table);
        of_table.filter(|(fate, _)| **fate != Fate::Refused).count() as u64
    }

    /// The last acknowledged requests of a table that are not removed, at most `count`, the latest first.
    pub(super) fn last_acknowledged(&self, table: usize, count: usize) -> Vec<u64> {
        self.acknowledged(table).into_iter().rev().take(count).collect()
    }
}

/// What a row was sent with, and whether it was acknowledged; nothing where it was refused.
type Sent = Option<(Map<String, Value>, bool)>;

/// The rows of mixed types, by number.
#[derive(Default)]
pub(super) struct MessyLedger(Mutex<Vec<Sent>>);

impl MessyLedger {
    pub(super) fn rows(&self) -> MutexGuard<'_, Vec<Sent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many rows were sent.
    pub(super) fn len(&self) -> u64 {
        self.rows().len() as u64
    }
}
