//! All tables that receive rows.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, RwLock, Weak};
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use decode::OnConflict;
use disk::{Disk, FileLock, create_dirs, temporary_name};
use futures::future::join_all;
use table::TableName;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

use crate::error::IngestError;
use crate::flush::flush;
use crate::live::{Live, Ready, Trouble, Written, lock};
use crate::locks::try_lock_data;
use crate::log::{Durability, Key, has_log};
use crate::options::StoreOptions;
use crate::shared::Shared;
use crate::upkeep::{keep, tidy};

/// How often to sync logs that acknowledge before syncing.
const SYNC_EACH: Duration = Duration::from_secs(1);
/// How often to check for rows of other processes.
const LOOK_EACH: Duration = Duration::from_secs(1);

/// Makes rows durable and visible at once, and turns them into segments soon.
#[derive(Debug)]
pub struct Store {
    data: PathBuf,
    disk: Arc<dyn Disk>,
    options: Arc<StoreOptions>,
    shared: Shared,
    tables: RwLock<BTreeMap<TableName, Arc<Live>>>,
    /// The tasks that flush and maintain the tables.
    tasks: Mutex<Vec<JoinHandle<()>>>,
    /// The tasks of the store as a whole, which hold it for moments.
    watchers: Mutex<Vec<JoinHandle<()>>>,
    /// Tables being opened, each by one task at a time.
    opening: std::sync::Mutex<BTreeMap<TableName, Arc<Mutex<()>>>>,
    /// Tables with logged rows that could not be opened.
    shut: std::sync::Mutex<BTreeMap<TableName, Trouble>>,
    closing: watch::Sender<bool>,
    /// Released when the store is dropped.
    _lock: FileLock,
}

/// A table that cannot be written now. Its rows are safe in its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failing {
    pub table: TableName,
    /// The reason, and the remedy.
    pub reason: String,
    /// Rows in its log that are in no segment; `None` if unknown.
    pub rows: Option<u64>,
    /// Time since the first failure.
    pub since: Duration,
}

/// Figures of a store since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreFigures {
    pub tables: u64,
    /// Rows acknowledged.
    pub rows: u64,
    /// Groups of requests written to logs.
    pub groups: u64,
    /// Segments written.
    pub segments: u64,
    pub segment_rows: u64,
    pub segment_bytes: u64,
    /// Groups and segments that could not be written.
    pub failures: u64,
    pub log_bytes: u64,
    /// Rows waiting for a segment.
    pub waiting_rows: u64,
    /// Bytes of memory in use by waiting rows, over all tables.
    pub waiting_bytes: u64,
    /// The limit of those bytes.
    pub memory_bytes: u64,
    /// Requests refused for lack of memory.
    pub overloaded: u64,
}

impl Store {
    /// Opens the store of a data folder and recovers its logs. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When another process has it open, or a log or a table cannot be read.
    pub async fn open(data: &Path, disk: Arc<dyn Disk>, options: StoreOptions) -> Result<Arc<Self>, IngestError> {
        create_dirs(&*disk, data).map_err(IngestError::io("create the folder", data))?;
        let lock = try_lock_data(data)?.ok_or_else(|| IngestError::InUse { path: data.to_owned() })?;
        let store = Arc::new(Self {
            data: data.to_owned(),
            disk,
            shared: Shared::new(&options),
            options: Arc::new(options),
            tables: RwLock::default(),
            tasks: Mutex::default(),
            watchers: Mutex::default(),
            opening: std::sync::Mutex::default(),
            shut: std::sync::Mutex::default(),
            closing: watch::Sender::new(false),
            _lock: lock,
        });
        for name in tables(data)? {
            store.open_logged(&name).await;
        }
        let (weak, closing) = (|| Arc::downgrade(&store), || store.closing.subscribe());
        let mut watchers = vec![tokio::spawn(look_for_others(weak(), closing()))];
        if store.options.durability == Durability::Interval {
            watchers.push(tokio::spawn(sync_at_intervals(weak(), closing())));
        }
        *store.watchers.lock().await = watchers;
        Ok(store)
    }

