//! Tables that were opened before: of their logs only new entries are read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use disk::RealDisk;
use table::{FolderId, Table, TableError};

/// Maximum tables: each takes about a kilobyte for each of its segments.
const TABLES_MAX: usize = 32;

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
        if let Some((id, table)) = id.zip(table.clone()) {
            let mut tables = self.lock();
            if tables.len() >= TABLES_MAX && !tables.contains_key(root) {
                tables.clear();
            }
            tables.insert(root.to_owned(), (id, table));
        }
        Ok(table)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, (FolderId, Table)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
