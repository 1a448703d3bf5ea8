//! The folder that mirrors a prefix of a bucket.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use object_store::path::Path as Key;
use twox_hash::XxHash64;

use super::address::BucketUrl;
use crate::files::{TEMPORARY_SUFFIX, create_dir_all};

const SIDECARS: &str = "_sidecars/";
const CHECKPOINT: &str = ".checkpoint.parquet";
const ENTRY: &str = ".json";
const DIGITS: usize = 20;

#[derive(Debug)]
pub(super) struct Mirror {
    root: PathBuf,
    prefix: Key,
}

impl Mirror {
    /// Opens the mirror of a bucket's prefix at `endpoint`, inside the folder `mirrors`.
    pub(super) fn open(mirrors: &Path, url: &BucketUrl, endpoint: &str) -> io::Result<Self> {
        let name = format!("{}-{:016x}", url.bucket, XxHash64::oneshot(0, format!("{endpoint} {url}").as_bytes()));
        let root = mirrors.join(name);
        create_dir_all(&root)?;
        // Callers open tables by the canonical path.
        Ok(Self { root: root.canonicalize()?, prefix: url.prefix.clone() })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn key(&self, path: &Path) -> io::Result<Key> {
        let outside = || io::Error::new(ErrorKind::InvalidInput, "the path is outside the bucket's mirror");
        let below = path.strip_prefix(&self.root).map_err(|_| outside())?.to_str().ok_or_else(outside)?;
        Key::parse(format!("{}/{below}", self.prefix).trim_matches('/')).map_err(io::Error::other)
    }
}

/// Whether a name is temporary. The bucket never gets such files.
pub(super) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && name.ends_with(TEMPORARY_SUFFIX)
}

pub(super) fn entry(version: u64) -> String {
    format!("{version:0DIGITS$}{ENTRY}")
}

pub(super) fn newest_entry(log: &Path) -> io::Result<Option<u64>> {
    let entries = match fs::read_dir(log) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    let mut newest = None;
    for entry in entries {
        let name = entry?.file_name();
        newest = newest.max(name.to_str().filter(|name| name.ends_with(ENTRY)).and_then(version));
    }
    Ok(newest)
}

fn version(name: &str) -> Option<u64> {
    let (digits, rest) = name.split_at_checked(DIGITS)?;
    if rest.starts_with('.') && digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// The first version to fetch into an empty mirror: that of the newest checkpoint among `names`.
pub(super) fn first_wanted<'a>(names: impl Iterator<Item = &'a str>) -> u64 {
    names
        .filter(|name| name.ends_with(CHECKPOINT) && name.len() == DIGITS + CHECKPOINT.len())
        .filter_map(version)
        .max()
        .unwrap_or(0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogFile {
    Entry,
    /// A checkpoint or other summary of entries.
    Summary,
    /// Not needed with the entries at hand.
    Other,
}

impl LogFile {
    /// Classifies a file by its name below the log's folder, for a reader of the versions from `first` on.
    pub(super) fn of(name: &str, first: u64) -> Self {
        match version(name) {
            Some(version) if version < first => Self::Other,
            Some(_) if name.ends_with(ENTRY) && name.len() == DIGITS + ENTRY.len() => Self::Entry,
            Some(_) => Self::Summary,
            // Checkpoints of another kind refer to sidecars. `_last_checkpoint` is only a hint, and mutable.
            None if name.starts_with(SIDECARS) => Self::Summary,
            None => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LogFile::{Entry, Other, Summary};
    use super::*;

    #[test]
    fn log_files_are_classified_by_name() {
        let [old, checkpoint, new] = [entry(9), format!("{:020}.checkpoint.parquet", 10), entry(11)];
        assert_eq!(old, "00000000000000000009.json");
        let names = [old.as_str(), &checkpoint, &new, "_last_checkpoint", "_sidecars/a.parquet", ".x.tmp", "9.json"];
        let first = first_wanted(names.into_iter());
        assert_eq!(first, 10);
        let what = names.map(|name| LogFile::of(name, first));
        assert_eq!(what, [Other, Summary, Entry, Other, Summary, Other, Other]);
        assert_eq!(first_wanted(["00000000000000000009.json"].into_iter()), 0);
    }

    #[test]
    fn mirror_paths_map_to_keys() {
        let folder = tempfile::tempdir().unwrap();
        for prefix in ["s3://b", "s3://b/some/where"] {
            let url: BucketUrl = prefix.parse().unwrap();
            let mirror = Mirror::open(folder.path(), &url, "http://here").unwrap();
            let path = mirror.root().join("sim/outcomes/ensemble=a/version=1/0-9.parquet");
            let key = mirror.key(&path).unwrap();
            assert_eq!(url.of(&key), format!("{prefix}/sim/outcomes/ensemble=a/version=1/0-9.parquet"));
            assert!(mirror.key(Path::new("/elsewhere/x")).is_err());
            let other = Mirror::open(folder.path(), &url, "http://there").unwrap();
            assert_ne!(mirror.root(), other.root());
        }
        assert!(is_temporary(&crate::files::temporary_name(Path::new("/a/b.parquet"))));
        assert!(!is_temporary(Path::new("/a/b.parquet")));
    }
}
