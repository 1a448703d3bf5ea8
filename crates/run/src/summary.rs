//! What a run did and what is stored now.

use std::time::Duration;

use ensemble::{EnsembleError, KnownOutcome, StoredEnsemble};
use serde::{Deserialize, Serialize};
use world::ContentHash;

/// Outcomes on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct OutcomeTotals {
    /// Rows: one an entity, outcome and range.
    pub rows: u64,
    /// Values: one an entity, outcome and world.
    pub values: u64,
    /// Bytes of the segments.
    pub bytes: u64,
    /// Bits on disk a value.
    pub bits_per_value: f64,
}

/// Events on disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EventTotals {
    /// Rows.
    pub rows: u64,
    /// Bytes of the segments.
    pub bytes: u64,
    /// Bytes on disk a row.
    pub bytes_per_row: f64,
    /// Content hash; `None` where events are replayed.
    pub hash: Option<String>,
}

/// Where the time went, in seconds: the first three summed over the worker threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Playing worlds.
    pub simulate_s: f64,
    /// Encoding, compressing and hashing.
    pub encode_s: f64,
    /// Writing and syncing files.
    pub write_s: f64,
    /// Committing to the tables.
    pub commit_s: f64,
    /// Worker threads without work.
    pub wait_s: f64,
}

/// A run, and what its ensemble holds after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The ensemble.
    pub ensemble: String,
    /// Its version.
    pub version: u64,
    /// Worlds stored.
    pub worlds: usize,
    /// Worlds that this run played.
    pub played: usize,
    /// Whether every world is stored.
    pub complete: bool,
    /// Whether it ended before every world was played because it was asked to, with what was to be known.
    pub is_enough: bool,
    /// Elapsed time of the run.
    pub wall_s: f64,
    /// Processor time of the run.
    pub cpu_s: f64,
    /// The most memory that the process had at once.
    pub peak_rss_bytes: u64,
    /// Content hash of the outcomes on disk.
    pub hash: String,
    /// Outcomes on disk.
    pub outcomes: OutcomeTotals,
    /// Events on disk.
    pub events: EventTotals,
    /// Where the run's time went.
    pub phases: Phases,
    /// Worker threads.
    pub threads: usize,
    /// What is known of the outcomes that were followed: from all worlds that are stored, of a version that replaces another
    /// from those that this run played.
    pub known: Vec<KnownOutcome>,
}

/// What the segments of an ensemble say they hold.
pub(crate) fn totals(stored: &StoredEnsemble) -> Result<(ContentHash, OutcomeTotals, EventTotals), EnsembleError> {
    let mut hash = ContentHash::default();
    let mut outcomes = OutcomeTotals { bytes: stored.bytes().0, ..OutcomeTotals::default() };
    for reader in stored.open_outcomes()? {
        hash += reader.facts().hash;
        outcomes.values += reader.facts().items;
        outcomes.rows += (0..reader.segment().row_groups()).map(|g| reader.segment().rows(g) as u64).sum::<u64>();
    }
    outcomes.bits_per_value = ratio(outcomes.bytes * 8, outcomes.values);
    let mut events = EventTotals { bytes: stored.bytes().1, ..EventTotals::default() };
    let mut event_hash = ContentHash::default();
    stored.bring(&stored.events)?;
    for segment in &stored.events {
        let reader = stored.open(segment)?;
        event_hash += reader.facts().hash;
        events.rows += reader.facts().items;
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
