//! Counts of the siege's actions.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// Counts of actions, which the report describes.
#[derive(Debug, Default, Serialize)]
pub struct ActionCounts {
    pub writes: AtomicU64,
    /// Requests with rows refused temporarily, for lack of memory or disk space.
    pub refused_writes: AtomicU64,
    pub repeated_writes: AtomicU64,
    pub messy_rows: AtomicU64,
    pub appends: AtomicU64,
    pub inserts: AtomicU64,
    pub answers: AtomicU64,
    pub busy: AtomicU64,
    pub hostile: AtomicU64,
    pub upkeep: AtomicU64,
    pub refused_upkeep: AtomicU64,
    pub ensembles: AtomicU64,
    pub killed_processes: AtomicU64,
}

impl ActionCounts {
    pub(super) fn count(which: &AtomicU64) {
        which.fetch_add(1, Ordering::Relaxed);
    }
}
