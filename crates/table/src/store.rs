//! The object store that delta-rs writes a table's log to: local files, synced before they are named, and their
//! folder synced before success is reported. delta-rs's own local store syncs nothing.

use std::fmt;
use std::io;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use crate::disk::{Disk, create_dirs, parent, temporary_name};

const NAME: &str = "DurableStore";

/// Reads as a local file system does, writes durably.
#[derive(Debug)]
pub(crate) struct DurableStore {
    local: LocalFileSystem,
    root: PathBuf,
    disk: Arc<dyn Disk>,
}

impl fmt::Display for DurableStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}({})", self.root.display())
    }
}

impl DurableStore {
    /// A store whose paths begin at `root`, an existing folder.
    pub(crate) fn new(root: &FilePath, disk: Arc<dyn Disk>) -> Result<Self> {
        Ok(Self { local: LocalFileSystem::new_with_prefix(root)?, root: root.to_owned(), disk })
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
        let path = self.local.path_to_filesystem(location)?;
        self.put_durably(&path, &payload, create).map_err(|source| {
            let path = path.display().to_string();
            if source.kind() == io::ErrorKind::AlreadyExists {
                object_store::Error::AlreadyExists { path, source: source.into() }
            } else {
                object_store::Error::Generic {
                    store: NAME,
                    source: Box::new(io::Error::new(source.kind(), format!("writing {path}: {source}"))),
                }
            }
        })?;
        Ok(PutResult { e_tag: None, version: None })
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        Err(unsupported("put_multipart_opts"))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.local.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.local.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.local.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.local.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(unsupported("copy_opts"))
    }
}
