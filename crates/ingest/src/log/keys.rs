//! Keys of stored requests, kept for as long as senders may retry.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use disk::{Disk, write_file};

use super::Key;
use crate::error::IngestError;

/// How long a key is kept, at least.
const KEPT: Duration = Duration::from_hours(24);
const BYTES: usize = size_of::<u128>();

/// The known keys, and the files that keep those of removed log files.
#[derive(Debug, Default)]
pub(super) struct Keys {
    known: HashSet<Key>,
    /// In order of writing.
    files: Vec<(SystemTime, PathBuf)>,
}

impl Keys {
    /// Reads the kept keys in the folder of a log.
    pub(super) fn read(folder: &Path) -> Result<Self, IngestError> {
        let failed = || IngestError::io("list the folder", folder);
        let mut keys = Self::default();
        for entry in fs::read_dir(folder).map_err(failed())? {
            let path = entry.map_err(failed())?.path();
            if path.extension().is_none_or(|e| e != "keys") {
                continue;
            }
            let read = || Ok((fs::metadata(&path)?.modified()?, fs::read(&path)?));
            let (written, bytes) = read().map_err(IngestError::io("read", &path))?;
            keys.known.extend(bytes.as_chunks::<BYTES>().0.iter().map(|b| Key(u128::from_le_bytes(*b))));
            keys.files.push((written, path));
        }
        keys.files.sort_unstable();
        Ok(keys)
    }

    pub(super) fn contains(&self, key: Key) -> bool {
        self.known.contains(&key)
    }

    pub(super) fn insert(&mut self, key: Key) {
        self.known.insert(key);
    }

    /// Keeps the keys of a file to be removed, which ends at `last`; drops expired keys.
    pub(super) fn keep(&mut self, disk: &dyn Disk, folder: &Path, last: u64, keys: &[Key]) -> Result<(), IngestError> {
        self.forget(disk)?;
        if keys.is_empty() {
            return Ok(());
        }
        let path = folder.join(format!("{last:020}.keys"));
        let bytes: Vec<u8> = keys.iter().flat_map(|key| key.0.to_le_bytes()).collect();
        write_file(disk, &path, &bytes).map_err(IngestError::io("write", &path))?;
        self.files.push((SystemTime::now(), path));
        Ok(())
    }

    fn forget(&mut self, disk: &dyn Disk) -> Result<(), IngestError> {
        let old = |written: &SystemTime| written.elapsed().is_ok_and(|age| age > KEPT);
        while self.files.first().is_some_and(|(written, _)| old(written)) {
            let (_, path) = self.files.remove(0);
            let bytes = fs::read(&path).map_err(IngestError::io("read", &path))?;
            for key in bytes.as_chunks::<BYTES>().0 {
                self.known.remove(&Key(u128::from_le_bytes(*key)));
            }
            disk.remove(&path).map_err(IngestError::io("remove", &path))?;
        }
        Ok(())
    }
}
