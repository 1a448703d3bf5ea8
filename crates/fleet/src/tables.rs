//! The tables that hold a worker's plans and ranges.

use std::path::PathBuf;
use std::sync::Arc;

use disk::Disk;
use ensemble::{EnsembleError, Registered, Store, WrittenRange};
use tokio::sync::Mutex;

use crate::error::FleetError;

/// Tables in a folder.
pub(crate) struct Tables {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    /// The open store for commits, until a commit fails.
    committing: Mutex<Option<Store>>,
}

impl Tables {
    pub(crate) fn new(folder: PathBuf, disk: Arc<dyn Disk>) -> Self {
        Self { folder, disk, committing: Mutex::default() }
    }

    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Opens the tables of the ensemble `name`.
    pub(crate) async fn open(&self, name: &str) -> Result<Store, FleetError> {
        let unknown =
            || EnsembleError::Unknown { name: name.to_owned(), data: self.disk.shown(&self.folder), have: Vec::new() };
        Ok(Store::open(&self.folder, self.disk.clone()).await?.ok_or_else(unknown)?)
    }

    /// Commits ranges of one ensemble together.
    pub(crate) async fn commit(&self, ensemble: &Registered, written: &[&WrittenRange]) -> Result<(), FleetError> {
        let mut committing = self.committing.lock().await;
        let mut store = match committing.take() {
            Some(store) => store,
            None => self.open(&ensemble.plan.name).await?,
        };
        store.commit_ranges(ensemble, written).await?;
        // After a failed commit the store is dropped, and the next commit opens a new one.
        *committing = Some(store);
        Ok(())
    }
}
