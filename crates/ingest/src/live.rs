//! One table that receives rows.
//!
//! Each promise has a module: [`admission`] lets rows in while there is room for them, [`logging`] makes them durable
//! before they are visible, [`recovery`] keeps the rows of a table that cannot be written. [`crate::flush`] writes them
//! to segments.

mod admission;
mod logging;
mod recovery;

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use disk::{Disk, FileLock};
use table::upkeep::{Superseding, last_rows};
use table::{Appender, TableName};
use tokio::sync::{Notify, mpsc, watch};

use self::admission::Intake;
pub(crate) use self::admission::Ready;
pub use self::admission::Written;
use self::logging::{flush_lock, write_to_log};
pub(crate) use self::recovery::Trouble;
use crate::buffer::{Buffer, Logged};
use crate::columns::{Columns, Policy};
use crate::digest::columns_of;
use crate::error::IngestError;
use crate::log::Log;
use crate::options::StoreOptions;
use crate::shared::Shared;
use decode::TIME;

/// Maximum requests per write to the log.
const GROUP_MAX: usize = 1024;

#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) name: TableName,
    pub(crate) root: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) options: Arc<StoreOptions>,
    pub(crate) columns: Mutex<Columns>,
    pub(crate) buffer: Mutex<Buffer>,
    pub(crate) log: Mutex<Log>,
    /// The file to which other processes would append next. It has a lock of its own, because a look at it must not wait
    /// while a group is written.
    others: Mutex<PathBuf>,
    /// Keeps other processes from flushing the log until the table closes.
    flush_lock: Mutex<Option<FileLock>>,
    /// The change counter of the columns last noted for appending processes.
    noted: Mutex<Option<u64>>,
    intake: Mutex<Intake>,
    /// Created with the first segment.
    pub(crate) appender: tokio::sync::Mutex<Option<Arc<Appender>>>,
    /// Rows up to this log position are in the table.
    pub(crate) committed: watch::Sender<u64>,
    /// Signals that rows are due.
    pub(crate) due: Notify,
    /// Why its rows cannot be written to segments, while they cannot.
    pub(crate) trouble: Mutex<Option<Trouble>>,
    /// Why requests cannot be written to the log, while they cannot.
    log_trouble: Mutex<Option<Trouble>>,
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
    pub(crate) log_bytes: AtomicU64,
}

impl Live {
    /// Opens a table, recovers its log, and starts its tasks. Must be called inside a tokio runtime. Waits for a flush
    /// by another process to end.
    ///
    /// # Errors
    /// When that takes longer than 30 seconds, or the log or the table cannot be read.
    pub(crate) async fn open(
        name: TableName,
        root: PathBuf,
        disk: Arc<dyn Disk>,
        options: Arc<StoreOptions>,
        shared: Shared,
    ) -> Result<Arc<Self>, IngestError> {
        let flush_lock = flush_lock(&root, &disk).await?;
        let appender = Appender::open(&root, disk.clone()).await?.map(Arc::new);
        let mut columns = columns_of(appender.as_deref(), &root, &disk);
        let mut buffer = Buffer::default();
        let position = appender.as_ref().map_or(0, |a| a.position());
        let log = Log::open(&root, disk.clone(), position, |recovered| {
            let fitted = columns.fit(recovered.rows, Policy::KEEP).map_err(IngestError::rows(&name))?;
            buffer.push(Logged::new(recovered.position, fitted.rows, None));
            Ok(())
        })?;
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
            flush_lock: Mutex::new(Some(flush_lock)),
            noted: Mutex::default(),
            intake: Mutex::new(Intake { writes: Some(writes), logger: None }),
            appender: tokio::sync::Mutex::new(appender),
            committed: watch::Sender::new(position),
            due: Notify::new(),
            trouble: Mutex::default(),
            log_trouble: Mutex::default(),
            shared,
            counts,
        });
        live.advise();
        lock(&live.intake).logger = Some(tokio::spawn(write_to_log(live.clone(), waiting)));
        Ok(live)
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

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
