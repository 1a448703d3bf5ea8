//! The object store for delta-rs: local files. Syncs a file before naming it, and its folder before returning success.
//! The local store of delta-rs syncs nothing.

use std::fmt;
use std::io;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

use disk::bucket::BucketError;
use disk::{Disk, create_dirs, parent, temporary_name};

pub(crate) const LOG_FOLDER: &str = "_delta_log";
const NAME: &str = "DurableStore";
/// Attempts to list a log that seems to lack a version. After these, the listing is returned unchanged.
const LISTINGS_MAX: usize = 10;

/// Reads local files, and writes them durably.
#[derive(Debug, Clone)]
pub(crate) struct DurableStore {
    local: Arc<LocalFileSystem>,
    root: PathBuf,
    /// Rejects access outside this folder, because a log may name files anywhere.
    table: PathBuf,
    disk: Arc<dyn Disk>,
}

impl fmt::Display for DurableStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}({})", self.root.display())
    }
}

impl DurableStore {
    /// Creates a store with paths relative to `root`, and access only to the folder `table` inside it. Both must exist.
    pub(crate) fn new(root: &FilePath, table: &FilePath, disk: Arc<dyn Disk>) -> Result<Self> {
        let local = Arc::new(LocalFileSystem::new_with_prefix(root)?);
        Ok(Self { local, root: root.to_owned(), table: table.to_owned(), disk })
    }

    fn path(&self, location: &Path) -> Result<PathBuf> {
        let path = self.local.path_to_filesystem(location)?;
        if path.starts_with(&self.table) { Ok(path) } else { Err(outside(&path, &self.table)) }
    }

    fn put_durably(&self, path: &FilePath, payload: &PutPayload, create: bool) -> io::Result<()> {
        create_dirs(&*self.disk, parent(path))?;
        let temporary = temporary_name(path);
        let mut file = self.disk.create(&temporary)?;
        for part in payload {
            file.write_all(part)?;
        }
        file.sync()?;
        drop(file);
        if create {
            let linked = self.disk.link(&temporary, path);
            self.disk.remove(&temporary)?;
            linked?;
        } else {
            self.disk.rename(&temporary, path)?;
        }
        self.disk.sync_dir(parent(path))
    }
}

/// A large file that comes in parts, such as a log checkpoint. It is written once all are there.
#[derive(Debug)]
struct Upload {
    store: DurableStore,
    location: Path,
    parts: Vec<Bytes>,
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.parts.extend(data);
        Box::pin(std::future::ready(Ok(())))
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let whole = std::mem::take(&mut self.parts).into_iter().collect();
        self.store.put_opts(&self.location, whole, PutOptions::default()).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.parts.clear();
        Ok(())
    }
}

/// Whether a version between two others is missing.
fn lacks_a_version(found: &[ObjectMeta]) -> bool {
    let version = |meta: &ObjectMeta| meta.location.filename()?.strip_suffix(".json")?.parse::<u64>().ok();
    let mut versions: Vec<u64> = found.iter().filter_map(version).collect();
    versions.sort_unstable();
    versions.windows(2).any(|pair| pair[1] != pair[0] + 1)
}

fn outside(path: &FilePath, table: &FilePath) -> object_store::Error {
    let reason = format!("{} is outside the table's folder {}", path.display(), table.display());
    failed(io::Error::new(io::ErrorKind::PermissionDenied, reason))
}

fn failed(source: io::Error) -> object_store::Error {
    object_store::Error::Generic { store: NAME, source: Box::new(source) }
}

fn unsupported(operation: &str) -> object_store::Error {
    object_store::Error::NotImplemented { operation: operation.to_owned(), implementer: NAME.to_owned() }
}

