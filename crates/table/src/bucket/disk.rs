//! The mirror as a disk: what gets its name here, the bucket has first.

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
use crate::disk::{Disk, DiskFile, RealDisk, create_dir};

/// A folder that mirrors a prefix of a bucket.
#[derive(Debug)]
pub struct BucketDisk {
    client: Client,
    mirror: Mirror,
    /// Logs whose mirrors were held against the bucket's since this was opened.
    known: Mutex<HashSet<PathBuf>>,
}

impl BucketDisk {
    /// Tables in a bucket of the store that the `AWS_*` variables name, mirrored in a folder of their own below `mirrors`.
    /// The store is asked nothing yet.
    ///
    /// # Errors
    /// Where the variables make no sense, and where the folder cannot be made.
    pub fn open(url: BucketUrl, mirrors: &Path) -> Result<Self, BucketError> {
        let client = Client::from_environment(url)?;
        let url = client.url();
        let mirror = Mirror::open(mirrors, url, client.endpoint()).map_err(|error| {
            let reason =
                format!("its mirror in {}: {error}; set MANYWORLDS_MIRROR to a folder of yours", mirrors.display());
            BucketError::new("make", url.to_string(), Trouble::Other(reason))
        })?;
        Ok(Self { client, mirror, known: Mutex::default() })
    }

    /// The mirror: the folder to use with this disk.
    pub fn root(&self) -> &Path {
        self.mirror.root()
    }

    /// Whether the newest entry that the mirror has of a log is the bucket's.
    fn has_entry(&self, log: &Path, version: u64) -> io::Result<bool> {
        let path = log.join(entry(version));
        let there = self.client.read(&self.mirror.key(&path)?)?;
        Ok(there.is_some_and(|there| fs::read(&path).is_ok_and(|here| here == there)))
    }

    /// The newest entry that the mirror has of a log and the bucket has too. A mirror of a table that is gone from the
    /// bucket, or that another took the place of, is removed.
    fn newest_shared(&self, log: &Path) -> io::Result<Option<u64>> {
        let newest = newest_entry(log)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(version), false) = (newest, known.contains(log)) else {
            known.insert(log.to_owned());
            return Ok(newest);
        };
        let shared = self.has_entry(log, version)?;
        if let (false, Some(table)) = (shared, log.parent()) {
            tracing::info!(mirror = %table.display(), "the bucket has another table: its mirror is made anew");
            fs::remove_dir_all(table)?;
        }
        known.insert(log.to_owned());
        Ok(newest.filter(|_| shared))
    }

    fn refuse(&self, doing: &'static str, path: &Path) -> io::Error {
        let place = self.shown(path).display().to_string();
        BucketError::new(doing, place, Trouble::Other("a store has no such thing: use a folder".to_owned())).into()
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
            // Another process with this mirror has brought it already.
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

    fn exchange(&self, one: &Path, _: &Path) -> io::Result<()> {
        Err(self.refuse("exchange", one))
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.client.remove_all(&self.mirror.key(path)?)?;
        unless_missing(fs::remove_dir_all(path))
    }

    /// What the store has taken is durable.
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn bring(&self, files: &[(&Path, Option<u64>)]) -> io::Result<()> {
        let unknown = files.iter().filter(|(_, bytes)| bytes.is_none());
        let unknown = unknown.map(|(path, _)| self.mirror.key(path)).collect::<io::Result<Vec<_>>>()?;
        let mut lengths = if unknown.is_empty() { Vec::new() } else { self.client.lengths(unknown)? }.into_iter();
        let mut wanted = Vec::new();
        for (path, bytes) in files {
            let key = self.mirror.key(path)?;
            let bytes = bytes.or_else(|| lengths.next()).unwrap_or_default();
            // Of another length it was written by somebody who did not commit it.
            if !fs::metadata(path).is_ok_and(|here| here.len() == bytes) {
                wanted.push((key, path.to_path_buf(), bytes));
            }
        }
        if wanted.is_empty() { Ok(()) } else { Ok(self.client.fetch_all(wanted)?) }
    }

    fn bring_log(&self, log: &Path) -> io::Result<()> {
        let newest = self.newest_shared(log)?;
        let folder = self.mirror.key(log)?;
        // The newest entry is listed again, so that a log that is gone or another's is noticed.
        let offset = newest.and_then(|v| v.checked_sub(1)).map(|v| self.mirror.key(&log.join(entry(v)))).transpose()?;
        let listed = self.client.list(&folder, offset.as_ref())?;
        let below = |key: &Key| {
            let parts = key.prefix_match(&folder)?.map(|part| part.as_ref().to_owned());
            Some(parts.collect::<Vec<_>>().join("/"))
        };
        let names: Vec<String> = listed.iter().filter_map(|object| below(&object.location)).collect();
        if newest.is_some_and(|version| !names.contains(&entry(version))) {
            let gone = Trouble::Other("another table has taken its place meanwhile: run it again".to_owned());
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
        // Entries last and in their order: whoever reads the mirror meanwhile finds no gap.
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
