//! The files of a log: names, contents and ends.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use disk::Disk;

use super::entry::{Entry, Key, NewEntry};
use super::keys::Keys;
use crate::error::IngestError;

/// Header of a file written entry by entry.
pub(super) const MAGIC: &[u8; 8] = b"mwlog\0\0\x01";
/// Header of a file that was complete and durable before it was named.
const MAGIC_WHOLE: &[u8; 8] = b"mwlog\0\x01\x01";

#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) bytes: u64,
    /// Its last position; one below its first if empty.
    pub(crate) last: u64,
    pub(super) keys: Vec<Key>,
    /// Whether it was durable before it was named.
    pub(super) whole: bool,
}

/// The path of the file that begins at a position.
pub(crate) fn path_at(folder: &Path, first: u64) -> PathBuf {
    folder.join(format!("{first:020}.log"))
}

/// The files, by first position.
pub(crate) fn list(folder: &Path) -> Result<Vec<(u64, PathBuf)>, IngestError> {
    let failed = || IngestError::io("list the folder", folder);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed())? {
        let name = entry.map_err(failed())?.file_name();
        if let Some(first) = name.to_str().and_then(|n| n.strip_suffix(".log")).and_then(|n| n.parse().ok()) {
            files.push((first, folder.join(&name)));
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Reads the entries of a file before the position `before`. The next file begins there, so later entries of this one
/// were never acknowledged.
///
/// # Errors
/// When it cannot be read or positions are missing; also errors of `each`.
pub(crate) fn read(
    path: &Path,
    first: u64,
    before: u64,
    mut each: impl FnMut(&Entry<'_>) -> Result<(), IngestError>,
) -> Result<Content, IngestError> {
    let bytes = fs::read(path).map_err(IngestError::io("read", path))?;
    let whole = bytes.starts_with(MAGIC_WHOLE);
    let mut content = Content { bytes: bytes.len() as u64, last: first - 1, keys: Vec::new(), whole };
    // A file cut off within its header is empty.
    let Some(mut rest) = bytes.strip_prefix(MAGIC).or_else(|| bytes.strip_prefix(MAGIC_WHOLE)) else {
        return Ok(content);
    };
    while let Some(entry) = Entry::take(&mut rest) {
        if entry.position >= before {
            break;
        }
        if entry.position != content.last + 1 {
            let (missing, found) = (content.last + 1, entry.position);
            return Err(IngestError::Gap { path: path.to_owned(), missing, found });
        }
        each(&entry)?;
        content.last = entry.position;
        content.keys.extend(entry.key);
    }
    Ok(content)
}

/// Where a log ends.
#[derive(Debug)]
pub(crate) struct End {
    /// The position of the next entry.
    pub(crate) next: u64,
    /// Files with entries.
    pub(crate) files: Vec<PathBuf>,
}

impl End {
    /// Finds the end of the log in `folder` and makes it durable; `None` without files, when only the table knows its
    /// last position. The caller holds the append lock.
    ///
    /// # Errors
    /// When the last file cannot be read or synced.
    pub(crate) fn find(folder: &Path, disk: &dyn Disk) -> Result<Option<Self>, IngestError> {
        let mut files = list(folder)?;
        let Some((first, path)) = files.last() else { return Ok(None) };
        let content = read(path, *first, u64::MAX, |_| Ok(()))?;
        let (next, is_empty) = (content.last + 1, content.last < *first);
        if !is_empty && !content.whole {
            // The writer may have died before its sync. Later entries must not outlive this one.
            disk.sync_file(path).map_err(IngestError::io("sync", path))?;
        }
        if is_empty {
            files.pop();
        }
        Ok(Some(Self { next, files: files.into_iter().map(|(_, path)| path).collect() }))
    }

    /// Bytes of its files, skipping files removed meanwhile.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().filter_map(|path| path.metadata().ok()).map(|about| about.len()).sum()
    }
}

/// Makes the next position, `next`, durable as a file name; creates an empty file if needed. The caller holds the
/// append lock.
pub(crate) fn tell(folder: &Path, disk: &dyn Disk, next: u64) -> Result<(), IngestError> {
    let path = path_at(folder, next);
    let begin = || {
        if !path.exists() {
            disk.create(&path)?;
        }
        disk.sync_dir(folder)
    };
    begin().map_err(IngestError::io("begin", &path))
}

/// Whether the file at `path` holds entries, or parts of them.
pub(crate) fn holds_rows(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.len() > MAGIC.len() as u64)
}

/// The bytes of a file of entries from the position `first` on.
pub(crate) fn whole(first: u64, entries: &mut [NewEntry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAGIC.len() + entries.iter().map(NewEntry::len).sum::<usize>());
    bytes.extend_from_slice(MAGIC_WHOLE);
    for (position, entry) in (first..).zip(entries) {
        bytes.extend_from_slice(entry.at(position));
    }
    bytes
}

/// Removes a file, if it still exists.
pub(crate) fn remove(disk: &dyn Disk, path: &Path) -> Result<(), IngestError> {
    match disk.remove(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(IngestError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Keeps the keys of a file to be removed, which ends where the next file begins.
///
/// # Errors
/// When it cannot be read, or the disk fails.
pub(crate) fn keep_keys(
    disk: &dyn Disk,
    folder: &Path,
    (first, path): &(u64, PathBuf),
    next: u64,
) -> Result<(), IngestError> {
    let mut head = [0; MAGIC.len()];
    let began = fs::File::open(path).and_then(|mut file| file.read(&mut head));
    began.map_err(IngestError::io("read", path))?;
    // Only servers write keys.
    if &head == MAGIC_WHOLE {
        return Ok(());
    }
    let content = read(path, *first, next, |_| Ok(()))?;
    Keys::default().keep(disk, folder, content.last, &content.keys)
}
