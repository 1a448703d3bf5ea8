//! A disk that simulates power loss: it forgets all unsynced data.
//!
//! SIGKILL keeps the page cache, so it cannot test `fsync`. This disk counts operations and can fail from a chosen
//! one on. [`PowerLossDisk::lose_power`] then restores the durable state: unsynced contents are lost, and unsynced
//! changes of names are undone.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::files::{Disk, DiskFile, RealDisk, parent};

/// A [`RealDisk`] that tracks what is not yet durable.
#[derive(Debug, Clone)]
pub struct PowerLossDisk {
    state: Arc<Mutex<State>>,
    attic: PathBuf,
}

#[derive(Debug, Default)]
struct State {
    operations: u64,
    fail_from: Option<u64>,
    /// How to undo unsynced changes of names, oldest first.
    names: Vec<(PathBuf, Undo)>,
    /// Files with unsynced content, with their durable length.
    unsynced: HashMap<PathBuf, u64>,
    kept: u64,
}

#[derive(Debug)]
enum Undo {
    Forget(PathBuf),
    ForgetDir(PathBuf),
    Restore { name: PathBuf, kept: PathBuf },
    Return { from: PathBuf, to: PathBuf },
}

impl PowerLossDisk {
    /// Creates a disk. It stores data for undo in the folder `attic`, on the same file system.
    pub fn new(attic: &Path) -> io::Result<Self> {
        fs::create_dir_all(attic)?;
        Ok(Self { state: Arc::default(), attic: attic.to_owned() })
    }

    /// Makes all operations from number `operation` on fail (0 is the first).
    pub fn fail_from(&self, operation: u64) {
        self.state().fail_from = Some(operation);
    }

    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    pub fn lose_power(&self) -> io::Result<()> {
        self.lose_power_leaving(0.0)
    }

    /// Like [`Self::lose_power`], but keeps a share (0 to 1) of each file's unsynced content.
    pub fn lose_power_leaving(&self, share: f64) -> io::Result<()> {
        let mut state = self.state();
        for (path, synced) in state.unsynced.drain() {
            if path.exists() {
                let file = fs::File::options().write(true).open(&path)?;
                let lost = file.metadata()?.len().saturating_sub(synced) as f64 * (1.0 - share);
                file.set_len(file.metadata()?.len() - lost as u64)?;
            }
        }
        for (_, undo) in state.names.drain(..).rev() {
            match undo {
                Undo::Forget(name) if name.exists() => fs::remove_file(name)?,
                Undo::ForgetDir(name) if name.exists() => fs::remove_dir_all(name)?,
                Undo::Restore { name, kept } => fs::rename(kept, name)?,
                Undo::Return { from, to } => fs::rename(to, from)?,
                Undo::Forget(_) | Undo::ForgetDir(_) => {}
            }
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        let operation = state.operations;
        state.operations += 1;
        match state.fail_from {
            Some(from) if operation >= from => Err(io::Error::other("simulated power loss")),
            _ => Ok(state),
        }
    }

    fn keep(&self, state: &mut State, name: &Path) -> io::Result<()> {
        if name.exists() {
            let kept = self.attic.join(state.kept.to_string());
            state.kept += 1;
            fs::hard_link(name, &kept)?;
            state.names.push((parent(name).to_owned(), Undo::Restore { name: name.to_owned(), kept }));
        }
        Ok(())
    }
}

struct PowerLossFile {
    disk: PowerLossDisk,
    path: PathBuf,
    file: fs::File,
    /// Bytes written, and bytes durable.
    bytes: (u64, u64),
}

impl Write for PowerLossFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.disk.count()?;
        let written = self.file.write(bytes)?;
        self.bytes.0 += written as u64;
        state.unsynced.entry(self.path.clone()).or_insert(self.bytes.1);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl DiskFile for PowerLossFile {
    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.count()?;
        state.unsynced.remove(&self.path);
        self.bytes.1 = self.bytes.0;
        self.file.sync_all()
    }
}

