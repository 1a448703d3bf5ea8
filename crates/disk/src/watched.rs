//! A disk that asks before each operation, so that tests can refuse some, or act in between.

use std::fmt::{Debug, Formatter};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Disk, DiskFile};

/// What is about to be done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Create,
    Write,
    Sync,
    /// The path is the new name.
    Rename,
    /// The path is the second name.
    Link,
    Shrink,
    SyncFile,
    Remove,
    CreateDir,
    RemoveDir,
    SyncDir,
    FetchLog,
}

type Ask = dyn Fn(Operation, &Path) -> io::Result<()> + Send + Sync;

/// Another disk, whose every operation has to be allowed.
#[derive(Clone)]
pub struct WatchedDisk {
    disk: Arc<dyn Disk>,
    ask: Arc<Ask>,
}

impl Debug for WatchedDisk {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.disk.fmt(f)
    }
}

impl WatchedDisk {
    /// Watches `disk`: `ask` is called before each operation, which fails with its error.
    pub fn over(disk: impl Disk, ask: impl Fn(Operation, &Path) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self { disk: Arc::new(disk), ask: Arc::new(ask) }
    }
}

struct WatchedFile {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    ask: Arc<Ask>,
}

impl Write for WatchedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.ask)(Operation::Write, &self.path)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl DiskFile for WatchedFile {
    fn sync(&mut self) -> io::Result<()> {
        (self.ask)(Operation::Sync, &self.path)?;
        self.file.sync()
    }
}

impl Disk for WatchedDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        (self.ask)(Operation::Create, path)?;
        let file = self.disk.create(path)?;
        Ok(Box::new(WatchedFile { file, path: path.to_owned(), ask: self.ask.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        (self.ask)(Operation::Rename, to)?;
        self.disk.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        (self.ask)(Operation::Link, to)?;
        self.disk.link(from, to)
    }

    fn shrink(&self, path: &Path, bytes: u64) -> io::Result<()> {
        (self.ask)(Operation::Shrink, path)?;
        self.disk.shrink(path, bytes)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        (self.ask)(Operation::SyncFile, path)?;
        self.disk.sync_file(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        (self.ask)(Operation::Remove, path)?;
        self.disk.remove(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        (self.ask)(Operation::CreateDir, path)?;
        self.disk.create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        (self.ask)(Operation::RemoveDir, path)?;
        self.disk.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        (self.ask)(Operation::SyncDir, path)?;
        self.disk.sync_dir(path)
    }

    fn fetch(&self, files: &[(&Path, Option<u64>)]) -> io::Result<()> {
        self.disk.fetch(files)
    }

    fn fetch_log(&self, log: &Path) -> io::Result<()> {
        (self.ask)(Operation::FetchLog, log)?;
        self.disk.fetch_log(log)
    }

    fn shown(&self, path: &Path) -> PathBuf {
        self.disk.shown(path)
    }
}
