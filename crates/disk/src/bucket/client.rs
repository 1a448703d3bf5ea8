//! A blocking client for the object store; requests run on its own threads.

use std::fs::{self, File};
use std::future::Future;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::ClientConfigKey;
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, GetOptions, GetRange, MultipartUpload, ObjectMeta, ObjectStore as _, ObjectStoreExt as _, PutMode,
    RetryConfig,
};
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};

use super::address::BucketUrl;
use super::error::{BucketError, Trouble};
use crate::files::{RealDisk, create_dir_all, create_options, parent, temporary_name, write_file};

/// Limit on one upload request; larger objects are uploaded in parts of this size.
const PART_BYTES: usize = 16 << 20;
const PARTS_AT_ONCE: usize = 4;
const READ_BYTES: u64 = 64 << 20;
const OBJECTS_AT_ONCE: usize = 8;
/// Attempts to create an object while the store cannot return its content.
const TRIES: usize = 5;
/// Time limit of one request; temporary failures are retried.
const REQUEST_TIMEOUT: &str = "120s";
/// About ten seconds of pauses in total.
const RETRIES: RetryConfig = RetryConfig {
    backoff: BackoffConfig { init_backoff: Duration::from_millis(100), max_backoff: Duration::from_secs(5), base: 3.0 },
    max_retries: 8,
    retry_timeout: Duration::from_mins(1),
};

type Result<T> = std::result::Result<T, BucketError>;

#[derive(Debug)]
pub(super) struct Client {
    requests: Arc<Requests>,
    /// `None` only during drop.
    runtime: Option<Runtime>,
}

impl Client {
    /// Configures the store from the environment. Sends no request.
    pub(super) fn from_environment(url: BucketUrl) -> Result<Self> {
        let requests = Arc::new(Requests::from_environment(url)?);
        let runtime = Builder::new_multi_thread().worker_threads(2).thread_name("bucket").enable_all().build();
        let runtime = runtime.map_err(|e| requests.error("start threads for", &requests.url.prefix, e.to_string()))?;
        Ok(Self { requests, runtime: Some(runtime) })
    }

    pub(super) fn url(&self) -> &BucketUrl {
        &self.requests.url
    }

    /// The store's address, for display and to distinguish mirrors.
    pub(super) fn endpoint(&self) -> &str {
        &self.requests.endpoint
    }

    /// Uploads a file, replacing any object with this key.
    pub(super) fn upload(&self, from: &Path, key: &Key) -> Result<()> {
        let (from, key) = (from.to_owned(), key.clone());
        self.wait(|requests| async move { requests.upload(&from, &key).await })
    }

    /// Creates an object; fails with [`Trouble::Taken`] if the key exists.
    pub(super) fn create(&self, key: &Key, bytes: Vec<u8>) -> Result<()> {
        let key = key.clone();
        self.wait(|requests| async move { requests.create(&key, bytes.into()).await })
    }

    pub(super) fn read(&self, key: &Key) -> Result<Option<Vec<u8>>> {
        let key = key.clone();
        self.wait(|requests| async move { requests.read(&key).await.map(|found| found.map(Into::into)) })
    }

    pub(super) fn lengths(&self, keys: Vec<Key>) -> Result<Vec<u64>> {
        self.wait(|requests| async move {
            let lengths = stream::iter(keys).map(|key| {
                let requests = requests.clone();
                async move { Ok(requests.store.head(&key).await.map_err(requests.failed("read", &key))?.size) }
            });
            lengths.buffered(OBJECTS_AT_ONCE).try_collect().await
        })
    }

    /// Downloads objects of the given sizes, several concurrently.
    pub(super) fn fetch_all(&self, wanted: Vec<(Key, PathBuf, u64)>) -> Result<()> {
        self.wait(|requests| async move {
            let fetched = stream::iter(wanted).map(|(key, to, bytes)| {
                let requests = requests.clone();
                async move { requests.fetch(&key, &to, bytes).await }
            });
            fetched.buffer_unordered(OBJECTS_AT_ONCE).try_collect().await
        })
    }

    /// Downloads small objects; the files appear in the given order.
    pub(super) fn fetch_in_order(&self, wanted: Vec<(Key, PathBuf)>) -> Result<()> {
        self.wait(|requests| async move {
            let fetched = stream::iter(wanted).map(|(key, to)| {
                let requests = requests.clone();
                async move { Ok((requests.read(&key).await?, key, to)) }
            });
            let mut fetched = fetched.buffered(OBJECTS_AT_ONCE);
            while let Some((bytes, key, to)) = fetched.try_next().await? {
                let gone = || BucketError::new("read", requests.url.of(&key), Trouble::NoObject);
                let bytes = bytes.ok_or_else(gone)?;
                keep(&to, &bytes).map_err(requests.kept("read", &key))?;
            }
            Ok(())
        })
    }

