//! Marks the ensembles that processes of this machine play now.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use disk::FileLock;

use crate::store::Store;

/// The folder of the marks in a data folder.
const FOLDER: &str = ".manyworlds.playing";

/// Marks an ensemble as being played until it is dropped. The mark is a lock, so it ends with its process, too.
#[derive(Debug)]
pub struct Playing {
    _lock: FileLock,
}

fn path(data: &Path, name: &str) -> PathBuf {
    data.join(FOLDER).join(name)
}

impl Store {
    /// Marks an ensemble as being played by this process; others may play it, too. The mark is for watchers alone, so
    /// none is made on a file system without locks.
    pub fn mark_playing(&self, name: &str) -> Option<Playing> {
        let marked = || -> io::Result<FileLock> {
            let path = path(self.data(), name);
            disk::create_dir_all(disk::parent(&path))?;
            let file = disk::create_options(&path).append(true).create(true).open(&path)?;
            // A watcher holds the lock for a moment; a mark that is missing would mislead it.
            FileLock::wait_shared(file)
        };
        match marked() {
            Ok(lock) => Some(Playing { _lock: lock }),
            Err(error) => {
                tracing::debug!(%error, name, "cannot mark that this ensemble is played");
                None
            }
        }
    }
}

/// Whether a process of this machine plays an ensemble.
pub fn is_played(data: &Path, name: &str) -> bool {
    let lock = File::open(path(data, name)).and_then(FileLock::try_exclusive);
    matches!(lock, Ok(None))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use disk::RealDisk;

    use super::*;
    use crate::error::EnsembleError;

    #[tokio::test]
    async fn ensembles_are_played_while_marked() {
        let data = tempfile::tempdir().unwrap();
        let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
        assert!(!is_played(data.path(), "season"));
        let marks = [store.mark_playing("season").unwrap(), store.mark_playing("season").unwrap()];
        assert!(is_played(data.path(), "season") && !is_played(data.path(), "other"));
        // The run would go on to commit ranges of an ensemble that is gone.
        assert!(matches!(store.drop_ensemble("season").await, Err(EnsembleError::Played { .. })));
        drop(marks);
        assert!(!is_played(data.path(), "season"));
        assert!(matches!(store.drop_ensemble("season").await, Err(EnsembleError::Unknown { .. })));
    }
}
