//! Changes a table from or to layout `row`, which has no log for commits.
//!
//! Builds and syncs the new table in a temporary folder next to the old one, then swaps the two names. The swap is
//! atomic: the table is always either the old or the new one. Finally, removes the old files. The [`FolderLock`]
//! excludes writers; readers may find missing files and must retry.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;

use super::compact::TARGET_ROWS;
use super::rewrite::{RewriteOptions, Rewritten};
use super::{Result, VacuumOptions, vacuum};
use crate::append::has_waiting_rows;
use crate::blocking::blocking;
use crate::cluster::{ClusterOptions, cluster};
use crate::error::TableError;
use crate::folder_lock::FolderLock;
use crate::input::Input;
use crate::layout::avro::AvroTable;
use crate::layout::{Encodings, Layout, SAMPLE_ROWS, TableOptions};
use crate::log::{Change, Segment, Table};
use crate::output::{self, NanColumns, Output};
use disk::{Disk, TEMPORARY_SUFFIX, create_dirs, parent, temporary_name};

/// Changes a table from or to layout `row`.
pub(super) async fn exchange(root: &Path, disk: Arc<dyn Disk>, options: &RewriteOptions) -> Result<Rewritten> {
    let _folder_lock = FolderLock::exclusive(root)?.ok_or_else(|| refuse(root, MISSING))?;
    if has_waiting_rows(root) {
        return Err(refuse(root, "its log holds unflushed rows: start and stop the server, then run it again"));
    }
    let beside = Beside::begin(root, disk.clone())?;
    let done = if let Some(avro) = AvroTable::open(root, disk.clone())? {
        from_row(&beside, avro, options).await?
    } else {
        let table = Table::open(root, disk).await?.ok_or_else(|| refuse(root, MISSING))?;
        to_row(&beside, table, options).await?
    };
    beside.exchange()?;
    Ok(done)
}

const MISSING: &str = "no such table: insert rows first";

fn refuse(root: &Path, reason: &str) -> TableError {
    TableError::Options { path: root.to_owned(), reason: reason.to_owned() }
}

/// The error for a writer that ignored the lock and changed the table after it was read.
fn overtaken(root: &Path) -> TableError {
    TableError::Busy { path: root.to_owned() }
}

/// The folder of the new table. Dropping it before the swap removes it.
struct Beside {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    exchanged: bool,
}

impl Beside {
    /// Creates the folder, and removes leftovers of dead processes.
    fn begin(root: &Path, disk: Arc<dyn Disk>) -> Result<Self> {
        let folder = temporary_name(root);
        for left in left_behind(root)? {
            disk.remove_dir(&left).map_err(TableError::io("remove", &left))?;
        }
        create_dirs(&*disk, &folder).map_err(TableError::io("create the folder", &folder))?;
        Ok(Self { root: root.to_owned(), disk, folder, exchanged: false })
    }

    fn exchange(mut self) -> Result<()> {
        let failed = || TableError::io("replace the folder of the table", &self.root);
        self.disk.exchange(&self.folder, &self.root).map_err(failed())?;
        self.exchanged = true;
        let folder = parent(&self.root);
        self.disk.sync_dir(folder).map_err(TableError::io("sync the folder", folder))?;
        if let Err(error) = self.disk.remove_dir(&self.folder) {
            // Harmless: the next change removes it.
            tracing::warn!(path = %self.folder.display(), %error, "cannot remove the files of the old layout");
        }
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.exchanged
            && let Err(error) = self.disk.remove_dir(&self.folder)
        {
            // Harmless: the next change removes it.
            tracing::debug!(path = %self.folder.display(), %error, "cannot remove an unfinished table");
        }
    }
}

/// Temporary folders of interrupted changes of this table.
fn left_behind(root: &Path) -> Result<Vec<PathBuf>> {
    let (folder, name) = (parent(root), root.file_name().unwrap_or_default().to_string_lossy());
    let prefix = format!(".{name}.");
    let is_left = |path: &Path| {
        let found = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        found.starts_with(&prefix) && found.ends_with(TEMPORARY_SUFFIX) && path.is_dir()
    };
    let entries = fs::read_dir(folder).map_err(TableError::io("list the folder", folder))?;
    let paths = entries.map(|entry| entry.map(|e| e.path()).map_err(TableError::io("list the folder", folder)));
    paths.filter(|path| path.as_ref().map_or(true, |path| is_left(path))).collect()
}