    /// Lists the objects below a prefix, after `offset` if given, sorted by name.
    pub(super) fn list(&self, prefix: &Key, offset: Option<&Key>) -> Result<Vec<ObjectMeta>> {
        let (prefix, offset) = (prefix.clone(), offset.cloned());
        self.wait(|requests| async move { requests.list(&prefix, offset.as_ref()).await })
    }

    pub(super) fn remove(&self, key: &Key) -> Result<()> {
        let key = key.clone();
        self.wait(|requests| async move { requests.remove(vec![key]).await })
    }

    pub(super) fn remove_all(&self, prefix: &Key) -> Result<()> {
        let prefix = prefix.clone();
        self.wait(|requests| async move {
            let found = requests.list(&prefix, None).await?;
            requests.remove(found.into_iter().map(|object| object.location).collect()).await
        })
    }

    /// Runs a request on the client's threads and blocks until it ends.
    fn wait<T, F>(&self, request: impl FnOnce(Arc<Requests>) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let stopped = || self.requests.error("reach", &self.requests.url.prefix, "the client has stopped".to_owned());
        let runtime = self.runtime.as_ref().ok_or_else(stopped)?;
        let (sender, receiver) = mpsc::sync_channel(1);
        let request = request(self.requests.clone());
        runtime.spawn(async move {
            if sender.send(request.await).is_err() {
                tracing::debug!("the caller no longer waits for the store's reply");
            }
        });
        let answer = || receiver.recv().map_err(|_| stopped())?;
        match Handle::try_current() {
            // Lets tokio move its other tasks off this thread.
            Ok(here) if here.runtime_flavor() == RuntimeFlavor::MultiThread => tokio::task::block_in_place(answer),
            _ => answer(),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // No request is pending: each call waited for its own.
            runtime.shutdown_background();
        }
    }
}

#[derive(Debug)]
struct Requests {
    store: AmazonS3,
    url: BucketUrl,
    endpoint: String,
}

