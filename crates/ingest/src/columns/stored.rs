//! Looks up the values in a table's segments when needed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use decode::is_exact_as_float;
use disk::Disk;
use table::{Table, TableError};

#[derive(Debug, Clone)]
pub(super) struct Stored {
    root: PathBuf,
    disk: Arc<dyn Disk>,
}

impl Stored {
    pub(super) fn new(root: &Path, disk: &Arc<dyn Disk>) -> Self {
        Self { root: root.to_owned(), disk: disk.clone() }
    }

    /// Whether each integer of a column can become a real number; false if unknown. Called at most once per column.
    /// Blocks.
    pub(super) fn holds_only_exact(&self, column: &str) -> bool {
        let (root, disk, name) = (self.root.clone(), self.disk.clone(), column.to_owned());
        // The caller may be inside a runtime, which cannot start another.
        let asked = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| error.to_string())?;
            runtime.block_on(bounds(&root, disk, &name)).map_err(|error| error.to_string())
        });
        match asked.join() {
            Ok(Ok(None)) => true,
            Ok(Ok(Some((least, most)))) => is_exact_as_float(least) && is_exact_as_float(most),
            Ok(Err(error)) => {
                tracing::warn!(table = %self.root.display(), column, error, "stored integers could not be looked at");
                false
            }
            Err(_) => false,
        }
    }
}

async fn bounds(root: &Path, disk: Arc<dyn Disk>, column: &str) -> Result<Option<(i64, i64)>, TableError> {
    match Table::open(root, disk).await? {
        Some(table) => table.integer_bounds(column).await,
        None => Ok(None),
    }
}
