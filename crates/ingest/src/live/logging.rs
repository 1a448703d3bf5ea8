//! Writes groups of requests to the log, before readers see them, and takes over what other processes append.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use disk::{Disk, FileLock};
use table::Appender;
use tokio::sync::mpsc;

use super::admission::Write;
use super::{GROUP_MAX, Live, lock};
use crate::advice;
use crate::buffer::Logged;
use crate::columns::Policy;
use crate::digest::enter;
use crate::error::IngestError;
use crate::locks::{lock_append, try_lock_digest};
use crate::log::{Log, NewEntry, Recovered, holds_rows};

/// Groups that a thread writes before other work gets its turn.
const GROUPS_MAX: usize = 64;
/// How often a thread that has written a group lets others run, before it gives up waiting for the next.
const YIELDS: usize = 10;
/// How long to wait for another process's flush, and how often to check.
const FLUSH_MAX: Duration = Duration::from_secs(30);
const FLUSH_LOOK: Duration = Duration::from_millis(20);

impl Live {
    /// Writes a group to the log, shows its rows to readers, and answers. Blocks.
    fn log_group(&self, group: Vec<Write>) {
        let mut log = lock(&self.log);
        let (known, rest): (Vec<Write>, Vec<Write>) =
            group.into_iter().partition(|write| write.entry.key().is_some_and(|key| log.knows(key)));
        // A request sent again before the first was answered ends as that one does.
        let mut keys = HashSet::new();
        let (new, again): (Vec<Write>, Vec<Write>) =
            rest.into_iter().partition(|write| write.entry.key().is_none_or(|key| keys.insert(key)));
        let (mut entries, rest): (Vec<_>, Vec<_>) =
            new.into_iter().map(|w| (w.entry, (w.rows, w.share, w.done))).unzip();
        let written = if entries.is_empty() { Ok(0) } else { self.append(&mut log, &mut entries) };
        drop(entries);
        self.counts.log_bytes.store(log.bytes(), Ordering::Relaxed);
        let mut answers: Vec<_> = known.into_iter().map(|write| (write.done, Ok(true))).collect();
        match written {
            Ok(first) => {
                self.counts.groups.fetch_add(1, Ordering::Relaxed);
                if !rest.is_empty() {
                    self.log_recovered();
                }
                let mut buffer = lock(&self.buffer);
                for (position, (rows, share, done)) in (first..).zip(rest) {
                    self.counts.rows.fetch_add(rows.num_rows() as u64, Ordering::Relaxed);
                    buffer.push(Logged::new(position, rows, Some(share)));
                    answers.push((done, Ok(false)));
                }
                answers.extend(again.into_iter().map(|write| (write.done, Ok(true))));
            }
            Err(error) => {
                self.fail_log(&error);
                let failed = rest.into_iter().map(|(.., done)| done).chain(again.into_iter().map(|write| write.done));
                answers.extend(failed.map(|done| (done, Err(self.unlogged(&error)))));
            }
        }
        drop(log);
        for (done, answer) in answers {
            if done.send(answer).is_err() {
                tracing::debug!(table = %self.name, "a sender went away before it was answered");
            }
        }
        self.advise();
        if self.is_due() {
            self.due.notify_one();
        }
    }

    fn unlogged(&self, error: &IngestError) -> IngestError {
        IngestError::Log { table: self.name.to_string(), reason: error.to_string() }
    }

    /// Appends entries after those of other processes, which it takes over.
    fn append(&self, log: &mut Log, entries: &mut [NewEntry]) -> Result<u64, IngestError> {
        let _turn = log.turn()?;
        self.take_over(log)?;
        let first = log.append(entries, self.options.durability);
        *lock(&self.others) = log.path_of_others();
        first
    }

    /// Takes over entries that other processes appended, and sees whether a log in trouble works again. Blocks for the
    /// time of an append.
    pub(crate) fn look_for_others(&self) {
        let in_trouble = self.has_log_trouble();
        // The file may hold our own group, still being written: then nothing is left once we have the lock.
        if !in_trouble && !holds_rows(&lock(&self.others)) {
            return;
        }
        let look = || {
            let mut log = lock(&self.log);
            let _turn = log.turn()?;
            self.take_over(&mut log)?;
            if in_trouble { log.probe() } else { Ok(()) }
        };
        match look() {
            Ok(()) => self.log_recovered(),
            Err(error) => self.fail_log(&error),
        }
    }

