//! A disk that tells of each operation before it is done, and does it only where the one who was told lets it.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use disk::power_loss::PowerLossDisk;
use disk::{Disk, DiskFile};

/// What is about to be done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Create,
    Write,
    Sync,
    Rename,
    Link,
    Shrink,
    SyncFile,
    Remove,
    CreateDir,
    RemoveDir,
    SyncDir,
}

type Told = dyn Fn(Doing, &Path) -> io::Result<()> + Send + Sync;

/// The disk of one process, on one that loses power.
#[derive(Clone)]
pub(crate) struct Watched {
    disk: PowerLossDisk,
    told: Arc<Told>,
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.disk.fmt(f)
    }
}

impl Watched {
    /// Over `disk`; `told` is asked before each operation, and fails it.
    pub(crate) fn on(
        disk: &PowerLossDisk,
        told: impl Fn(Doing, &Path) -> io::Result<()> + Send + Sync + 'static,
    ) -> Arc<dyn Disk> {
        Arc::new(Self { disk: disk.clone(), told: Arc::new(told) })
    }
}

/// A process that ends before one of its operations of the disk; what others do goes on.
#[derive(Debug)]
pub(crate) struct Process {
    done: AtomicU64,
    ends: AtomicU64,
}

impl Process {
    pub(crate) fn until(operation: u64) -> Arc<Self> {
        Arc::new(Self { done: AtomicU64::new(0), ends: AtomicU64::new(operation) })
    }

    /// Its disk.
    pub(crate) fn disk(self: &Arc<Self>, disk: &PowerLossDisk) -> Arc<dyn Disk> {
        let process = self.clone();
        Watched::on(disk, move |_, _| {
            if process.ends.load(Ordering::SeqCst) <= process.done.load(Ordering::SeqCst) {
                return Err(io::Error::other("the process has ended"));
            }
            process.done.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
    }

    /// Ends it now. Gives how many operations it came to.
    pub(crate) fn end(&self) -> u64 {
        self.ends.store(0, Ordering::SeqCst);
        self.done.load(Ordering::SeqCst)
    }
}

struct WatchedFile {
    file: Box<dyn DiskFile>,
    path: std::path::PathBuf,
    told: Arc<Told>,
}

impl Write for WatchedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.told)(Doing::Write, &self.path)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl DiskFile for WatchedFile {
    fn sync(&mut self) -> io::Result<()> {
        (self.told)(Doing::Sync, &self.path)?;
        self.file.sync()
    }
}

impl Disk for Watched {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        (self.told)(Doing::Create, path)?;
        let file = self.disk.create(path)?;
        Ok(Box::new(WatchedFile { file, path: path.to_owned(), told: self.told.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        (self.told)(Doing::Rename, to)?;
        self.disk.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        (self.told)(Doing::Link, to)?;
        self.disk.link(from, to)
    }

    fn shrink(&self, path: &Path, bytes: u64) -> io::Result<()> {
        (self.told)(Doing::Shrink, path)?;
        self.disk.shrink(path, bytes)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        (self.told)(Doing::SyncFile, path)?;
        self.disk.sync_file(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        (self.told)(Doing::Remove, path)?;
        self.disk.remove(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        (self.told)(Doing::CreateDir, path)?;
        self.disk.create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        (self.told)(Doing::RemoveDir, path)?;
        self.disk.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        (self.told)(Doing::SyncDir, path)?;
        self.disk.sync_dir(path)
    }
}
