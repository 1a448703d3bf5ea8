//! The folder that mirrors a prefix of a bucket.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use object_store::path::Path as Key;
use twox_hash::XxHash64;

use super::address::BucketUrl;
use crate::disk::{TEMPORARY_SUFFIX, create_dir_all};

const SIDECARS: &str = "_sidecars/";
const CHECKPOINT: &str = ".checkpoint.parquet";
const ENTRY: &str = ".json";
/// Digits of a version in a name.
const DIGITS: usize = 20;

/// A mirror's folder, and what its files are called in the bucket.
#[derive(Debug)]
pub(super) struct Mirror {
    root: PathBuf,
    prefix: Key,
}

impl Mirror {
    /// The mirror of a prefix of a bucket at some endpoint, below a folder that holds mirrors.
    pub(super) fn open(mirrors: &Path, url: &BucketUrl, endpoint: &str) -> io::Result<Self> {
        let name = format!("{}-{:016x}", url.bucket, XxHash64::oneshot(0, format!("{endpoint} {url}").as_bytes()));
        let root = mirrors.join(name);
        create_dir_all(&root)?;
        // Those who open tables name them by the path without links.
        Ok(Self { root: root.canonicalize()?, prefix: url.prefix.clone() })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// What a file or folder of the mirror is called in the bucket.
    pub(super) fn key(&self, path: &Path) -> io::Result<Key> {
        let outside = || io::Error::new(ErrorKind::InvalidInput, "it lies outside of the mirror of its bucket");
        let below = path.strip_prefix(&self.root).map_err(|_| outside())?.to_str().ok_or_else(outside)?;
        Key::parse(format!("{}/{below}", self.prefix).trim_matches('/')).map_err(io::Error::other)
    }
}

/// Whether a name is not final: such files are no business of the bucket's.
pub(super) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && name.ends_with(TEMPORARY_SUFFIX)
}

/// The name of a log's entry.
pub(super) fn entry(version: u64) -> String {
    format!("{version:0DIGITS$}{ENTRY}")
}

/// The newest entry that the mirror has of a log.
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

/// The version that a file of a log belongs to.
fn version(name: &str) -> Option<u64> {
    let (digits, rest) = name.split_at_checked(DIGITS)?;
    if rest.starts_with('.') && digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// What of a log, by names below its folder, is worth having where nothing of it is there yet: its newest checkpoint, and
/// what came after it.
pub(super) fn first_wanted<'a>(names: impl Iterator<Item = &'a str>) -> u64 {
    names
        .filter(|name| name.ends_with(CHECKPOINT) && name.len() == DIGITS + CHECKPOINT.len())
        .filter_map(version)
        .max()
        .unwrap_or(0)
}

/// What a file of a log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogFile {
    /// An entry.
    Entry,
    /// What entries are summed up in.
    Summary,
    /// What nobody needs who has the entries.
    Other,
}

impl LogFile {
    /// What a file is, by its name below the log's folder, to whoever wants versions from `first` on.
    pub(super) fn of(name: &str, first: u64) -> Self {
        match version(name) {
            Some(version) if version < first => Self::Other,
            Some(_) if name.ends_with(ENTRY) && name.len() == DIGITS + ENTRY.len() => Self::Entry,
            Some(_) => Self::Summary,
            // A checkpoint of another kind names these. `_last_checkpoint` changes: it is a hint only.
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
    fn files_of_a_log_are_told_by_their_names() {
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
    fn files_have_keys_and_keys_have_files() {
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
        assert!(is_temporary(&crate::disk::temporary_name(Path::new("/a/b.parquet"))));
        assert!(!is_temporary(Path::new("/a/b.parquet")));
    }
}
