//! Streaming inserts: each batch is one atomic, durable commit. Writers may work concurrently.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};

use crate::blocking::blocking;
use crate::committer::Committer;
use crate::error::TableError;
use crate::folder_lock::FolderLock;
use crate::grow::{new_column, widen};
use crate::layout::write::{RowsWriter, holds_nan, path_in, sync_part};
use crate::layout::{Encodings, TableOptions, conform, storable};
use crate::log::{Change, Committed, Segment, Table, TransactionId};
use crate::schema::Field;
use disk::Disk;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inserted {
    /// Rows inserted; 0 if a batch with this name was inserted before.
    pub rows: u64,
    pub bytes: u64,
}

/// Inserts batches into one table of any layout. Writers share it by reference or clone. It encodes batches
/// concurrently, and groups commits that are ready together.
#[derive(Debug, Clone)]
pub struct Inserter {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    schema: SchemaRef,
    options: TableOptions,
    encoder: RowsEncoder,
    committer: Committer,
    /// Columns that the table lacked when it was opened.
    new: Vec<Field>,
}

type Result<T> = std::result::Result<T, TableError>;

impl Inserter {
    /// Opens the table in the folder `root`; `None` if it does not exist. Call it inside a tokio runtime.
    pub async fn open(root: &Path, disk: Arc<dyn Disk>) -> Result<Option<Self>> {
        let folder_lock = FolderLock::shared(root)?.map(Arc::new);
        let Some(table) = Table::open(root, disk.clone()).await? else { return Ok(None) };
        Ok(Some(Self {
            root: root.to_owned(),
            disk,
            schema: table.arrow_schema()?,
            options: table.options()?,
            encoder: RowsEncoder::default(),
            committer: Committer::start(table.with_folder_lock(folder_lock)),
            new: Vec::new(),
        }))
    }

    /// Opens the table in the folder `root`, or creates it. Call it inside a tokio runtime. Fails if the table exists
    /// with other options. Columns are compared at insertion.
    pub async fn open_or_create(
        root: &Path,
        disk: Arc<dyn Disk>,
        schema: &Schema,
        options: &TableOptions,
    ) -> Result<Self> {
        let schema = storable(root, schema)?;
        options.check(root, &schema)?;
        let inserter = if let Some(inserter) = Self::open(root, disk.clone()).await? {
            inserter
        } else {
            let definition = options.definition(&schema).map_err(|e| TableError::encode_arrow(root, e))?;
            Table::open_or_create(root, disk.clone(), &definition).await?;
            let gone = || TableError::Unexpected(format!("the table {} disappeared", root.display()));
            Self::open(root, disk).await?.ok_or_else(gone)?
        };
        if inserter.options != *options {
            let reason = format!(
                "already exists with layout {}: omit the layout and its options, or choose another name",
                inserter.options.layout
            );
            return Err(TableError::Options { path: root.to_owned(), reason });
        }
        Ok(inserter)
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub fn options(&self) -> &TableOptions {
        &self.options
    }

    /// Inserts rows with the columns of `schema` from now on. The next insert adds new columns. This call rewrites
    /// integer columns that are real in `schema`.
    pub async fn grow(&mut self, schema: &SchemaRef) -> Result<()> {
        let (old, new): (Vec<&FieldRef>, Vec<&FieldRef>) =
            schema.fields().iter().partition(|field| self.schema.field_with_name(field.name()).is_ok());
        let is_wider = |field: &&FieldRef| {
            let before = self.schema.field_with_name(field.name());
            *field.data_type() == DataType::Float64 && before.is_ok_and(|before| before.data_type().is_integer())
        };
        let widens = old.into_iter().any(|field| is_wider(&field));
        let new = new.into_iter().map(|field| new_column(&self.root, field)).collect::<Result<Vec<_>>>()?;
        if widens {
            widen(&self.root, &self.disk, schema).await?;
        }
        self.new.extend(new);
        let field = |field: &FieldRef| match self.schema.field_with_name(field.name()) {
            Ok(before) => before.clone().with_data_type(field.data_type().clone()),
            Err(_) => field.as_ref().clone(),
        };
        self.schema = Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()));
        Ok(())
    }

    /// Inserts rows atomically; they are durable when it returns.
    pub async fn insert(&self, batches: &[RecordBatch]) -> Result<Inserted> {
        self.insert_named(batches, None).await
    }

    /// Like [`Self::insert`], but skips a batch if its name was inserted before.
    pub async fn insert_once(&self, name: &str, batches: &[RecordBatch]) -> Result<Inserted> {
        self.insert_named(batches, Some(name)).await
    }

    async fn insert_named(&self, batches: &[RecordBatch], name: Option<&str>) -> Result<Inserted> {
        let batches = batches.iter().map(|b| conform(&self.root, &self.schema, b)).collect::<Result<Vec<_>>>()?;
        if batches.iter().all(|batch| batch.num_rows() == 0) {
            return Ok(Inserted { rows: 0, bytes: 0 });
        }
        let inserter = self.clone();
        let work = move || {
            let Self { root, disk, options, encoder, .. } = &inserter;
            let file = uuid::Uuid::new_v4().simple().to_string();
            encoder.segment(root, disk, options, (&file, None), &batches)
        };
        let segment = blocking(work).await?;
        let inserted = Inserted { rows: segment.rows, bytes: segment.bytes };
        let change = Change {
            add: vec![segment],
            columns: self.new.clone(),
            transaction: name.map(|name| TransactionId::once(format!("insert/{name}"))),
            ..Change::default()
        };
        Ok(match self.committer.commit(change).await? {
            Committed::At(_) => inserted,
            Committed::Before => Inserted { rows: 0, bytes: 0 },
        })
    }
}

