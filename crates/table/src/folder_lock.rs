//! Locks a table's folder against removal during writes.
//!
//! Writers share the lock, the removal of a table takes it exclusively, and readers take no lock. The operating system
//! releases the lock when the process ends.

use std::fs::{File, metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use disk::FileLock;

use crate::error::{Result, TableError};

/// A lock of a table's folder, released on drop.
#[derive(Debug)]
pub struct FolderLock {
    /// `None` on a file system without locks: writers and a removal do not exclude each other there.
    _lock: Option<FileLock>,
}

impl FolderLock {
    /// Locks a folder together with other writers; `None` if it does not exist. Fails if another process removes the
    /// folder.
    pub fn shared(root: &Path) -> Result<Option<Self>> {
        Self::lock(root, FileLock::try_shared)
    }

    /// Locks a folder exclusively; `None` if it does not exist. Fails if a writer holds the lock.
    pub fn exclusive(root: &Path) -> Result<Option<Self>> {
        Self::lock(root, FileLock::try_exclusive)
    }

    fn lock(root: &Path, lock: fn(File) -> io::Result<Option<FileLock>>) -> Result<Option<Self>> {
        loop {
            let folder = match File::open(root) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                opened => opened.map_err(TableError::io("open", root))?,
            };
            let opened = folder.metadata().map_err(TableError::io("open", root))?;
            let lock = match lock(folder) {
                Ok(Some(lock)) => Some(lock),
                Ok(None) => return Err(TableError::Busy { path: root.to_owned() }),
                Err(error) if error.kind() == ErrorKind::Unsupported => None,
                Err(error) => return Err(TableError::io("lock", root)(error)),
            };
            // Retry if the table was removed before we locked its folder; another may have its name now.
            if metadata(root).is_ok_and(|named| (named.dev(), named.ino()) == (opened.dev(), opened.ino())) {
                return Ok(Some(Self { _lock: lock }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_and_a_removal_exclude_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let writer = FolderLock::shared(folder.path()).unwrap().unwrap();
        assert!(FolderLock::shared(folder.path()).unwrap().is_some());
        assert!(matches!(FolderLock::exclusive(folder.path()), Err(TableError::Busy { .. })));
        drop(writer);
        let removal = FolderLock::exclusive(folder.path()).unwrap().unwrap();
        assert!(matches!(FolderLock::shared(folder.path()), Err(TableError::Busy { .. })));
        drop(removal);
        assert!(FolderLock::shared(&folder.path().join("absent")).unwrap().is_none());
    }
}
