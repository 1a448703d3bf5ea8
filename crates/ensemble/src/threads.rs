//! The threads that answer one question.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{ScopedJoinHandle, available_parallelism};

/// The number of threads that can run at once; 1 if it is unknown. Asking reads files of the operating system.
pub(crate) fn available() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

/// Waits for a thread and returns its result. If the thread panicked, panics with its message.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Applies `work` to each item on this many threads and returns the results in order. Starts no item after one has failed.
///
/// # Errors
/// That of the first item that fails, whatever the number of threads.
pub(crate) fn map<I: Sync, T: Send, E: Send>(
    threads: usize,
    items: &[I],
    work: impl Fn(&I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    // Threads take items in order and finish what they take, so every item before a failed one has a result.
    let share = || {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed)
            && let place = next.fetch_add(1, Ordering::Relaxed)
            && let Some(item) = items.get(place)
        {
            let result = work(item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.push((place, result));
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(items.len())).map(|_| scope.spawn(share)).collect();
        let mut done = share();
        others.into_iter().for_each(|thread| done.extend(joined(thread)));
        done
    });
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_the_first_error_counts() {
        let items: Vec<u32> = (0..1_000).collect();
        for threads in [0, 1, 3, 16] {
            let squares = map(threads, &items, |item| Ok::<_, u32>(item * item)).unwrap();
            assert!(squares.into_iter().eq((0..1_000).map(|item| item * item)), "{threads}");
            // Later items fail sooner.
            let fails = |&item: &u32| {
                std::thread::sleep(std::time::Duration::from_micros(u64::from(1_000 - item)));
                if item < 300 { Ok(item) } else { Err(item) }
            };
            assert_eq!(map(threads, &items, fails), Err(300), "{threads}");
        }
        assert_eq!(map(4, &[], |item: &u32| Ok::<_, u32>(*item)), Ok(vec![]));
    }
}
