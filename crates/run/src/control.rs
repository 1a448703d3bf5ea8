//! What a running ensemble and its watcher share: progress and what is known so far one way, the wish to stop the other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ensemble::{Aggregate, Aggregates};

use crate::meter::Meter;

/// Shared by the workers of one run and whoever watches them.
#[derive(Debug, Default)]
pub struct Control {
    /// Where the time goes.
    pub meter: Arc<Meter>,
    blocks: AtomicU64,
    draining: AtomicBool,
    abandoned: AtomicBool,
    enough: AtomicBool,
    known: Mutex<Aggregates>,
}

impl Control {
    /// Work done so far: one for each entity of each world.
    pub fn done(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, blocks: u64) {
        self.blocks.fetch_add(blocks, Ordering::Relaxed);
    }

    /// What is known, from the ranges that are committed, of an outcome that is followed: entity and outcome are places in
    /// the catalogue.
    pub fn known(&self, entity: usize, outcome: usize) -> Option<Aggregate> {
        self.aggregates().get(entity, outcome).cloned()
    }

    pub(crate) fn aggregates(&self) -> MutexGuard<'_, Aggregates> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a stop. The first time the ranges under way are finished; the second time they are dropped. Returns
    /// whether this was the first time.
    pub fn stop(&self) -> bool {
        let first = !self.draining.swap(true, Ordering::SeqCst);
        if !first {
            self.abandoned.store(true, Ordering::SeqCst);
        }
        first
    }

    /// What was to be known is known well enough: no more ranges are taken up.
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

    /// Whether no more ranges are to be taken up.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::SeqCst)
    }
}
