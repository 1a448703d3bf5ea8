//! Secondary indexes: a small file next to each segment that maps values to row groups.
//!
//! The file holds the sorted distinct values of each indexed column with their row groups. A question for one value,
//! several values or a range reads one or two blocks, and then only the matching row groups. Statistics are not needed.
//! Unlike Bloom filters, secondary indexes support ranges, and have false positives only for keys over 64 bytes.
//!
//! The file lies in the folder `_lookup` next to the segment, with the segment's name and the suffix `.lookup`. The
//! clean-up of other engines ignores names that start with `_`. The file is synced before the log names the segment. If
//! it is missing (another engine wrote the segment) or damaged (logged as a warning), readers read the whole segment.
//!
//! Format: blocks, then the index, then a tail of 40 bytes. A block holds up to [`format::BLOCK_ENTRIES`] entries of
//! one column, pairs of key and row group, compressed with zstd. Keys are bytes with the same order as the values
//! ([`keys`]). The index holds each block's first key, offset, hash, and row groups.

mod format;
mod keys;
mod read;
mod write;

use std::path::{Path, PathBuf};

pub use keys::{Key, KeyRange};
pub use read::{Found, Lookup};
pub(crate) use write::LookupWriter;

use crate::error::TableError;
use crate::log::Segment;

/// The folder of secondary indexes, next to the segments.
pub(crate) const FOLDER: &str = "_lookup";
const SUFFIX: &str = ".lookup";

pub(crate) fn path_of(segment: &Path) -> PathBuf {
    let stem = segment.file_stem().unwrap_or_default().to_string_lossy();
    segment.with_file_name(FOLDER).join(format!("{stem}{SUFFIX}"))
}

/// The path of the segment that a secondary index belongs to; `None` if `name`, a path below the table's folder, is
/// not a secondary index.
pub(crate) fn segment_of(name: &str) -> Option<String> {
    let (folder, file) = name.rsplit_once('/')?;
    let stem = file.strip_suffix(SUFFIX).filter(|_| !file.starts_with('.'))?;
    let above = folder.strip_suffix(FOLDER).filter(|above| above.is_empty() || above.ends_with('/'))?;
    Some(format!("{above}{stem}.parquet"))
}

/// Total bytes of the secondary indexes of some segments of the table in the folder `root`.
pub fn lookup_bytes(root: &Path, segments: &[Segment]) -> Result<u64, TableError> {
    let mut bytes = 0;
    for segment in segments {
        let path = path_of(&root.join(&segment.path));
        match path.metadata() {
            Ok(found) => bytes += found.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(TableError::io("read the size of", &path)(error)),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
