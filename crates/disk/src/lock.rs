//! Locks of the operating system, shared by the processes of a machine.

use std::fs::{File, TryLockError};
use std::io;
use std::sync::Arc;

/// An open file or folder that is locked. The lock ends on drop, or with the process.
#[derive(Debug)]
pub struct FileLock {
    file: Arc<File>,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing alone does not release it while a child process, just forked, still has the file.
        if let Err(error) = self.file.unlock() {
            tracing::debug!(%error, "a lock stays until its file is closed");
        }
    }
}

impl FileLock {
    /// Waits until no other lock of the file is held. Two locks of one open file do not exclude each other.
    pub fn wait(file: Arc<File>) -> io::Result<Self> {
        file.lock()?;
        Ok(Self { file })
    }

    /// Waits until no exclusive lock of the file is held, and locks it together with others.
    pub fn wait_shared(file: File) -> io::Result<Self> {
        file.lock_shared()?;
        Ok(Self { file: file.into() })
    }

    /// Locks the file exclusively; `None` if another lock of it is held. On a file system without locks, this fails with
    /// [`io::ErrorKind::Unsupported`].
    pub fn try_exclusive(file: File) -> io::Result<Option<Self>> {
        Self::tried(file.try_lock(), file)
    }

    /// Locks the file together with others; `None` if an exclusive lock of it is held. Fails as
    /// [`FileLock::try_exclusive`] does.
    pub fn try_shared(file: File) -> io::Result<Option<Self>> {
        Self::tried(file.try_lock_shared(), file)
    }

    fn tried(result: Result<(), TryLockError>, file: File) -> io::Result<Option<Self>> {
        match result {
            Ok(()) => Ok(Some(Self { file: file.into() })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A child process shares its parent's files until it runs its program.
    #[test]
    fn dropped_lock_is_free_while_a_child_has_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let open = || File::open(folder.path()).unwrap();
        let lock = FileLock::try_exclusive(open()).unwrap().unwrap();
        let of_child = lock.file.try_clone().unwrap();
        assert!(FileLock::try_shared(open()).unwrap().is_none());
        drop(lock);
        let shared = FileLock::try_shared(open()).unwrap().unwrap();
        assert!(FileLock::try_exclusive(open()).unwrap().is_none());
        assert!(FileLock::try_shared(open()).unwrap().is_some());
        drop((of_child, shared));
    }
}
