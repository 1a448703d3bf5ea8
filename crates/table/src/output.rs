//! Writes segments that replace others, and commits the replacement.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;

use crate::error::TableError;
use crate::folder_lock::FolderLock;
use crate::input::Input;
use crate::layout::write::{RowsWriter, holds_nan, path_in, remove_unnamed, sync_part};
use crate::layout::{Encodings, TableOptions};
use crate::log::{Change, Committed, Segment, Table};
use disk::Disk;

type Result<T> = std::result::Result<T, TableError>;

/// Opens the Delta table in a folder for maintenance.
pub(crate) async fn open(root: &Path, disk: Arc<dyn Disk>) -> Result<Table> {
    let table = open_any(root, disk).await?;
    check(&table)?;
    Ok(table)
}

/// Like [`open`], but allows partitioned tables, for operations that do not move rows.
pub(crate) async fn open_any(root: &Path, disk: Arc<dyn Disk>) -> Result<Table> {
    let refuse = |reason: &str| TableError::Options { path: root.to_owned(), reason: reason.to_owned() };
    let folder_lock = FolderLock::shared(root)?;
    let table = Table::open(root, disk).await?.ok_or_else(|| refuse("no such table: insert rows first"))?;
    Ok(table.with_folder_lock(folder_lock.map(Arc::new)))
}

/// Rejects partitioned tables: their rows must stay in their segments.
pub(crate) fn check(table: &Table) -> Result<()> {
    let refuse = |reason: &str| TableError::Options { path: table.root().to_owned(), reason: reason.to_owned() };
    if !table.partition_columns()?.is_empty() {
        return Err(refuse("the table belongs to ensembles: only runs add to it, and `drop` removes from it"));
    }
    Ok(())
}

/// Columns of real numbers that contain NaN.
#[derive(Debug, Default)]
pub(crate) struct NanColumns(BTreeSet<String>);

impl NanColumns {
    pub(crate) fn add_batch(&mut self, batch: &RecordBatch) {
        for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            self.add(field.name(), column);
        }
    }

    /// Reads the real-number columns of segments that lack bounds; columns with bounds contain no NaN.
    pub(crate) fn of_inputs(inputs: &[(Input, Segment)], schema: &SchemaRef) -> Result<Self> {
        let mut nan = Self::default();
        for (input, segment) in inputs {
            let bounded = |name: &str| segment.columns.get(name).is_some_and(|c| c.min.is_some());
            let unsure = |i: &usize| schema.field(*i).data_type().is_floating() && !bounded(schema.field(*i).name());
            let columns: Vec<usize> = (0..schema.fields().len()).filter(unsure).collect();
            if !columns.is_empty() {
                input.rows(None, Some(&columns))?.try_for_each(|batch| batch.map(|batch| nan.add_batch(&batch)))?;
            }
        }
        Ok(nan)
    }

    fn add(&mut self, name: &str, column: &ArrayRef) {
        if column.data_type().is_floating() && !self.0.contains(name) && holds_nan(column) {
            self.0.insert(name.to_owned());
        }
    }
}

/// New segments of a table. Dropping them uncommitted removes their files.
pub(crate) struct Output {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    schema: SchemaRef,
    options: TableOptions,
    encodings: Encodings,
    nan: NanColumns,
    tags: BTreeMap<String, String>,
    segments: Vec<Segment>,
    writer: Option<(String, RowsWriter)>,
}

impl Output {
    /// Starts without segments. `encodings` and `nan` describe the rows to write.
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        root: &Path,
        schema: &SchemaRef,
        options: &TableOptions,
        encodings: Encodings,
        nan: NanColumns,
    ) -> Self {
        Self {
            disk,
            root: root.to_owned(),
            schema: schema.clone(),
            options: options.clone(),
            encodings,
            nan,
            tags: BTreeMap::new(),
            segments: Vec::new(),
            writer: None,
        }
    }

    /// Sets the columns with NaN for the next rows.
    pub(crate) fn set_nan(&mut self, nan: NanColumns) {
        self.nan = nan;
    }

    /// Starts a segment of about `rows` rows.
    pub(crate) fn begin(&mut self, rows: usize, tags: BTreeMap<String, String>) -> Result<()> {
        self.tags = tags;
        // Segments of one commit have the same age, so their names sort in order of creation.
        let file = format!("{:014x}-{}", chrono::Utc::now().timestamp_micros(), uuid::Uuid::new_v4().simple());
        let path = path_in(self.part(), &file);
        let nan = |column: &str| self.nan.0.contains(column);
        let file = self.root.join(&path);
        let (disk, schema) = (self.disk.clone(), self.schema.clone());
        let writer = RowsWriter::create(disk, &file, schema, &self.options, &self.encodings, rows, nan)?;
        self.writer = Some((path, writer));
        Ok(())
    }

    /// The part of the current segment.
    fn part(&self) -> Option<&str> {
        self.tags.get(Segment::PART_TAG).map(String::as_str)
    }

    /// Writes rows to the current segment.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.open()?.write(batch)
    }

    /// Ends the row group; later rows go to the next.
    pub(crate) fn end_group(&mut self) -> Result<()> {
        self.open()?.end_group()
    }

    fn open(&mut self) -> Result<&mut RowsWriter> {
        let open = self.writer.as_mut().map(|(_, writer)| writer);
        open.ok_or_else(|| TableError::Unexpected("no segment was started".to_owned()))
    }

    /// Durably ends the segment.
    pub(crate) fn end(&mut self) -> Result<()> {
        if let Some((path, writer)) = self.writer.take() {
            let written = writer.finish()?;
            sync_part(&*self.disk, &self.root, self.part())?;
            self.segments.push(written.into_segment(path, self.tags.clone()));
        }
        Ok(())
    }

    /// Adds another output's segments to this one.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.segments.append(&mut other.segments);
    }

    /// The finished segments.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Commits the segments together with `change`.
    pub(crate) async fn commit(mut self, table: &mut Table, change: Change) -> Result<Committed> {
        let gone = self.segments.iter().find(|s| !self.root.join(&s.path).is_file());
        if let Some(gone) = gone {
            return Err(TableError::Overtaken { path: self.root.clone(), segment: gone.path.clone() });
        }
        let add = change.add.into_iter().chain(self.segments.iter().cloned()).collect();
        let change = Change { add, ..change };
        let committed = table.commit(&change).await;
        // After other errors, the commit may be in the log. Keep the files; `vacuum` removes them if unused.
        let unnamed = matches!(committed, Err(TableError::Overtaken { .. }));
        if !unnamed {
            self.segments.clear();
        }
        committed
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        for segment in &self.segments {
            remove_unnamed(&*self.disk, &self.root.join(&segment.path));
        }
    }
}
