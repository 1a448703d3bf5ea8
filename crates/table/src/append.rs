//! Appends of rows that lie in somebody's log until they are in a table: each names the last place of that log that it
//! takes in, so that a place is in the table once, whatever happens in between.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};

use tokio::sync::Mutex;

use crate::aside::aside;
use crate::committer::Committer;
use crate::disk::Disk;
use crate::error::TableError;
use crate::folder::StoredTable;
use crate::grow::{new_column, widen};
use crate::hold::Hold;
use crate::input::Input;
use crate::insert::RowsEncoder;
use crate::layout::write::remove_unnamed;
use crate::layout::{Layout, TableOptions, storable};
use crate::log::{Change, Committed, Rewrite, Segment, Table, TransactionId, sync_log};
use crate::output;
use crate::schema::Field;
use crate::upkeep::{DeleteJob, Superseding, TRIES};

type Result<T> = std::result::Result<T, TableError>;

/// Appends rows to one table, whose columns may become more.
#[derive(Debug)]
pub struct Appender {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    schema: SchemaRef,
    options: TableOptions,
    position: u64,
    encoder: RowsEncoder,
    committer: Committer,
    /// Opened by the first commit that has to know what is stored.
    stored: Mutex<Option<Table>>,
}

impl Appender {
    /// The folder, in that of a table, for the log of rows that wait to be appended: files that end in `.log`. Delta
    /// readers leave names alone that begin so.
    pub const LOG_FOLDER: &str = "_ingest";

    /// Bytes of a file of that log before the first rows.
    pub const LOG_HEAD_BYTES: u64 = 8;

    /// The name of the appends in a table's log.
    const TRANSACTION: &str = "ingest/log";

    /// Opens the table in the folder `root`; `None` where there is none. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// Where it is of layout `row`, which has no log to keep positions in, and where it cannot be read.
    pub async fn open(root: &Path, disk: Arc<dyn Disk>) -> Result<Option<Self>> {
        let hold = Hold::shared(root)?.map(Arc::new);
        match StoredTable::open(root, disk.clone()).await? {
            Some(StoredTable::Delta(table)) => {
                // Whoever committed last may have ended before that was durable, and what is in the table is forgotten in
                // the log.
                sync_log(root, &*disk)?;
                Ok(Some(Self::over(root, disk, table.held_by(hold)).await?))
            }
            Some(StoredTable::Row(_)) => Err(TableError::Options {
                path: root.to_owned(),
                reason: format!("layout {} takes whole batches only: rewrite it in another", Layout::Row),
            }),
            None => Ok(None),
        }
    }

    /// Opens the table in the folder `root`, or makes it with some columns. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// As [`Self::open`], and where the options do not fit the columns.
    pub async fn open_or_create(
        root: &Path,
        disk: Arc<dyn Disk>,
        schema: &Schema,
        options: &TableOptions,
    ) -> Result<Self> {
        if let Some(appender) = Self::open(root, disk.clone()).await? {
            return Ok(appender);
        }
        let schema = storable(root, schema)?;
        options.check(root, &schema)?;
        let definition = options.definition(&schema).map_err(|e| TableError::encode_arrow(root, e))?;
        Table::open_or_create(root, disk.clone(), &definition).await?;
        let gone = || TableError::Unexpected(format!("the table {} went away", root.display()));
        Self::open(root, disk).await?.ok_or_else(gone)
    }

    async fn over(root: &Path, disk: Arc<dyn Disk>, table: Table) -> Result<Self> {
        Ok(Self {
            root: root.to_owned(),
            disk,
            schema: table.arrow_schema()?,
            options: table.options()?,
            position: table.append_position().await?,
            encoder: RowsEncoder::default(),
            committer: Committer::start(table),
            stored: Mutex::default(),
        })
    }

