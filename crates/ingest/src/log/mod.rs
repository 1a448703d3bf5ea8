//! The durable log of one table: what was acknowledged, until it lies in a segment of the table.
//!
//! The log is a folder of files, each named by its first position. Entries are appended in groups, each group with one
//! write and one sync. A file is never written to again once it was closed or a write to it failed: what follows goes
//! into a new one. So a file ends where an entry is not whole, or where the next file begins.

mod entry;
mod keys;

use std::collections::VecDeque;
use std::fmt;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use table::Appender;
use table::disk::{Disk, DiskFile, create_dirs};

pub use entry::Key;
pub(crate) use entry::NewEntry;

use self::entry::Entry;
use self::keys::Keys;
use crate::error::IngestError;

/// A file is closed once it is this long.
const FILE_BYTES: u64 = 64 << 20;
/// Of a file that goes bit by bit, so much goes at once, with a pause after it, unless more files than this are to go.
const FREED_BYTES: u64 = 1 << 20;
const FREED_PAUSE: Duration = Duration::from_millis(5);
const FREED_GENTLY_MAX: usize = 4;
const MAGIC: &[u8; 8] = b"mwlog\0\0\x01";

/// When what was written is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Before it is acknowledged.
    #[default]
    Sync,
    /// Some time after: a power cut loses what was acknowledged in the last second.
    Interval,
    /// When the operating system likes to.
    None,
}

/// As settings have it.
impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sync => "sync",
            Self::Interval => "interval",
            Self::None => "none",
        })
    }
}

/// The log of one table.
#[derive(Debug)]
pub(crate) struct Log {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    /// The position of the next entry.
    next: u64,
    file: Option<Open>,
    /// Files that are written to no more, in order.
    closed: VecDeque<Closed>,
    keys: Keys,
}

struct Open {
    file: Box<dyn DiskFile>,
    about: Closed,
    synced: bool,
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.about.fmt(f)
    }
}

#[derive(Debug)]
struct Closed {
    path: PathBuf,
    bytes: u64,
    /// The last position in it; one below its first where it has none.
    last: u64,
    keys: Vec<Key>,
}

/// Rows that were acknowledged and are in no segment yet.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) position: u64,
    pub(crate) rows: RecordBatch,
}

impl Log {
    /// Opens the log of the table in the folder `root`, or begins one, and hands everything in it past the position
    /// `taken_in` to `recover`, in order.
    ///
    /// # Errors
    /// Where a file cannot be read, where an entry that is whole holds no rows, and where entries are missing between
    /// two that are there.
    pub(crate) fn open(
        root: &Path,
        disk: Arc<dyn Disk>,
        taken_in: u64,
        mut recover: impl FnMut(Recovered),
    ) -> Result<Self, IngestError> {
        let folder = root.join(Appender::LOG_FOLDER);
        create_dirs(&*disk, &folder).map_err(IngestError::io("create the folder", &folder))?;
        let keys = Keys::read(&folder)?;
        let mut log = Self { folder, disk, next: taken_in + 1, file: None, closed: VecDeque::new(), keys };
        let files = log.files()?;
        for (place, (first, path)) in files.iter().enumerate() {
            let before = files.get(place + 1).map_or(u64::MAX, |(next, _)| *next);
            if *first > log.next {
                return Err(IngestError::Gap { path: path.clone(), missing: log.next, found: *first });
            }
            let closed = log.read(path, *first, before, taken_in, &mut recover)?;
            log.next = log.next.max(closed.last + 1);
            log.closed.push_back(closed);
        }
        Ok(log)
    }

