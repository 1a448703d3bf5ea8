//! Cached answers of single segments.
//!
//! A segment never changes, so its answer to a question stays valid. Each answer is a file in the folder `_cache`
//! beside the table's segments; Delta readers ignore names that begin with `_`. The key of an answer leaves out
//! conditions that all rows of the segment meet, so a sliding time window reuses the answers of all segments inside it.
//!
//! Files are written under a temporary name, renamed, and verified when read. So any number of processes can share a
//! cache, and users can delete it at any time. When the cache exceeds its size limit, it removes the oldest files.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use disk::{create_dir_all, create_options, temporary_name};
use table::Segment;
use twox_hash::XxHash64;

use crate::plan::Plan;
use crate::state::{Bytes, Groups, Input};

const FOLDER: &str = "_cache";
/// Part of every key: a new format ignores the old files.
const FORMAT: &str = "manyworlds answer 1";
const SUFFIX: &str = ".answer";
/// Minimum rows of a segment to cache its answer: reading fewer rows is as fast.
const ROWS_MIN: u64 = 50_000;
/// Maximum memory of a cached answer, in bytes.
const MEMORY_MAX: usize = 8 << 20;
/// Default size limit of a table's cache, in bytes.
const BYTES_MAX: u64 = 256 << 20;

/// A folder of cached answers of segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
    bytes_max: u64,
    rows_min: u64,
}

/// Identifies a question to one segment: its file, and its full text to rule out collisions.
pub(crate) struct CacheKey {
    path: PathBuf,
    text: String,
}

pub(crate) struct CachedAnswer {
    pub(crate) groups: Groups,
    pub(crate) rows_matching: u64,
}

impl Cache {
    /// The cache of the table in the folder `root`.
    pub fn of(root: &Path) -> Self {
        Self { folder: root.join(FOLDER), bytes_max: BYTES_MAX, rows_min: ROWS_MIN }
    }

    /// Sets the size limit, in bytes.
    #[must_use]
    pub fn with_bytes_max(self, bytes_max: u64) -> Self {
        Self { bytes_max, ..self }
    }

    /// Sets the minimum rows of a segment to cache its answer.
    #[must_use]
    pub fn with_rows_min(self, rows_min: u64) -> Self {
        Self { rows_min, ..self }
    }

    /// The key of a question to a segment, given the conditions that the log does not decide; `None` if its answer is
    /// not cached.
    pub(crate) fn key(&self, plan: &Plan, segment: &Segment, conditions: &[usize]) -> Option<CacheKey> {
        if segment.rows < self.rows_min.max(1) {
            return None;
        }
        let text =
            format!("{FORMAT}\n{} {} {}\n{}", segment.path, segment.bytes, segment.rows, plan.cache_key(conditions));
        let half = |seed: u64| XxHash64::oneshot(seed, text.as_bytes());
        let path = self.folder.join(format!("{:016x}{:016x}{SUFFIX}", half(0), half(1)));
        Some(CacheKey { path, text })
    }

    /// The cached answer. A damaged file counts as missing.
    pub(crate) fn find(plan: &Plan, key: &CacheKey) -> Option<CachedAnswer> {
        let bytes = fs::read(&key.path).ok()?;
        let mut input = Input(&bytes);
        let hash = u64::from_le_bytes(input.take(8)?.try_into().ok()?);
        (XxHash64::oneshot(0, input.0) == hash && input.text()? == key.text).then_some(())?;
        let rows_matching = input.number()?;
        let size = usize::try_from(input.number()?).ok().filter(|size| *size <= MEMORY_MAX * 8)?;
        let raw = zstd::bulk::decompress(input.0, size).ok()?;
        let groups = Groups::decode(&mut Input(&raw), &plan.key_kinds(), Groups::accumulators(plan))?;
        Some(CachedAnswer { groups, rows_matching })
    }

    /// Whether an answer with so much memory, in bytes, is small enough to be cached.
    pub(crate) fn fits(memory: usize) -> bool {
        memory <= MEMORY_MAX
    }

    /// Stores an answer unless it is too large; returns whether it fits. Answers do not depend on the cache, so a
    /// failed write is only logged.
    pub(crate) fn store(&self, key: &CacheKey, groups: &mut Groups, rows_matching: u64) -> bool {
        if !Self::fits(groups.memory()) {
            return false;
        }
        groups.settle();
        if let Err(error) = self.write(key, groups, rows_matching) {
            tracing::debug!(path = %key.path.display(), %error, "cannot cache an answer");
        }
        true
    }

    fn write(&self, key: &CacheKey, groups: &Groups, rows_matching: u64) -> std::io::Result<()> {
        let mut raw = Bytes::default();
        groups.encode(&mut raw);
        let mut body = Bytes::default();
        body.text(&key.text);
        body.number(rows_matching);
        body.number(raw.0.len() as u64);
        body.0.extend(zstd::bulk::compress(&raw.0, 1)?);
        let mut bytes = XxHash64::oneshot(0, &body.0).to_le_bytes().to_vec();
        bytes.extend(body.0);
        create_dir_all(&self.folder)?;
        let temporary = temporary_name(&key.path);
        create_options(&temporary).write(true).create_new(true).open(&temporary)?.write_all(&bytes)?;
        fs::rename(&temporary, &key.path)
    }

    /// Removes the oldest files when the cache exceeds its size limit.
    pub(crate) fn trim(&self) {
        /// Share of the limit that stays, so that not every write removes files.
        const LEFT: f64 = 0.75;
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let about = entry.metadata().ok()?;
                Some((about.modified().ok()?, about.len(), entry.path()))
            })
            .collect();
        let mut bytes: u64 = files.iter().map(|file| file.1).sum();
        if bytes <= self.bytes_max {
            return;
        }
        files.sort();
        for (_, length, path) in files {
            if bytes as f64 <= self.bytes_max as f64 * LEFT {
                break;
            }
            // Another process may have removed it already.
            let _ = fs::remove_file(path);
            bytes -= length;
        }
    }
}