    /// The columns that the table had when it was opened.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The last place of the log that was in the table when it was opened; 0 where there was none.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The last place of the log that is in the table now, durably: after a commit that failed, whether it is in the table
    /// is not known otherwise.
    ///
    /// # Errors
    /// Where the table cannot be read, and where its log cannot be made durable.
    pub async fn position_in_table(&self) -> Result<u64> {
        sync_log(&self.root, &*self.disk)?;
        match Table::open(&self.root, self.disk.clone()).await? {
            Some(table) => table.append_position().await,
            None => Ok(0),
        }
    }

    /// Writes rows as a segment, durably, which is in no version of the table until it is committed. Batches are one at
    /// least, and all of the same columns. The segment lies in the folder of the part that it belongs to, if any, and is
    /// merged with others of that only. Blocks.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn write(&self, batches: &[RecordBatch], part: Option<&str>) -> Result<Segment> {
        let file = uuid::Uuid::new_v4().simple().to_string();
        self.encoder.segment(&self.root, &self.disk, &self.options, (&file, part), batches)
    }

    /// Commits segments, whose columns are those of `schema`, as what the log holds up to `position`. Commits must come
    /// in the order of their positions; one that the table is past already is not made again.
    ///
    /// # Errors
    /// Where the table has one of the columns with another type, and where the log refuses: whether it is in the table then
    /// [`Self::position_in_table`] tells.
    pub async fn commit(&self, segments: Vec<Segment>, schema: &Schema, position: u64) -> Result<Committed> {
        self.commit_change(self.change(segments, schema, position)?, schema).await
    }

    async fn commit_change(&self, change: Change, schema: &Schema) -> Result<Committed> {
        self.check_files(&change)?;
        match self.committer.commit(change.clone()).await {
            Err(TableError::ColumnType { column, .. }) if holds_real_numbers(schema, &column) => {
                widen(&self.root, &self.disk, schema).await?;
                self.check_files(&change)?;
                self.committer.commit(change).await
            }
            committed => committed,
        }
    }

    /// Whether the segments that a change adds are still there: a clock that is set forward lets a vacuum take them for
    /// files that nobody will commit. A table that names a segment which is gone cannot be read.
    fn check_files(&self, change: &Change) -> Result<()> {
        match change.add.iter().find(|segment| !self.root.join(&segment.path).is_file()) {
            Some(gone) => Err(TableError::Overtaken { path: self.root.clone(), segment: gone.path.clone() }),
            None => Ok(()),
        }
    }

    /// As [`Self::commit`], and takes the stored rows out, in the same commit, that those of the segments take the place
    /// of. Segments that hold such are written anew.
    ///
    /// # Errors
    /// As [`Self::commit`], and where others rewrite the same segments again and again.
    pub async fn commit_superseding(
        &self,
        segments: Vec<Segment>,
        schema: &Schema,
        position: u64,
        rows: Arc<Superseding>,
    ) -> Result<Committed> {
        let change = self.change(segments, schema, position)?;
        let mut stored = self.stored.lock().await;
        let table = match &mut *stored {
            Some(table) => table,
            none => none.insert(output::open(&self.root, self.disk.clone()).await?),
        };
        let mut tries = 1;
        loop {
            match self.supersede(table, &change, schema, rows.clone()).await {
                Err(TableError::ColumnType { column, .. }) if tries < TRIES && holds_real_numbers(schema, &column) => {
                    widen(&self.root, &self.disk, schema).await?;
                }
                Err(TableError::Overtaken { .. }) if tries < TRIES => {}
                result => return result,
            }
            tries += 1;
        }
    }

    /// One try, on the newest version of the table.
    async fn supersede(
        &self,
        table: &mut Table,
        change: &Change,
        schema: &Schema,
        rows: Arc<Superseding>,
    ) -> Result<Committed> {
        table.refresh().await?;
        table.check_columns(&change.columns)?;
        // What has the change already must not lose its rows to itself.
        if change.transaction.as_ref().map(|t| t.version) <= Some(table.append_position().await?) {
            return Ok(Committed::Before);
        }
        let schema = grown(&*table.arrow_schema()?, schema);
        let job = DeleteJob::new(&self.root, self.disk.clone(), schema, table.options()?, rows)?;
        self.check_files(change)?;
        let segments = table.segments_by_age().await?.into_iter().map(|(_, segment)| segment).collect();
        let (touched, output, _) = aside(move || job.run(segments, true)).await?;
        if touched.is_empty() {
            return table.commit(change).await;
        }
        let change = Change { remove: touched, rewrite: Some(Rewrite::FewerRows), ..change.clone() };
        match output {
            Some(output) => output.commit(table, change).await,
            None => table.commit(&change).await,
        }
    }

    /// Commits segments whose rows are in no log, all of them or none.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub async fn commit_unlogged(&self, segments: Vec<Segment>, schema: &Schema) -> Result<Committed> {
        let change = Change { transaction: None, ..self.change(segments, schema, 0)? };
        self.commit_change(change, schema).await
    }

    /// A segment that is in no version of the table, written anew in the columns of `schema`, in which columns of integers
    /// may hold real numbers. Blocks.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn write_anew(&self, segment: &Segment, schema: &SchemaRef) -> Result<Segment> {
        let rows = Input::open(&self.root, schema, segment)?.rows(None, None)?.collect::<Result<Vec<_>>>()?;
        let written = self.write(&rows, segment.part())?;
        remove_unnamed(&*self.disk, &self.root.join(&segment.path));
        Ok(written)
    }

    fn change(&self, segments: Vec<Segment>, schema: &Schema, position: u64) -> Result<Change> {
        // What the table had when it was opened may be of any type, and need not become a column.
        let known = |f: &&FieldRef| self.schema.field_with_name(f.name()).is_ok_and(|k| k.data_type() == f.data_type());
        let (known, new): (Vec<_>, Vec<_>) = schema.fields().iter().partition(known);
        let mut columns: Vec<Field> = new.into_iter().map(|f| new_column(&self.root, f)).collect::<Result<_>>()?;
        // Those of our own types are checked against what others may have made of them since.
        columns.extend(known.into_iter().flat_map(|f| new_column(&self.root, f)));
        let transaction = TransactionId { name: Self::TRANSACTION.to_owned(), version: position };
        Ok(Change { add: segments, columns, transaction: Some(transaction), ..Change::default() })
    }
}