    /// Stores the rows of one request, with times in microseconds in the column `time`; returns once they are as
    /// durable as the store promises, and visible to readers. Rows stored before under the same key are not stored
    /// again.
    ///
    /// Rows for a new table above the maximum are refused, and the others stored.
    ///
    /// # Errors
    /// If memory is full, or a table takes no rows now: nothing is stored. If a log cannot be written: other tables may
    /// have stored their rows; retry with the same key to store the rest.
    pub async fn write(
        &self,
        tables: Vec<(TableName, RecordBatch)>,
        key: Option<Key>,
        on_conflict: OnConflict,
    ) -> Result<Vec<Written>, IngestError> {
        let (mut ready, mut written) = (Vec::with_capacity(tables.len()), Vec::with_capacity(tables.len()));
        let open = async |(table, rows)| (self.live(&table).await, table, rows);
        for (opened, table, rows) in join_all(tables.into_iter().map(open)).await {
            match opened {
                Ok(live) => ready.push(live.ready(rows, on_conflict)?),
                Err(error @ IngestError::TooManyTables { .. }) => {
                    written.push(Written::refused(table, rows.num_rows(), &error));
                }
                Err(error) => return Err(error),
            }
        }
        // Room for all tables or for none: a request that is sent again must not add rows to some of them.
        let budget = &self.shared.budget;
        let Some(shares) = budget.take_each(ready.iter().map(Ready::bytes)) else {
            ready.iter().for_each(Ready::ask_for_room);
            return Err(budget.overloaded());
        };
        // Concurrently, so that tables share the wait for the disk; all end before an error is returned.
        let writes = ready.into_iter().zip(shares).map(|(rows, share)| rows.write(share, key));
        for result in join_all(writes).await {
            written.push(result?);
        }
        Ok(written)
    }

    /// The columns of a table, including those in its log only; `None` without such a table.
    ///
    /// # Errors
    /// When the table cannot be opened.
    pub async fn columns(&self, name: &TableName) -> Result<Option<SchemaRef>, IngestError> {
        if self.known(name).is_none() && !name.folder(&self.data).is_dir() {
            return Ok(None);
        }
        Ok(Some(lock(&self.live(name).await?.columns).schema().clone()))
    }

    pub(crate) fn known(&self, name: &TableName) -> Option<Arc<Live>> {
        self.tables.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(name).cloned()
    }

    /// The table of a name, created on its first write.
    async fn live(&self, name: &TableName) -> Result<Arc<Live>, IngestError> {
        if let Some(live) = self.known(name) {
            return Ok(live);
        }
        let gate = lock(&self.opening).entry(name.clone()).or_default().clone();
        let _turn = gate.lock().await;
        if let Some(live) = self.known(name) {
            return Ok(live);
        }
        self.check_opening(name)?;
        let opened = self.open_live(name).await;
        lock(&self.opening).remove(name);
        match &opened {
            Ok(_) => drop(lock(&self.shut).remove(name)),
            Err(IngestError::Closing) => {}
            Err(error) if has_log(&name.folder(&self.data)) => {
                if lock(&self.shut).entry(name.clone()).or_insert_with(Trouble::new).add(&error.to_string()) {
                    tracing::error!(table = %name, %error, "a table could not be opened; its rows stay in its log");
                }
            }
            Err(_) => {}
        }
        opened
    }

    /// Opens a table that has a log. A failure is logged already, and does not block other tables.
    async fn open_logged(&self, name: &TableName) {
        if let Err(error) = self.live(name).await {
            tracing::debug!(table = %name, %error, "a table stays closed");
        }
    }

    /// Whether a table may be opened now.
    fn check_opening(&self, name: &TableName) -> Result<(), IngestError> {
        if *self.closing.borrow() {
            return Err(IngestError::Closing);
        }
        let limit = self.options.tables_max;
        // A table with a log has acknowledged rows and always opens.
        if self.lives().len() >= limit && !has_log(&name.folder(&self.data)) {
            return Err(IngestError::TooManyTables { table: name.to_string(), limit });
        }
        match lock(&self.shut).get(name).map(|trouble| (trouble.pause(), trouble)) {
            Some((after, trouble)) if !after.is_zero() => {
                let (table, reason) = (name.to_string(), trouble.reason.clone());
                Err(IngestError::Failing { table, reason, after: after + Duration::from_secs(1) })
            }
            _ => Ok(()),
        }
    }

