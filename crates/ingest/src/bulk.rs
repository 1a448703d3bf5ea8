//! Large loads: rows go straight into segments, without a log, and enter the table in one commit.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use disk::{Disk, FileLock};
use futures::StreamExt as _;
use futures::stream::FuturesOrdered;
use table::{Appender, Segment};
use tokio::task::JoinHandle;

use crate::append::append;
use crate::columns::{Overflow, Policy, Renamed};
use crate::digest::{Digester, FlushOptions, blocking, enter};
use crate::error::IngestError;
use crate::locks::try_lock_digest;
use crate::segments::write_fitted;

/// Load more rows than this with [`Bulk`], and append others: a log entry is written and digested as a whole.
pub const LOG_ROWS: usize = 65_536;
/// Segments encoded at once.
const ENCODERS: usize = 2;
/// The last rows of a load become up to [`ENCODERS`] segments of at least this many rows: nothing else is left to do at
/// once.
const SHARE_ROWS: usize = 131_072;
/// Write a segment once this many bytes wait, even with few rows.
const SEGMENT_BYTES: usize = 128 << 20;
/// Approximate rows per log entry, for loads that go through the log.
const ENTRY_ROWS: usize = 65_536;
/// Pause the load while this many bytes wait in the log, so that the digest keeps up.
const WAITING_BYTES: u64 = 128 << 20;
const PAUSE: Duration = Duration::from_millis(100);
const PAUSES_MAX: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Loaded {
    /// Rows in the table or in its log.
    pub rows: u64,
    pub segments: usize,
    /// Bytes of those segments.
    pub bytes: u64,
    /// Rows left in the log, for another process to digest.
    pub logged: u64,
}

/// A load in progress. Dropping it unfinished leaves only its log entries.
#[derive(Debug)]
pub struct Bulk {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    way: Way,
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
    overflows: Vec<Overflow>,
    renamed: BTreeSet<Renamed>,
    loaded: Loaded,
}

#[derive(Debug)]
enum Way {
    /// Straight into segments; this process holds the digest lock.
    Segments(Box<Segments>),
    Log,
}

#[derive(Debug)]
struct Segments {
    digester: Digester,
    rows_max: usize,
    encoding: FuturesOrdered<JoinHandle<Result<Encoded, IngestError>>>,
    done: Vec<Encoded>,
    _lock: FileLock,
}

#[derive(Debug)]
struct Encoded {
    segments: Vec<Segment>,
    schema: SchemaRef,
}

impl Bulk {
    /// Begins a load into the table in the folder `root`. Digests its log first, unless another process holds the
    /// digest lock: column types depend on the order of rows. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When the log, the table or the disk fails.
    pub async fn begin(root: &Path, disk: Arc<dyn Disk>, options: &FlushOptions) -> Result<Self, IngestError> {
        let place = enter(root, &disk).await?;
        let way = match try_lock_digest(&place.folder)? {
            None => Way::Log,
            Some(lock) => {
                let mut digester = Digester::open(root, disk.clone(), options, place).await?;
                digester.digest().await?;
                let (rows_max, encoding, done) = (options.segment_rows, FuturesOrdered::new(), Vec::new());
                Way::Segments(Box::new(Segments { digester, rows_max, encoding, done, _lock: lock }))
            }
        };
        let root = root.to_owned();
        let (overflows, renamed, loaded) = (Vec::new(), BTreeSet::new(), Loaded::default());
        Ok(Self { root, disk, way, batches: Vec::new(), rows: 0, bytes: 0, overflows, renamed, loaded })
    }

    /// Adds rows to the load.
    ///
    /// # Errors
    /// When the disk fails; then the load has failed.
    pub async fn write(&mut self, rows: RecordBatch) -> Result<(), IngestError> {
        let rows = match &mut self.way {
            Way::Log => rows,
            Way::Segments(segments) => {
                let fitted = segments.digester.columns.fit(rows, Policy::KEEP);
                let fitted = fitted.map_err(IngestError::rows(self.root.display()))?;
                self.overflows.extend(fitted.overflows);
                self.renamed.extend(fitted.renamed);
                fitted.rows
            }
        };
        self.rows += rows.num_rows();
        self.bytes += rows.get_array_memory_size();
        self.batches.push(rows);
        let rows_max = match &self.way {
            Way::Log => ENTRY_ROWS,
            Way::Segments(segments) => segments.rows_max,
        };
        if self.rows < rows_max && self.bytes < SEGMENT_BYTES {
            return Ok(());
        }
        self.flush(1).await
    }

    /// Takes the reports since the last call: values that went into overflow columns, and fields stored under another
    /// name.
    pub fn take_reports(&mut self) -> (Vec<Overflow>, BTreeSet<Renamed>) {
        (std::mem::take(&mut self.overflows), std::mem::take(&mut self.renamed))
    }

    /// Writes the waiting rows, in `shares` segments.
    async fn flush(&mut self, shares: usize) -> Result<(), IngestError> {
        let batches = std::mem::take(&mut self.batches);
        let rows = std::mem::take(&mut self.rows) as u64;
        self.bytes = 0;
        if batches.is_empty() {
            return Ok(());
        }
        self.loaded.rows += rows;
        match &mut self.way {
            Way::Segments(segments) => {
                for share in cut(batches, shares) {
                    segments.encode(share).await?;
                }
                Ok(())
            }
            Way::Log => {
                let (root, disk) = (self.root.clone(), self.disk.clone());
                let appended = blocking(move || append(&root, &disk, &batches)).await?;
                self.loaded.logged += rows;
                self.overflows.extend(appended.overflows);
                self.renamed.extend(appended.renamed);
                self.give_time(appended.bytes).await;
                Ok(())
            }
        }
    }