/// Writes the rows of a table of layout `row` in another layout.
async fn from_row(beside: &Beside, avro: AvroTable, how: &RewriteOptions) -> Result<Rewritten> {
    let (folder, disk) = (beside.folder.clone(), beside.disk.clone());
    let after = how.change.applied_to(&TableOptions::new(Layout::Row));
    if after.layout == Layout::Row {
        return Err(refuse(&beside.root, "already has layout row, which has no options: choose another layout"));
    }
    after.check(&beside.root, avro.schema())?;
    let definition = after.definition(avro.schema()).map_err(|e| TableError::encode_arrow(&folder, e))?;
    let mut table = Table::open_or_create(&folder, disk.clone(), &definition).await?;
    let files = avro.files()?;
    let mut done = Rewritten {
        layout_before: Layout::Row,
        layout: after.layout,
        rows: 0,
        segments_in: files.len(),
        segments_out: 0,
        bytes_before: files.iter().map(|(_, bytes)| bytes).sum(),
        bytes_after: 0,
        segments_left: 0,
    };
    let job = FromRow {
        disk: disk.clone(),
        folder: folder.clone(),
        avro: avro.clone(),
        options: after.clone(),
        how: how.clone(),
    };
    let taken = files.clone();
    let (rows, output) = blocking(move || job.run(&taken)).await?;
    done.rows = rows;
    if let Some(output) = output {
        let add = output.keep();
        table.commit(&Change { add, ..Change::default() }).await?;
        if after.clustering.is_some() {
            let options = ClusterOptions { memory: how.memory, ..ClusterOptions::default() };
            cluster(&folder, disk.clone(), options).await?;
            vacuum(&folder, disk, VacuumOptions { retain: Duration::ZERO, apply: true }).await?;
            table.refresh().await?;
        }
    }
    let segments = table.segments().await?;
    done.segments_out = segments.len();
    done.bytes_after = segments.iter().map(|s| s.bytes).sum();
    if avro.files()? != files {
        return Err(overtaken(&beside.root));
    }
    Ok(done)
}

struct FromRow {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    avro: AvroTable,
    options: TableOptions,
    how: RewriteOptions,
}

impl FromRow {
    /// Writes the rows of some files. Returns their number, and no output if there are none.
    fn run(&self, files: &[(PathBuf, u64)]) -> Result<(u64, Option<Output>)> {
        let schema = self.avro.schema();
        let unexpected = |e: arrow::error::ArrowError| TableError::Unexpected(e.to_string());
        let (mut sample, mut nan) = (Vec::new(), NanColumns::default());
        let (mut sampled, mut rows) = (0, Vec::with_capacity(files.len()));
        for (file, _) in files {
            let mut of_file = 0;
            for batch in self.avro.read(file)? {
                let batch = batch?;
                nan.add_batch(&batch);
                of_file += batch.num_rows() as u64;
                if sampled < SAMPLE_ROWS {
                    sampled += batch.num_rows();
                    sample.push(batch);
                }
            }
            rows.push(of_file);
        }
        let all: u64 = rows.iter().sum();
        if all == 0 {
            return Ok((0, None));
        }
        let sample = concat_batches(schema, &sample).map_err(unexpected)?;
        let encodings = Encodings::choose(&sample, &self.options).map_err(|e| TableError::encode(&self.folder, e))?;
        let mut output = Output::new(self.disk.clone(), &self.folder, schema, &self.options, encodings, nan);
        let (mut done, mut room) = (0, 0);
        for ((file, _), of_file) in files.iter().zip(rows) {
            if room == 0 || of_file > room {
                output.end()?;
                room = (all - done).min(TARGET_ROWS.max(of_file));
                output.begin(room as usize, [].into())?;
            }
            for batch in self.avro.read(file)? {
                output.write(&batch?)?;
            }
            (room, done) = (room - of_file, done + of_file);
            if let Some(progress) = &self.how.progress {
                progress(done, all);
            }
        }
        output.end()?;
        Ok((all, Some(output)))
    }
}

/// Writes the rows of a table in layout `row`.
async fn to_row(beside: &Beside, mut table: Table, how: &RewriteOptions) -> Result<Rewritten> {
    output::check(&table)?;
    let (schema, version) = (table.arrow_schema()?, table.version());
    how.change.applied_to(&table.options()?).check(&beside.root, &schema)?;
    let segments: Vec<Segment> = table.segments_by_age().await?.into_iter().map(|(_, segment)| segment).collect();
    let (root, folder, disk, how) = (table.root().to_owned(), beside.folder.clone(), beside.disk.clone(), how.clone());
    let mut done = Rewritten {
        layout_before: table.options()?.layout,
        layout: Layout::Row,
        rows: 0,
        segments_in: segments.len(),
        segments_out: segments.len(),
        bytes_before: segments.iter().map(|s| s.bytes).sum(),
        bytes_after: 0,
        segments_left: 0,
    };
    let (rows, bytes) = blocking(move || write_avro(&root, &segments, &schema, &folder, disk, &how)).await?;
    (done.rows, done.bytes_after) = (rows, bytes);
    table.refresh().await?;
    if table.version() != version {
        return Err(overtaken(&beside.root));
    }
    Ok(done)
}

/// Writes one file per segment. Returns the numbers of rows and bytes.
fn write_avro(
    root: &Path,
    segments: &[Segment],
    schema: &SchemaRef,
    folder: &Path,
    disk: Arc<dyn Disk>,
    how: &RewriteOptions,
) -> Result<(u64, u64)> {
    let avro = AvroTable::open_or_create(folder, disk, schema)?;
    let inputs = segments.iter().map(|s| Input::open(root, schema, s)).collect::<Result<Vec<_>>>()?;
    let all = inputs.iter().map(Input::rows_in_all).sum();
    let (mut rows, mut bytes) = (0, 0);
    for input in inputs {
        let name = uuid::Uuid::new_v4().simple().to_string();
        bytes += avro.insert_all(&name, input.rows(None, None)?)?.unwrap_or(0);
        rows += input.rows_in_all();
        if let Some(progress) = &how.progress {
            progress(rows, all);
        }
    }
    Ok((rows, bytes))
}
