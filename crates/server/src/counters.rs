//! Request counts since the start.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Requests that stored rows.
    pub(crate) requests: AtomicU64,
    /// Bytes of their bodies.
    pub(crate) body_bytes: AtomicU64,
    pub(crate) questions: AtomicU64,
}

impl Counters {
    pub(crate) fn wrote(&self, body_bytes: usize) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.body_bytes.fetch_add(body_bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn asked(&self) {
        self.questions.fetch_add(1, Ordering::Relaxed);
    }
}
