//! Appends by short-lived processes: each writes one file of the log and makes it durable before naming it.
//!
//! Delta Lake is consulted only for a log without files: then only the table knows the last position it holds.

use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use disk::{Disk, write_file};
use table::Appender;

use crate::advice;
use crate::columns::{Overflow, Policy, Renamed};
use crate::error::IngestError;
use crate::locks::{Place, lock_append};
use crate::log::{End, NewEntry, has_log, path_at, whole};

/// Waiting files and bytes of a log that make a digest worthwhile.
const FILES_DUE: usize = 256;
const BYTES_DUE: u64 = 2 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Appended {
    pub rows: u64,
    /// Position of the first batch; each batch takes one position. `None` without rows.
    pub position: Option<u64>,
    /// Files now waiting in the log.
    pub files: usize,
    /// Bytes of those files.
    pub bytes: u64,
    /// Values that will go into overflow columns, as far as known now.
    pub overflows: Vec<Overflow>,
    pub renamed: Vec<Renamed>,
}

impl Appended {
    /// Whether the log is long enough to digest.
    pub fn is_due(&self) -> bool {
        self.files >= FILES_DUE || self.bytes >= BYTES_DUE
    }
}

/// Appends rows to the log of the table in the folder `root`, all or none; creates table and log if missing. On return
/// the rows are durable and visible to queries. Any number of processes and a server may append at once. Blocks.
///
/// # Errors
/// When the disk fails, or the table cannot be read. After a disk error the rows may or may not be in the log.
pub fn append(root: &Path, disk: &Arc<dyn Disk>, batches: &[RecordBatch]) -> Result<Appended, IngestError> {
    let batches: Vec<&RecordBatch> = batches.iter().filter(|rows| rows.num_rows() > 0).collect();
    if batches.is_empty() {
        return Ok(Appended::default());
    }
    let entries = batches.iter().map(|rows| NewEntry::new(rows, None)).collect::<Result<Vec<_>, _>>();
    let mut entries = entries.map_err(IngestError::rows(root.display()))?;
    if !has_log(root) && root.is_dir() {
        // A table that cannot be read gets no log.
        taken_in(root, disk)?;
    }
    let place = Place::enter(root, &**disk)?;
    let folder = &place.folder;
    let turn = lock_append(folder)?;
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
    // The rows are durable, so a failure of mere advice is ignored.
    let advised = advise(root, disk, &batches);
    let noted = advised.inspect_err(|error| tracing::debug!(%error, "the columns of a log could not be noted"));
    let (overflows, renamed) = noted.unwrap_or_default();
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

/// Reports the overflows and renamed fields of rows, and notes their new columns.
fn advise(
    root: &Path,
    disk: &Arc<dyn Disk>,
    batches: &[&RecordBatch],
) -> Result<(Vec<Overflow>, Vec<Renamed>), IngestError> {
    let mut columns = advice::read(root, disk);
    let (mut overflows, mut renamed) = (Vec::new(), Vec::new());
    for rows in batches {
        let fitted = columns.fit((*rows).clone(), Policy::KEEP);
        let fitted = fitted.map_err(IngestError::rows(root.display()))?;
        overflows.extend(fitted.overflows);
        renamed.extend(fitted.renamed);
    }
    if columns.changes() > 0 {
        advice::write(root, disk, &columns)?;
    }
    Ok((overflows, renamed))
}

/// The last log position in the table in the folder `root`; 0 without a table. Slow: asks Delta Lake.
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
    // The caller may be inside a runtime, which cannot start another.
    let asked = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(IngestError::io("start a runtime for", &root))?;
        let table = runtime.block_on(Appender::open(&root, disk))?;
        Ok(table.map_or(0, |table| table.position()))
    });
    asked.join().unwrap_or_else(|_| Err(IngestError::Task("the table could not be asked".to_owned())))
}
