//! Retries temporary failures.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::error::FleetError;
use crate::halt::{Halt, HaltSignal};

/// Pauses between attempts: they double, up to 15 seconds.
pub(crate) struct Pauses(Duration);

impl Pauses {
    const FIRST: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(15);

    pub(crate) fn new() -> Self {
        Self(Self::FIRST)
    }

    pub(crate) fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(Self::LONGEST);
        pause
    }
}

/// Retries for one worker, and records its current trouble.
pub(crate) struct Retry {
    halt: HaltSignal,
    trouble: Mutex<Option<String>>,
}

impl Retry {
    pub(crate) fn new(halt: HaltSignal) -> Self {
        Self { halt, trouble: Mutex::default() }
    }

    /// What keeps the worker from playing, if anything.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_trouble(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// Retries `attempt` while its errors may pass. `None` if the worker must drop everything.
    pub(crate) async fn run<T, F>(&self, attempt: impl Fn() -> F) -> Option<Result<T, FleetError>>
    where
        F: Future<Output = Result<T, FleetError>>,
    {
        let mut pauses = Pauses::new();
        let mut is_troubled = false;
        loop {
            match attempt().await {
                Err(error) if error.is_passing() => {
                    if self.halt.drops_all() {
                        return None;
                    }
                    tracing::warn!(%error, "retrying");
                    self.set_trouble(Some(error.to_string()));
                    is_troubled = true;
                    self.halt.rest(pauses.next(), Halt::Now).await;
                }
                result => {
                    if is_troubled && result.is_ok() {
                        self.set_trouble(None);
                    }
                    return Some(result);
                }
            }
        }
    }
}
