//! A log becomes segments, by whichever process has the time.

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
use crate::locks::{Lock, Place};
use crate::log::{End, Recovered, has_log, keep_keys, list, read, remove, tell};
use crate::parts::Partition;
use crate::segments::write_segments;
use crate::trouble;

/// Files that were begun and have no name after so long are nobody's.
const ABANDONED: Duration = Duration::from_mins(10);
/// A segment of fewer rows is small.
const SMALL_ROWS: u64 = 200_000;

/// How a log becomes segments.
#[derive(Debug, Clone, PartialEq)]
pub struct DigestOptions {
    /// What compresses segments of a new table.
    pub codec: Codec,
    /// Rows of a segment, about.
    pub segment_rows: usize,
    /// Bytes of the log that are taken up at once.
    pub round_bytes: u64,
    /// Small segments are merged once the table has so many; 0 never does.
    pub compact_segments: usize,
}

impl Default for DigestOptions {
    fn default() -> Self {
        Self { codec: Codec::default(), segment_rows: 1_000_000, round_bytes: 128 << 20, compact_segments: 16 }
    }
}

/// What a digest did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Digested {
    /// Rows that are in segments now.
    pub rows: u64,
    /// Those segments.
    pub segments: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Segments that were merged besides.
    pub merged: usize,
}

/// Turns the log of the table in the folder `root` into segments, in the order of time, and makes the table where there is
/// none. Ended at any point, it has put rows into the table or left them in the log, and never both or none: a commit
/// names the last position that it took in. Must be called inside a tokio runtime.
///
/// # Errors
/// [`IngestError::Digesting`] where somebody else does, which a server does as long as it runs; and where the log, the
/// table or the disk fail.
pub async fn digest(root: &Path, disk: Arc<dyn Disk>, options: &DigestOptions) -> Result<Digested, IngestError> {
    let Some(place) = Place::find(root)? else { return Ok(Digested::default()) };
    let lock = Lock::try_digest(&place.folder)?;
    let _lock = lock.ok_or_else(|| IngestError::Digesting { path: root.to_owned() })?;
    let mut digester = Digester::open(root, disk, options, place).await?;
    let mut done = digester.digest().await?;
    done.merged = digester.merge().await?;
    Ok(done)
}

/// The log of the table in the folder `root`, begun where there is none; but not that of a table which takes no appends.
///
/// # Errors
/// As of [`Appender::open`].
pub(crate) async fn enter(root: &Path, disk: &Arc<dyn Disk>) -> Result<Place, IngestError> {
    if !has_log(root) {
        Appender::open(root, disk.clone()).await?;
    }
    Place::enter(root, &**disk)
}

/// The columns of the table in the folder `root`, which is open if there is one.
pub(crate) fn columns_of(table: Option<&Appender>, root: &Path, disk: &Arc<dyn Disk>) -> Columns {
    table.map_or_else(|| Columns::new(&Schema::empty()), |table| Columns::of_table(table.schema(), root, disk))
}

/// A table whose log nobody else turns into segments.
#[derive(Debug)]
pub(crate) struct Digester {
    pub(crate) root: PathBuf,
    disk: Arc<dyn Disk>,
    options: DigestOptions,
    place: Place,
    pub(crate) columns: Columns,
    /// Made with the first segment.
    appender: Option<Arc<Appender>>,
    /// Rows up to this position of the log are in the table.
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
    /// Whoever opens it holds the lock of digests.
    pub(crate) async fn open(
        root: &Path,
        disk: Arc<dyn Disk>,
        options: &DigestOptions,
        place: Place,
    ) -> Result<Self, IngestError> {
        let appender = Appender::open(root, disk.clone()).await?.map(Arc::new);
        let columns = columns_of(appender.as_deref(), root, &disk);
        let position = appender.as_ref().map_or(0, |a| a.position());
        Ok(Self { root: root.to_owned(), disk, options: options.clone(), place, columns, appender, position })
    }

