//! Tables that were opened before: their logs are read again only once they have a new version.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use disk::RealDisk;
use table::{FolderId, Table, TableError};

/// Maximum tables, and maximum bytes of their states.
const TABLES_MAX: usize = 32;
const BYTES_MAX: usize = 16 << 20;

/// Tables that were opened before, by folder.
#[derive(Debug, Default)]
pub struct Opened(Mutex<HashMap<PathBuf, (FolderId, Table)>>);

impl Opened {
    /// The newest version of the table in the folder `root`; `None` if there is none.
    pub(crate) async fn table(&self, root: &Path) -> Result<Option<Table>, TableError> {
        let id = FolderId::of(root);
        let known = self.lock().get(root).filter(|(of, _)| Some(of) == id.as_ref()).map(|(_, table)| table.clone());
        let mut table = None;
        if let Some(mut known) = known
            && known.refresh().await.is_ok()
        {
            table = Some(known);
        }
        if table.is_none() {
            table = Table::open(root, Arc::new(RealDisk)).await?;
        }
        if let Some((id, table)) = id.zip(table.as_ref()) {
            self.keep(root, id, table);
        }
        Ok(table)
    }

    fn keep(&self, root: &Path, id: FolderId, table: &Table) {
        let mut tables = self.lock();
        tables.remove(root);
        let Some(bytes) = table.state_bytes() else { return };
        let kept: usize = tables.values().filter_map(|(_, table)| table.state_bytes()).sum();
        if tables.len() >= TABLES_MAX || kept + bytes > BYTES_MAX {
            tables.clear();
        }
        if bytes <= BYTES_MAX {
            tables.insert(root.to_owned(), (id, table.clone()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, (FolderId, Table)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
