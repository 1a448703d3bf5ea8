//! Keeps a table's folder in its place while somebody writes to it.
//!
//! A change from or to layout `row` exchanges a table's folder for another. Whoever writes by the folder's name then would
//! write to the wrong one, so writers hold the folder together, and such a change alone or not at all. Readers hold
//! nothing. The hold is the system's lock of the open folder: it goes with the process, however that ends.

use std::fs::{File, TryLockError, metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::error::TableError;

type Result<T> = std::result::Result<T, TableError>;

/// A table's folder, held until this is dropped.
#[derive(Debug)]
pub struct Hold {
    _folder: File,
}

impl Hold {
    /// Holds a folder together with other writers; `None` where there is no folder.
    ///
    /// # Errors
    /// Where another process is about to exchange or remove it.
    pub fn shared(root: &Path) -> Result<Option<Self>> {
        Self::take(root, File::try_lock_shared)
    }

    /// Holds a folder alone; `None` where there is no folder.
    ///
    /// # Errors
    /// Where anybody writes to it.
    pub fn alone(root: &Path) -> Result<Option<Self>> {
        Self::take(root, File::try_lock)
    }

    fn take(root: &Path, lock: fn(&File) -> std::result::Result<(), TryLockError>) -> Result<Option<Self>> {
        loop {
            let folder = match File::open(root) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                opened => opened.map_err(TableError::io("open", root))?,
            };
            match lock(&folder) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(TableError::Busy { path: root.to_owned() }),
                // Where nobody can hold a folder, nobody exchanges one either.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(TableError::io("lock", root)(error)),
            }
            let held = folder.metadata().map_err(TableError::io("open", root))?;
            // It may have been exchanged in between.
            if metadata(root).is_ok_and(|named| (named.dev(), named.ino()) == (held.dev(), held.ino())) {
                return Ok(Some(Self { _folder: folder }));
            }
        }
    }
}