    async fn open_live(&self, name: &TableName) -> Result<Arc<Live>, IngestError> {
        let (root, shared) = (name.folder(&self.data), self.shared.clone());
        let live = Live::open(name.clone(), root, self.disk.clone(), self.options.clone(), shared).await?;
        let mut tasks = self.tasks.lock().await;
        let closed = *self.closing.borrow();
        if closed {
            // Its logger would keep it, and the lock of its log, as long as the process lives.
            live.close();
            live.logged().await;
            live.unlock_flush();
            return Err(IngestError::Closing);
        }
        tasks.push(tokio::spawn(flush(live.clone(), self.closing.subscribe())));
        tasks.push(tokio::spawn(keep(live.clone(), self.closing.subscribe())));
        tasks.push(tokio::spawn(tidy(live.clone(), self.closing.subscribe())));
        self.tables.write().unwrap_or_else(std::sync::PoisonError::into_inner).insert(name.clone(), live.clone());
        Ok(live)
    }

    /// Tables that cannot be written now, and why. Their rows are safe in their logs.
    pub fn failing(&self) -> Vec<Failing> {
        let failing = |live: Arc<Live>| {
            let Trouble { reason, since, .. } = live.current_trouble()?;
            let rows = Some(lock(&live.buffer).unwritten() as u64);
            Some(Failing { table: live.name.clone(), reason, rows, since: since.elapsed() })
        };
        let mut all: Vec<Failing> = self.lives().into_iter().filter_map(failing).collect();
        let shut = lock(&self.shut);
        // The folder of a table may be removed meanwhile.
        let shut = shut.iter().filter(|(table, _)| has_log(&table.folder(&self.data)));
        all.extend(shut.map(|(table, trouble)| Failing {
            table: table.clone(),
            reason: trouble.reason.clone(),
            rows: None,
            since: trouble.since.elapsed(),
        }));
        all
    }

    /// Tables that have received rows.
    pub fn tables(&self) -> Vec<TableName> {
        self.lives().iter().map(|live| live.name.clone()).collect()
    }

    pub(crate) fn lives(&self) -> Vec<Arc<Live>> {
        self.tables.read().unwrap_or_else(std::sync::PoisonError::into_inner).values().cloned().collect()
    }

    /// Figures since the store was opened.
    pub fn figures(&self) -> StoreFigures {
        let mut sum = StoreFigures {
            waiting_bytes: self.shared.budget.used(),
            memory_bytes: self.shared.budget.limit(),
            overloaded: self.shared.budget.refused(),
            ..StoreFigures::default()
        };
        for live in self.lives() {
            let of = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
            sum.tables += 1;
            sum.rows += of(&live.counts.rows);
            sum.groups += of(&live.counts.groups);
            sum.segments += of(&live.counts.segments);
            sum.segment_rows += of(&live.counts.segment_rows);
            sum.segment_bytes += of(&live.counts.segment_bytes);
            sum.failures += of(&live.counts.failures);
            sum.waiting_rows += lock(&live.buffer).waiting().0 as u64;
            sum.log_bytes += of(&live.counts.log_bytes);
        }
        sum
    }

    /// Whether the disk takes a file in the data folder. Blocks.
    ///
    /// # Errors
    /// When it does not.
    pub fn check_disk(&self) -> Result<(), IngestError> {
        let path = temporary_name(&self.data.join("check"));
        let written = self.disk.create(&path).and_then(|mut file| {
            file.write_all(&[0; 512])?;
            file.sync()
        });
        // Also after a failed write, which leaves the file.
        let removed = self.disk.remove(&path);
        written.and(removed).map_err(IngestError::io("write", &path))
    }

    /// Syncs what is acknowledged and not synced yet. Blocks.
    fn sync_logs(&self) {
        for live in self.lives() {
            if let Err(error) = lock(&live.log).sync() {
                tracing::error!(table = %live.name, %error, "acknowledged rows could not be synced");
            }
        }
    }

