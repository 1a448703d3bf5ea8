//! Writes rows as segments of one table, and commits them.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;

use crate::committer::Committer;
use crate::error::{Result, TableError};
use crate::layout::write::{RowsWriter, holds_nan};
use crate::layout::{Encodings, TableOptions, storable};
use crate::log::{Definition, Segment, Table};
use crate::target::Target;
use disk::Disk;

/// A writer of one table. Clones share the encodings, which it chooses from the first rows.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    pub(crate) target: Target,
    pub(crate) committer: Committer,
    encodings: Arc<Mutex<Option<Arc<Encodings>>>>,
}

/// Creates the table in the folder `root` with the columns of `schema`, and opens it for writing.
pub(crate) async fn create(root: &Path, disk: Arc<dyn Disk>, schema: &Schema, options: &TableOptions) -> Result<Table> {
    let schema = storable(root, schema)?;
    options.check(root, &schema)?;
    let definition = Definition::of_schema(&schema, "rows inserted in batches", options.to_properties());
    let definition = definition.map_err(|e| TableError::encode(root, e.into()))?;
    Table::open_or_create(root, disk.clone(), &definition).await?;
    let gone = || TableError::Unexpected(format!("the table {} disappeared", root.display()));
    Table::open_locked(root, disk).await?.ok_or_else(gone)
}

impl Writer {
    /// Call it inside a tokio runtime.
    pub(crate) fn new(table: Table, disk: Arc<dyn Disk>) -> Result<Self> {
        let target = Target::of(&table, disk)?;
        Ok(Self { target, committer: Committer::start(table), encodings: Arc::default() })
    }

    /// Writes batches as a segment, in the folder of `part` if given. Needs at least one batch; all batches have the
    /// same columns. The segment is durable, but not yet committed.
    pub(crate) fn segment(&self, part: Option<&str>, batches: &[RecordBatch]) -> Result<Segment> {
        let encodings = self.encodings_for(batches)?;
        let may_hold_nan =
            |column: &str| batches.iter().any(|batch| batch.column_by_name(column).is_some_and(holds_nan));
        let file = uuid::Uuid::new_v4().simple().to_string();
        let target = Target { schema: batches[0].schema(), ..self.target.clone() };
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        let mut writer =
            RowsWriter::create(&target, (&file, Segment::part_tags(part)), &encodings, rows, may_hold_nan)?;
        for batch in batches {
            writer.write(batch)?;
        }
        writer.finish()
    }

    /// Returns the encodings of all columns. Chooses them from the first rows, and again if there are much more rows, or
    /// other columns.
    fn encodings_for(&self, batches: &[RecordBatch]) -> Result<Arc<Encodings>> {
        let schema = batches[0].schema();
        let mut chosen = self.encodings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(encodings) = chosen.as_ref().filter(|encodings| encodings.suit(&schema, batches)) {
            return Ok(encodings.clone());
        }
        let Target { root, options, .. } = &self.target;
        let new = Encodings::choose(&schema, batches, options).map_err(|e| TableError::encode(root, e))?;
        Ok(chosen.insert(Arc::new(new)).clone())
    }
}
