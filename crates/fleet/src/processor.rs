//! Processor time of this process's threads, as evidence that a model computes.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

/// The system's number of this thread; `None` if unknown.
pub(crate) fn this_thread() -> Option<u64> {
    fs::read_link("/proc/thread-self").ok()?.file_name()?.to_str()?.parse().ok()
}

/// Processor ticks that a thread of this process has used; `None` if unknown.
pub(crate) fn used_by(thread: u64) -> Option<u64> {
    Some(stat(thread)?.1)
}

/// The name of a thread of this process, and the ticks that it has used.
fn stat(thread: u64) -> Option<(String, u64)> {
    let stat = fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?;
    let (head, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some((head.split_once('(')?.1.to_owned(), ticks))
}

/// Threads that play no range and do not belong to the runtime: a library such as JAX computes in threads of its own,
/// while the thread that plays waits for them.
#[derive(Debug, Default)]
pub(crate) struct Helpers {
    /// Ticks of each thread at the last look.
    used: HashMap<u64, u64>,
    looked: Option<Instant>,
}

/// A tick, as Linux counts them.
const TICK: Duration = Duration::from_millis(10);
/// The share of a core that shows that somebody computes.
const SHARE: u32 = 10;

impl Helpers {
    /// Whether helpers have computed since the last call; `playing` are the threads that play ranges.
    pub(crate) fn compute(&mut self, playing: &[u64]) -> bool {
        let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let threads = tasks.filter_map(|task| task.file_name().to_str()?.parse().ok());
        let of_thread =
            |thread| stat(thread).filter(|(name, _)| !name.starts_with("tokio")).map(|stat| (thread, stat.1));
        let used: HashMap<u64, u64> = threads.filter_map(of_thread).collect();
        let elapsed = self.looked.replace(Instant::now()).map(|looked| looked.elapsed());
        let before = std::mem::replace(&mut self.used, used);
        elapsed.is_some_and(|elapsed| have_computed(&before, &self.used, playing, elapsed))
    }
}

fn have_computed(before: &HashMap<u64, u64>, now: &HashMap<u64, u64>, playing: &[u64], elapsed: Duration) -> bool {
    let helpers = now.iter().filter(|(thread, _)| !playing.contains(thread));
    let ticks: u64 = helpers.map(|(thread, ticks)| ticks - before.get(thread).unwrap_or(&0).min(ticks)).sum();
    ticks > 0 && TICK * u32::try_from(ticks).unwrap_or(u32::MAX / SHARE) >= elapsed / SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_busy_threads_without_a_range_help() {
        let of = |ticks: [u64; 3]| HashMap::from_iter((1..).zip(ticks));
        let second = Duration::from_secs(1);
        let computed = |now, playing: &[u64]| have_computed(&of([100, 100, 100]), &of(now), playing, second);
        assert!(computed([100, 150, 100], &[1]));
        assert!(computed([100, 105, 105], &[1]));
        assert!(!computed([100, 150, 100], &[2]));
        assert!(!computed([150, 103, 100], &[1]));
        assert!(!computed([100, 100, 100], &[]));
        assert!(!have_computed(&of([0; 3]), &of([0; 3]), &[], Duration::ZERO));
    }
}
