//! Tracks progress of claimed ranges, so that a stuck worker loses them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use world::WorldRange;

use crate::processor::{Helpers, this_thread, used_by};

/// Progress of one range.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    has_moved: AtomicBool,
    /// The thread playing it; 0 for none.
    thread: AtomicU64,
    /// Whether other threads may play it meanwhile.
    has_helpers: AtomicBool,
    /// That thread's processor time at the last check.
    used: AtomicU64,
}

impl Progress {
    /// Notes progress.
    pub(crate) fn moves(&self) {
        self.has_moved.store(true, Ordering::Relaxed);
    }

    /// Notes that this thread plays the range: using the processor counts as progress, even between rare events of a
    /// model. With `has_helpers`, so does the processor time of threads that play no range.
    pub(crate) fn begins(&self, has_helpers: bool) {
        self.has_helpers.store(has_helpers, Ordering::Relaxed);
        self.thread.store(this_thread().unwrap_or(0), Ordering::Relaxed);
        self.moves();
    }

    /// Notes that the thread has finished the range.
    pub(crate) fn ends(&self) {
        self.thread.store(0, Ordering::Relaxed);
        self.moves();
    }

    /// Whether there was progress since the last call; `is_helped` if threads that no range has computed meanwhile.
    fn take(&self, is_helped: bool) -> bool {
        let thread = self.thread.load(Ordering::Relaxed);
        let used = if thread == 0 { 0 } else { used_by(thread).unwrap_or(0) };
        let computes = self.used.swap(used, Ordering::Relaxed) < used;
        let is_helped = is_helped && thread != 0 && self.has_helpers.load(Ordering::Relaxed);
        self.has_moved.swap(false, Ordering::Relaxed) || computes || is_helped
    }
}

/// All ranges that a worker holds.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    held: Mutex<HashMap<(i64, WorldRange), Arc<Progress>>>,
    helpers: Mutex<Helpers>,
}

impl Claims {
    pub(crate) fn hold(&self, ensemble: i64, range: WorldRange, progress: &Arc<Progress>) {
        progress.moves();
        self.held.lock().unwrap_or_else(PoisonError::into_inner).insert((ensemble, range), progress.clone());
    }

    pub(crate) fn release(&self, ensemble: i64, range: WorldRange) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&(ensemble, range));
    }

    /// The ranges that made progress since the last call.
    pub(crate) fn moving(&self) -> Vec<(i64, WorldRange)> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let playing: Vec<u64> = held.values().map(|progress| progress.thread.load(Ordering::Relaxed)).collect();
        let is_helped = self.helpers.lock().unwrap_or_else(PoisonError::into_inner).compute(&playing);
        held.iter().filter(|(_, progress)| progress.take(is_helped)).map(|(claim, _)| *claim).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

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
        progress.begins(false);
        progress.take(false);
        let before = used_by(this_thread().unwrap()).unwrap();
        let mut x = 1u64;
        while used_by(this_thread().unwrap()).unwrap() == before {
            x = (0..10_000).fold(x, |x, y| std::hint::black_box(x.wrapping_mul(31) ^ y));
        }
        assert!(progress.take(false) && x > 0);
        assert!(!progress.take(true), "its model has no helpers");
        progress.ends();
        progress.take(false);
        assert!(!progress.take(false) && !progress.take(true));
    }

    #[test]
    fn threads_of_a_waiting_model_are_progress() {
        let (claims, progress) = (Claims::default(), Arc::new(Progress::default()));
        let range = WorldRange::new(World(10), 5).unwrap();
        claims.hold(7, range, &progress);
        let (begun, is_begun) = mpsc::channel();
        let (done, is_done) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let of_range = progress.clone();
            scope.spawn(move || {
                of_range.begins(true);
                begun.send(()).unwrap();
                is_done.recv().unwrap();
            });
            is_begun.recv().unwrap();
            claims.moving();
            let is_over = Arc::new(AtomicBool::new(false));
            let computes = is_over.clone();
            scope.spawn(move || {
                let mut x = 1u64;
                while !computes.load(Ordering::Relaxed) {
                    x = (0..10_000).fold(x, |x, y| std::hint::black_box(x.wrapping_mul(31) ^ y));
                }
                x
            });
            while claims.moving() != [(7, range)] {
                thread::sleep(Duration::from_millis(20));
            }
            is_over.store(true, Ordering::Relaxed);
            done.send(()).unwrap();
        });
    }
}