    /// Refuses further rows, writes all waiting ones as segments, and stops: nothing of the store runs afterwards, and its
    /// lock goes with the last handle of the caller. Returns the tables that could not be written; their rows stay in
    /// their logs.
    pub async fn close(&self) -> Vec<Failing> {
        let mut tasks = self.tasks.lock().await;
        let lives = self.lives();
        lives.iter().for_each(|live| live.close());
        for live in &lives {
            live.logged().await;
        }
        // To write the segments may take longer than the promised interval.
        self.sync_logs();
        self.closing.send_replace(true);
        for task in tasks.drain(..) {
            if let Err(panic) = task.await {
                tracing::error!(error = %panic, "a table was not written out; its rows stay in the log");
            }
        }
        for live in lives {
            let position = lock(&live.buffer).first_unwritten().map_or(u64::MAX, |first| first - 1);
            let closed = lock(&live.log).close(position);
            match closed {
                Ok(()) => live.log_recovered(),
                Err(error) => live.fail_log(&error),
            }
            live.unlock_flush();
        }
        // A watcher may be opening a table, which needs the tasks.
        drop(tasks);
        for watcher in self.watchers.lock().await.drain(..) {
            if let Err(panic) = watcher.await {
                tracing::error!(error = %panic, "a task of the store ended early");
            }
        }
        self.failing()
    }
}

/// A store dropped without closing leaves its rows in the logs, for other processes.
impl Drop for Store {
    fn drop(&mut self) {
        for live in self.lives() {
            live.close();
            live.unlock_flush();
        }
    }
}

/// The tables of a data folder that have a log.
///
/// # Errors
/// When the folder cannot be listed.
pub fn tables(data: &Path) -> Result<Vec<TableName>, IngestError> {
    let mut found = Vec::new();
    for database in folders(data)? {
        for table in folders(&data.join(&database))? {
            if has_log(&data.join(&database).join(&table))
                && let Some(name) = TableName::of_folders(&database, &table)
            {
                found.push(name);
            }
        }
    }
    Ok(found)
}

fn folders(folder: &Path) -> Result<Vec<String>, IngestError> {
    let failed = || IngestError::io("list the folder", folder);
    let mut names = Vec::new();
    let entries = match fs::read_dir(folder) {
        // Another process removed it meanwhile.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(names),
        entries => entries.map_err(failed())?,
    };
    for entry in entries {
        let entry = entry.map_err(failed())?;
        if entry.file_type().map_err(failed())?.is_dir() {
            names.extend(entry.file_name().into_string());
        }
    }
    Ok(names)
}

/// Waits, and returns whether the store is still open afterwards.
async fn stays_open(closing: &mut watch::Receiver<bool>, pause: Duration) -> bool {
    tokio::time::timeout(pause, closing.changed()).await.is_err()
}

/// Takes over rows of other processes, also in tables not opened yet, until the store closes or is gone.
async fn look_for_others(store: Weak<Store>, mut closing: watch::Receiver<bool>) {
    while stays_open(&mut closing, LOOK_EACH).await
        && let Some(store) = store.upgrade()
    {
        let looking = store.clone();
        let looked = tokio::task::spawn_blocking(move || {
            looking.lives().iter().for_each(|live| live.look_for_others());
            tables(&looking.data)
        });
        let found = looked.await.unwrap_or_else(|panic| Err(panic.into()));
        let known = store.tables();
        let new = found.map(|found| found.into_iter().filter(|name| known.binary_search(name).is_err()).collect());
        let new: Vec<TableName> = new.unwrap_or_else(|error| {
            tracing::error!(%error, "tables that others appended to are not found");
            Vec::new()
        });
        for name in new {
            store.open_logged(&name).await;
        }
    }
}

/// Syncs logs that acknowledge before syncing, until the store closes, which syncs them, or is gone.
async fn sync_at_intervals(store: Weak<Store>, mut closing: watch::Receiver<bool>) {
    while stays_open(&mut closing, SYNC_EACH).await
        && let Some(store) = store.upgrade()
    {
        let synced = tokio::task::spawn_blocking(move || store.sync_logs());
        if let Err(panic) = synced.await {
            tracing::error!(error = %panic, "logs were not synced");
        }
    }
}
