//! Locks a table's folder against removal during writes.
//!
//! Writers share the lock, the removal of a table takes it exclusively, and readers take no lock. The operating system
//! releases the lock when the process ends.

use std::fs::{File, TryLockError, metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::error::{Result, TableError};

#[derive(Debug)]
pub struct FolderLock {
    folder: File,
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing alone does not release it while a child process, just forked, still has the file.
        if let Err(error) = self.folder.unlock() {
            tracing::debug!(%error, "a lock stays until its folder is closed");
        }
    }
}

impl FolderLock {
    /// Locks a folder together with other writers; `None` if it does not exist. Fails if another process removes the
    /// folder.
    pub fn shared(root: &Path) -> Result<Option<Self>> {
        Self::lock(root, File::try_lock_shared)
    }

    /// Locks a folder exclusively; `None` if it does not exist. Fails if a writer holds the lock.
    pub fn exclusive(root: &Path) -> Result<Option<Self>> {
        Self::lock(root, File::try_lock)
    }

    fn lock(root: &Path, lock: fn(&File) -> Result<(), TryLockError>) -> Result<Option<Self>> {
        loop {
            let folder = match File::open(root) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                opened => opened.map_err(TableError::io("open", root))?,
            };
            match lock(&folder) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(TableError::Busy { path: root.to_owned() }),
                // On a file system without locks, writers and a removal do not exclude each other.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(TableError::io("lock", root)(error)),
            }
            let locked = folder.metadata().map_err(TableError::io("open", root))?;
            // Retry if the table was removed before we locked its folder; another may have its name now.
            if metadata(root).is_ok_and(|named| (named.dev(), named.ino()) == (locked.dev(), locked.ino())) {
                return Ok(Some(Self { folder }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A child process shares its parent's files until it runs its program.
    #[test]
    fn dropped_lock_is_free_while_a_child_has_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let lock = FolderLock::exclusive(folder.path()).unwrap().unwrap();
        let of_child = lock.folder.try_clone().unwrap();
        assert!(matches!(FolderLock::shared(folder.path()), Err(TableError::Busy { .. })));
        drop(lock);
        assert!(FolderLock::shared(folder.path()).unwrap().is_some());
        drop(of_child);
    }
}
