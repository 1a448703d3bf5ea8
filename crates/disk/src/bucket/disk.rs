//! The mirror as a [`Disk`]: the bucket gets each name before the mirror.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use object_store::path::Path as Key;

use super::address::BucketUrl;
use super::client::Client;
use super::error::{BucketError, Trouble};
use super::mirror::{LogFile, Mirror, entry, first_wanted, is_temporary, newest_entry};
use crate::files::{Disk, DiskFile, RealDisk, create_dir};

/// A folder that mirrors a prefix of a bucket.
#[derive(Debug)]
pub struct BucketDisk {
    client: Client,
    mirror: Mirror,
    /// Logs compared with the bucket since opening.
    checked: Mutex<HashSet<PathBuf>>,
}

impl BucketDisk {
    /// Opens tables in a bucket of the store that the `AWS_*` variables name, with a mirror below `mirrors`. Sends no
    /// request.
    pub fn open(url: BucketUrl, mirrors: &Path) -> Result<Self, BucketError> {
        let client = Client::from_environment(url)?;
        let url = client.url();
        let mirror = Mirror::open(mirrors, url, client.endpoint()).map_err(|error| {
            let reason = format!("{}: {error}; set MANYWORLDS_MIRROR to a writable folder", mirrors.display());
            BucketError::new("mirror", url.to_string(), Trouble::Other(reason))
        })?;
        Ok(Self { client, mirror, checked: Mutex::default() })
    }

    /// The mirror's folder. Use it with this disk.
    pub fn root(&self) -> &Path {
        self.mirror.root()
    }

    /// Whether the bucket has the mirror's entry of a version.
    fn has_entry(&self, log: &Path, version: u64) -> io::Result<bool> {
        let path = log.join(entry(version));
        let there = self.client.read(&self.mirror.key(&path)?)?;
        Ok(there.is_some_and(|there| fs::read(&path).is_ok_and(|here| here == there)))
    }

    /// The newest log entry that the mirror and the bucket share. Removes the mirror of a table that the bucket no
    /// longer has.
    fn newest_shared(&self, log: &Path) -> io::Result<Option<u64>> {
        let newest = newest_entry(log)?;
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(version), false) = (newest, checked.contains(log)) else {
            checked.insert(log.to_owned());
            return Ok(newest);
        };
        let shared = self.has_entry(log, version)?;
        if let (false, Some(table)) = (shared, log.parent()) {
            tracing::info!(mirror = %table.display(), "the bucket holds another table: rebuilding the mirror");
            fs::remove_dir_all(table)?;
        }
        checked.insert(log.to_owned());
        Ok(newest.filter(|_| shared))
    }

    fn refuse(&self, doing: &'static str, path: &Path) -> io::Error {
        let place = self.shown(path).display().to_string();
        BucketError::new(doing, place, Trouble::Other("object stores do not support this: use a folder".to_owned()))
            .into()
    }
}

impl Disk for BucketDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        if !is_temporary(path) {
            return Err(self.refuse("write in place", path));
        }
        RealDisk.create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.client.upload(from, &self.mirror.key(to)?)?;
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.client.create(&self.mirror.key(to)?, fs::read(from)?)?;
        match fs::hard_link(from, to) {
            // Another process fetched it into the same mirror.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    }

    fn shrink(&self, path: &Path, _: u64) -> io::Result<()> {
        Err(self.refuse("shorten", path))
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        Err(self.refuse("sync", path))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if is_temporary(path) {
            return fs::remove_file(path);
        }
        self.client.remove(&self.mirror.key(path)?)?;
        unless_missing(fs::remove_file(path))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.client.remove_all(&self.mirror.key(path)?)?;
        unless_missing(fs::remove_dir_all(path))
    }

    /// Completed uploads are durable.
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn fetch(&self, files: &[(&Path, Option<u64>)]) -> io::Result<()> {
        let unknown = files.iter().filter(|(_, bytes)| bytes.is_none());
        let unknown = unknown.map(|(path, _)| self.mirror.key(path)).collect::<io::Result<Vec<_>>>()?;
        let mut lengths = if unknown.is_empty() { Vec::new() } else { self.client.lengths(unknown)? }.into_iter();
        let mut wanted = Vec::new();
        for (path, bytes) in files {
            let key = self.mirror.key(path)?;
            let bytes = bytes.or_else(|| lengths.next()).unwrap_or_default();
            // A local file of another length was never committed.
            if !fs::metadata(path).is_ok_and(|here| here.len() == bytes) {
                wanted.push((key, path.to_path_buf(), bytes));
            }
        }
        if wanted.is_empty() { Ok(()) } else { Ok(self.client.fetch_all(wanted)?) }
    }

    fn fetch_log(&self, log: &Path) -> io::Result<()> {
        let newest = self.newest_shared(log)?;
        let folder = self.mirror.key(log)?;
        // Lists the newest entry again, to detect a log that was removed or replaced.
        let offset = newest.and_then(|v| v.checked_sub(1)).map(|v| self.mirror.key(&log.join(entry(v)))).transpose()?;
        let listed = self.client.list(&folder, offset.as_ref())?;
        let below = |key: &Key| {
            let parts = key.prefix_match(&folder)?.map(|part| part.as_ref().to_owned());
            Some(parts.collect::<Vec<_>>().join("/"))
        };
        let names: Vec<String> = listed.iter().filter_map(|object| below(&object.location)).collect();
        if newest.is_some_and(|version| !names.contains(&entry(version))) {
            let gone = Trouble::Other("another table replaced it: run it again".to_owned());
            return Err(BucketError::new("read", self.shown(log).display().to_string(), gone).into());
        }
        let first = newest.unwrap_or_else(|| first_wanted(names.iter().map(String::as_str)));
        let (mut summaries, mut entries) = (Vec::new(), Vec::new());
        for (object, name) in listed.iter().zip(&names) {
            let path = log.join(name);
            let what = LogFile::of(name, first);
            if what == LogFile::Other || path.exists() {
                continue;
            }
            match what {
                LogFile::Entry => entries.push((object.location.clone(), path)),
                _ => summaries.push((object.location.clone(), path, object.size)),
            }
        }
        // Entries come last and in order: concurrent readers of the mirror find no gap.
        self.client.fetch_all(summaries)?;
        Ok(self.client.fetch_in_order(entries)?)
    }

    fn shown(&self, path: &Path) -> PathBuf {
        self.mirror.key(path).map_or_else(|_| path.to_owned(), |key| self.client.url().of(&key).into())
    }
}

fn unless_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
