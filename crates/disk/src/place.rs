//! Where tables are: a folder, or a prefix of a bucket.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;

use crate::bucket::{AddressError, BucketDisk, BucketError, BucketUrl};
use crate::files::{Disk, RealDisk};

/// The environment variable that names the folder below which buckets are mirrored.
const MIRROR: &str = "MANYWORLDS_MIRROR";

/// A folder, or a prefix of a bucket.
#[derive(Debug, Clone)]
pub enum Place {
    /// On a disk of this machine, or one shared by several machines.
    Folder(PathBuf),
    /// In an S3-compatible store.
    Bucket(BucketUrl),
}

/// Why a place cannot be named or opened.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error("{} is a file: name the folder of the tables", .0.display())]
    File(PathBuf),
    #[error("unsupported address {0:?}: use a folder or s3://BUCKET/PREFIX")]
    Scheme(String),
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error("no folder to mirror the bucket in: set {MIRROR} to one")]
    NoMirror,
    #[error(transparent)]
    Bucket(#[from] BucketError),
}

impl Place {
    /// Parses a path, or the address of a bucket.
    ///
    /// # Errors
    /// If the text is an address, but not of a bucket, or names a file.
    pub fn parse(path: PathBuf) -> Result<Self, PlaceError> {
        match path.to_str() {
            Some(url) if url.starts_with(BucketUrl::SCHEME) => Ok(Self::Bucket(BucketUrl::from_str(url)?)),
            Some(url) if url.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme)) => {
                Err(PlaceError::Scheme(url.to_owned()))
            }
            _ if path.metadata().is_ok_and(|found| !found.is_dir()) => Err(PlaceError::File(path)),
            _ => Ok(Self::Folder(path)),
        }
    }

    /// The folder to read and write, and its disk. Sends no request.
    ///
    /// # Errors
    /// If a bucket cannot be mirrored, or the environment does not say how to reach it.
    pub fn open(&self) -> Result<(PathBuf, Arc<dyn Disk>), PlaceError> {
        Ok(match self {
            Self::Folder(folder) => (folder.clone(), Arc::new(RealDisk)),
            Self::Bucket(url) => {
                let disk = BucketDisk::open(url.clone(), &mirrors().ok_or(PlaceError::NoMirror)?)?;
                (disk.root().to_owned(), Arc::new(disk))
            }
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Bucket(url) => url.fmt(f),
        }
    }
}

/// Whether an address may begin with this word (RFC 3986).
fn is_scheme(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// The folder below which buckets are mirrored.
fn mirrors() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    set(MIRROR).or_else(|| Some(cache()?.join("manyworlds").join("s3")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_addresses_are_refused() {
        let said = |text: &str| Place::parse(text.into()).unwrap_err().to_string();
        for other in ["http://127.0.0.1:8080", "gs://bucket/x", "S3://bucket", "file:///data", "postgresql://x@y/z"] {
            assert_eq!(said(other), format!("unsupported address {other:?}: use a folder or s3://BUCKET/PREFIX"));
        }
        assert!(matches!(Place::parse("s3://bucket/x".into()), Ok(Place::Bucket(_))));
        for folder in ["data", "C:\\data", "a b://c", "://", "./http://x"] {
            assert!(matches!(Place::parse(folder.into()), Ok(Place::Folder(_))), "{folder}");
        }
    }
}
