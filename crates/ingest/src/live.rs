//! One table that receives rows: its columns, its log and its waiting rows.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use disk::Disk;
use table::upkeep::{Superseding, last_rows};
use table::{Appender, TableName};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::advice;
use crate::buffer::{Buffer, Logged};
use crate::columns::{Columns, Conflict, Fitted, Overflow, Policy, Renamed};
use crate::digest::{columns_of, enter};
use crate::error::IngestError;
use crate::locks::Lock;
use crate::log::{Key, Log, NewEntry, Recovered, holds_rows};
use crate::options::StoreOptions;
use crate::shared::{Share, Shared};
use crate::trouble;
use decode::{OnConflict, TIME};

/// Maximum requests per write to the log.
const GROUP_MAX: usize = 1024;
/// A table that cannot be written takes rows until its log reaches this fraction (1/4) of the memory budget.
const BACKLOG_SHARE: u64 = 4;
/// How long to wait for another process's digest, and how often to check.
const DIGEST_MAX: Duration = Duration::from_secs(30);
const DIGEST_LOOK: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) name: TableName,
    pub(crate) root: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) options: Arc<StoreOptions>,
    pub(crate) columns: Mutex<Columns>,
    pub(crate) buffer: Mutex<Buffer>,
    pub(crate) log: Mutex<Log>,
    /// The file to which other processes would append next.
    others: Mutex<PathBuf>,
    /// Keeps other processes from digesting the log until the table closes.
    digest: Mutex<Option<Lock>>,
    /// The change counter of the columns last noted for appending processes.
    noted: Mutex<Option<u64>>,
    /// Taken when the table closes.
    writes: Mutex<Option<mpsc::Sender<Write>>>,
    /// Ends once all sent writes are logged.
    logger: Mutex<Option<JoinHandle<()>>>,
    /// Created with the first segment.
    pub(crate) appender: tokio::sync::Mutex<Option<Arc<Appender>>>,
    /// Rows up to this log position are in the table.
    pub(crate) committed: watch::Sender<u64>,
    /// Signals that rows are due.
    pub(crate) due: Notify,
    /// Why its rows cannot be written, while they cannot.
    pub(crate) trouble: Mutex<Option<Trouble>>,
    pub(crate) shared: Shared,
    pub(crate) counts: Counts,
}

/// Counters of a table since the store was opened.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) rows: AtomicU64,
    pub(crate) groups: AtomicU64,
    pub(crate) segments: AtomicU64,
    pub(crate) segment_rows: AtomicU64,
    pub(crate) segment_bytes: AtomicU64,
    pub(crate) failures: AtomicU64,
    /// Bytes of log on disk.
    pub(crate) log_bytes: AtomicU64,
    /// When the last group failed; `None` after a success.
    pub(crate) log_failed: Mutex<Option<Instant>>,
}

/// A request on its way into the log.
struct Write {
    entry: NewEntry,
    rows: RecordBatch,
    share: Share,
    done: oneshot::Sender<Result<bool, IngestError>>,
}

/// The result of a write.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) rows: u64,
    /// Whether they were stored before, under the same key.
    pub(crate) before: bool,
    pub(crate) conflicts: Vec<Conflict>,
    pub(crate) overflows: Vec<Overflow>,
    pub(crate) renamed: Vec<Renamed>,
}

