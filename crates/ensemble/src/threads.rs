//! Threads that work on one question.

use std::thread::ScopedJoinHandle;

/// What a thread gives; its panic goes on in the thread that waits.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
