//! Lets rows in while the memory budget and the log have room for them.

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
    /// Refused rows, by column.
    pub conflicts: Vec<Conflict>,
    pub overflows: Vec<Overflow>,
    pub renamed: Vec<Renamed>,
}

impl Live {
    /// Stores rows; returns once they are as durable as the store promises, and visible to readers.
    pub(crate) async fn write(
        &self,
        rows: RecordBatch,
        key: Option<Key>,
        on_conflict: OnConflict,
    ) -> Result<Written, IngestError> {
        self.check_backlog()?;
        let policy = Policy { on_conflict, columns_max: self.options.columns_max };
        let fitted = lock(&self.columns).fit(rows, policy).map_err(IngestError::rows(&self.name))?;
        let Fitted { rows, conflicts, overflows, renamed } = fitted;
        let table = self.name.clone();
        let mut written = Written { table, rows: rows.num_rows() as u64, before: false, conflicts, overflows, renamed };
        if written.rows == 0 {
            return Ok(written);
        }
        let bytes = rows.get_array_memory_size() as u64;
        let share = self.shared.budget.take(bytes).ok_or_else(|| self.overloaded())?;
        let entry = NewEntry::new(&rows, key).map_err(IngestError::rows(&self.name))?;
        let (done, stored) = oneshot::channel();
        let writes = lock(&self.intake).writes.clone().ok_or(IngestError::Closing)?;
        writes.send(Write { entry, rows, share, done }).await.map_err(|_| IngestError::Closing)?;
        written.before = stored.await.map_err(|_| IngestError::Closing)??;
        Ok(written)
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