impl Live {
    /// Opens a table, recovers its log, and starts its tasks. Must be called inside a tokio runtime. Waits for a digest
    /// by another process to end.
    ///
    /// # Errors
    /// When that takes longer than `DIGEST_MAX`, or the log or the table cannot be read.
    pub(crate) async fn open(
        name: TableName,
        root: PathBuf,
        disk: Arc<dyn Disk>,
        options: Arc<StoreOptions>,
        shared: Shared,
    ) -> Result<Arc<Self>, IngestError> {
        let digest = digest_lock(&root, &disk).await?;
        let appender = Appender::open(&root, disk.clone()).await?.map(Arc::new);
        let mut columns = columns_of(appender.as_deref(), &root, &disk);
        let mut buffer = Buffer::default();
        let mut unfit = None;
        let position = appender.as_ref().map_or(0, |a| a.position());
        let log =
            Log::open(&root, disk.clone(), position, |recovered| match columns.fit(recovered.rows, Policy::KEEP) {
                Ok(fitted) => buffer.push(Logged::new(recovered.position, fitted.rows, None)),
                Err(cause) => unfit = Some(cause),
            })?;
        if let Some(cause) = unfit {
            return Err(IngestError::Rows { table: name.to_string(), cause });
        }
        let (writes, waiting) = mpsc::channel(GROUP_MAX);
        let counts = Counts { log_bytes: log.bytes().into(), ..Counts::default() };
        let live = Arc::new(Self {
            name,
            root,
            disk,
            options,
            columns: Mutex::new(columns),
            buffer: Mutex::new(buffer),
            others: Mutex::new(log.path_of_others()),
            log: Mutex::new(log),
            digest: Mutex::new(Some(digest)),
            noted: Mutex::default(),
            writes: Mutex::new(Some(writes)),
            logger: Mutex::default(),
            appender: tokio::sync::Mutex::new(appender),
            committed: watch::Sender::new(position),
            due: Notify::new(),
            trouble: Mutex::default(),
            shared,
            counts,
        });
        live.advise();
        *lock(&live.logger) = Some(tokio::spawn(write_to_log(live.clone(), waiting)));
        Ok(live)
    }

    /// Stores rows; returns once they are as durable as the store promises, and visible to readers.
    pub(crate) async fn write(
        &self,
        rows: RecordBatch,
        key: Option<Key>,
        on_conflict: OnConflict,
    ) -> Result<Taken, IngestError> {
        self.check_backlog()?;
        let policy = Policy { on_conflict, columns_max: self.options.columns_max };
        let unfit = |cause| IngestError::Rows { table: self.name.to_string(), cause };
        let fitted = lock(&self.columns).fit(rows, policy).map_err(unfit)?;
        let Fitted { rows, conflicts, overflows, renamed } = fitted;
        let count = rows.num_rows() as u64;
        if count == 0 {
            return Ok(Taken { rows: 0, before: false, conflicts, overflows, renamed });
        }
        let bytes = rows.get_array_memory_size() as u64;
        // Twice: the log entry is a second copy until it is written.
        let share = self.shared.budget.take(2 * bytes).ok_or_else(|| self.overloaded())?;
        let entry = NewEntry::new(&rows, key).map_err(unfit)?;
        let (done, stored) = oneshot::channel();
        let writes = lock(&self.writes).clone().ok_or(IngestError::Closing)?;
        writes.send(Write { entry, rows, share, done }).await.map_err(|_| IngestError::Closing)?;
        let before = stored.await.map_err(|_| IngestError::Closing)??;
        Ok(Taken { rows: count, before, conflicts, overflows, renamed })
    }

    /// Whether the log has room for more rows of a table that cannot be written.
    fn check_backlog(&self) -> Result<(), IngestError> {
        let limit = self.shared.budget.limit() / BACKLOG_SHARE;
        if self.counts.log_bytes.load(Ordering::Relaxed) < limit || lock(&self.buffer).held_from().is_none() {
            return Ok(());
        }
        let reason = lock(&self.trouble).as_ref().map(|trouble| trouble.reason.clone());
        let reason = reason.unwrap_or_else(|| "its rows are being written".to_owned());
        Err(IngestError::Failing { table: self.name.to_string(), reason, after: Duration::from_secs(5) })
    }

    fn overloaded(&self) -> IngestError {
        self.due.notify_one();
        let after = Duration::from_secs(1);
        IngestError::Overloaded { waiting: self.shared.budget.used(), limit: self.shared.budget.limit(), after }
    }

