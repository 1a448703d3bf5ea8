//! Streaming inserts: each batch is one atomic, durable commit. Writers may work concurrently.

use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};

use crate::error::{Result, TableError};
use crate::grow::{new_column, widen};
use crate::job::blocking;
use crate::layout::{TableOptions, conform, storable};
use crate::log::{Change, Committed, Table, TransactionId};
use crate::schema::Field;
use crate::writer::{self, Writer};
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
    writer: Writer,
    /// Columns that the table lacked when it was opened.
    new: Vec<Field>,
}

impl Inserter {
    /// Opens the table in the folder `root`; `None` if it does not exist. Call it inside a tokio runtime.
    pub async fn open(root: &Path, disk: Arc<dyn Disk>) -> Result<Option<Self>> {
        let table = Table::open_locked(root, disk.clone()).await?;
        table.map(|table| Ok(Self { writer: Writer::new(table, disk)?, new: Vec::new() })).transpose()
    }

    /// Opens the table in the folder `root`, or creates it. Call it inside a tokio runtime. Fails if the table exists
    /// with other options. Columns are compared at insertion.
    pub async fn open_or_create(
        root: &Path,
        disk: Arc<dyn Disk>,
        schema: &Schema,
        options: &TableOptions,
    ) -> Result<Self> {
        options.check(root, &*storable(root, schema)?)?;
        let table = match Table::open_locked(root, disk.clone()).await? {
            Some(table) => table,
            None => writer::create(root, disk.clone(), schema, options).await?,
        };
        let inserter = Self { writer: Writer::new(table, disk)?, new: Vec::new() };
        if inserter.options() != options {
            let reason = format!(
                "already exists with layout {}: omit the layout and its options, or choose another name",
                inserter.options().layout
            );
            return Err(TableError::options(root, reason));
        }
        Ok(inserter)
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.writer.target.schema
    }

    pub fn options(&self) -> &TableOptions {
        &self.writer.target.options
    }

    /// Inserts rows with the columns of `schema` from now on. The next insert adds new columns. This call rewrites
    /// integer columns that are real in `schema`.
    pub async fn grow(&mut self, schema: &SchemaRef) -> Result<()> {
        let target = &mut self.writer.target;
        let before = target.schema.clone();
        let (old, new): (Vec<&FieldRef>, Vec<&FieldRef>) =
            schema.fields().iter().partition(|field| before.field_with_name(field.name()).is_ok());
        let is_wider = |field: &FieldRef| {
            let before = before.field_with_name(field.name());
            *field.data_type() == DataType::Float64 && before.is_ok_and(|before| before.data_type().is_integer())
        };
        let new = new.into_iter().map(|field| new_column(&target.root, field)).collect::<Result<Vec<_>>>()?;
        if old.into_iter().any(is_wider) {
            widen(&target.root, &target.disk, schema).await?;
        }
        self.new.extend(new);
        let field = |field: &FieldRef| match before.field_with_name(field.name()) {
            Ok(before) => before.clone().with_data_type(field.data_type().clone()),
            Err(_) => field.as_ref().clone(),
        };
        target.schema = Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()));
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
        let target = &self.writer.target;
        // Columns of our types are checked against changes that others made since.
        let known = |field: &FieldRef| new_column(&target.root, field).ok().filter(|f| !self.new.contains(f));
        let columns = self.new.iter().cloned().chain(target.schema.fields().iter().filter_map(known)).collect();
        let conformed = batches.iter().map(|b| conform(&target.root, &target.schema, b));
        let batches = conformed.collect::<Result<Vec<_>>>()?;
        let nothing = Inserted { rows: 0, bytes: 0 };
        if batches.iter().all(|batch| batch.num_rows() == 0) {
            return Ok(nothing);
        }
        let writer = self.writer.clone();
        let segment = blocking(move || writer.segment(None, &batches)).await?;
        let inserted = Inserted { rows: segment.rows, bytes: segment.bytes };
        let change = Change {
            add: vec![segment],
            columns,
            transaction: name.map(|name| TransactionId::once(format!("insert/{name}"))),
            ..Change::default()
        };
        Ok(match self.writer.committer.commit(change).await? {
            Committed::At(_) => inserted,
            Committed::Before => nothing,
        })
    }
}
