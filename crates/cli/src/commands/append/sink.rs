//! Stores rows: few in the log, many in segments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use decode::OnConflict;
use disk::Disk;
use ingest::{Bulk, FlushOptions, IngestError, LOG_ROWS, Renamed};
use snapshot::Snapshot;
use table::TableName;
use tokio::runtime::Runtime;

use crate::commands::{disk, start_runtime};
use crate::output::note;

/// Longest wait of a pipe's rows for more rows.
const WAIT: Duration = Duration::from_secs(1);
/// Time between commits of a bulk load from a busy pipe.
const LOAD: Duration = Duration::from_secs(10);

/// Stores rows in a table.
pub(super) struct Sink {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    /// Pending rows; `since` is the arrival of the first.
    batches: Vec<RecordBatch>,
    waiting: usize,
    since: Option<Instant>,
    is_piped: bool,
    load: Option<Bulk>,
    runtime: Option<Runtime>,
    /// Whether the log is large enough to flush it to segments.
    is_digest_due: bool,
    /// Durable rows.
    pub(super) rows: u64,
    /// Values in overflow columns, by column and overflow column.
    pub(super) overflows: BTreeMap<(String, String), u64>,
    /// Fields stored under another name.
    pub(super) renamed: BTreeSet<Renamed>,
}

impl Sink {
    pub(super) fn new(table: &TableName, data: &Path) -> Self {
        Self {
            root: table.folder(data),
            disk: disk(),
            batches: Vec::new(),
            waiting: 0,
            since: None,
            is_piped: false,
            load: None,
            runtime: None,
            is_digest_due: false,
            rows: 0,
            overflows: BTreeMap::new(),
            renamed: BTreeSet::new(),
        }
    }

    /// The known columns of the table.
    pub(super) fn columns(&mut self, on_conflict: OnConflict) -> Result<SchemaRef> {
        if on_conflict == OnConflict::Overflow {
            return Ok(ingest::columns(&self.root, &self.disk));
        }
        // The list of columns next to the log may be incomplete, and later steps do not reject rows.
        let snapshot = running(&mut self.runtime)?.block_on(Snapshot::open(&self.root, &[]))?;
        Ok(snapshot.map_or_else(|| Arc::new(Schema::empty()), |snapshot| snapshot.schema))
    }

    /// Starts another input.
    pub(super) fn begin(&mut self, is_piped: bool) {
        self.is_piped = is_piped;
    }

    /// The time by which pending rows of a pipe must be durable.
    pub(super) fn due(&self) -> Option<Instant> {
        // A bulk load waits for the pipe instead.
        self.since.filter(|_| self.is_piped && self.load.is_none()).map(|since| since + WAIT)
    }

    pub(super) fn is_due(&self) -> bool {
        let patience = if self.load.is_some() { LOAD } else { WAIT };
        self.is_piped && self.since.is_some_and(|since| since.elapsed() >= patience)
    }

    /// Accepts rows; they are durable after the next [`Self::flush`].
    pub(super) fn take(&mut self, rows: Option<RecordBatch>) -> Result<()> {
        let Some(rows) = rows else { return Ok(()) };
        self.since.get_or_insert_with(Instant::now);
        self.waiting += rows.num_rows();
        self.batches.push(rows);
        if self.load.is_none() && self.waiting <= LOG_ROWS {
            return Ok(());
        }
        self.load()
    }

    /// Adds the pending rows to a bulk load; starts one if needed.
    fn load(&mut self) -> Result<()> {
        let runtime = running(&mut self.runtime)?;
        let mut load = match self.load.take() {
            Some(load) => load,
            None => runtime.block_on(Bulk::begin(&self.root, self.disk.clone(), &FlushOptions::default()))?,
        };
        for rows in self.batches.drain(..) {
            runtime.block_on(load.write(rows))?;
        }
        let (overflows, renamed) = load.take_reports();
        self.load = Some(load);
        self.count(overflows);
        self.renamed.extend(renamed);
        Ok(())
    }

    /// Makes all rows durable.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.since = None;
        self.waiting = 0;
        let overflows = if let Some(load) = self.load.take() {
            let (loaded, overflows, renamed) = running(&mut self.runtime)?.block_on(load.finish())?;
            self.rows += loaded.rows;
            self.renamed.extend(renamed);
            overflows
        } else {
            let appended = ingest::append(&self.root, &self.disk, &self.batches)?;
            self.batches.clear();
            self.rows += appended.rows;
            self.is_digest_due |= appended.is_due();
            if self.is_digest_due && self.is_piped {
                self.digest();
            }
            self.renamed.extend(appended.renamed);
            appended.overflows
        };
        self.count(overflows);
        Ok(())
    }

    /// Flushes a large log to segments, unless another process does. The rows are already durable.
    pub(super) fn digest(&mut self) {
        if !std::mem::take(&mut self.is_digest_due) {
            return;
        }
        let digest = |runtime: &Runtime| {
            let done = runtime.block_on(ingest::digest(&self.root, self.disk.clone(), &FlushOptions::default()));
            match done {
                Err(IngestError::Digesting { .. }) => Ok(()),
                done => done.map(drop).map_err(anyhow::Error::from),
            }
        };
        if let Err(error) = running(&mut self.runtime).and_then(digest) {
            note(&format!("warning: the rows are appended, but the log could not be turned into segments: {error:#}"));
        }
    }

    /// Counts the values in overflow columns of one stream.
    pub(super) fn count_overflows(&mut self, overflows: &[decode::Overflow]) {
        for overflow in overflows {
            *self.overflows.entry((overflow.name.clone(), overflow.overflow.clone())).or_default() +=
                overflow.rows as u64;
        }
    }

    fn count(&mut self, overflows: Vec<ingest::Overflow>) {
        for overflow in overflows {
            *self.overflows.entry((overflow.field, overflow.overflow)).or_default() += overflow.rows as u64;
        }
    }
}

/// The runtime, started on first use.
fn running(runtime: &mut Option<Runtime>) -> Result<&Runtime> {
    let started = match runtime.take() {
        Some(started) => started,
        None => start_runtime()?,
    };
    Ok(runtime.insert(started))
}
