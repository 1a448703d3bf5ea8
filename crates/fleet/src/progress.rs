//! Tracks progress of claimed ranges, so that a stuck worker loses them.

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use world::WorldRange;

/// Progress of one range.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    has_moved: AtomicBool,
    /// The thread playing it; 0 for none.
    thread: AtomicU64,
    /// That thread's processor time at the last check.
    used: AtomicU64,
}

impl Progress {
    /// Notes progress.
    pub(crate) fn moves(&self) {
        self.has_moved.store(true, Ordering::Relaxed);
    }

    /// Notes that this thread plays the range: using the processor counts as progress, even between rare events of a
    /// model.
    pub(crate) fn begins(&self) {
        self.thread.store(this_thread().unwrap_or(0), Ordering::Relaxed);
        self.moves();
    }

    /// Notes that the thread has finished the range.
    pub(crate) fn ends(&self) {
        self.thread.store(0, Ordering::Relaxed);
        self.moves();
    }

    /// Whether there was progress since the last call.
    fn take(&self) -> bool {
        let used = match self.thread.load(Ordering::Relaxed) {
            0 => 0,
            thread => used_by(thread).unwrap_or(0),
        };
        let computes = self.used.swap(used, Ordering::Relaxed) < used;
        self.has_moved.swap(false, Ordering::Relaxed) || computes
    }
}

/// The system's number of this thread; `None` if unknown.
fn this_thread() -> Option<u64> {
    fs::read_link("/proc/thread-self").ok()?.file_name()?.to_str()?.parse().ok()
}

/// Processor ticks that a thread of this process has used; `None` if unknown.
fn used_by(thread: u64) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// All ranges that a worker holds.
#[derive(Debug, Default)]
pub(crate) struct Claims(Mutex<HashMap<(i64, WorldRange), Arc<Progress>>>);

impl Claims {
    pub(crate) fn hold(&self, ensemble: i64, range: WorldRange, progress: &Arc<Progress>) {
        progress.moves();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((ensemble, range), progress.clone());
    }

    pub(crate) fn release(&self, ensemble: i64, range: WorldRange) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(ensemble, range));
    }

    /// The ranges that made progress since the last call.
    pub(crate) fn moving(&self) -> Vec<(i64, WorldRange)> {
        let claims = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        claims.iter().filter(|(_, progress)| progress.take()).map(|(claim, _)| *claim).collect()
    }
}

#[cfg(test)]
mod tests {
    use world::World;

    use super::*;

    #[test]
    fn waiting_is_no_progress() {
        let (claims, progress) = (Claims::default(), Arc::new(Progress::default()));
        let range = WorldRange::new(World(10), 5).unwrap();
        claims.hold(7, range, &progress);
        assert_eq!((claims.moving(), claims.moving()), (vec![(7, range)], Vec::new()));
        progress.moves();
        assert_eq!((claims.moving(), claims.moving()), (vec![(7, range)], Vec::new()));
        claims.release(7, range);
        progress.moves();
        assert_eq!(claims.moving(), Vec::new());
    }

    #[test]
    fn computing_is_progress() {
        let progress = Progress::default();
        progress.begins();
        progress.take();
        let before = used_by(this_thread().unwrap()).unwrap();
        let mut x = 1u64;
        while used_by(this_thread().unwrap()).unwrap() == before {
            x = (0..10_000).fold(x, |x, y| std::hint::black_box(x.wrapping_mul(31) ^ y));
        }
        assert!(progress.take() && x > 0);
        progress.ends();
        progress.take();
        assert!(!progress.take());
    }
}
