//! Atomic creation of files: written under a temporary name, synced, then renamed.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::TableError;
use disk::{Disk, DiskFile, create_dirs, parent, temporary_name};

/// A file being written. Dropping it unfinished removes it.
pub(crate) struct NewFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    temporary: PathBuf,
    file: Option<Box<dyn DiskFile>>,
    bytes: u64,
}

impl NewFile {
    /// Creates a file with the final name `path`, and missing folders.
    pub(crate) fn create(disk: Arc<dyn Disk>, path: &Path) -> Result<Self, TableError> {
        create_dirs(&*disk, parent(path)).map_err(TableError::io("create the folder", parent(path)))?;
        let temporary = temporary_name(path);
        let file = disk.create(&temporary).map_err(TableError::io("create", &temporary))?;
        Ok(Self { disk, path: path.to_owned(), temporary, file: Some(file), bytes: 0 })
    }

    /// Syncs and names the file. Returns its length in bytes.
    pub(crate) fn finish(&mut self) -> Result<u64, TableError> {
        let path = self.path.clone();
        let mut file = self
            .file
            .take()
            .ok_or_else(|| TableError::io("sync", &path)(io::Error::other("the file is already finished")))?;
        let named = file.sync().map_err(TableError::io("sync", &path)).and_then(|()| {
            self.disk.rename(&self.temporary, &path).map_err(TableError::io("rename the new file to", &path))
        });
        drop(file);
        if named.is_err() {
            self.forget();
        }
        named?;
        self.disk.sync_dir(parent(&path)).map_err(TableError::io("sync the folder of", &path))?;
        Ok(self.bytes)
    }

    fn forget(&self) {
        if let Err(error) = self.disk.remove(&self.temporary) {
            // Harmless: a later sweep removes temporary files.
            tracing::debug!(path = %self.temporary.display(), %error, "cannot remove an unfinished file");
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = self.file.as_mut().ok_or_else(|| io::Error::other("the file is already finished"))?;
        let written = file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), std::io::Write::flush)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            self.forget();
        }
    }
}
