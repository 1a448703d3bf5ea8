//! Loads files into tables of any layout: each batch is one segment and one commit, inserted once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::{Field, Schema, SchemaRef};
use decode::OnConflict;
use disk::Disk;
use table::{Inserted, Inserter, TableError, TableOptions};

use crate::columns::{Columns, Overflow, Policy, Renamed};
use crate::error::IngestError;

/// Attempts to insert a batch while other writers change the table's columns.
const TRIES: u32 = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedBatch {
    /// Rows and bytes inserted; zero if a batch of that name was inserted before.
    pub inserted: Inserted,
    pub overflows: Vec<Overflow>,
    pub renamed: Vec<Renamed>,
}

/// A table that receives batches.
#[derive(Debug)]
pub struct Load {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    policy: Policy,
    columns: Columns,
    /// Created with the first batch if there is no table.
    inserter: Option<Inserter>,
}

impl Load {
    /// Opens the table in the folder `root`, if it exists. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub async fn open(root: &Path, disk: Arc<dyn Disk>, on_conflict: OnConflict) -> Result<Self, IngestError> {
        let inserter = Inserter::open(root, disk.clone()).await?;
        let policy = Policy { on_conflict, ..Policy::KEEP };
        let columns = Columns::new(&Schema::empty());
        let load = Self { root: root.to_owned(), disk, policy, columns, inserter };
        Ok(Self { columns: load.columns_of_table(), ..load })
    }

    pub fn schema(&self) -> &SchemaRef {
        self.columns.schema()
    }

    /// The options of the table; `None` before the table exists.
    pub fn options(&self) -> Option<&TableOptions> {
        self.inserter.as_ref().map(Inserter::options)
    }

    /// Inserts a batch durably, all or none, unless one of its name was inserted before. Creates a missing table with
    /// `options`; its columns are nullable unless the file's columns, `declared`, say otherwise.
    ///
    /// # Errors
    /// When values do not fit and the policy refuses them, when the table cannot take new columns, and when the disk or
    /// the log fails.
    pub async fn insert_once(
        &mut self,
        name: &str,
        batches: Vec<RecordBatch>,
        options: &TableOptions,
        declared: Option<&Schema>,
    ) -> Result<LoadedBatch, IngestError> {
        let mut tries = 1;
        loop {
            match self.try_insert(name, &batches, options, declared).await {
                // Another writer was faster with other columns.
                Err(IngestError::Table(TableError::ColumnType { .. } | TableError::ColumnName { .. }))
                    if tries < TRIES =>
                {
                    tries += 1;
                    *self = Self::open(&self.root, self.disk.clone(), self.policy.on_conflict).await?;
                }
                Ok(None) => self.columns = self.columns_of_table(),
                Ok(Some(loaded)) => return Ok(loaded),
                Err(error) => return Err(error),
            }
        }
    }

    /// The columns of the table; none before it exists.
    fn columns_of_table(&self) -> Columns {
        match &self.inserter {
            Some(inserter) => Columns::of_table(inserter.schema(), &self.root, &self.disk),
            None => Columns::new(&Schema::empty()),
        }
    }

    /// One attempt, with the columns known to this handle; `None` if another writer just created the table.
    async fn try_insert(
        &mut self,
        name: &str,
        batches: &[RecordBatch],
        options: &TableOptions,
        declared: Option<&Schema>,
    ) -> Result<Option<LoadedBatch>, IngestError> {
        let (mut fitted, mut overflows, mut renamed) = (Vec::with_capacity(batches.len()), Vec::new(), Vec::new());
        let before = self.schema().clone();
        for rows in batches {
            let done = self.columns.fit(rows.clone(), self.policy).map_err(IngestError::rows(self.root.display()))?;
            if let Some(conflict) = done.conflicts.into_iter().next() {
                let reason = format!("{} in {} rows", conflict.reason, conflict.rows);
                return Err(TableError::Rows { path: self.root.clone(), column: conflict.field, reason }.into());
            }
            overflows.extend(done.overflows);
            renamed.extend(done.renamed);
            fitted.push(done.rows);
        }
        let schema = self.schema().clone();
        let rows = self.columns.conform_all(&fitted).and_then(|rows| match &rows[..] {
            [rows] => Ok(rows.clone()),
            rows => concat_batches(&schema, rows),
        });
        let rows = rows.map_err(IngestError::rows(self.root.display()))?;
        let inserter = match &mut self.inserter {
            Some(inserter) => {
                if schema != before {
                    inserter.grow(&schema).await?;
                }
                inserter
            }
            none => {
                let must_be = |field: &Field| {
                    declared.is_some_and(|d| d.field_with_name(field.name()).is_ok_and(|f| !f.is_nullable()))
                };
                let field = |field: &Arc<Field>| field.as_ref().clone().with_nullable(!must_be(field));
                let schema = Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>());
                let inserter = Inserter::open_or_create(&self.root, self.disk.clone(), &schema, options).await?;
                let is_ours = has_types(inserter.schema(), &schema);
                let inserter = none.insert(inserter);
                if !is_ours {
                    return Ok(None);
                }
                inserter
            }
        };
        let inserted = inserter.insert_once(name, std::slice::from_ref(&rows)).await?;
        Ok(Some(LoadedBatch { inserted, overflows, renamed }))
    }
}

/// Whether two schemas have the same columns.
fn has_types(table: &Schema, rows: &Schema) -> bool {
    let is_same = |field: &Arc<Field>| {
        table.field_with_name(field.name()).is_ok_and(|stored| stored.data_type() == field.data_type())
    };
    table.fields().len() == rows.fields().len() && rows.fields().iter().all(is_same)
}