/// The columns of a table and those that are new in `schema`.
fn grown(table: &Schema, schema: &Schema) -> SchemaRef {
    let new = schema.fields().iter().filter(|f| table.field_with_name(f.name()).is_err());
    Arc::new(Schema::new(table.fields().iter().chain(new).cloned().collect::<Vec<_>>()))
}

/// Whether rows may wait in the log of the table in the folder `root`. A file that was begun and holds none may be left,
/// since its name tells which place of the log comes next.
pub(crate) fn has_waiting_rows(root: &Path) -> bool {
    let holds_rows = |path: &Path| {
        let is_log = path.extension().is_some_and(|end| end == "log");
        is_log && path.metadata().is_ok_and(|about| about.len() > Appender::LOG_HEAD_BYTES)
    };
    let entries = std::fs::read_dir(root.join(Appender::LOG_FOLDER)).into_iter().flatten();
    entries.flatten().any(|entry| holds_rows(&entry.path()))
}

fn holds_real_numbers(schema: &Schema, column: &str) -> bool {
    schema.field_with_name(column).is_ok_and(|f| *f.data_type() == DataType::Float64)
}

impl Table {
    /// The last place of the log of appended rows that is in the version in hand; 0 where there is none.
    ///
    /// # Errors
    /// Where the table's log cannot be read.
    pub async fn append_position(&self) -> Result<u64> {
        Ok(self.transaction_version(Appender::TRANSACTION).await?.unwrap_or(0))
    }
}
