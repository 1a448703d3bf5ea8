//! Resources shared by the tables of a store: memory for rows, and permits for memory-intensive work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::IngestError;
use crate::options::StoreOptions;

#[derive(Debug, Clone)]
pub(crate) struct Shared {
    /// Bytes between a request and a segment.
    pub(crate) budget: Budget,
    /// Segments encoded at once.
    pub(crate) encoders: Arc<Semaphore>,
    /// Tables merged, trimmed or removed at once: one.
    pub(crate) upkeep: Arc<Semaphore>,
    /// Tables that read rows back from their logs at once: one.
    pub(crate) catching_up: Arc<Semaphore>,
}

impl Shared {
    pub(crate) fn new(options: &StoreOptions) -> Self {
        Self {
            budget: Budget::new(options.memory_bytes),
            encoders: Arc::new(Semaphore::new(options.flushes)),
            upkeep: Arc::new(Semaphore::new(1)),
            catching_up: Arc::new(Semaphore::new(1)),
        }
    }
}

/// Bytes per permit, so that any limit fits a semaphore.
const UNIT: u64 = 1024;

/// A limit on the memory of work that goes on at once.
#[derive(Debug, Clone)]
pub struct Budget {
    room: Arc<Semaphore>,
    limit: u64,
    refused: Arc<AtomicU64>,
}

/// A share of the budget, given back on drop.
pub type Share = OwnedSemaphorePermit;

impl Budget {
    /// A budget of `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Self { room: Arc::new(Semaphore::new((limit / UNIT) as usize)), limit, refused: Arc::default() }
    }

    /// Takes a share of `bytes`, or `None` if there is no room now. Above the whole budget it is all of it, alone.
    pub fn take(&self, bytes: u64) -> Option<Share> {
        self.acquire(bytes.div_ceil(UNIT), 0)
    }

    /// Adds what a share lacks to be of `bytes`, as [`Self::take`] does. Returns false, and adds nothing, without room.
    pub fn grow(&self, share: &mut Share, bytes: u64) -> bool {
        let more = self.acquire(bytes.div_ceil(UNIT), share.num_permits() as u64);
        more.map(|more| share.merge(more)).is_some()
    }

    /// Takes a share for each part of a request, or `None` if there is no room for all of them, as [`Self::take`] does.
    pub(crate) fn take_each(&self, parts: impl Iterator<Item = u64>) -> Option<Vec<Share>> {
        let parts: Vec<u64> = parts.map(|bytes| bytes.div_ceil(UNIT)).collect();
        let mut all = self.acquire(parts.iter().sum(), 0)?;
        let share = |units: u64| all.split(all.num_permits().min(units as usize));
        parts.into_iter().map(share).collect()
    }

    /// Acquires what `units` of permits exceed those held.
    fn acquire(&self, units: u64, held: u64) -> Option<Share> {
        let more = units.min(self.limit / UNIT).saturating_sub(held);
        let permit = self.room.clone().try_acquire_many_owned(more as u32).ok();
        if permit.is_none() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        permit
    }

    /// The error of a request that finds no room.
    pub(crate) fn overloaded(&self) -> IngestError {
        IngestError::Overloaded { waiting: self.used(), limit: self.limit, after: Duration::from_secs(1) }
    }

    /// Bytes taken.
    pub fn used(&self) -> u64 {
        self.limit.saturating_sub(self.room.available_permits() as u64 * UNIT)
    }

    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// How often there was no room.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_back_and_none_is_given_past_the_limit() {
        let budget = Budget::new(10 * UNIT);
        let take = |parts: &[u64]| budget.take_each(parts.iter().copied());
        let all = take(&[1, 1 << 40, 0]).unwrap();
        assert_eq!(all.iter().map(Share::num_permits).collect::<Vec<_>>(), [1, 9, 0]);
        assert_eq!((budget.used(), take(&[1]).is_none(), budget.refused()), (10 * UNIT, true, 1));
        drop(all);
        let shares = take(&[UNIT, 3 * UNIT + 1]).unwrap();
        assert_eq!(budget.used(), 5 * UNIT);
        assert!(take(&[1, 5 * UNIT]).is_none());
        drop(shares);
        assert_eq!(budget.used(), 0);
    }
}
