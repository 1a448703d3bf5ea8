//! The threads that answer one question.

use std::num::NonZero;
use std::thread::{ScopedJoinHandle, available_parallelism};

/// The number of threads that can run at once; 1 if it is unknown. Asking reads files of the operating system.
pub(crate) fn available() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

/// Waits for a thread and returns its result. If the thread panicked, panics with its message.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
