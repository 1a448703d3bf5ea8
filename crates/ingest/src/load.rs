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
        let columns = match &inserter {
            Some(inserter) => Columns::of_table(inserter.schema(), root, &disk),
            None => Columns::new(&Schema::empty()),
        };
        let policy = Policy { on_conflict, ..Policy::KEEP };
        Ok(Self { root: root.to_owned(), disk, policy, columns, inserter })
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
        let (mut fitted, mut overflows, mut renamed) = (Vec::with_capacity(batches.len()), Vec::new(), Vec::new());
        let before = self.schema().clone();
        for rows in batches {
            let done = self.columns.fit(rows, self.policy).map_err(IngestError::rows(self.root.display()))?;
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
                none.insert(Inserter::open_or_create(&self.root, self.disk.clone(), &schema, options).await?)
            }
        };
        let inserted = inserter.insert_once(name, std::slice::from_ref(&rows)).await?;
        Ok(LoadedBatch { inserted, overflows, renamed })
    }
}
