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

/// A shared memory limit.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    room: Arc<Semaphore>,
    limit: u64,
    refused: Arc<AtomicU64>,
}

/// A share of the budget, given back on drop.
pub(crate) type Share = OwnedSemaphorePermit;

impl Budget {
    fn new(limit: u64) -> Self {
        Self { room: Arc::new(Semaphore::new((limit / UNIT) as usize)), limit, refused: Arc::default() }
    }

    /// Takes a share for each part of a request, of its bytes, or `None` if there is no room for all now. A request above
    /// the whole budget gets all of it, alone.
    pub(crate) fn take_each(&self, parts: impl Iterator<Item = u64>) -> Option<Vec<Share>> {
        let parts: Vec<u64> = parts.map(|bytes| bytes.div_ceil(UNIT)).collect();
        let units = parts.iter().sum::<u64>().min(self.limit / UNIT);
        let Ok(mut all) = self.room.clone().try_acquire_many_owned(units as u32) else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        let share = |units: u64| all.split(all.num_permits().min(units as usize));
        parts.into_iter().map(share).collect()
    }

    /// The error of a request that finds no room.
    pub(crate) fn overloaded(&self) -> IngestError {
        IngestError::Overloaded { waiting: self.used(), limit: self.limit, after: Duration::from_secs(1) }
    }

    pub(crate) fn used(&self) -> u64 {
        self.limit.saturating_sub(self.room.available_permits() as u64 * UNIT)
    }

    pub(crate) fn limit(&self) -> u64 {
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
