//! Shared state of a run and its watcher: progress, aggregates, and the request to stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ensemble::{Aggregate, Aggregates};

use crate::meter::Meter;

/// Shared by a run's workers and its watcher.
#[derive(Debug, Default)]
pub struct Control {
    pub meter: Arc<Meter>,
    blocks: AtomicU64,
    draining: AtomicBool,
    abandoned: AtomicBool,
    enough: AtomicBool,
    aggregates: Mutex<Aggregates>,
}

impl Control {
    /// Blocks played so far: one for each entity of each world.
    pub fn done(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, blocks: u64) {
        self.blocks.fetch_add(blocks, Ordering::Relaxed);
    }

    /// The aggregate of a followed outcome over all committed ranges; entity and outcome are indexes into the
    /// catalogue.
    pub fn aggregate(&self, entity: usize, outcome: usize) -> Option<Aggregate> {
        self.aggregates().get(entity, outcome).cloned()
    }

    pub(crate) fn aggregates(&self) -> MutexGuard<'_, Aggregates> {
        self.aggregates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests a stop: the first request finishes the current ranges, the second drops them. Returns whether this was
    /// the first.
    pub fn stop(&self) -> bool {
        let first = !self.draining.swap(true, Ordering::SeqCst);
        if !first {
            self.abandoned.store(true, Ordering::SeqCst);
        }
        first
    }

    /// Ends the run because its goal is met.
    pub(crate) fn end_with_enough(&self) {
        self.enough.store(true, Ordering::SeqCst);
        self.draining.store(true, Ordering::SeqCst);
    }

    pub(crate) fn has_enough(&self) -> bool {
        self.enough.load(Ordering::SeqCst)
    }

    pub(crate) fn abandon(&self) {
        self.draining.store(true, Ordering::SeqCst);
        self.abandoned.store(true, Ordering::SeqCst);
    }

    /// Whether the run begins no more ranges.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::SeqCst)
    }
}
