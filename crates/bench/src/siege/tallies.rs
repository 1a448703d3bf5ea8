//! Counts of what the siege did.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// How often what was done.
#[derive(Debug, Default, Serialize)]
pub struct Tallies {
    /// Requests with rows that were acknowledged.
    pub writes: AtomicU64,
    /// Requests with rows that were refused for now: no room, a full disk.
    pub refused_writes: AtomicU64,
    /// Requests that were sent again under their key, after a kill.
    pub repeated_writes: AtomicU64,
    /// Rows of mixed types and names.
    pub messy_rows: AtomicU64,
    /// Appends by processes.
    pub appends: AtomicU64,
    /// Insertions by processes.
    pub inserts: AtomicU64,
    /// Answers that were checked.
    pub answers: AtomicU64,
    /// Questions that found no place in time.
    pub busy: AtomicU64,
    /// Hostile questions, connections and bodies.
    pub hostile: AtomicU64,
    /// Processes of upkeep that ended by themselves.
    pub upkeep: AtomicU64,
    /// Those of them that refused.
    pub refused_upkeep: AtomicU64,
    /// Ensembles played, each killed and resumed or not.
    pub ensembles: AtomicU64,
    /// Processes that were killed beside the server.
    pub killed_processes: AtomicU64,
}

impl Tallies {
    /// Counts one more.
    pub(super) fn count(which: &AtomicU64) {
        which.fetch_add(1, Ordering::Relaxed);
    }
}