impl Disk for PowerLossDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.count()?;
        self.keep(&mut state, path)?;
        if path.exists() {
            fs::remove_file(path)?;
        }
        let file = fs::File::create(path)?;
        state.names.push((parent(path).to_owned(), Undo::Forget(path.to_owned())));
        state.unsynced.insert(path.to_owned(), 0);
        Ok(Box::new(PowerLossFile { disk: self.clone(), path: path.to_owned(), file, bytes: (0, 0) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.count()?;
        self.keep(&mut state, to)?;
        RealDisk.rename(from, to)?;
        state.names.push((parent(to).to_owned(), Undo::Return { from: from.to_owned(), to: to.to_owned() }));
        // Drops the state of the replaced file.
        state.unsynced.remove(to);
        if let Some(synced) = state.unsynced.remove(from) {
            state.unsynced.insert(to.to_owned(), synced);
        }
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.count()?;
        RealDisk.link(from, to)?;
        state.names.push((parent(to).to_owned(), Undo::Forget(to.to_owned())));
        if let Some(synced) = state.unsynced.get(from).copied() {
            state.unsynced.insert(to.to_owned(), synced);
        }
        Ok(())
    }

    /// Durable at once: callers never need the truncated bytes.
    fn shrink(&self, path: &Path, bytes: u64) -> io::Result<()> {
        let mut state = self.count()?;
        if let Some(synced) = state.unsynced.get_mut(path) {
            *synced = bytes.min(*synced);
        }
        RealDisk.shrink(path, bytes)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        let mut state = self.count()?;
        state.unsynced.remove(path);
        RealDisk.sync_file(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.count()?;
        self.keep(&mut state, path)?;
        RealDisk.remove(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.count()?;
        RealDisk.create_dir(path)?;
        state.names.push((parent(path).to_owned(), Undo::ForgetDir(path.to_owned())));
        Ok(())
    }

    /// Cannot be undone.
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.count()?;
        state.names.retain(|(folder, _)| !folder.starts_with(path));
        state.unsynced.retain(|file, _| !file.starts_with(path));
        RealDisk.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.count()?;
        state.names.retain(|(folder, _)| folder != path);
        RealDisk.sync_dir(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(disk: &PowerLossDisk, path: &Path, text: &str, sync: bool) {
        let mut file = disk.create(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        if sync {
            file.sync().unwrap();
        }
    }

    #[test]
    fn only_synced_data_survives() {
        let root = tempfile::tempdir().unwrap();
        let disk = PowerLossDisk::new(&root.path().join("attic")).unwrap();
        let data = root.path().join("data");
        disk.create_dir(&data).unwrap();
        disk.sync_dir(root.path()).unwrap();
        let [kept, empty, nameless, replaced] = ["kept", "empty", "nameless", "replaced"].map(|n| data.join(n));
        put(&disk, &kept, "kept", true);
        put(&disk, &empty, "lost", false);
        put(&disk, &replaced, "old", true);
        disk.sync_dir(&data).unwrap();
        put(&disk, &nameless, "never named", true);
        put(&disk, &data.join("new"), "new", true);
        disk.rename(&data.join("new"), &replaced).unwrap();
        disk.remove(&kept).unwrap();
        disk.lose_power().unwrap();
        assert_eq!(fs::read_to_string(kept).unwrap(), "kept");
        assert_eq!(fs::read_to_string(empty).unwrap(), "");
        assert_eq!(fs::read_to_string(replaced).unwrap(), "old");
        assert!(!nameless.exists());
    }

    #[test]
    fn unsynced_appends_are_lost() {
        let root = tempfile::tempdir().unwrap();
        let disk = PowerLossDisk::new(&root.path().join("attic")).unwrap();
        let path = root.path().join("log");
        let mut file = disk.create(&path).unwrap();
        disk.sync_dir(root.path()).unwrap();
        file.write_all(b"synced").unwrap();
        file.sync().unwrap();
        file.write_all(b" and more").unwrap();
        file.write_all(b".").unwrap();
        disk.lose_power_leaving(0.5).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "synced and ");
        file.sync().unwrap();
        disk.lose_power().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "synced and ");
    }

    #[test]
    fn operations_fail_from_the_chosen_one() {
        let root = tempfile::tempdir().unwrap();
        let disk = PowerLossDisk::new(&root.path().join("attic")).unwrap();
        disk.fail_from(1);
        assert!(disk.create(&root.path().join("a")).is_ok());
        assert!(disk.create(&root.path().join("b")).is_err());
        assert!(disk.sync_dir(root.path()).is_err());
    }
}
