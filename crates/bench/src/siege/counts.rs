//! Counts of the siege's actions.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// Counts of actions.
#[derive(Debug, Default, Serialize)]
pub struct ActionCounts {
    /// Acknowledged requests with rows.
    pub writes: AtomicU64,
    /// Requests with rows refused temporarily, for lack of memory or disk space.
    pub refused_writes: AtomicU64,
    /// Requests sent again with their key after a kill.
    pub repeated_writes: AtomicU64,
    /// Rows of mixed types and names.
    pub messy_rows: AtomicU64,
    /// Appends by processes.
    pub appends: AtomicU64,
    /// Insertions by processes.
    pub inserts: AtomicU64,
    /// Checked answers.
    pub answers: AtomicU64,
    /// Questions that found the server busy.
    pub busy: AtomicU64,
    /// Hostile questions, connections and bodies.
    pub hostile: AtomicU64,
    /// Successful processes of upkeep.
    pub upkeep: AtomicU64,
    pub refused_upkeep: AtomicU64,
    pub ensembles: AtomicU64,
    /// Killed processes besides the server.
    pub killed_processes: AtomicU64,
}

impl ActionCounts {
    pub(super) fn count(which: &AtomicU64) {
        which.fetch_add(1, Ordering::Relaxed);
    }
}