    /// Takes over entries of other processes. The caller holds the append lock.
    fn take_over(&self, log: &mut Log) -> Result<(), IngestError> {
        let mut others = log.others()?;
        if others.entries.is_empty() {
            return Ok(());
        }
        let mut columns = lock(&self.columns);
        let mut fitted = Vec::with_capacity(others.entries.len());
        for Recovered { position, rows } in others.entries.drain(..) {
            let rows = columns.fit(rows, Policy::KEEP).map_err(IngestError::rows(&self.name))?.rows;
            fitted.push(Logged::new(position, rows, None));
        }
        drop(columns);
        log.go_on_after(&mut others);
        *lock(&self.others) = log.path_of_others();
        self.counts.log_bytes.store(log.bytes(), Ordering::Relaxed);
        let mut buffer = lock(&self.buffer);
        for logged in fitted {
            self.counts.rows.fetch_add(logged.rows.num_rows() as u64, Ordering::Relaxed);
            buffer.push(logged);
        }
        drop(buffer);
        if self.is_due() {
            self.due.notify_one();
        }
        Ok(())
    }

    /// Notes the columns for appending processes, if they changed.
    pub(crate) fn advise(&self) {
        let changes = lock(&self.columns).changes();
        if *lock(&self.noted) == Some(changes) {
            return;
        }
        let columns = lock(&self.columns).clone();
        let folder = self.root.join(Appender::LOG_FOLDER);
        match lock_append(&folder).and_then(|_turn| advice::write(&self.root, &self.disk, &columns)) {
            Ok(()) => *lock(&self.noted) = Some(columns.changes()),
            // The note is only advice.
            Err(error) => tracing::debug!(table = %self.name, %error, "the columns could not be noted"),
        }
    }

    /// Lets other processes flush the log.
    pub(crate) fn unlock_flush(&self) {
        lock(&self.flush_lock).take();
    }

    /// Takes the log files up to `position`, now in the table, and removes them; see [`crate::log::Done::remove`].
    /// Blocks.
    pub(crate) fn release(&self, position: u64, gently: impl Fn() -> bool) -> Result<(), IngestError> {
        let mut done = lock(&self.log).take_done(position)?;
        let removed = done.remove(&*self.disk, gently);
        let mut log = lock(&self.log);
        log.put_back(done);
        self.counts.log_bytes.store(log.bytes(), Ordering::Relaxed);
        removed
    }
}

/// Takes the lock on flushing the table in the folder `root`. Flushes by other processes end soon.
pub(super) async fn flush_lock(root: &Path, disk: &Arc<dyn Disk>) -> Result<FileLock, IngestError> {
    let place = enter(root, disk).await?;
    let started = Instant::now();
    loop {
        if let Some(lock) = try_lock_digest(&place.folder)? {
            return Ok(lock);
        }
        if started.elapsed() > FLUSH_MAX {
            return Err(IngestError::Digesting { path: root.to_owned() });
        }
        tokio::time::sleep(FLUSH_LOOK).await;
    }
}

/// Writes requests to the log in groups until the table closes.
pub(super) async fn write_to_log(live: Arc<Live>, mut waiting: mpsc::Receiver<Write>) {
    let mut group = Vec::new();
    while waiting.recv_many(&mut group, GROUP_MAX).await > 0 {
        let (first, live) = (std::mem::take(&mut group), live.clone());
        let written = tokio::task::spawn_blocking(move || {
            write_groups(&live, first, &mut waiting);
            waiting
        });
        match written.await {
            Ok(back) => waiting = back,
            Err(error) => {
                tracing::error!(%error, "the log takes no more requests");
                return;
            }
        }
    }
}

/// Writes a group, then those that wait. Giving each to another thread takes longer than writing it.
fn write_groups(live: &Live, first: Vec<Write>, waiting: &mut mpsc::Receiver<Write>) {
    let mut group = first;
    for left in (0..GROUPS_MAX).rev() {
        if catch_unwind(AssertUnwindSafe(|| live.log_group(std::mem::take(&mut group)))).is_err() {
            tracing::error!(table = %live.name, "a group of requests was not written: the server panicked");
        }
        if left == 0 || !take_waiting(waiting, &mut group) {
            return;
        }
    }
}

/// Takes the requests that wait, or the first to come while other threads run. Returns whether there are any.
fn take_waiting(waiting: &mut mpsc::Receiver<Write>, group: &mut Vec<Write>) -> bool {
    for turn in 0..YIELDS {
        if turn > 0 {
            std::thread::yield_now();
        }
        group.extend(std::iter::from_fn(|| waiting.try_recv().ok()).take(GROUP_MAX));
        if !group.is_empty() {
            return true;
        }
    }
    false
}
