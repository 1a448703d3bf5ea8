//! How far checking is.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// How far checking is, for a thread that shows it meanwhile.
#[derive(Debug, Default)]
pub struct Progress(Mutex<Option<(&'static str, f64)>>);

impl Progress {
    /// What is being done, as `reading events`, and the finished share of it, 0 to 1; `None` before the start.
    pub fn now(&self) -> Option<(&'static str, f64)> {
        // Rounding, or a model that gives an entity's outcomes in several blocks, may lead past the end.
        self.locked().map(|(pass, share)| (pass, share.min(1.0)))
    }

    /// Begins one pass over what is stored.
    pub(crate) fn begin(&self, pass: &'static str) {
        *self.locked() = Some((pass, 0.0));
    }

    /// Adds one of so many equal parts of the pass.
    pub(crate) fn add_one_of(&self, parts: usize) {
        if let Some((_, share)) = &mut *self.locked() {
            *share += 1.0 / parts as f64;
        }
    }

    fn locked(&self) -> MutexGuard<'_, Option<(&'static str, f64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
