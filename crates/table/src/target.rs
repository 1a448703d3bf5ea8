//! Where the segments of a table are, and how they are written.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use crate::error::TableError;
use crate::layout::TableOptions;
use crate::log::Table;
use disk::Disk;

/// A table as its writers see it.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) root: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) schema: SchemaRef,
    /// Options for new segments.
    pub(crate) options: TableOptions,
}

impl Target {
    pub(crate) fn of(table: &Table, disk: Arc<dyn Disk>) -> Result<Self, TableError> {
        Ok(Self { root: table.root().to_owned(), disk, schema: table.arrow_schema()?, options: table.options()? })
    }
}
