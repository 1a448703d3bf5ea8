//! What long operations share: a thread of their own, retries, progress and a summary.

use std::sync::Arc;

use crate::error::{Result, TableError};
use crate::log::Segment;

/// Receives the rows done and the total number of rows.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// Attempts of an operation, if other commands change its segments.
pub(crate) const TRIES: usize = 3;

/// Rows that were moved, and their segments before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moved {
    pub rows: u64,
    pub segments_in: usize,
    pub segments_out: usize,
    pub bytes_before: u64,
    pub bytes_after: u64,
}

impl Moved {
    pub(crate) fn new(rows: u64, from: &[Segment], to: &[Segment]) -> Self {
        let bytes = |segments: &[Segment]| segments.iter().map(|s| s.bytes).sum();
        let (segments_in, segments_out) = (from.len(), to.len());
        Self { rows, segments_in, segments_out, bytes_before: bytes(from), bytes_after: bytes(to) }
    }
}

/// Runs work that blocks the processor or the disk on its own thread. Fails if the work fails or panics.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|e| TableError::Unexpected(e.to_string()))?
}

/// Retries work that failed because other commands changed its segments.
pub(crate) async fn retried<T, F: Future<Output = Result<T>>>(work: impl Fn() -> F) -> Result<T> {
    for _ in 1..TRIES {
        // On the heap, because callers await it as part of their own futures.
        match Box::pin(work()).await {
            Err(error @ TableError::Overtaken { .. }) => tracing::debug!(%error, "retrying"),
            result => return result,
        }
    }
    Box::pin(work()).await
}

/// Counts the rows done, and reports them.
pub(crate) struct Counter<'a> {
    progress: Option<&'a Progress>,
    /// Times that each row counts.
    passes: u64,
    done: u64,
    total: u64,
}

impl<'a> Counter<'a> {
    pub(crate) fn new(progress: Option<&'a Progress>, passes: u64, total: u64) -> Self {
        Self { progress, passes, done: 0, total }
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn add(&mut self, rows: u64) {
        self.done += rows;
        if let Some(progress) = self.progress {
            progress(self.done / self.passes, self.total);
        }
    }
}