    /// Waits while the log is long: the process that digests it holds it in memory.
    async fn give_time(&self, mut waiting: u64) {
        let folder = self.root.join(Appender::LOG_FOLDER);
        let size = || -> std::io::Result<u64> { std::fs::read_dir(&folder)?.map(|e| Ok(e?.metadata()?.len())).sum() };
        for _ in 0..PAUSES_MAX {
            if waiting < WAITING_BYTES {
                return;
            }
            tokio::time::sleep(PAUSE).await;
            // A file removed meanwhile means progress.
            waiting = size().unwrap_or(0);
        }
    }

    /// Commits all rows to the table at once. Rows that went through the log are there already.
    ///
    /// # Errors
    /// When the table or the disk fails; then only rows in the log are kept.
    pub async fn finish(mut self) -> Result<(Loaded, Vec<Overflow>, BTreeSet<Renamed>), IngestError> {
        self.flush((self.rows / SHARE_ROWS).clamp(1, ENCODERS)).await?;
        let (overflows, renamed) = self.take_reports();
        if let Way::Segments(segments) = self.way {
            let committed = segments.commit().await?;
            self.loaded.segments = committed.len();
            self.loaded.bytes = committed.iter().map(|s| s.bytes).sum();
        }
        Ok((self.loaded, overflows, renamed))
    }
}

impl Segments {
    /// Starts to encode fitted rows once an encoder is free.
    async fn encode(&mut self, batches: Vec<RecordBatch>) -> Result<(), IngestError> {
        if self.encoding.len() >= ENCODERS {
            self.encoded().await?;
        }
        let appender = self.digester.appender().await?;
        let (columns, root) = (self.digester.columns.clone(), self.digester.root.clone());
        self.encoding.push_back(tokio::task::spawn_blocking(move || {
            let segments = write_fitted(&appender, &columns, &batches, &root)?;
            Ok(Encoded { segments, schema: columns.schema().clone() })
        }));
        Ok(())
    }

    async fn encoded(&mut self) -> Result<(), IngestError> {
        if let Some(encoded) = self.encoding.next().await {
            self.done.push(encoded.unwrap_or_else(|panic| Err(panic.into()))?);
        }
        Ok(())
    }

    async fn commit(mut self) -> Result<Vec<Segment>, IngestError> {
        while !self.encoding.is_empty() {
            self.encoded().await?;
        }
        let done = std::mem::take(&mut self.done);
        if done.is_empty() {
            return Ok(Vec::new());
        }
        let (appender, schema) = (self.digester.appender().await?, self.digester.columns.schema().clone());
        let (writing, columns) = (appender.clone(), schema.clone());
        let segments = blocking(move || {
            let mut segments = Vec::new();
            for encoded in done {
                let is_narrow = has_widened(&encoded.schema, &columns);
                for segment in encoded.segments {
                    segments.push(if is_narrow { writing.write_anew(&segment, &columns)? } else { segment });
                }
            }
            Ok(segments)
        })
        .await?;
        appender.commit_unlogged(segments.clone(), &schema).await?;
        self.digester.advise();
        Ok(segments)
    }
}

/// Cuts batches into at most `shares` of about as many rows, in order.
fn cut(batches: Vec<RecordBatch>, shares: usize) -> Vec<Vec<RecordBatch>> {
    let each = batches.iter().map(RecordBatch::num_rows).sum::<usize>().div_ceil(shares);
    let (mut cut, mut rows) = (vec![Vec::new()], 0);
    for batch in batches {
        if cut.len() < shares && rows >= each * cut.len() {
            cut.push(Vec::new());
        }
        rows += batch.num_rows();
        if let Some(share) = cut.last_mut() {
            share.push(batch);
        }
    }
    cut
}

/// Whether a column of integers in `before` holds real numbers in `now`. Delta readers cannot read one as the other.
fn has_widened(before: &SchemaRef, now: &SchemaRef) -> bool {
    let is = |schema: &SchemaRef, name: &str, ty: DataType| {
        schema.field_with_name(name).is_ok_and(|field| *field.data_type() == ty)
    };
    before.fields().iter().any(|f| *f.data_type() == DataType::Int64 && is(now, f.name(), DataType::Float64))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::Int64Array;

    use super::*;

    #[test]
    fn shares_have_all_rows_in_order() {
        let mut next = 0;
        let batch = |rows: i64| {
            next += rows;
            let numbers = Int64Array::from_iter_values(next - rows..next);
            RecordBatch::try_from_iter([("n", Arc::new(numbers) as _)]).unwrap()
        };
        let batches: Vec<_> = [3, 3, 3, 1, 0, 9].into_iter().map(batch).collect();
        let rows = |shares| -> Vec<Vec<usize>> {
            let cut = cut(batches.clone(), shares);
            assert!(cut.iter().flatten().eq(&batches));
            cut.iter().map(|share| share.iter().map(RecordBatch::num_rows).collect()).collect()
        };
        assert_eq!(rows(1), [vec![3, 3, 3, 1, 0, 9]]);
        assert_eq!(rows(2), [vec![3, 3, 3, 1], vec![0, 9]]);
        assert_eq!(rows(3), [vec![3, 3, 3], vec![1, 0, 9]]);
        assert_eq!(cut(vec![batches[4].clone()], 1), [[batches[4].clone()]]);
        assert!(cut(Vec::new(), 2).concat().is_empty());
    }
}
