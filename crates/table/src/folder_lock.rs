//! Locks a table's folder against removal during writes.
//!
//! Writers share the lock, the removal of a table takes it exclusively, and readers take no lock. The operating system
//! releases the lock when the process ends.

use std::fs::{File, metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use disk::FileLock;

use crate::error::{Result, TableError};

/// A lock of a table's folder, released on drop.
#[derive(Debug)]
pub struct FolderLock {
    root: PathBuf,
    /// The device and inode of the folder.
    folder: (u64, u64),
    /// `None` on a file system without locks: writers and a removal do not exclude each other there.
    lock: Option<FileLock>,
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

    /// Whether the path still names the locked folder: other programs remove and replace folders despite the lock.
    /// Without a lock nothing keeps the inode, so that it says nothing.
    pub fn is_in_place(&self) -> bool {
        self.lock.is_none() || is_named(&self.root, self.folder)
    }

    fn lock(root: &Path, lock: fn(File) -> io::Result<Option<FileLock>>) -> Result<Option<Self>> {
        loop {
            let folder = match File::open(root) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                opened => opened.map_err(TableError::io("open", root))?,
            };
            let opened = folder.metadata().map_err(TableError::io("open", root))?;
            let opened = (opened.dev(), opened.ino());
            let lock = match lock(folder) {
                Ok(Some(lock)) => Some(lock),
                Ok(None) => return Err(TableError::Busy { path: root.to_owned() }),
                Err(error) if error.kind() == ErrorKind::Unsupported => None,
                Err(error) => return Err(TableError::io("lock", root)(error)),
            };
            // Retry if the table was removed before we locked its folder; another may have its name now.
            if is_named(root, opened) {
                return Ok(Some(Self { root: root.to_owned(), folder: opened, lock }));
            }
        }
    }
}

fn is_named(root: &Path, folder: (u64, u64)) -> bool {
    metadata(root).is_ok_and(|named| (named.dev(), named.ino()) == folder)
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

    #[test]
    fn replaced_folder_is_not_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let (root, aside) = (folder.path().join("t"), folder.path().join("aside"));
        std::fs::create_dir(&root).unwrap();
        let lock = FolderLock::shared(&root).unwrap().unwrap();
        assert!(lock.is_in_place());
        std::fs::rename(&root, &aside).unwrap();
        assert!(!lock.is_in_place());
        std::fs::create_dir(&root).unwrap();
        assert!(!lock.is_in_place());
        std::fs::remove_dir(&root).unwrap();
        std::fs::rename(&aside, &root).unwrap();
        assert!(lock.is_in_place());
    }
}