    /// Writes a group to the log, shows its rows to readers, and answers. Blocks.
    fn log_group(&self, group: Vec<Write>) {
        let mut log = lock(&self.log);
        let mut keys = Vec::new();
        let (known, new): (Vec<Write>, Vec<Write>) = group.into_iter().partition(|write| match write.entry.key() {
            Some(key) if log.knows(key) || keys.contains(&key) => true,
            key => {
                keys.extend(key);
                false
            }
        });
        let (mut entries, rest): (Vec<_>, Vec<_>) =
            new.into_iter().map(|w| (w.entry, (w.rows, w.share, w.done))).unzip();
        let written = if entries.is_empty() { Ok(0) } else { self.append(&mut log, &mut entries) };
        drop(entries);
        self.counts.log_bytes.store(log.bytes(), Ordering::Relaxed);
        let mut answers: Vec<_> = Vec::with_capacity(rest.len() + known.len());
        match written {
            Ok(first) => {
                self.counts.groups.fetch_add(1, Ordering::Relaxed);
                if !rest.is_empty() {
                    *lock(&self.counts.log_failed) = None;
                }
                let mut buffer = lock(&self.buffer);
                for (position, (rows, share, done)) in (first..).zip(rest) {
                    self.counts.rows.fetch_add(rows.num_rows() as u64, Ordering::Relaxed);
                    buffer.push(Logged::new(position, rows, Some(share)));
                    answers.push((done, Ok(false)));
                }
            }
            Err(error) => {
                self.counts.failures.fetch_add(1, Ordering::Relaxed);
                *lock(&self.counts.log_failed) = Some(Instant::now());
                tracing::error!(table = %self.name, %error, "requests were refused");
                answers.extend(rest.into_iter().map(|(.., done)| (done, Err(IngestError::Log(error.to_string())))));
            }
        }
        drop(log);
        answers.extend(known.into_iter().map(|w| (w.done, Ok(true))));
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

    /// Appends entries after those of other processes, which it takes over.
    fn append(&self, log: &mut Log, entries: &mut [NewEntry]) -> Result<u64, IngestError> {
        let _turn = log.turn()?;
        self.take_over(log)?;
        let first = log.append(entries, self.options.durability);
        *lock(&self.others) = log.path_of_others();
        first
    }

    /// Takes over entries that other processes appended. Blocks for the time of an append.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub(crate) fn look_for_others(&self) -> Result<(), IngestError> {
        // The file may hold our own group, still being written: then nothing is left once we have the lock.
        if !holds_rows(&lock(&self.others)) {
            return Ok(());
        }
        let mut log = lock(&self.log);
        let _turn = log.turn()?;
        self.take_over(&mut log)
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
            let unfit = |cause| IngestError::Rows { table: self.name.to_string(), cause };
            fitted.push(Logged::new(position, columns.fit(rows, Policy::KEEP).map_err(unfit)?.rows, None));
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
        match Lock::append(&folder).and_then(|_turn| advice::write(&self.root, &self.disk, &columns)) {
            Ok(()) => *lock(&self.noted) = Some(columns.changes()),
            // The note is only advice.
            Err(error) => tracing::debug!(table = %self.name, %error, "the columns could not be noted"),
        }
    }

