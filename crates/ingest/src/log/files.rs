//! The files of a log: how they are named, what they hold, and where they end.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use disk::Disk;
use table::Appender;

use super::entry::{Entry, Key, NewEntry};
use super::keys::Keys;
use crate::error::IngestError;

/// How a file begins that was begun empty and is written entry by entry.
pub(super) const MAGIC: &[u8; 8] = b"mwlog\0\0\x01";
/// How a file begins that was whole and durable before it got its name.
const MAGIC_WHOLE: &[u8; 8] = b"mwlog\0\x01\x01";
const _: () = assert!(MAGIC.len() as u64 == Appender::LOG_HEAD_BYTES);

/// What is in a file.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) bytes: u64,
    /// The last position in it; one below its first where it has none.
    pub(crate) last: u64,
    pub(super) keys: Vec<Key>,
    /// Whether it was durable before it got its name.
    pub(super) whole: bool,
}

/// The path of the file that begins at a position.
pub(crate) fn path_at(folder: &Path, first: u64) -> PathBuf {
    folder.join(format!("{first:020}.log"))
}

/// The files there are, by their first positions.
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

/// Reads the entries of a file that come before the position `before`: the next file begins there, so that what this one
/// holds of it was never acknowledged.
///
/// # Errors
/// Where it cannot be read, where positions are missing in it, and those of `each`.
pub(crate) fn read(
    path: &Path,
    first: u64,
    before: u64,
    mut each: impl FnMut(&Entry<'_>) -> Result<(), IngestError>,
) -> Result<Content, IngestError> {
    let bytes = fs::read(path).map_err(IngestError::io("read", path))?;
    let whole = bytes.starts_with(MAGIC_WHOLE);
    let mut content = Content { bytes: bytes.len() as u64, last: first - 1, keys: Vec::new(), whole };
    // A file that was cut off while it was begun holds nothing.
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
    /// Files that hold something.
    pub(crate) files: Vec<PathBuf>,
}

impl End {
    /// Finds the end of the log in `folder`, and makes it durable; `None` where there are no files, which do not tell
    /// then what the table took in. Whoever asks holds the lock of appends.
    ///
    /// # Errors
    /// Where the last file cannot be read or made durable.
    pub(crate) fn find(folder: &Path, disk: &dyn Disk) -> Result<Option<Self>, IngestError> {
        let mut files = list(folder)?;
        let Some((first, path)) = files.last() else { return Ok(None) };
        let content = read(path, *first, u64::MAX, |_| Ok(()))?;
        let (next, is_empty) = (content.last + 1, content.last < *first);
        if !is_empty && !content.whole {
            // Whoever wrote it may have ended before it was synced. What comes next must not survive it.
            disk.sync_file(path).map_err(IngestError::io("sync", path))?;
        }
        if is_empty {
            files.pop();
        }
        Ok(Some(Self { next, files: files.into_iter().map(|(_, path)| path).collect() }))
    }

    /// Bytes of its files. What goes meanwhile counts no more.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().filter_map(|path| path.metadata().ok()).map(|about| about.len()).sum()
    }
}

/// Makes sure that a file is there, durably, whose name tells the position `next`, which is that of the next entry: one
/// that holds nothing where nobody has begun it. Whoever asks holds the lock of appends.
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
    path.metadata().is_ok_and(|about| about.len() > Appender::LOG_HEAD_BYTES)
}

/// A file of some entries, from the position `first` on, as it is on disk.
pub(crate) fn whole(first: u64, entries: &mut [NewEntry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAGIC.len() + entries.iter().map(NewEntry::len).sum::<usize>());
    bytes.extend_from_slice(MAGIC_WHOLE);
    for (position, entry) in (first..).zip(entries) {
        bytes.extend_from_slice(entry.at(position));
    }
    bytes
}

/// Removes a file; one that is gone already is as good.
pub(crate) fn remove(disk: &dyn Disk, path: &Path) -> Result<(), IngestError> {
    match disk.remove(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(IngestError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Keeps the keys of a file that is about to be removed, and that ends where the next one begins.
///
/// # Errors
/// Where it cannot be read, and where the disk refuses.
pub(crate) fn keep_keys(
    disk: &dyn Disk,
    folder: &Path,
    (first, path): &(u64, PathBuf),
    next: u64,
) -> Result<(), IngestError> {
    let mut head = [0; MAGIC.len()];
    let began = fs::File::open(path).and_then(|mut file| file.read(&mut head));
    began.map_err(IngestError::io("read", path))?;
    // Only servers know keys.
    if &head == MAGIC_WHOLE {
        return Ok(());
    }
    let content = read(path, *first, next, |_| Ok(()))?;
    Keys::default().keep(disk, folder, content.last, &content.keys)
}
