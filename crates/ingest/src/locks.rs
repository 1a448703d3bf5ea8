//! Locks shared by the processes of a machine, and released when the holder exits.
//!
//! In a log's folder, `append.lock` is held briefly by each process that assigns positions. `digest.lock` is held by the
//! process that turns the log into segments: a server for its life, others for their run. `.manyworlds.lock` in the data
//! folder is held by its only server.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, FileLock, create_dirs, create_options};
use table::{Appender, FolderLock};

use crate::error::IngestError;

/// The append lock of a log, for one who takes it often. Two locks of one value do not exclude each other.
#[derive(Debug)]
pub(crate) struct AppendLock {
    file: Arc<File>,
    path: PathBuf,
}

impl AppendLock {
    /// Opens the lock of the log in `folder`, and does not take it.
    pub(crate) fn open(folder: &Path) -> Result<Self, IngestError> {
        let (file, path) = open(folder, "append.lock")?;
        Ok(Self { file: file.into(), path })
    }

    /// Waits until no other process or thread holds it.
    pub(crate) fn wait(&self) -> Result<FileLock, IngestError> {
        FileLock::wait(self.file.clone()).map_err(IngestError::io("lock", &self.path))
    }
}

/// Waits for the append lock of the log in `folder`.
pub(crate) fn lock_append(folder: &Path) -> Result<FileLock, IngestError> {
    AppendLock::open(folder)?.wait()
}

/// Takes the digest lock of the log in `folder`; `None` if another process holds it.
pub(crate) fn try_lock_digest(folder: &Path) -> Result<Option<FileLock>, IngestError> {
    try_lock(folder, "digest.lock")
}

/// Takes the lock of a data folder; `None` if another process has it open.
pub(crate) fn try_lock_data(data: &Path) -> Result<Option<FileLock>, IngestError> {
    try_lock(data, ".manyworlds.lock")
}

fn try_lock(folder: &Path, name: &str) -> Result<Option<FileLock>, IngestError> {
    let (file, path) = open(folder, name)?;
    FileLock::try_exclusive(file).map_err(IngestError::io("lock", &path))
}

fn open(folder: &Path, name: &str) -> Result<(File, PathBuf), IngestError> {
    let path = folder.join(name);
    let file = create_options(&path).create(true).truncate(false).write(true).open(&path);
    Ok((file.map_err(IngestError::io("open", &path))?, path))
}

/// The folder of a log, protected from replacement or removal of its table.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    folder_lock: FolderLock,
}

impl Place {
    /// The log folder of the table in the folder `root`, created durably if missing.
    pub(crate) fn enter(root: &Path, disk: &dyn Disk) -> Result<Self, IngestError> {
        loop {
            let folder = root.join(Appender::LOG_FOLDER);
            create_dirs(disk, &folder).map_err(IngestError::io("create the folder", &folder))?;
            // The folder of a table dropped meanwhile vanishes; create it again.
            if let Some(folder_lock) = FolderLock::shared(root)?
                && folder.is_dir()
            {
                return Ok(Self { folder, folder_lock });
            }
        }
    }

    /// The log folder of the table in the folder `root`, if it has one.
    pub(crate) fn find(root: &Path) -> Result<Option<Self>, IngestError> {
        let folder = root.join(Appender::LOG_FOLDER);
        let folder_lock = FolderLock::shared(root)?;
        Ok(folder_lock.filter(|_| folder.is_dir()).map(|folder_lock| Self { folder, folder_lock }))
    }

    /// Fails if another program removed or replaced the table's folder: another one has other positions.
    pub(crate) fn check(&self) -> Result<(), IngestError> {
        if self.folder_lock.is_in_place() && self.folder.is_dir() {
            return Ok(());
        }
        Err(IngestError::Replaced { path: disk::parent(&self.folder).to_owned() })
    }

    /// Syncs the parent folders. Another process may have created them without syncing yet.
    pub(crate) fn settle(&self, disk: &dyn Disk) -> Result<(), IngestError> {
        // The table, its database, the data folder, and its parent.
        for folder in self.folder.ancestors().skip(1).take(4) {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            match disk.sync_dir(folder) {
                // A parent without read permission was created by others long ago.
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {}
                synced => synced.map_err(IngestError::io("sync the folder", folder))?,
            }
        }
        Ok(())
    }
}
