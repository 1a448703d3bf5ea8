//! Writes segments that replace others, and commits the replacement.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;

use crate::error::{Result, TableError};
use crate::input::Input;
use crate::layout::Encodings;
use crate::layout::write::{RowsWriter, holds_nan, remove_unnamed};
use crate::log::{Change, Committed, Segment, Table};
use crate::target::Target;
use disk::Disk;

/// Opens the Delta table in a folder for maintenance. Rejects partitioned tables: their rows must stay in their
/// segments.
pub(crate) async fn open(root: &Path, disk: Arc<dyn Disk>) -> Result<Table> {
    let table = open_any(root, disk).await?;
    if !table.partition_columns()?.is_empty() {
        let reason = "the table belongs to ensembles: only runs add to it, and `drop` removes from it";
        return Err(TableError::options(root, reason));
    }
    Ok(table)
}

/// Like [`open`], but allows partitioned tables, for operations that do not move rows.
pub(crate) async fn open_any(root: &Path, disk: Arc<dyn Disk>) -> Result<Table> {
    let missing = || TableError::options(root, "no such table: insert rows first");
    Table::open_locked(root, disk).await?.ok_or_else(missing)
}

/// Checks that new segments still exist: after a clock jump, a vacuum may have removed them as orphans. A table that
/// names a missing segment is unreadable.
pub(crate) fn check_files(root: &Path, segments: &[Segment]) -> Result<()> {
    match segments.iter().find(|segment| !root.join(&segment.path).is_file()) {
        Some(gone) => Err(TableError::Overtaken { path: root.to_owned(), segment: gone.path.clone() }),
        None => Ok(()),
    }
}

/// Commits a change together with the segments of `output`, if there are any.
pub(crate) async fn commit(output: Option<Output>, table: &mut Table, change: Change) -> Result<Committed> {
    match output {
        Some(output) => output.commit(table, change).await,
        None => table.commit(&change).await,
    }
}

/// Columns of real numbers that contain NaN.
#[derive(Debug, Default)]
pub(crate) struct NanColumns(BTreeSet<String>);

impl NanColumns {
    pub(crate) fn add_batch(&mut self, batch: &RecordBatch) {
        for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            if column.data_type().is_floating() && !self.0.contains(field.name()) && holds_nan(column) {
                self.0.insert(field.name().clone());
            }
        }
    }

    /// Reads the real-number columns of segments that may contain NaN. Those with bounds do not, if this program wrote them:
    /// others leave NaN out of bounds, or take it as the greatest number.
    pub(crate) fn of_inputs(inputs: &[Input]) -> Result<Self> {
        let mut nan = Self::default();
        for input in inputs {
            let fields = input.schema().fields();
            let is_ours = input.segment.groups().is_some();
            let bounded = |name: &str| is_ours && input.segment.columns.get(name).is_some_and(|c| c.min.is_some());
            let unsure = |i: &usize| fields[*i].data_type().is_floating() && !bounded(fields[*i].name());
            let columns: Vec<usize> = (0..fields.len()).filter(unsure).collect();
            if !columns.is_empty() {
                input.rows(None, Some(&columns))?.try_for_each(|batch| batch.map(|batch| nan.add_batch(&batch)))?;
            }
        }
        Ok(nan)
    }
}

/// New segments of a table. Dropping them uncommitted removes their files.
pub(crate) struct Output {
    target: Target,
    encodings: Encodings,
    nan: NanColumns,
    segments: Vec<Segment>,
    writer: Option<RowsWriter>,
}

impl Output {
    /// Starts without segments. `encodings` and `nan` describe the rows to write.
    pub(crate) fn new(target: &Target, encodings: Encodings, nan: NanColumns) -> Self {
        Self { target: target.clone(), encodings, nan, segments: Vec::new(), writer: None }
    }

    /// Sets the columns with NaN for the next rows.
    pub(crate) fn set_nan(&mut self, nan: NanColumns) {
        self.nan = nan;
    }

    /// Starts a segment of about `rows` rows.
    pub(crate) fn begin(&mut self, rows: usize, tags: BTreeMap<String, String>) -> Result<()> {
        // Segments of one commit have the same age, so their names sort in order of creation.
        let file = format!("{:014x}-{}", chrono::Utc::now().timestamp_micros(), uuid::Uuid::new_v4().simple());
        let nan = |column: &str| self.nan.0.contains(column);
        let writer = RowsWriter::create(&self.target, (&file, tags), &self.encodings, rows, nan)?;
        self.writer = Some(writer);
        Ok(())
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.open()?.write(batch)
    }

    /// Copies the row groups of a segment without decoding them, or returns false ([`RowsWriter::copy`]).
    pub(crate) fn copy(&mut self, input: &Input) -> Result<bool> {
        self.open()?.copy(input)
    }

    /// Ends the row group; later rows go to the next.
    pub(crate) fn end_group(&mut self) -> Result<()> {
        self.open()?.end_group()
    }

    fn open(&mut self) -> Result<&mut RowsWriter> {
        self.writer.as_mut().ok_or_else(|| TableError::Unexpected("no segment was started".to_owned()))
    }

    /// Durably ends the segment.
    pub(crate) fn end(&mut self) -> Result<()> {
        if let Some(writer) = self.writer.take() {
            self.segments.push(writer.finish()?);
        }
        Ok(())
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.segments.append(&mut other.segments);
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Commits the segments together with `change`.
    async fn commit(mut self, table: &mut Table, change: Change) -> Result<Committed> {
        check_files(&self.target.root, &self.segments)?;
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
            remove_unnamed(&*self.target.disk, &self.target.root.join(&segment.path));
        }
    }
}