    /// Lets other processes digest the log.
    pub(crate) fn give_up_digests(&self) {
        lock(&self.digest).take();
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

    /// Whether enough rows wait, or wait long enough, for a segment.
    pub(crate) fn is_due(&self) -> bool {
        let (rows, bytes, since) = lock(&self.buffer).waiting();
        let options = &self.options;
        // With half of the memory used, flush whatever waits.
        let pressed = self.shared.budget.used() > self.shared.budget.limit() / 2 && rows >= options.flush_rows / 8;
        rows >= options.flush_rows
            || bytes >= options.flush_bytes
            || pressed
            || since.is_some_and(|s| s.elapsed() >= options.flush_age)
    }

    /// Refuses further rows; rows already taken are logged.
    pub(crate) fn close(&self) {
        lock(&self.writes).take();
    }

    /// Waits until all writes sent before closing are logged.
    pub(crate) async fn logged(&self) {
        let logger = lock(&self.logger).take();
        if let Some(Err(panic)) = async { Some(logger?.await) }.await {
            tracing::error!(table = %self.name, error = %panic, "requests were not logged");
        }
    }

    /// Keeps the last of rows with equal keys, in log order and in the table's columns; returns the rows that all of
    /// them supersede, if the table has unique columns.
    pub(crate) fn last_rows(
        &self,
        rows: Vec<RecordBatch>,
    ) -> Result<(Vec<RecordBatch>, Option<Superseding>), ArrowError> {
        match self.options.unique.get(&self.name) {
            Some(columns) => last_rows(rows, TIME, columns),
            None => Ok((rows, None)),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Trouble {
    pub(crate) reason: String,
    pub(crate) since: Instant,
    pub(crate) tries: u32,
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
    ///
    /// # Errors
    /// When the log cannot be read.
    pub(crate) fn start_again(&self, table: Option<&Appender>, position: u64) -> Result<(), IngestError> {
        let log = lock(&self.log);
        let mut columns = columns_of(table, &self.root, &self.disk);
        let mut fitted = Ok(());
        let mut rows = 0;
        log.entries(position + 1, |entry| {
            rows += entry.rows.num_rows();
            if fitted.is_ok() {
                fitted = columns.fit(entry.rows, Policy::KEEP).map(drop);
            }
        })?;
        fitted.map_err(|cause| self.unfit(cause))?;
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
    ///
    /// # Errors
    /// When the log cannot be read.
    pub(crate) fn take_back(&self) -> Result<(), IngestError> {
        let log = lock(&self.log);
        let Some(from) = lock(&self.buffer).held_from() else { return Ok(()) };
        let (mut chunk, mut rows, mut bytes, mut more) = (Vec::new(), 0, 0, 0);
        let mut columns = lock(&self.columns);
        let mut fitted = Ok(());
        log.entries(from, |entry| {
            if rows >= self.options.flush_rows || bytes >= self.options.flush_bytes {
                more += entry.rows.num_rows();
                return;
            }
            rows += entry.rows.num_rows();
            bytes += entry.rows.get_array_memory_size();
            match columns.fit(entry.rows, Policy::KEEP) {
                Ok(done) => chunk.push(Logged::new(entry.position, done.rows, None)),
                Err(cause) => fitted = Err(cause),
            }
        })?;
        drop(columns);
        fitted.map_err(|cause| self.unfit(cause))?;
        lock(&self.buffer).take_back(chunk, more);
        Ok(())
    }

    fn unfit(&self, cause: ArrowError) -> IngestError {
        IngestError::Rows { table: self.name.to_string(), cause }
    }

    /// Notes why rows could not be written, for requests and for other processes.
    pub(crate) fn fail(&self, error: &IngestError) {
        self.counts.failures.fetch_add(1, Ordering::Relaxed);
        let reason = error.to_string();
        let mut trouble = lock(&self.trouble);
        let is_new = trouble.as_ref().is_none_or(|known| known.reason != reason);
        let known = trouble.get_or_insert_with(|| Trouble { reason: String::new(), since: Instant::now(), tries: 0 });
        known.tries += 1;
        known.reason.clone_from(&reason);
        drop(trouble);
        if is_new {
            tracing::error!(table = %self.name, %error, "rows could not be written to a segment; they stay in the log");
            trouble::note(&self.root, &reason);
        }
    }

    /// Clears the failure; with the first segment, also the note of an earlier process.
    pub(crate) fn recovered(&self, is_first: bool) {
        let was_failing = lock(&self.trouble).take().is_some();
        if was_failing {
            tracing::info!(table = %self.name, "rows are written to segments again");
        }
        if was_failing || is_first {
            trouble::forget(&self.root);
        }
    }
}

/// Takes the digest lock of the table in the folder `root`. Digests by other processes end soon.
async fn digest_lock(root: &Path, disk: &Arc<dyn Disk>) -> Result<Lock, IngestError> {
    let place = enter(root, disk).await?;
    let started = Instant::now();
    loop {
        if let Some(lock) = Lock::try_digest(&place.folder)? {
            return Ok(lock);
        }
        if started.elapsed() > DIGEST_MAX {
            return Err(IngestError::Digesting { path: root.to_owned() });
        }
        tokio::time::sleep(DIGEST_LOOK).await;
    }
}

async fn write_to_log(live: Arc<Live>, mut waiting: mpsc::Receiver<Write>) {
    let mut group = Vec::new();
    while waiting.recv_many(&mut group, GROUP_MAX).await > 0 {
        let (group, live) = (std::mem::take(&mut group), live.clone());
        if let Err(panic) = tokio::task::spawn_blocking(move || live.log_group(group)).await {
            tracing::error!(error = %panic, "a group of requests was not written");
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
