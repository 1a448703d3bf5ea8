//! Appends rows from a write-ahead log. Each commit records its last log position, so the table holds each position
//! once, even after crashes.

use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};

use tokio::sync::Mutex;

use crate::error::{Result, TableError};
use crate::grow::{new_column, widen};
use crate::input::Input;
use crate::job::{TRIES, blocking};
use crate::layout::TableOptions;
use crate::layout::write::remove_unnamed;
use crate::log::{Change, Committed, Rewrite, Segment, Table, TransactionId, sync_log};
use crate::output;
use crate::target::Target;
use crate::upkeep::{DeleteJob, Superseding};
use crate::writer::{self, Writer};
use disk::Disk;

/// Appends rows to one table. The table may gain columns.
#[derive(Debug)]
pub struct Appender {
    writer: Writer,
    position: u64,
    /// Opened by the first commit that replaces stored rows.
    stored: Mutex<Option<Table>>,
}

impl Appender {
    /// The folder inside a table's folder for log files (`*.log`) of rows not yet appended. Delta readers ignore its
    /// name.
    pub const LOG_FOLDER: &str = "_ingest";

    const TRANSACTION: &str = "ingest/log";

    /// Opens the table in the folder `root`; `None` if it does not exist. Call it inside a tokio runtime.
    pub async fn open(root: &Path, disk: Arc<dyn Disk>) -> Result<Option<Self>> {
        match Table::open_locked(root, disk.clone()).await? {
            Some(table) => Ok(Some(Self::over(table, disk).await?)),
            None => Ok(None),
        }
    }

    /// Opens the table in the folder `root`, or creates it with the columns of `schema`. Call it inside a tokio
    /// runtime.
    pub async fn open_or_create(
        root: &Path,
        disk: Arc<dyn Disk>,
        schema: &Schema,
        options: &TableOptions,
    ) -> Result<Self> {
        match Self::open(root, disk.clone()).await? {
            Some(appender) => Ok(appender),
            None => Self::over(writer::create(root, disk.clone(), schema, options).await?, disk).await,
        }
    }

    async fn over(table: Table, disk: Arc<dyn Disk>) -> Result<Self> {
        // The last commit may not be durable yet, and the caller deletes log rows that the table holds.
        table.make_durable()?;
        let position = table.append_position().await?;
        Ok(Self { writer: Writer::new(table, disk)?, position, stored: Mutex::default() })
    }

    /// The table's columns when it was opened.
    pub fn schema(&self) -> &SchemaRef {
        &self.writer.target.schema
    }

    /// The last log position in the table when it was opened; 0 if none.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The last log position that is durably in the table now. After a failed commit, this is its outcome.
    pub async fn position_in_table(&self) -> Result<u64> {
        let Target { root, disk, .. } = &self.writer.target;
        sync_log(root, &**disk)?;
        match Table::open(root, disk.clone()).await? {
            Some(table) => table.append_position().await,
            None => Ok(0),
        }
    }

    /// Writes rows as a durable segment. No version of the table includes it before a commit. Needs at least one batch;
    /// all batches have the same columns. With `part`, the segment lies in that part's folder, and is only merged with
    /// segments of the same part. Blocks.
    pub fn write(&self, batches: &[RecordBatch], part: Option<&str>) -> Result<Segment> {
        self.writer.segment(part, batches)
    }

    /// Commits segments with the columns of `schema` as the log's rows up to `position`. Commit positions in ascending
    /// order; positions that the table has already passed are skipped. After an error, [`Self::position_in_table`]
    /// returns whether the commit is in the table.
    pub async fn commit(&self, segments: Vec<Segment>, schema: &Schema, position: u64) -> Result<Committed> {
        self.commit_change(self.change(segments, schema, position)?, schema).await
    }

    async fn commit_change(&self, change: Change, schema: &Schema) -> Result<Committed> {
        let Writer { target, committer, .. } = &self.writer;
        output::check_files(&target.root, &change.add)?;
        match committer.commit(change.clone()).await {
            Err(TableError::ColumnType { column, .. }) if holds_real_numbers(schema, &column) => {
                widen(&target.root, &target.disk, schema).await?;
                output::check_files(&target.root, &change.add)?;
                committer.commit(change).await
            }
            committed => committed,
        }
    }

