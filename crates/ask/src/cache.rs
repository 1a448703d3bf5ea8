//! What segments answered before.
//!
//! Segments never change, so what one of them knows of a question stays true. It is kept in a file beside the table's
//! segments, in the folder `_cache` (names that begin with `_` are nobody's data to Delta readers): what was asked of
//! the segment, and what it answered. Conditions that all of its rows meet are left out of what was asked: a window of
//! time that slides on finds the answers of all segments that lie inside it.
//!
//! Files are written under a temporary name and renamed, and are checked when they are read: any number of processes
//! share a cache, and it may be removed at any time. The oldest files go first where they grow too many.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use table::Segment;
use table::disk::{create_dir_all, create_options, temporary_name};
use twox_hash::XxHash64;

use crate::plan::Plan;
use crate::state::{Bytes, Groups, Input};

/// The folder of a table's cache.
const FOLDER: &str = "_cache";
/// The form of the files; with another one they are no longer found.
const FORMAT: &str = "manyworlds answer 1";
const SUFFIX: &str = ".answer";
/// What a segment of fewer rows answers is not kept: reading it takes no longer.
const ROWS_MIN: u64 = 50_000;
/// What takes more memory is not kept.
const MEMORY_MAX: usize = 8 << 20;
/// Bytes of all files of a table, unless told otherwise.
const BYTES_MAX: u64 = 256 << 20;

/// Where answers of segments are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
    bytes_max: u64,
    rows_min: u64,
}

/// What is asked of one segment.
pub(crate) struct Asked {
    path: PathBuf,
    text: String,
}

/// What a segment answered.
pub(crate) struct Kept {
    pub(crate) groups: Groups,
    pub(crate) rows_met: u64,
}

impl Cache {
    /// The cache of the table in the folder `root`.
    pub fn of(root: &Path) -> Self {
        Self { folder: root.join(FOLDER), bytes_max: BYTES_MAX, rows_min: ROWS_MIN }
    }

    /// The same cache, of at most so many bytes.
    #[must_use]
    pub fn with_bytes_max(self, bytes_max: u64) -> Self {
        Self { bytes_max, ..self }
    }

    /// The same cache, for segments of at least so many rows.
    #[must_use]
    pub fn with_rows_min(self, rows_min: u64) -> Self {
        Self { rows_min, ..self }
    }

    /// What is asked of a segment of which the log leaves over some conditions; `None` where the answer is not kept.
    pub(crate) fn asked(&self, plan: &Plan, segment: &Segment, conditions: &[usize]) -> Option<Asked> {
        if segment.rows < self.rows_min.max(1) {
            return None;
        }
        let text = format!("{FORMAT}\n{} {} {}\n{}", segment.path, segment.bytes, segment.rows, plan.asked(conditions));
        let half = |seed: u64| XxHash64::oneshot(seed, text.as_bytes());
        let path = self.folder.join(format!("{:016x}{:016x}{SUFFIX}", half(0), half(1)));
        Some(Asked { path, text })
    }

    /// What was answered before. Whatever is wrong with a file, it is as if it were not there.
    pub(crate) fn find(plan: &Plan, asked: &Asked) -> Option<Kept> {
        let bytes = fs::read(&asked.path).ok()?;
        let mut input = Input(&bytes);
        let hash = u64::from_le_bytes(input.take(8)?.try_into().ok()?);
        (XxHash64::oneshot(0, input.0) == hash && input.text()? == asked.text).then_some(())?;
        let rows_met = input.number()?;
        let size = usize::try_from(input.number()?).ok().filter(|size| *size <= MEMORY_MAX * 8)?;
        let raw = zstd::bulk::decompress(input.0, size).ok()?;
        let groups = Groups::decode(&mut Input(&raw), &plan.key_kinds(), plan.accumulators())?;
        Some(Kept { groups, rows_met })
    }

    /// Keeps what was answered, where it is small. What cannot be kept is not: answers do not depend on it.
    /// Says whether it is small.
    pub(crate) fn keep(&self, asked: &Asked, groups: &mut Groups, rows_met: u64) -> bool {
        if groups.memory() > MEMORY_MAX {
            return false;
        }
        groups.settle();
        if let Err(error) = self.write(asked, groups, rows_met) {
            tracing::debug!(path = %asked.path.display(), %error, "an answer could not be kept");
        }
        true
    }

    fn write(&self, asked: &Asked, groups: &Groups, rows_met: u64) -> std::io::Result<()> {
        let mut raw = Bytes::default();
        groups.encode(&mut raw);
        let mut body = Bytes::default();
        body.text(&asked.text);
        body.number(rows_met);
        body.number(raw.0.len() as u64);
        body.0.extend(zstd::bulk::compress(&raw.0, 1)?);
        let mut bytes = XxHash64::oneshot(0, &body.0).to_le_bytes().to_vec();
        bytes.extend(body.0);
        create_dir_all(&self.folder)?;
        let temporary = temporary_name(&asked.path);
        create_options(&temporary).write(true).create_new(true).open(&temporary)?.write_all(&bytes)?;
        fs::rename(&temporary, &asked.path)
    }

    /// Removes the oldest files where there are too many bytes.
    pub(crate) fn trim(&self) {
        /// So much of what there may be is left, so that there is not something to remove each time.
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
            // Another process may have been faster.
            let _ = fs::remove_file(path);
            bytes -= length;
        }
    }
}