    /// Turns all that waits into segments.
    pub(crate) async fn digest(&mut self) -> Result<Digested, IngestError> {
        let mut done = Digested::default();
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

    /// Makes sure that the log tells the next position, which it gives, whatever becomes of its files and of the power;
    /// `None` where there is no log. Only what comes before it may be put into the table: a file that others add later may
    /// be forgotten in a power cut, and its positions given again.
    fn tell(&self) -> Result<Option<u64>, IngestError> {
        let folder = &self.place.folder;
        let _turn = Lock::append(folder)?;
        let Some(end) = End::find(folder, &*self.disk)? else { return Ok(None) };
        let next = end.next.max(self.position + 1);
        tell(folder, &*self.disk, next)?;
        Ok(Some(next))
    }

    /// The table, which is made with the first rows there are.
    pub(crate) async fn appender(&mut self) -> Result<Arc<Appender>, IngestError> {
        if let Some(appender) = &self.appender {
            return Ok(appender.clone());
        }
        let options = TableOptions { codec: self.options.codec, ..TableOptions::new(Layout::Pruned) };
        let schema = self.columns.schema();
        let made = Appender::open_or_create(&self.root, self.disk.clone(), schema, &options).await?;
        Ok(self.appender.insert(Arc::new(made)).clone())
    }

    fn unfit(&self) -> impl Fn(arrow::error::ArrowError) -> IngestError + use<> {
        let table = self.root.display().to_string();
        move |cause| IngestError::Rows { table: table.clone(), cause }
    }

    /// Reads the next entries before the position `end` that are not in the table, fitted: as many as are taken up at
    /// once.
    fn read(&mut self, end: u64) -> Result<Round, IngestError> {
        let mut round = Round { position: self.position, is_last: true, ..Round::default() };
        let (mut bytes, unfit) = (0, self.unfit());
        let files = list(&self.place.folder)?;
        for (at, (first, path)) in files.iter().enumerate() {
            let before = files.get(at + 1).map_or(end, |(next, _)| end.min(*next));
            if before <= round.position + 1 || *first >= end {
                continue;
            }
            if *first > round.position + 1 {
                return Err(IngestError::Gap { path: path.clone(), missing: round.position + 1, found: *first });
            }
            if bytes >= self.options.round_bytes {
                round.is_last = false;
                break;
            }
            let (columns, position) = (&mut self.columns, self.position);
            let content = read(path, *first, before, |entry| {
                if entry.position > position {
                    let rows = columns.fit(Recovered::of(entry, path)?.rows, Policy::KEEP).map_err(&unfit)?.rows;
                    round.batches.push(rows);
                    round.position = entry.position;
                }
                Ok(())
            })?;
            bytes += content.bytes;
        }
        Ok(round)
    }

    /// Writes rows that were fitted as segments that are in no version of the table yet.
    async fn write(&mut self, batches: Vec<RecordBatch>) -> Result<Vec<Segment>, IngestError> {
        let appender = self.appender().await?;
        let (columns, rows_max) = (self.columns.clone(), self.options.segment_rows);
        let root = self.root.clone();
        aside(move || {
            let cause = |cause| IngestError::Rows { table: root.display().to_string(), cause };
            let mut segments = Vec::new();
            for batches in in_pieces(batches, rows_max) {
                let batches = batches.iter().map(|rows| columns.conform(rows)).collect::<Result<Vec<_>, _>>();
                segments.extend(write_segments(&appender, &batches.map_err(cause)?, Partition::None, &root)?);
            }
            Ok(segments)
        })
        .await
    }

    /// Removes the files that hold nothing which the table has not.
    fn forget(&self) -> Result<(), IngestError> {
        let files = list(&self.place.folder)?;
        // The last one stays: it tells the position that comes next.
        for (file, next) in files.iter().zip(files.iter().skip(1)) {
            if next.0 <= self.position + 1 {
                keep_keys(&*self.disk, &self.place.folder, file, next.0)?;
                remove(&*self.disk, &file.1)?;
            }
        }
        Ok(())
    }

    /// Notes the columns that the table has now.
    pub(crate) fn advise(&self) {
        let folder = &self.place.folder;
        let noted = Lock::append(folder).and_then(|_turn| advice::write(&self.root, &self.disk, &self.columns));
        if let Err(error) = noted {
            // It is only advice.
            tracing::debug!(%error, "the columns of a table could not be noted");
        }
    }

    /// Merges small segments where there are many. Tells how many were.
    pub(crate) async fn merge(&self) -> Result<usize, IngestError> {
        let most = self.options.compact_segments;
        let Some(table) = Table::open(&self.root, self.disk.clone()).await?.filter(|_| most > 0) else { return Ok(0) };
        let small = table.segments().await?.iter().filter(|s| s.rows < SMALL_ROWS).count();
        if small < most {
            return Ok(0);
        }
        match compact(&self.root, self.disk.clone(), None).await {
            Ok(done) => Ok(done.segments_in),
            // Somebody else is at it: nothing depends on this but room and speed.
            Err(error) if error.kind() == ErrorKind::Conflict => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}

/// Cuts batches into runs of about so many rows.
fn in_pieces(batches: Vec<RecordBatch>, rows_max: usize) -> Vec<Vec<RecordBatch>> {
    let mut pieces: Vec<Vec<RecordBatch>> = Vec::new();
    let mut room = 0;
    for batch in batches {
        if room < batch.num_rows() {
            pieces.push(Vec::new());
            room = rows_max.max(batch.num_rows());
        }
        room -= batch.num_rows();
        if let Some(piece) = pieces.last_mut() {
            piece.push(batch);
        }
    }
    pieces
}

/// Removes what appends left that ended before their file had its name.
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

/// Does what keeps a processor or the disk busy on a thread of its own.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, IngestError> + Send + 'static,
) -> Result<T, IngestError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|panic| Err(IngestError::Table(TableError::Unexpected(panic.to_string()))))
}
