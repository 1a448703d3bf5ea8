//! Keeps the rows of a table that cannot be written: they leave memory, stay in the log, and come back from there.

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use table::Appender;

use super::{Live, lock};
use crate::buffer::Logged;
use crate::columns::Policy;
use crate::digest::columns_of;
use crate::error::IngestError;
use crate::trouble;

/// The pause after a failed attempt: the first, and the longest.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Why the rows of a table cannot be written.
#[derive(Debug, Clone)]
pub(crate) struct Trouble {
    pub(crate) reason: String,
    pub(crate) since: Instant,
    tried: Instant,
    tries: u32,
}

impl Trouble {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self { reason: String::new(), since: now, tried: now, tries: 0 }
    }

    /// Adds a failed attempt. Returns whether its reason is new.
    pub(crate) fn add(&mut self, reason: &str) -> bool {
        self.tried = Instant::now();
        self.tries += 1;
        let is_new = self.reason != reason;
        reason.clone_into(&mut self.reason);
        is_new
    }

    /// The time until the next attempt: each pause is longer than the last.
    pub(crate) fn pause(&self) -> Duration {
        let pause = PAUSE.saturating_mul(1 << self.tries.saturating_sub(1).min(8)).min(PAUSE_MAX);
        pause.saturating_sub(self.tried.elapsed())
    }
}

impl Live {
    /// Moves the rows of a failing table out of memory, so that other tables have room.
    pub(crate) fn hold(&self) {
        let mut buffer = lock(&self.buffer);
        let position = buffer.first_unwritten().map_or(*self.committed.borrow(), |first| first - 1);
        buffer.hold(position);
    }

    /// Whether rows are in the log only.
    pub(crate) fn is_held(&self) -> bool {
        lock(&self.buffer).held_from().is_some()
    }

    /// Resets the columns to the table's current ones, with the log in it up to `position`; waiting rows are fitted
    /// anew, as after a restart. Blocks.
    pub(crate) fn start_again(&self, table: Option<&Appender>, position: u64) -> Result<(), IngestError> {
        let log = lock(&self.log);
        let mut columns = columns_of(table, &self.root, &self.disk);
        let mut rows = 0;
        log.entries(position + 1, |entry| {
            rows += entry.rows.num_rows();
            columns.fit(entry.rows, Policy::KEEP).map(drop).map_err(IngestError::rows(&self.name))
        })?;
        *lock(&self.columns) = columns;
        let mut buffer = lock(&self.buffer);
        buffer.hold(position);
        buffer.take_back(Vec::new(), rows);
        drop(buffer);
        drop(log);
        self.committed.send_replace(position);
        Ok(())
    }

    /// Takes back the next rows that are in the log only. Blocks.
    pub(crate) fn take_back(&self) -> Result<(), IngestError> {
        let log = lock(&self.log);
        let Some(from) = lock(&self.buffer).held_from() else { return Ok(()) };
        let (mut chunk, mut rows, mut bytes, mut more) = (Vec::new(), 0, 0, 0);
        let mut columns = lock(&self.columns);
        log.entries(from, |entry| {
            if rows >= self.options.flush_rows || bytes >= self.options.flush_bytes {
                more += entry.rows.num_rows();
                return Ok(());
            }
            rows += entry.rows.num_rows();
            bytes += entry.rows.get_array_memory_size();
            let fitted = columns.fit(entry.rows, Policy::KEEP).map_err(IngestError::rows(&self.name))?;
            chunk.push(Logged::new(entry.position, fitted.rows, None));
            Ok(())
        })?;
        drop(columns);
        lock(&self.buffer).take_back(chunk, more);
        Ok(())
    }

    /// Why rows cannot be written now. A log in trouble is the nearer cause.
    pub(crate) fn current_trouble(&self) -> Option<Trouble> {
        lock(&self.log_trouble).clone().or_else(|| lock(&self.trouble).clone())
    }

    pub(crate) fn has_log_trouble(&self) -> bool {
        lock(&self.log_trouble).is_some()
    }

    /// Notes why rows could not be written to a segment.
    pub(crate) fn fail(&self, error: &IngestError) {
        self.note(&self.trouble, error, "rows could not be written to a segment; they stay in the log");
    }

    /// Notes why the log could not be written, or the entries of others not be read.
    pub(crate) fn fail_log(&self, error: &IngestError) {
        self.note(&self.log_trouble, error, "the log cannot be used; requests are refused");
    }

    /// Notes a failure, for requests and for other processes.
    fn note(&self, trouble: &Mutex<Option<Trouble>>, error: &IngestError, effect: &str) {
        self.counts.failures.fetch_add(1, Ordering::Relaxed);
        let reason = error.to_string();
        if lock(trouble).get_or_insert_with(Trouble::new).add(&reason) {
            tracing::error!(table = %self.name, %error, "{effect}");
            trouble::note(&self.root, &reason);
        }
    }

    /// Clears the failure; with the first segment, also the note of an earlier process.
    pub(crate) fn recovered(&self, is_first: bool) {
        self.clear(&self.trouble, "rows are written to segments again", is_first);
    }

    pub(crate) fn log_recovered(&self) {
        self.clear(&self.log_trouble, "the log works again", false);
    }

    fn clear(&self, trouble: &Mutex<Option<Trouble>>, effect: &str, is_first: bool) {
        let was_failing = lock(trouble).take().is_some();
        if was_failing {
            tracing::info!(table = %self.name, "{effect}");
        }
        if (was_failing || is_first) && self.current_trouble().is_none() {
            trouble::forget(&self.root);
        }
    }
}
