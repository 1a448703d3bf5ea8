//! Appends by processes that come and go: each writes one file of the log, whole and durable before it has its name.
//!
//! Nothing here knows Delta Lake, but where a log has no files at all: then only the table knows which positions it took
//! in.

use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use disk::{Disk, write_file};
use table::Appender;

use crate::advice;
use crate::columns::{Overflow, Policy, Renamed};
use crate::error::IngestError;
use crate::locks::{Lock, Place};
use crate::log::{End, NewEntry, has_log, path_at, whole};

/// Files of a log that wait, and their bytes, from which on they are worth a segment.
const FILES_DUE: usize = 256;
const BYTES_DUE: u64 = 2 << 20;

/// What an append did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Appended {
    /// Rows appended.
    pub rows: u64,
    /// The position of the first batch; each takes one. `None` where there were no rows.
    pub position: Option<u64>,
    /// Files that wait in the log now.
    pub files: usize,
    /// Bytes of them.
    pub bytes: u64,
    /// Values that will be in the overflows of their columns, as far as can be told now.
    pub overflows: Vec<Overflow>,
    /// Fields that are stored under another name.
    pub renamed: Vec<Renamed>,
}

impl Appended {
    /// Whether so much waits that somebody should digest it.
    pub fn is_due(&self) -> bool {
        self.files >= FILES_DUE || self.bytes >= BYTES_DUE
    }
}

/// Appends rows to the log of the table in the folder `root`, all of them or none; both are made where they are not
/// there. Once it returns, the rows are durable and questions find them. Any number of processes may, and a server, at
/// once. Blocks.
///
/// # Errors
/// Where the disk refuses, and where the table is of a layout that takes no appends. After an error of the disk the rows
/// may be there or not.
pub fn append(root: &Path, disk: &Arc<dyn Disk>, batches: &[RecordBatch]) -> Result<Appended, IngestError> {
    let batches: Vec<&RecordBatch> = batches.iter().filter(|rows| rows.num_rows() > 0).collect();
    if batches.is_empty() {
        return Ok(Appended::default());
    }
    let cause = |cause| IngestError::Rows { table: root.display().to_string(), cause };
    let entries = batches.iter().map(|rows| NewEntry::new(rows, None)).collect::<Result<Vec<_>, _>>();
    let mut entries = entries.map_err(cause)?;
    if !has_log(root) && root.is_dir() {
        // A table that takes no appends stays without a log.
        taken_in(root, disk)?;
    }
    let place = Place::enter(root, &**disk)?;
    let folder = &place.folder;
    let turn = Lock::append(folder)?;
    let end = End::find(folder, &**disk)?;
    let position = if let Some(end) = &end {
        end.next
    } else {
        place.settle(&**disk)?;
        taken_in(root, disk)? + 1
    };
    let path = path_at(folder, position);
    let bytes = whole(position, &mut entries);
    write_file(&**disk, &path, &bytes).map_err(IngestError::io("write", &path))?;
    // The rows are durable: what is only advice fails nobody.
    let Advised { overflows, renamed } = advise(root, disk, &batches).unwrap_or_else(|error| {
        tracing::debug!(%error, "the columns of a log could not be noted");
        Advised::default()
    });
    drop(turn);
    Ok(Appended {
        rows: batches.iter().map(|rows| rows.num_rows() as u64).sum(),
        position: Some(position),
        files: end.as_ref().map_or(0, |end| end.files.len()) + 1,
        bytes: end.as_ref().map_or(0, End::bytes) + bytes.len() as u64,
        overflows,
        renamed,
    })
}

/// What can be told of rows before they are in segments.
#[derive(Debug, Default)]
struct Advised {
    overflows: Vec<Overflow>,
    renamed: Vec<Renamed>,
}

/// Tells what of some rows goes into overflows and under which names, and notes the columns that they bring.
fn advise(root: &Path, disk: &Arc<dyn Disk>, batches: &[&RecordBatch]) -> Result<Advised, IngestError> {
    let mut columns = advice::read(root, disk);
    let mut advised = Advised::default();
    for rows in batches {
        let fitted = columns.fit((*rows).clone(), Policy::KEEP);
        let fitted = fitted.map_err(|cause| IngestError::Rows { table: root.display().to_string(), cause })?;
        advised.overflows.extend(fitted.overflows);
        advised.renamed.extend(fitted.renamed);
    }
    if columns.changes() > 0 {
        advice::write(root, disk, &columns)?;
    }
    Ok(advised)
}

/// The last position that the table in the folder `root` took in; 0 where there is no table. The way that is slow, and
/// asks Delta Lake.
///
/// # Errors
/// As of [`Appender::open`].
fn taken_in(root: &Path, disk: &Arc<dyn Disk>) -> Result<u64, IngestError> {
    let failed = || IngestError::io("list the folder", root);
    let mut is_table = false;
    for entry in std::fs::read_dir(root).map_err(failed())? {
        is_table |= entry.map_err(failed())?.file_name() != Appender::LOG_FOLDER;
    }
    if !is_table {
        return Ok(0);
    }
    let (root, disk) = (root.to_owned(), disk.clone());
    // Whoever asks may be inside a runtime, in which none can be started.
    let asked = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(IngestError::io("start a runtime for", &root))?;
        let table = runtime.block_on(Appender::open(&root, disk))?;
        Ok(table.map_or(0, |table| table.position()))
    });
    asked.join().unwrap_or_else(|_| Err(IngestError::Log("the table could not be asked".to_owned())))
}