#[async_trait]
impl ObjectStore for DurableStore {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let create = match options.mode {
            PutMode::Create => true,
            PutMode::Overwrite => false,
            PutMode::Update(_) => return Err(unsupported("put_opts with PutMode::Update")),
        };
        let path = self.path(location)?;
        self.put_durably(&path, &payload, create).map_err(|source| {
            let path = path.display().to_string();
            if source.kind() == io::ErrorKind::AlreadyExists {
                object_store::Error::AlreadyExists { path, source: source.into() }
            } else if BucketError::inside(&source).is_some() {
                // A store's error includes the location.
                failed(source)
            } else {
                failed(io::Error::new(source.kind(), format!("writing {path}: {source}")))
            }
        })?;
        Ok(PutResult { e_tag: None, version: None })
    }

    async fn put_multipart_opts(&self, location: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        Ok(Box::new(Upload { store: self.clone(), location: location.clone(), parts: Vec::new() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.path(location)?;
        self.local.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let (local, disk, table) = (self.local.clone(), self.disk.clone(), self.table.clone());
        let removed = locations.map(move |location| {
            let location = location?;
            let path = local.path_to_filesystem(&location)?;
            if !path.starts_with(&table) {
                return Err(outside(&path, &table));
            }
            match disk.remove(&path) {
                Ok(()) => Ok(location),
                Err(source) if source.kind() == io::ErrorKind::NotFound => {
                    Err(object_store::Error::NotFound { path: location.to_string(), source: source.into() })
                }
                Err(source) => Err(failed(source)),
            }
        });
        removed.boxed()
    }

    /// Fetches other writers' log entries, then lists. Directory listings are not atomic: a listing may show only the
    /// second of two concurrent entries. Lists again if a version is missing.
    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (local, disk, prefix) = (self.local.clone(), self.disk.clone(), prefix.cloned());
        let folder = prefix.as_ref().map(|prefix| self.path(prefix)).transpose();
        let listed = async move {
            let folder = folder?;
            if let Some(log) = folder.filter(|folder| folder.ends_with(LOG_FOLDER)) {
                disk.fetch_log(&log).map_err(failed)?;
            }
            let mut found: Vec<ObjectMeta> = local.list(prefix.as_ref()).try_collect().await?;
            for _ in 1..LISTINGS_MAX {
                if !lacks_a_version(&found) {
                    break;
                }
                found = local.list(prefix.as_ref()).try_collect().await?;
            }
            Ok::<_, object_store::Error>(stream::iter(found.into_iter().map(Ok)))
        };
        stream::once(listed).try_flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.local.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(unsupported("copy_opts"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn files_in_parts_are_whole_or_not_there() {
        let root = tempfile::tempdir().unwrap();
        let store = DurableStore::new(root.path(), root.path(), Arc::new(disk::RealDisk)).unwrap();
        let location = Path::from("_delta_log/1.checkpoint.parquet");
        let mut upload = store.put_multipart_opts(&location, PutMultipartOptions::default()).await.unwrap();
        upload.put_part(vec![1; 9 << 20].into()).await.unwrap();
        upload.put_part(vec![2; 3 << 20].into()).await.unwrap();
        assert!(store.get_opts(&location, GetOptions::default()).await.is_err());
        upload.complete().await.unwrap();
        let whole = store.get_opts(&location, GetOptions::default()).await.unwrap().bytes().await.unwrap();
        assert_eq!(whole[..], [vec![1; 9 << 20], vec![2; 3 << 20]].concat());
    }

    #[test]
    fn missing_versions_are_detected() {
        let listing = |names: &[&str]| -> Vec<ObjectMeta> {
            let meta = |name: &&str| ObjectMeta {
                location: Path::from(format!("t/_delta_log/{name}")),
                last_modified: std::time::SystemTime::UNIX_EPOCH.into(),
                size: 1,
                e_tag: None,
                version: None,
            };
            names.iter().map(meta).collect()
        };
        assert!(!lacks_a_version(&listing(&[
            "_last_checkpoint",
            "00012.json",
            "00010.checkpoint.parquet",
            "00011.json"
        ])));
        assert!(lacks_a_version(&listing(&["00013.json", "00011.json", "00010.json"])));
        assert!(!lacks_a_version(&[]));
    }
}