    /// Like [`Self::commit`]; the same commit also removes the stored rows that the new rows replace. Rewrites the
    /// segments with such rows.
    pub async fn commit_superseding(
        &self,
        segments: Vec<Segment>,
        schema: &Schema,
        position: u64,
        rows: Arc<Superseding>,
    ) -> Result<Committed> {
        let change = self.change(segments, schema, position)?;
        let Target { root, disk, .. } = &self.writer.target;
        let mut stored = self.stored.lock().await;
        let table = match &mut *stored {
            Some(table) => table,
            none => none.insert(output::open(root, disk.clone()).await?),
        };
        let mut tries = 1;
        loop {
            match self.supersede(table, &change, schema, rows.clone()).await {
                Err(TableError::ColumnType { column, .. }) if tries < TRIES && holds_real_numbers(schema, &column) => {
                    widen(root, disk, schema).await?;
                }
                Err(TableError::Overtaken { .. }) if tries < TRIES => {}
                result => return result,
            }
            tries += 1;
        }
    }

    /// One attempt, on the newest version of the table.
    async fn supersede(
        &self,
        table: &mut Table,
        change: &Change,
        schema: &Schema,
        rows: Arc<Superseding>,
    ) -> Result<Committed> {
        table.refresh().await?;
        table.check_columns(&change.columns)?;
        // A change that is already in the table must not replace its own rows.
        if change.transaction.as_ref().map(|t| t.version) <= Some(table.append_position().await?) {
            return Ok(Committed::Before);
        }
        let stored = Target::of(table, self.writer.target.disk.clone())?;
        let job = DeleteJob::new(Target { schema: grown(&stored.schema, schema), ..stored }, rows)?;
        output::check_files(table.root(), &change.add)?;
        let segments = table.segments_by_age().await?;
        let (touched, output, _) = blocking(move || job.run(segments, true)).await?;
        if touched.is_empty() {
            return table.commit(change).await;
        }
        let change = Change { remove: touched, rewrite: Some(Rewrite::FewerRows), ..change.clone() };
        output::commit(output, table, change).await
    }

    /// Atomically commits segments without a log position.
    pub async fn commit_unlogged(&self, segments: Vec<Segment>, schema: &Schema) -> Result<Committed> {
        let change = Change { transaction: None, ..self.change(segments, schema, 0)? };
        self.commit_change(change, schema).await
    }

    /// Rewrites an uncommitted segment with the columns of `schema`, which may turn integer columns into real numbers.
    /// Blocks.
    pub fn write_anew(&self, segment: &Segment, schema: &SchemaRef) -> Result<Segment> {
        let Target { root, disk, .. } = &self.writer.target;
        let rows = Input::open(root, schema, segment)?.rows(None, None)?.collect::<Result<Vec<_>>>()?;
        let written = self.write(&rows, segment.part())?;
        remove_unnamed(&**disk, &root.join(&segment.path));
        Ok(written)
    }

    fn change(&self, segments: Vec<Segment>, schema: &Schema, position: u64) -> Result<Change> {
        // Existing columns may have any type; unchanged ones need no conversion to our types.
        let Target { root, schema: stored, .. } = &self.writer.target;
        let unchanged = |f: &&FieldRef| stored.field_with_name(f.name()).is_ok_and(|k| k.data_type() == f.data_type());
        let (unchanged, new): (Vec<_>, Vec<_>) = schema.fields().iter().partition(unchanged);
        let mut columns = new.into_iter().map(|f| new_column(root, f)).collect::<Result<Vec<_>>>()?;
        // Columns of our types are checked against changes that others made since.
        columns.extend(unchanged.into_iter().flat_map(|f| new_column(root, f)));
        let transaction = TransactionId { name: Self::TRANSACTION.to_owned(), version: position };
        Ok(Change { add: segments, columns, transaction: Some(transaction), ..Change::default() })
    }
}

/// The columns of a table, then the new ones of `schema`.
fn grown(table: &Schema, schema: &Schema) -> SchemaRef {
    let new = schema.fields().iter().filter(|f| table.field_with_name(f.name()).is_err());
    Arc::new(Schema::new(table.fields().iter().chain(new).cloned().collect::<Vec<_>>()))
}

fn holds_real_numbers(schema: &Schema, column: &str) -> bool {
    schema.field_with_name(column).is_ok_and(|f| *f.data_type() == DataType::Float64)
}

impl Table {
    /// The last position of the append log in this version; 0 if none.
    pub async fn append_position(&self) -> Result<u64> {
        Ok(self.transaction_version(Appender::TRANSACTION).await?.unwrap_or(0))
    }
}
