//! The summary of a run.

use std::time::Duration;

use ensemble::{EnsembleError, KnownOutcome, StoredEnsemble};
use serde::{Deserialize, Serialize};
use world::ContentHash;

/// Stored outcomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct OutcomeTotals {
    /// Rows: one for each entity, outcome and range.
    pub rows: u64,
    /// Values: one for each entity, outcome and world.
    pub values: u64,
    pub bytes: u64,
    /// Bits per value on disk.
    pub bits_per_value: f64,
}

/// Stored events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EventTotals {
    pub rows: u64,
    pub bytes: u64,
    /// Bytes per row on disk.
    pub bytes_per_row: f64,
    /// Content hash; `None` if events are replayed.
    pub hash: Option<String>,
}

/// Time by phase, in seconds; all but commits are summed over the worker threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    pub simulate_s: f64,
    /// Encoding, compressing and hashing.
    pub encode_s: f64,
    /// Writing and syncing files.
    pub write_s: f64,
    pub commit_s: f64,
    /// Idle worker threads.
    pub wait_s: f64,
}

/// A run, and its ensemble after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub ensemble: String,
    /// Version of the ensemble.
    pub version: u64,
    /// Stored worlds.
    pub worlds: usize,
    /// Worlds that this run played.
    pub played: usize,
    /// Whether every world is stored.
    pub complete: bool,
    /// Whether it ended early because its goal was met.
    pub is_enough: bool,
    pub wall_s: f64,
    pub cpu_s: f64,
    pub peak_rss_bytes: u64,
    /// Content hash of the stored outcomes.
    pub hash: String,
    pub outcomes: OutcomeTotals,
    pub events: EventTotals,
    pub phases: Phases,
    pub threads: usize,
    /// Summaries of the followed outcomes over all stored worlds, or over the worlds of this run if the version
    /// replaces another.
    pub known: Vec<KnownOutcome>,
}

/// Adds up the metadata of an ensemble's segments.
pub(crate) fn totals(stored: &StoredEnsemble) -> Result<(ContentHash, OutcomeTotals, EventTotals), EnsembleError> {
    let mut hash = ContentHash::default();
    let mut outcomes = OutcomeTotals { bytes: stored.bytes().0, ..OutcomeTotals::default() };
    for reader in stored.open_outcomes()? {
        hash += reader.metadata().hash;
        outcomes.values += reader.metadata().items;
        outcomes.rows += (0..reader.segment().row_groups()).map(|g| reader.segment().rows(g) as u64).sum::<u64>();
    }
    outcomes.bits_per_value = ratio(outcomes.bytes * 8, outcomes.values);
    let mut events = EventTotals { bytes: stored.bytes().1, ..EventTotals::default() };
    let mut event_hash = ContentHash::default();
    stored.fetch(&stored.events)?;
    for segment in &stored.events {
        let reader = stored.open(segment)?;
        event_hash += reader.metadata().hash;
        events.rows += reader.metadata().items;
    }
    events.bytes_per_row = ratio(events.bytes, events.rows);
    events.hash = (!stored.events.is_empty()).then(|| event_hash.to_string());
    Ok((hash, outcomes, events))
}

fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

pub(crate) fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e6
}
