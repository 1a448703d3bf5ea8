//! Places of tables.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::builder::{PathBufValueParser, TypedValueParser, ValueParser};
use disk::bucket::{BucketDisk, BucketUrl};
use disk::{Disk, RealDisk};

/// The folder below which buckets are mirrored.
const MIRROR: &str = "MANYWORLDS_MIRROR";

/// The place of tables of rows.
#[derive(Debug, clap::Args)]
pub(crate) struct DataArgs {
    /// Folder of the tables
    #[arg(long, value_name = "DIR", default_value = "data", env = "MANYWORLDS_DATA", value_parser = folder())]
    pub(crate) data: PathBuf,
}

/// The place of tables of ensembles.
#[derive(Debug, clap::Args)]
pub(crate) struct PlaceArgs {
    /// Folder or bucket of the tables
    ///
    /// A folder, or s3://BUCKET/PREFIX in the object store that the AWS_* variables name.
    #[arg(long, value_name = "DIR|URL", default_value = "data", env = "MANYWORLDS_DATA", value_parser = place())]
    pub(crate) data: Place,
}

/// A folder, or a prefix of a bucket.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// On a disk of this machine, or one shared by several machines.
    Folder(PathBuf),
    /// In an S3-compatible store.
    Bucket(BucketUrl),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Bucket(url) => url.fmt(f),
        }
    }
}

impl Place {
    /// The folder to read and write, and its disk.
    pub(crate) fn open(&self) -> Result<(PathBuf, Arc<dyn Disk>)> {
        Ok(match self {
            Self::Folder(folder) => (folder.clone(), Arc::new(RealDisk)),
            Self::Bucket(url) => {
                let disk = BucketDisk::open(url.clone(), &mirrors()?)?;
                (disk.root().to_owned(), Arc::new(disk))
            }
        })
    }
}

/// The folder below which buckets are mirrored.
fn mirrors() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let folder = set(MIRROR).or_else(|| Some(cache()?.join("manyworlds").join("s3")));
    folder.with_context(|| format!("no folder to mirror the bucket in: set {MIRROR} to one"))
}

fn is_url(path: &std::path::Path) -> Option<&str> {
    path.to_str().filter(|text| text.starts_with(BucketUrl::SCHEME))
}

fn place() -> ValueParser {
    let read = |path: PathBuf| match is_url(&path) {
        Some(url) => BucketUrl::from_str(url).map(Place::Bucket),
        None => Ok(Place::Folder(path)),
    };
    PathBufValueParser::new().try_map(read).into()
}

fn folder() -> ValueParser {
    let read = |path: PathBuf| match is_url(&path) {
        Some(_) => Err("tables of rows need a folder: only ensembles can be stored in a bucket"),
        None => Ok(path),
    };
    PathBufValueParser::new().try_map(read).into()
}
