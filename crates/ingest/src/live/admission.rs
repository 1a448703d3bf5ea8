//! Lets rows in while the memory budget and the log have room for them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use arrow::array::RecordBatch;
use decode::OnConflict;
use table::TableName;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::{Live, lock};
use crate::columns::{Conflict, Fitted, Overflow, Policy, Renamed};
use crate::error::IngestError;
use crate::log::{Key, NewEntry};
use crate::shared::Share;

/// A table that cannot be written takes rows until its log reaches this fraction (1/4) of the memory budget.
const BACKLOG_SHARE: u64 = 4;

/// The way of requests into the log.
#[derive(Debug)]
pub(super) struct Intake {
    /// Taken when the table closes.
    pub(super) writes: Option<mpsc::Sender<Write>>,
    /// Ends once all sent writes are logged.
    pub(super) logger: Option<JoinHandle<()>>,
}

/// A request on its way into the log.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) entry: NewEntry,
    pub(super) rows: RecordBatch,
    pub(super) share: Share,
    pub(super) done: oneshot::Sender<Result<bool, IngestError>>,
}

/// The result of a write to one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub table: TableName,
    pub rows: u64,
    /// Whether they were stored before, under the same key.
    pub before: bool,
    /// Rows left out because of `conflicts`, or all if the table is `refused`.
    pub left_out: u64,
    /// Why the table takes no rows, if it takes none.
    pub refused: Option<String>,
    /// Columns that left out rows.
    pub conflicts: Vec<Conflict>,
    pub overflows: Vec<Overflow>,
    pub renamed: Vec<Renamed>,
}

impl Written {
    /// For a table that takes no rows.
    pub(crate) fn refused(table: TableName, rows: usize, why: &IngestError) -> Self {
        let (left_out, refused) = (rows as u64, Some(why.to_string()));
        let (conflicts, overflows, renamed) = (Vec::new(), Vec::new(), Vec::new());
        Self { table, rows: 0, before: false, left_out, refused, conflicts, overflows, renamed }
    }
}

/// The rows of a request for one table, fitted to its columns.
#[derive(Debug)]
pub(crate) struct Ready {
    live: Arc<Live>,
    rows: RecordBatch,
    written: Written,
}

impl Ready {
    /// Their bytes in memory; 0 without rows.
    pub(crate) fn bytes(&self) -> u64 {
        if self.rows.num_rows() == 0 { 0 } else { self.rows.get_array_memory_size() as u64 }
    }

    /// Stores them; returns once they are as durable as the store promises, and visible to readers.
    pub(crate) async fn write(self, share: Share, key: Option<Key>) -> Result<Written, IngestError> {
        let Self { live, rows, mut written } = self;
        if written.rows > 0 {
            written.before = live.write(rows, share, key).await?;
        }
        Ok(written)
    }

    /// Has the table write what waits, which frees memory.
    pub(crate) fn ask_for_room(&self) {
        self.live.due.notify_one();
    }
}

impl Live {
    /// Fits rows to the table's columns.
    pub(crate) fn ready(self: Arc<Self>, rows: RecordBatch, on_conflict: OnConflict) -> Result<Ready, IngestError> {
        self.check_backlog()?;
        let sent = rows.num_rows();
        let policy = Policy { on_conflict, columns_max: self.options.columns_max };
        let fitted = lock(&self.columns).fit(rows, policy).map_err(IngestError::rows(&self.name))?;
        let Fitted { rows, conflicts, overflows, renamed } = fitted;
        let (table, left_out) = (self.name.clone(), (sent - rows.num_rows()) as u64);
        let (rows_left, before, refused) = (rows.num_rows() as u64, false, None);
        let written = Written { table, rows: rows_left, before, left_out, refused, conflicts, overflows, renamed };
        Ok(Ready { live: self, rows, written })
    }

    /// Logs rows. Returns whether they were stored before, under the same key.
    async fn write(&self, rows: RecordBatch, share: Share, key: Option<Key>) -> Result<bool, IngestError> {
        let entry = NewEntry::new(&rows, key).map_err(IngestError::rows(&self.name))?;
        let (done, stored) = oneshot::channel();
        let writes = lock(&self.intake).writes.clone().ok_or(IngestError::Closing)?;
        writes.send(Write { entry, rows, share, done }).await.map_err(|_| IngestError::Closing)?;
        stored.await.map_err(|_| IngestError::Closing)?
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

    /// Refuses further rows; rows already taken are logged.
    pub(crate) fn close(&self) {
        lock(&self.intake).writes.take();
    }

    /// Waits until all writes sent before closing are logged.
    pub(crate) async fn logged(&self) {
        let logger = lock(&self.intake).logger.take();
        if let Some(Err(panic)) = async { Some(logger?.await) }.await {
            tracing::error!(table = %self.name, error = %panic, "requests were not logged");
        }
    }
}