/// Writes rows as segments of one table. Chooses encodings from the first rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowsEncoder {
    encodings: Arc<Mutex<Option<Arc<Encodings>>>>,
}

impl RowsEncoder {
    /// Writes batches as the segment `file`, in the folder of `part` if given. Needs at least one batch; all batches
    /// have the same columns. The segment is durable, but not yet committed.
    pub(crate) fn segment(
        &self,
        root: &Path,
        disk: &Arc<dyn Disk>,
        options: &TableOptions,
        (file, part): (&str, Option<&str>),
        batches: &[RecordBatch],
    ) -> Result<Segment> {
        let encodings = self.encodings_for(root, options, &batches[0])?;
        let may_hold_nan =
            |column: &str| batches.iter().any(|batch| batch.column_by_name(column).is_some_and(holds_nan));
        let path = path_in(part, file);
        let (schema, rows) = (batches[0].schema(), batches.iter().map(RecordBatch::num_rows).sum());
        let mut writer =
            RowsWriter::create(disk.clone(), &root.join(&path), schema, options, &encodings, rows, may_hold_nan)?;
        for batch in batches {
            writer.write(batch)?;
        }
        let written = writer.finish()?;
        sync_part(&**disk, root, part)?;
        Ok(written.into_segment(path, Segment::part_tags(part)))
    }

    /// Returns the encodings of all columns. Chooses them from the first batch, and again if a batch is much larger or
    /// has other columns.
    fn encodings_for(&self, root: &Path, options: &TableOptions, batch: &RecordBatch) -> Result<Arc<Encodings>> {
        let mut chosen = self.encodings.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |e: &&Arc<Encodings>| e.are_of(batch.schema_ref()) && !e.outgrown_by(batch.num_rows());
        if let Some(encodings) = chosen.as_ref().filter(fits) {
            return Ok(encodings.clone());
        }
        let new = Encodings::choose(batch, options).map_err(|e| TableError::encode(root, e))?;
        Ok(chosen.insert(Arc::new(new)).clone())
    }
}
