//! What a running ensemble and its watcher share: progress one way, the wish to stop the other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared by the workers and whoever watches them.
#[derive(Debug, Default)]
pub struct Control {
    blocks: AtomicU64,
    draining: AtomicBool,
    abandoned: AtomicBool,
}

impl Control {
    /// Work done so far: one for each entity of each world.
    pub fn done(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, blocks: u64) {
        self.blocks.fetch_add(blocks, Ordering::Relaxed);
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

    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::SeqCst);
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
