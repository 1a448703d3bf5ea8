//! The files of a log: names, contents and ends.

use std::fs;
use std::io::{self, ErrorKind, IoSlice, Read as _, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use disk::Disk;

use super::Recovered;
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

/// A file of a log.
#[derive(Debug)]
pub(crate) struct LogFile {
    pub(crate) path: PathBuf,
    pub(crate) first: u64,
    /// Entries from here on were never acknowledged, because the next file begins here, or are not asked for.
    pub(crate) before: u64,
}

/// The files, by first position, with their entries before the position `end`.
pub(crate) fn files(folder: &Path, end: u64) -> Result<Vec<LogFile>, IngestError> {
    let failed = || IngestError::io("list the folder", folder);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed())? {
        let name = entry.map_err(failed())?.file_name();
        if let Some(first) = name.to_str().and_then(|n| n.strip_suffix(".log")).and_then(|n| n.parse().ok()) {
            files.push(LogFile { path: folder.join(&name), first, before: end });
        }
    }
    files.sort_unstable_by_key(|file| file.first);
    for at in 1..files.len() {
        files[at - 1].before = end.min(files[at].first);
    }
    Ok(files)
}

impl LogFile {
    /// Reads the entries.
    ///
    /// # Errors
    /// When it cannot be read or positions are missing; also errors of `each`.
    fn read(&self, mut each: impl FnMut(&Entry<'_>) -> Result<(), IngestError>) -> Result<Content, IngestError> {
        let bytes = fs::read(&self.path).map_err(IngestError::io("read", &self.path))?;
        let whole = bytes.starts_with(MAGIC_WHOLE);
        let mut content = Content { bytes: bytes.len() as u64, last: self.first - 1, keys: Vec::new(), whole };
        // A file cut off within its header is empty.
        let Some(rest) = bytes.strip_prefix(MAGIC).or_else(|| bytes.strip_prefix(MAGIC_WHOLE)) else {
            return Ok(content);
        };
        content.last = self.entries(rest, content.last, |entry| {
            each(entry)?;
            content.keys.extend(entry.key);
            Ok(())
        })?;
        Ok(content)
    }

    /// Passes the entries in `bytes`, which follow the position `last`. Returns the last position.
    fn entries(
        &self,
        mut bytes: &[u8],
        mut last: u64,
        mut each: impl FnMut(&Entry<'_>) -> Result<(), IngestError>,
    ) -> Result<u64, IngestError> {
        while let Some(entry) = Entry::take(&mut bytes) {
            if entry.position >= self.before {
                break;
            }
            if entry.position != last + 1 {
                let (path, missing, found) = (self.path.clone(), last + 1, entry.position);
                return Err(IngestError::Gap { path, missing, found });
            }
            each(&entry)?;
            last = entry.position;
        }
        Ok(last)
    }

    /// Passes the rows of the entries after the position `after`, and reads only the heads of the entries before them.
    ///
    /// # Errors
    /// As [`Self::recover`].
    pub(crate) fn recover_after(
        &self,
        after: u64,
        mut each: impl FnMut(Recovered) -> Result<(), IngestError>,
    ) -> Result<(), IngestError> {
        if self.before <= after.saturating_add(1) {
            return Ok(());
        }
        let failed = || IngestError::io("read", &self.path);
        let file = fs::File::open(&self.path).map_err(failed())?;
        let mut magic = [0; MAGIC.len()];
        if file.read_exact_at(&mut magic, 0).is_err() || ![MAGIC, MAGIC_WHOLE].contains(&&magic) {
            return Ok(());
        }
        let end = file.metadata().map_err(failed())?.len();
        let (mut last, mut offset, mut head) = (self.first - 1, MAGIC.len() as u64, [0; Entry::HEAD]);
        // One entry at a time, so that its bytes are still in the processor's caches when they are checked and copied.
        let mut bytes = Vec::new();
        while file.read_exact_at(&mut head, offset).is_ok() {
            let place = Entry::place(&head).filter(|(_, length)| *length <= end - offset);
            let Some((position, length)) = place else { break };
            if position == last + 1 && position <= after {
                (last, offset) = (position, offset + length);
                continue;
            }
            bytes.resize(length as usize, 0);
            match file.read_exact_at(&mut bytes, offset) {
                // A server removes a large file by and by, once its rows are in the table.
                Err(cut) if cut.kind() == ErrorKind::UnexpectedEof => break,
                read => read.map_err(failed())?,
            }
            let next = self.entries(&bytes, last, |entry| each(self.recovered(entry)?))?;
            if next == last {
                break;
            }
            (last, offset) = (next, offset + length);
        }
        Ok(())
    }

    fn recovered(&self, entry: &Entry<'_>) -> Result<Recovered, IngestError> {
        let position = entry.position;
        let damaged = |e| IngestError::Damaged { path: self.path.clone(), reason: format!("entry {position}: {e}") };
        Ok(Recovered { position, rows: entry.rows().map_err(damaged)? })
    }

    /// Passes the rows of the entries from the position `from` on.
    pub(crate) fn recover(
        &self,
        from: u64,
        mut each: impl FnMut(Recovered) -> Result<(), IngestError>,
    ) -> Result<Content, IngestError> {
        self.read(|entry| if entry.position < from { Ok(()) } else { each(self.recovered(entry)?) })
    }

    /// Whether it may hold entries from the position `next` on.
    ///
    /// # Errors
    /// When entries before it are missing.
    pub(crate) fn reaches(&self, next: u64) -> Result<bool, IngestError> {
        if self.before > next && self.first > next {
            return Err(IngestError::Gap { path: self.path.clone(), missing: next, found: self.first });
        }
        Ok(self.before > next)
    }

    /// Keeps the keys of the file, which will be removed.
    pub(crate) fn keep_keys(&self, disk: &dyn Disk, folder: &Path) -> Result<(), IngestError> {
        let mut head = [0; MAGIC.len()];
        let began = fs::File::open(&self.path).and_then(|mut file| file.read(&mut head));
        began.map_err(IngestError::io("read", &self.path))?;
        // Only servers write keys.
        if &head == MAGIC_WHOLE {
            return Ok(());
        }
        let content = self.read(|_| Ok(()))?;
        Keys::default().keep(disk, folder, content.last, &content.keys)
    }
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
    pub(crate) fn find(folder: &Path, disk: &dyn Disk) -> Result<Option<Self>, IngestError> {
        let mut files = files(folder, u64::MAX)?;
        let Some(last) = files.last() else { return Ok(None) };
        let content = last.read(|_| Ok(()))?;
        let (next, is_empty) = (content.last + 1, content.last < last.first);
        if !is_empty && !content.whole {
            // The writer may have died before its sync. Later entries must not outlive this one.
            disk.sync_file(&last.path).map_err(IngestError::io("sync", &last.path))?;
        }
        if is_empty {
            files.pop();
        }
        Ok(Some(Self { next, files: files.into_iter().map(|file| file.path).collect() }))
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
        entry.seal(position);
        entry.parts().for_each(|part| bytes.extend_from_slice(part));
    }
    bytes
}

/// Writes all parts, in as few steps as the file takes.
pub(super) fn write_all<'a>(file: &mut dyn Write, parts: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
    let mut parts: Vec<IoSlice<'_>> = parts.filter(|part| !part.is_empty()).map(IoSlice::new).collect();
    let mut left = &mut parts[..];
    while !left.is_empty() {
        match file.write_vectored(left) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut left, written),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Removes a file, if it still exists.
pub(crate) fn remove(disk: &dyn Disk, path: &Path) -> Result<(), IngestError> {
    match disk.remove(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(IngestError::io("remove", path)(error)),
        _ => Ok(()),
    }
}
