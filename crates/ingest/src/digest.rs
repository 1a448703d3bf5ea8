//! Turns a log into segments, in any process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use disk::{Disk, TEMPORARY_SUFFIX};
use table::upkeep::compact;
use table::{Appender, Codec, ErrorKind, Layout, Segment, Table, TableError, TableOptions};

use crate::advice;
use crate::columns::{Columns, Policy};
use crate::error::IngestError;
use crate::locks::{Place, lock_append, try_lock_digest};
use crate::log::{End, files, has_log, remove, tell};
use crate::segments::write_fitted;
use crate::trouble;

/// Unnamed temporary files of this age are abandoned.
const ABANDONED: Duration = Duration::from_mins(10);
/// Segments of fewer rows count as small.
const SMALL_ROWS: u64 = 200_000;

#[derive(Debug, Clone, PartialEq)]
pub struct FlushOptions {
    /// Compression of segments of a new table.
    pub codec: Codec,
    /// Approximate rows per segment.
    pub segment_rows: usize,
    /// Bytes of the log to process at once.
    pub round_bytes: u64,
    /// Merge small segments once the table has this many; 0 disables merging.
    pub compact_segments: usize,
}

impl Default for FlushOptions {
    fn default() -> Self {
        Self { codec: Codec::default(), segment_rows: 1_000_000, round_bytes: 128 << 20, compact_segments: 16 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flushed {
    /// Rows moved into segments.
    pub rows: u64,
    pub segments: usize,
    /// Bytes of those segments.
    pub bytes: u64,
    /// Small segments merged besides.
    pub merged: usize,
}

/// Turns the log of the table in the folder `root` into segments, nearly in the order of time. Creates the table if
/// missing. Safe to kill at any point: each row is either in the table or in the log, because a commit names the last
/// position it contains. Must be called inside a tokio runtime.
///
/// # Errors
/// [`IngestError::Digesting`] while another process digests the log, as a running server does; also when the log, the
/// table or the disk fails.
pub async fn digest(root: &Path, disk: Arc<dyn Disk>, options: &FlushOptions) -> Result<Flushed, IngestError> {
    let Some(place) = Place::find(root)? else {
        // No rows wait, but report a table that cannot be read.
        Table::open(root, disk).await?;
        return Ok(Flushed::default());
    };
    let lock = try_lock_digest(&place.folder)?;
    let _lock = lock.ok_or_else(|| IngestError::Digesting { path: root.to_owned() })?;
    let mut digester = Digester::open(root, disk, options, place).await?;
    let mut done = digester.digest().await?;
    done.merged = digester.merge().await?;
    Ok(done)
}

/// Opens or creates the log of the table in the folder `root`, unless the table cannot be read.
pub(crate) async fn enter(root: &Path, disk: &Arc<dyn Disk>) -> Result<Place, IngestError> {
    if !has_log(root) {
        Appender::open(root, disk.clone()).await?;
    }
    Place::enter(root, &**disk)
}

/// The columns of the table in the folder `root`, open if it exists.
pub(crate) fn columns_of(table: Option<&Appender>, root: &Path, disk: &Arc<dyn Disk>) -> Columns {
    table.map_or_else(|| Columns::new(&Schema::empty()), |table| Columns::of_table(table.schema(), root, disk))
}

/// A table with its digest lock held.
#[derive(Debug)]
pub(crate) struct Digester {
    pub(crate) root: PathBuf,
    disk: Arc<dyn Disk>,
    options: FlushOptions,
    place: Place,
    pub(crate) columns: Columns,
    /// Created with the first segment.
    appender: Option<Arc<Appender>>,
    /// Rows up to this log position are in the table.
    position: u64,
}

/// Entries of a log, up to a position.
#[derive(Debug, Default)]
struct Round {
    batches: Vec<RecordBatch>,
    position: u64,
    is_last: bool,
}

impl Digester {
    /// The caller holds the digest lock.
    pub(crate) async fn open(
        root: &Path,
        disk: Arc<dyn Disk>,
        options: &FlushOptions,
        place: Place,
    ) -> Result<Self, IngestError> {
        let appender = Appender::open(root, disk.clone()).await?.map(Arc::new);
        let columns = columns_of(appender.as_deref(), root, &disk);
        let position = appender.as_ref().map_or(0, |a| a.position());
        Ok(Self { root: root.to_owned(), disk, options: options.clone(), place, columns, appender, position })
    }

    /// Turns all waiting rows into segments.
    pub(crate) async fn digest(&mut self) -> Result<Flushed, IngestError> {
        let mut done = Flushed::default();
        let Some(next) = self.tell()? else { return Ok(done) };
        sweep(&self.place.folder, &*self.disk)?;
        loop {
            let round = self.read(next)?;
            if !round.batches.is_empty() {
                let segments = self.write(round.batches).await?;
                done.rows += segments.iter().map(|s| s.rows).sum::<u64>();
                done.bytes += segments.iter().map(|s| s.bytes).sum::<u64>();
                done.segments += segments.len();
                let appender = self.appender().await?;
                appender.commit(segments, self.columns.schema(), round.position).await?;
                self.position = round.position;
            }
            self.forget()?;
            if round.is_last {
                break;
            }
        }
        trouble::forget(&self.root);
        self.advise();
        Ok(done)
    }

    /// Makes the next position durable in the log and returns it; `None` without a log. Only rows before it may enter
    /// the table: a power cut may lose a file added later, and its positions are then given again.
    fn tell(&self) -> Result<Option<u64>, IngestError> {
        let folder = &self.place.folder;
        let _turn = lock_append(folder)?;
        let Some(end) = End::find(folder, &*self.disk)? else { return Ok(None) };
        let next = end.next.max(self.position + 1);
        tell(folder, &*self.disk, next)?;
        Ok(Some(next))
    }

    /// The table, created with the first rows.
    pub(crate) async fn appender(&mut self) -> Result<Arc<Appender>, IngestError> {
        if let Some(appender) = &self.appender {
            return Ok(appender.clone());
        }
        let options = TableOptions { codec: self.options.codec, ..TableOptions::new(Layout::Pruned) };
        let schema = self.columns.schema();
        let made = Appender::open_or_create(&self.root, self.disk.clone(), schema, &options).await?;
        Ok(self.appender.insert(Arc::new(made)).clone())
    }

    /// Reads and fits the next entries before the position `end` that are not in the table, up to one round.
    fn read(&mut self, end: u64) -> Result<Round, IngestError> {
        let mut round = Round { position: self.position, is_last: true, ..Round::default() };
        let (mut bytes, unfit) = (0, IngestError::rows(self.root.display()));
        for file in files(&self.place.folder, end)? {
            if file.first >= end || !file.reaches(round.position + 1)? {
                continue;
            }
            if bytes >= self.options.round_bytes {
                round.is_last = false;
                break;
            }
            let content = file.recover(self.position + 1, |entry| {
                round.batches.push(self.columns.fit(entry.rows, Policy::KEEP).map_err(&unfit)?.rows);
                round.position = entry.position;
                Ok(())
            })?;
            bytes += content.bytes;
        }
        Ok(round)
    }

    /// Writes fitted rows as segments, not yet committed to the table.
    async fn write(&mut self, batches: Vec<RecordBatch>) -> Result<Vec<Segment>, IngestError> {
        let appender = self.appender().await?;
        let (columns, rows_max) = (self.columns.clone(), self.options.segment_rows);
        let root = self.root.clone();
        blocking(move || {
            let mut segments = Vec::new();
            for batches in in_pieces(batches, rows_max) {
                segments.extend(write_fitted(&appender, &columns, &batches, &root)?);
            }
            Ok(segments)
        })
        .await
    }

    /// Removes the files whose rows are all in the table.
    fn forget(&self) -> Result<(), IngestError> {
        // The last file has no end, so it stays: its name records the next position.
        for file in files(&self.place.folder, u64::MAX)?.iter().filter(|file| file.before <= self.position + 1) {
            file.keep_keys(&*self.disk, &self.place.folder)?;
            remove(&*self.disk, &file.path)?;
        }
        Ok(())
    }

    /// Notes the table's current columns.
    pub(crate) fn advise(&self) {
        let folder = &self.place.folder;
        let noted = lock_append(folder).and_then(|_turn| advice::write(&self.root, &self.disk, &self.columns));
        if let Err(error) = noted {
            // The note is only advice.
            tracing::debug!(%error, "the columns of a table could not be noted");
        }
    }

    /// Merges small segments if there are many. Returns how many were merged.
    pub(crate) async fn merge(&self) -> Result<usize, IngestError> {
        let most = self.options.compact_segments;
        let Some(table) = Table::open(&self.root, self.disk.clone()).await?.filter(|_| most > 0) else { return Ok(0) };
        let small = table.segments().await?.iter().filter(|s| s.rows < SMALL_ROWS).count();
        if small < most {
            return Ok(0);
        }
        match compact(&self.root, self.disk.clone(), None).await {
            Ok(done) => Ok(done.segments_in),
            // Another process merges: skipping costs only space and speed.
            Err(error) if error.kind() == ErrorKind::Conflict => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}

/// Cuts batches into runs of about `rows_max` rows.
fn in_pieces(batches: Vec<RecordBatch>, rows_max: usize) -> Vec<Vec<RecordBatch>> {
    let mut pieces: Vec<Vec<RecordBatch>> = Vec::new();
    let mut left = 0;
    for batch in batches {
        if left < batch.num_rows() {
            pieces.push(Vec::new());
            left = rows_max.max(batch.num_rows());
        }
        left -= batch.num_rows();
        if let Some(piece) = pieces.last_mut() {
            piece.push(batch);
        }
    }
    pieces
}

/// Removes temporary files of appends that ended before naming theirs.
fn sweep(folder: &Path, disk: &dyn Disk) -> Result<(), IngestError> {
    let failed = || IngestError::io("list the folder", folder);
    let is_old = |modified: SystemTime| modified.elapsed().is_ok_and(|age| age > ABANDONED);
    for entry in std::fs::read_dir(folder).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let is_temporary = entry.file_name().to_string_lossy().ends_with(TEMPORARY_SUFFIX);
        if is_temporary && entry.metadata().and_then(|about| about.modified()).is_ok_and(is_old) {
            remove(disk, &entry.path())?;
        }
    }
    Ok(())
}

/// Runs CPU- or disk-bound work on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, IngestError> + Send + 'static,
) -> Result<T, IngestError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|panic| Err(IngestError::Table(TableError::Unexpected(panic.to_string()))))
}
