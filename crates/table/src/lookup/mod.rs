//! Look-ups: beside each segment a small file that says in which of its row groups a value lies.
//!
//! For every look-up column it has the column's distinct values in order, each with the row groups that hold it. A
//! question for one value, some values or a range of them reads a block or two, and then only the row groups named
//! there: that needs no luck with statistics, and unlike a Bloom filter it answers for ranges and never falsely.
//!
//! The file lies in the folder `_lookup` beside the segment (other engines' clean-up leaves names that begin with `_`
//! alone), has the segment's name with the ending `.lookup`, and is synced before the log names the segment. One that
//! is missing, as where another engine wrote the segment, says nothing; one that is damaged is warned of and says
//! nothing either: then the segment itself is read.
//!
//! Format: blocks, then the index, then a tail of 40 bytes. A block is [`format::BLOCK_ENTRIES`] entries at most of one
//! column, an entry a key and a row group, compressed with zstd. Keys are bytes that compare as the values do
//! ([`keys`]). The index has of each block its first key, its place, its hash, and the row groups that occur in it.

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

/// The folder of look-ups, beside the segments.
pub(crate) const FOLDER: &str = "_lookup";
/// What their names end in.
const SUFFIX: &str = ".lookup";

/// Where the look-up of a segment lies.
pub(crate) fn path_of(segment: &Path) -> PathBuf {
    let stem = segment.file_stem().unwrap_or_default().to_string_lossy();
    segment.with_file_name(FOLDER).join(format!("{stem}{SUFFIX}"))
}

/// The path of the segment that a look-up belongs to, where `name`, a path below the table's folder, is a look-up's.
pub(crate) fn segment_of(name: &str) -> Option<String> {
    let (folder, file) = name.rsplit_once('/')?;
    let stem = file.strip_suffix(SUFFIX).filter(|_| !file.starts_with('.'))?;
    let above = folder.strip_suffix(FOLDER).filter(|above| above.is_empty() || above.ends_with('/'))?;
    Some(format!("{above}{stem}.parquet"))
}

/// Bytes of the look-ups of some segments of the table in the folder `root`.
///
/// # Errors
/// Where one cannot be looked at, other than for not being there.
pub fn lookup_bytes(root: &Path, segments: &[Segment]) -> Result<u64, TableError> {
    let mut bytes = 0;
    for segment in segments {
        let path = path_of(&root.join(&segment.path));
        match path.metadata() {
            Ok(found) => bytes += found.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(TableError::io("look at", &path)(error)),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
