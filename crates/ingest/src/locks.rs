//! What processes of a machine share a log by: two locks in its folder, gone with whoever holds them.
//!
//! Whoever gives positions to entries holds `append.lock`, for the moment that this takes. Whoever turns the log into
//! segments holds `digest.lock`: a server as long as it lives, others for their run.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use disk::{Disk, create_dirs, create_options};
use table::{Appender, FolderLock};

use crate::error::IngestError;

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits until nobody gives positions in the log in `folder`, and keeps others from it.
    pub(crate) fn append(folder: &Path) -> Result<Self, IngestError> {
        let (file, path) = open(folder, "append.lock")?;
        file.lock().map_err(IngestError::io("lock", &path))?;
        Ok(Self { _file: file })
    }

    /// Keeps others from turning the log in `folder` into segments; `None` where somebody does.
    pub(crate) fn try_digest(folder: &Path) -> Result<Option<Self>, IngestError> {
        let (file, path) = open(folder, "digest.lock")?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(IngestError::io("lock", &path)(cause)),
        }
    }
}

fn open(folder: &Path, name: &str) -> Result<(File, PathBuf), IngestError> {
    let path = folder.join(name);
    let file = create_options(&path).create(true).truncate(false).write(true).open(&path);
    Ok((file.map_err(IngestError::io("open", &path))?, path))
}

/// The folder of a log that stays in its place: nobody exchanges or removes the table's.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    _folder_lock: FolderLock,
}

impl Place {
    /// The log of the table in the folder `root`, made durably where it is not there.
    pub(crate) fn enter(root: &Path, disk: &dyn Disk) -> Result<Self, IngestError> {
        loop {
            let folder = root.join(Appender::LOG_FOLDER);
            create_dirs(disk, &folder).map_err(IngestError::io("create the folder", &folder))?;
            // A table that is dropped in between goes with its folder, which is made again.
            if let Some(folder_lock) = FolderLock::shared(root)?
                && folder.is_dir()
            {
                return Ok(Self { folder, _folder_lock: folder_lock });
            }
        }
    }

    /// The log of the table in the folder `root`, if it has one.
    pub(crate) fn find(root: &Path) -> Result<Option<Self>, IngestError> {
        let folder = root.join(Appender::LOG_FOLDER);
        let folder_lock = FolderLock::shared(root)?;
        Ok(folder_lock.filter(|_| folder.is_dir()).map(|folder_lock| Self { folder, _folder_lock: folder_lock }))
    }

    /// Makes the names of the folders that lead here durable. Another process may have made them and not be done yet.
    pub(crate) fn settle(&self, disk: &dyn Disk) -> Result<(), IngestError> {
        // The table, its database, the data folder, and where that lies.
        for folder in self.folder.ancestors().skip(1).take(4) {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            match disk.sync_dir(folder) {
                // What may not be looked into was made by others, long ago.
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {}
                synced => synced.map_err(IngestError::io("sync the folder", folder))?,
            }
        }
        Ok(())
    }
}
