//! The rows of any process's log for queries, read without a lock beside writers and digests.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use decode::TIME;
use disk::{Disk, RealDisk};
use table::Appender;
use table::upkeep::last_rows;

use crate::columns::{Columns, Policy};
use crate::error::IngestError;
use crate::log::{Recovered, files};

/// Rows that may be in no segment yet, as appended.
#[derive(Debug, Clone, Default)]
pub struct Waiting {
    /// The table's folder.
    pub root: PathBuf,
    /// Batches with their position in the log. Those up to the position that a table version names are in that version.
    pub entries: Vec<(u64, RecordBatch)>,
}

/// Rows in no segment.
#[derive(Debug, Clone)]
pub struct Unflushed {
    /// The columns of the table, including new ones.
    pub schema: SchemaRef,
    /// Batches with their position in the log.
    pub rows: Vec<(u64, RecordBatch)>,
}

/// Reads the rows of the table in the folder `root` that wait after the log position `after`, up to which a version of
/// the table has them; `None` without a log. Call it before opening or refreshing the table: both together then hold
/// every row acknowledged before.
///
/// # Errors
/// When a file is damaged or cannot be read.
pub fn waiting(root: &Path, after: u64) -> Result<Option<Waiting>, IngestError> {
    let folder = root.join(Appender::LOG_FOLDER);
    let mut entries = Vec::new();
    let files = match files(&folder, u64::MAX) {
        Err(IngestError::Io { cause, .. }) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        files => files?,
    };
    for file in files {
        let read = file.recover_after(after, |Recovered { position, rows }| {
            entries.push((position, rows));
            Ok(())
        });
        match read {
            // Its rows were in the table before it was removed.
            Err(IngestError::Io { cause, .. }) if cause.kind() == ErrorKind::NotFound => {}
            read => read?,
        }
    }
    Ok(Some(Waiting { root: root.to_owned(), entries }))
}

impl Waiting {
    /// The rows past `position`, fitted to the columns `schema` of the table as the next digest will fit them. Of rows
    /// equal in time and in the columns `unique`, if any, only the last.
    ///
    /// # Errors
    /// When Arrow fails.
    pub fn fit(self, schema: &Schema, position: u64, unique: &[String]) -> Result<Unflushed, ArrowError> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let mut columns = Columns::of_table(schema, &self.root, &disk);
        let mut rows = Vec::with_capacity(self.entries.len());
        for (at, batch) in self.entries.into_iter().filter(|(at, _)| *at > position) {
            rows.push((at, columns.fit(batch, Policy::KEEP)?.rows));
        }
        for (_, batch) in &mut rows {
            *batch = columns.conform(batch)?;
        }
        if !unique.is_empty() {
            let (positions, batches): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
            // A row that stays is never in the table before a row it supersedes.
            let (batches, _) = last_rows(batches, TIME, unique)?;
            rows = positions.into_iter().zip(batches).collect();
        }
        Ok(Unflushed { schema: columns.schema().clone(), rows })
    }
}