impl Requests {
    fn from_environment(url: BucketUrl) -> Result<Self> {
        let builder = AmazonS3Builder::from_env().with_bucket_name(&url.bucket).with_retry(RETRIES);
        let builder = builder.with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), REQUEST_TIMEOUT);
        let set = |key: AmazonS3ConfigKey| builder.get_config_value(&key);
        let endpoint = set(AmazonS3ConfigKey::Endpoint);
        let refuse = |trouble: Trouble| BucketError::new("use", url.to_string(), trouble);
        let endpoint = endpoint.unwrap_or_else(|| {
            let region = set(AmazonS3ConfigKey::Region).unwrap_or_else(|| "us-east-1".to_owned());
            format!("Amazon S3 in {region}")
        });
        let store = builder.build().map_err(|error| refuse(Trouble::of(&error, &url.bucket, &endpoint)))?;
        Ok(Self { store, url, endpoint })
    }

    fn error(&self, doing: &'static str, key: &Key, reason: String) -> BucketError {
        BucketError::new(doing, self.url.of(key), Trouble::Other(reason))
    }

    fn failed(&self, doing: &'static str, key: &Key) -> impl FnOnce(object_store::Error) -> BucketError {
        let place = self.url.of(key);
        move |error| BucketError::new(doing, place, Trouble::of(&error, &self.url.bucket, &self.endpoint))
    }

    /// An error of the mirror's disk.
    fn kept(&self, doing: &'static str, key: &Key) -> impl FnOnce(io::Error) -> BucketError {
        let place = self.url.of(key);
        move |error| BucketError::new(doing, place, Trouble::Other(format!("local copy: {error}")))
    }

    async fn upload(&self, from: &Path, key: &Key) -> Result<()> {
        let failed = |error| self.failed("write", key)(error);
        let kept = |error| self.kept("write", key)(error);
        let mut file = File::open(from).map_err(kept)?;
        let length = file.metadata().map_err(kept)?.len();
        if length <= PART_BYTES as u64 {
            let mut bytes = Vec::with_capacity(length as usize);
            file.read_to_end(&mut bytes).map_err(kept)?;
            self.store.put(key, bytes.into()).await.map_err(failed)?;
            return Ok(());
        }
        let mut upload = self.store.put_multipart(key).await.map_err(failed)?;
        let sent = self.upload_parts(&mut *upload, file, length, key).await;
        let ended = match sent {
            Ok(()) => upload.complete().await.map(drop).map_err(failed),
            Err(error) => Err(error),
        };
        if ended.is_err()
            && let Err(error) = upload.abort().await
        {
            tracing::warn!(%key, %error, "parts of a failed upload remain in the bucket");
        }
        ended
    }

    async fn upload_parts(
        &self,
        upload: &mut dyn MultipartUpload,
        mut file: File,
        length: u64,
        key: &Key,
    ) -> Result<()> {
        let parts = stream::iter((0..length).step_by(PART_BYTES)).map(|at| {
            let mut part = vec![0; (length - at).min(PART_BYTES as u64) as usize];
            let sending = file.read_exact(&mut part).map(|()| upload.put_part(part.into()));
            async move { sending.map_err(self.kept("write", key))?.await.map_err(self.failed("write", key)) }
        });
        parts.buffer_unordered(PARTS_AT_ONCE).try_collect().await
    }

    async fn create(&self, key: &Key, bytes: bytes::Bytes) -> Result<()> {
        for tries in 1.. {
            let Err(error) = self.store.put_opts(key, bytes.clone().into(), PutMode::Create.into()).await else {
                return Ok(());
            };
            if !matches!(error, object_store::Error::AlreadyExists { .. }) {
                return Err(self.failed("write", key)(error));
            }
            // The object may be ours, if a retried request found what the first one wrote. Or another writer's
            // request is still in flight.
            match self.read(key).await? {
                Some(found) if found == bytes => return Ok(()),
                None if tries < TRIES => tokio::time::sleep(RETRIES.backoff.init_backoff).await,
                _ => return Err(BucketError::new("write", self.url.of(key), Trouble::Taken)),
            }
        }
        Ok(())
    }

    async fn read(&self, key: &Key) -> Result<Option<bytes::Bytes>> {
        match self.store.get(key).await {
            Ok(found) => Ok(Some(found.bytes().await.map_err(self.failed("read", key))?)),
            Err(error) => match self.failed("read", key)(error) {
                BucketError { trouble: Trouble::NoObject, .. } => Ok(None),
                error => Err(error),
            },
        }
    }

    /// Downloads an object; the file gets its name once it is complete.
    async fn fetch(&self, key: &Key, to: &Path, bytes: u64) -> Result<()> {
        let temporary = temporary_name(to);
        let fetched = self.fetch_into(key, &temporary, bytes).await;
        let named = fetched.and_then(|()| fs::rename(&temporary, to).map_err(self.kept("read", key)));
        if named.is_err()
            && let Err(error) = fs::remove_file(&temporary)
        {
            tracing::debug!(path = %temporary.display(), %error, "cannot remove an unfinished copy");
        }
        named
    }

    async fn fetch_into(&self, key: &Key, path: &Path, bytes: u64) -> Result<()> {
        let kept = |error| self.kept("read", key)(error);
        let failed = |error| self.failed("read", key)(error);
        create_dir_all(parent(path)).map_err(kept)?;
        let mut file = create_options(path).write(true).create(true).truncate(true).open(path).map_err(kept)?;
        // An empty object needs no range request.
        let (mut at, mut whole, mut e_tag) = (0, bytes, None);
        while at < whole {
            let range = Some(GetRange::Bounded(at..at + READ_BYTES));
            let options = GetOptions { range, if_match: e_tag.clone(), ..GetOptions::default() };
            let part = self.store.get_opts(key, options).await.map_err(failed)?;
            (whole, e_tag) = (part.meta.size, part.meta.e_tag.clone());
            at = part.range.end;
            let mut content = part.into_stream();
            while let Some(bytes) = content.try_next().await.map_err(failed)? {
                file.write_all(&bytes).map_err(kept)?;
            }
        }
        file.sync_data().map_err(kept)
    }

    async fn list(&self, prefix: &Key, offset: Option<&Key>) -> Result<Vec<ObjectMeta>> {
        let listed = match offset {
            Some(offset) => self.store.list_with_offset(Some(prefix), offset),
            None => self.store.list(Some(prefix)),
        };
        let mut found: Vec<ObjectMeta> = listed.try_collect().await.map_err(self.failed("list", prefix))?;
        found.sort_unstable_by(|a, b| a.location.cmp(&b.location));
        Ok(found)
    }

    async fn remove(&self, keys: Vec<Key>) -> Result<()> {
        let removed = stream::iter(keys).map(|key| async move {
            match self.store.delete(&key).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                Err(error) => Err(self.failed("remove", &key)(error)),
            }
        });
        removed.buffer_unordered(OBJECTS_AT_ONCE).try_collect().await
    }
}

fn keep(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create_dir_all(parent(path))?;
    write_file(&RealDisk, path, bytes)
}