    /// The files there are, by their first positions.
    fn files(&self) -> Result<Vec<(u64, PathBuf)>, IngestError> {
        let failed = || IngestError::io("list the folder", &self.folder);
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed())? {
            let path = entry.map_err(failed())?.path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            if let Some(first) = name.strip_suffix(".log").and_then(|n| n.parse().ok()) {
                files.push((first, path));
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Reads the entries of a file that come before the position `before`: the next file begins there, so that what
    /// this one holds of it was never acknowledged.
    fn read(
        &mut self,
        path: &Path,
        first: u64,
        before: u64,
        taken_in: u64,
        recover: &mut impl FnMut(Recovered),
    ) -> Result<Closed, IngestError> {
        let bytes = fs::read(path).map_err(IngestError::io("read", path))?;
        let mut closed = Closed { path: path.to_owned(), bytes: bytes.len() as u64, last: first - 1, keys: Vec::new() };
        // A file that was cut off while it was begun holds nothing.
        let Some(mut rest) = bytes.strip_prefix(MAGIC) else { return Ok(closed) };
        while let Some(entry) = Entry::take(&mut rest) {
            if entry.position >= before {
                break;
            }
            if entry.position != closed.last + 1 {
                return Err(IngestError::Gap {
                    path: path.to_owned(),
                    missing: closed.last + 1,
                    found: entry.position,
                });
            }
            closed.last = entry.position;
            if let Some(key) = entry.key {
                closed.keys.push(key);
                self.keys.insert(key);
            }
            if entry.position > taken_in {
                let damaged = |e: arrow::error::ArrowError| IngestError::Damaged {
                    path: path.to_owned(),
                    reason: format!("entry {}: {e}", entry.position),
                };
                recover(Recovered { position: entry.position, rows: entry.rows().map_err(damaged)? });
            }
        }
        Ok(closed)
    }

    /// Bytes of its files.
    pub(crate) fn bytes(&self) -> u64 {
        self.closed.iter().chain(self.file.as_ref().map(|f| &f.about)).map(|f| f.bytes).sum()
    }

    /// Whether an entry of this key was written before.
    pub(crate) fn knows(&self, key: Key) -> bool {
        self.keys.contains(key)
    }

    /// Appends entries under the next positions, the first of which it tells; durably, if asked.
    ///
    /// # Errors
    /// Where the disk refuses; then none of them counts as written, and the next group goes into a new file.
    pub(crate) fn append(&mut self, entries: &mut [NewEntry], durability: Durability) -> Result<u64, IngestError> {
        let first = self.next;
        let written = self.write(entries, durability);
        if let Err(error) = written {
            self.give_up_file();
            return Err(error);
        }
        self.next += entries.len() as u64;
        if self.file.as_ref().is_some_and(|f| f.about.bytes >= FILE_BYTES) {
            self.close_file();
        }
        Ok(first)
    }

    fn write(&mut self, entries: &mut [NewEntry], durability: Durability) -> Result<(), IngestError> {
        if self.file.is_none() {
            self.file = Some(self.begin_file()?);
        }
        let Some(open) = &mut self.file else { return Ok(()) };
        let failed = |doing| IngestError::io(doing, &open.about.path);
        let mut bytes = 0;
        for (position, entry) in (self.next..).zip(entries.iter_mut()) {
            open.file.write_all(entry.at(position)).map_err(failed("write"))?;
            bytes += entry.len() as u64;
        }
        open.synced = durability == Durability::Sync;
        if open.synced {
            open.file.sync().map_err(failed("sync"))?;
        }
        open.about.bytes += bytes;
        open.about.last += entries.len() as u64;
        for key in entries.iter().filter_map(NewEntry::key) {
            open.about.keys.push(key);
            self.keys.insert(key);
        }
        Ok(())
    }

    fn begin_file(&self) -> Result<Open, IngestError> {
        let path = self.folder.join(format!("{:020}.log", self.next));
        let begin = || {
            let mut file = self.disk.create(&path)?;
            file.write_all(MAGIC)?;
            self.disk.sync_dir(&self.folder)?;
            Ok(file)
        };
        let file = begin().map_err(IngestError::io("begin", &path))?;
        let about = Closed { path, bytes: MAGIC.len() as u64, last: self.next - 1, keys: Vec::new() };
        Ok(Open { file, about, synced: false })
    }

    /// Leaves a file that could not be written to: what is in it of the group that failed is not counted.
    fn give_up_file(&mut self) {
        let Some(open) = self.file.take() else { return };
        if open.about.bytes == MAGIC.len() as u64 {
            // It holds nothing that was acknowledged, and the next file will have its name.
            if let Err(error) = self.disk.remove(&open.about.path) {
                tracing::warn!(path = %open.about.path.display(), %error, "could not remove a file of the log");
            }
            return;
        }
        self.closed.push_back(open.about);
    }

    fn close_file(&mut self) {
        if let Err(error) = self.sync() {
            tracing::warn!(%error, "what was acknowledged last may not survive a power cut");
        }
        if let Some(open) = self.file.take() {
            self.closed.push_back(open.about);
        }
    }

    /// Makes what was written durable.
    ///
    /// # Errors
    /// Where the disk refuses; the next group goes into a new file.
    pub(crate) fn sync(&mut self) -> Result<(), IngestError> {
        let Some(open) = self.file.as_mut().filter(|f| !f.synced) else { return Ok(()) };
        let synced = open.file.sync().map_err(IngestError::io("sync", &open.about.path));
        open.synced = synced.is_ok();
        if synced.is_err() {
            self.give_up_file();
        }
        synced
    }

    /// Takes the files out that hold nothing past `position`, which is in a table, to be removed. Keys are kept for a day.
    ///
    /// # Errors
    /// Where the disk refuses to keep keys; then no file is taken out.
    pub(crate) fn take_done(&mut self, position: u64) -> Result<Done, IngestError> {
        // A file that is written to is closed once all of it is in the table and it is not tiny.
        if self.file.as_ref().is_some_and(|f| f.about.last <= position && f.about.bytes >= FILE_BYTES / 16) {
            self.close_file();
        }
        let count = self.closed.partition_point(|file| file.last <= position);
        for file in self.closed.iter_mut().take(count) {
            self.keys.keep(&*self.disk, &self.folder, file.last, &file.keys)?;
            file.keys.clear();
        }
        Ok(Done(self.closed.drain(..count).collect()))
    }

    /// Takes back what could not be removed, for another time.
    pub(crate) fn put_back(&mut self, done: Done) {
        self.closed = done.0.into_iter().chain(self.closed.drain(..)).collect();
    }

    /// Makes everything durable, and removes the file under way if all of it is in the table.
    pub(crate) fn close(&mut self, position: u64) -> Result<(), IngestError> {
        self.sync()?;
        self.close_file();
        self.take_done(position)?.remove(&*self.disk, || false)?;
        self.disk.sync_dir(&self.folder).map_err(IngestError::io("sync", &self.folder))
    }
}

/// Files of a log that hold nothing that is needed, in order.
#[derive(Debug)]
pub(crate) struct Done(VecDeque<Closed>);

impl Done {
    /// Removes them, bit by bit while `gently` says so and they are few: file systems that tell the disk what is free
    /// hold up whoever syncs meanwhile, for a tenth of a second where a whole file goes. Blocks.
    ///
    /// # Errors
    /// Where the disk refuses; those that were not removed are left.
    pub(crate) fn remove(&mut self, disk: &dyn Disk, gently: impl Fn() -> bool) -> Result<(), IngestError> {
        while let Some(file) = self.0.front() {
            let mut bytes = file.bytes;
            let removed = loop {
                if bytes <= FREED_BYTES || self.0.len() > FREED_GENTLY_MAX || !gently() {
                    break disk.remove(&file.path);
                }
                bytes -= FREED_BYTES;
                if let Err(error) = disk.shrink(&file.path, bytes) {
                    break Err(error);
                }
                std::thread::sleep(FREED_PAUSE);
            };
            match removed {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(IngestError::io("remove", &file.path)(error));
                }
                _ => self.0.pop_front(),
            };
        }
        Ok(())
    }
}

/// Whether the table in the folder `root` has a log.
pub(crate) fn has_log(root: &Path) -> bool {
    root.join(Appender::LOG_FOLDER).is_dir()
}

#[cfg(test)]
mod tests;
