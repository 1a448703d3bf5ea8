//! The durable log of one table: what was acknowledged, until it lies in a segment of the table.
//!
//! The log is a folder of files, each named by its first position. Entries are appended in groups, each group with one
//! write and one sync. A file is never written to again once it was closed or a write to it failed: what follows goes
//! into a new one. So a file ends where an entry is not whole, or where the next file begins.
//!
//! Any number of processes append, each while it holds the log's lock ([`crate::locks`]) and after the last whole entry
//! that there is. The last file stays until there is a later one, if only an empty one: its name tells what the next
//! position is, without the table.

mod entry;
mod files;
mod keys;

use std::collections::VecDeque;
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use disk::{Disk, DiskFile};
use table::Appender;

pub use entry::Key;
pub(crate) use entry::NewEntry;
pub(crate) use files::{End, holds_rows, keep_keys, list, path_at, read, remove, tell, whole};

use self::entry::Entry;
use self::files::{Content, MAGIC};
use self::keys::Keys;
use crate::error::IngestError;
use crate::locks::{Lock, Place};

/// A file is closed once it is this long.
const FILE_BYTES: u64 = 64 << 20;
/// Of a file that goes bit by bit, so much goes at once, with a pause after it, unless more files than this are to go.
const FREED_BYTES: u64 = 1 << 20;
const FREED_PAUSE: Duration = Duration::from_millis(5);
const FREED_GENTLY_MAX: usize = 4;

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

/// The log of one table, as a server writes it beside others.
#[derive(Debug)]
pub(crate) struct Log {
    place: Place,
    disk: Arc<dyn Disk>,
    /// The position of the next entry.
    next: u64,
    /// A power cut leaves the log such that no position up to this one is given again.
    told: u64,
    /// Whether a file may hold entries that count as not written.
    torn: bool,
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

impl Closed {
    fn of(path: &Path, content: Content) -> Self {
        Self { path: path.to_owned(), bytes: content.bytes, last: content.last, keys: content.keys }
    }
}

/// Rows that were acknowledged and are in no segment yet.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) position: u64,
    pub(crate) rows: RecordBatch,
}

/// What others appended.
#[derive(Debug, Default)]
pub(crate) struct Others {
    pub(crate) entries: Vec<Recovered>,
    files: Vec<Closed>,
}

impl Recovered {
    /// # Errors
    /// Where an entry that is whole holds no rows.
    pub(crate) fn of(entry: &Entry<'_>, path: &Path) -> Result<Self, IngestError> {
        let damaged =
            |e| IngestError::Damaged { path: path.to_owned(), reason: format!("entry {}: {e}", entry.position) };
        Ok(Self { position: entry.position, rows: entry.rows().map_err(damaged)? })
    }
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
        let place = Place::enter(root, &*disk)?;
        let _turn = Lock::append(&place.folder)?;
        let end = End::find(&place.folder, &*disk)?;
        let keys = Keys::read(&place.folder)?;
        let (closed, next) = (VecDeque::new(), taken_in + 1);
        let mut log = Self { place, disk, next, told: 0, torn: false, file: None, closed, keys };
        let files = list(log.folder())?;
        for (at, (first, path)) in files.iter().enumerate() {
            let before = files.get(at + 1).map_or(u64::MAX, |(next, _)| *next);
            if *first > log.next {
                return Err(IngestError::Gap { path: path.clone(), missing: log.next, found: *first });
            }
            let content = read(path, *first, before, |entry| {
                if entry.position > taken_in {
                    recover(Recovered::of(entry, path)?);
                }
                Ok(())
            })?;
            log.next = log.next.max(content.last + 1);
            content.keys.iter().for_each(|key| log.keys.insert(*key));
            // One that holds nothing tells by its name where the log goes on, and stays.
            if content.last >= *first || before < u64::MAX {
                log.closed.push_back(Closed::of(path, content));
            }
        }
        if end.is_none_or(|end| end.next < log.next) {
            log.place.settle(&*log.disk)?;
            tell(log.folder(), &*log.disk, log.next)?;
        } else {
            // Whoever named the last file may have ended before its name was durable.
            log.disk.sync_dir(log.folder()).map_err(IngestError::io("sync the folder", log.folder()))?;
        }
        log.told = log.next - 1;
        Ok(log)
    }

    fn folder(&self) -> &Path {
        &self.place.folder
    }

    /// Keeps others from giving positions.
    pub(crate) fn turn(&self) -> Result<Lock, IngestError> {
        Lock::append(self.folder())
    }

    /// The path of the file in which others go on, if they do.
    pub(crate) fn path_of_others(&self) -> PathBuf {
        path_at(self.folder(), self.next)
    }

    /// What others appended since. Whoever asks holds the lock of appends.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn others(&self) -> Result<Others, IngestError> {
        let mut others = Others::default();
        // Others begin a file, and at the position that is the next for us too.
        if !self.torn && !holds_rows(&self.path_of_others()) {
            return Ok(others);
        }
        let mut next = self.next;
        let files = list(self.folder())?;
        for (at, (first, path)) in files.iter().enumerate() {
            let before = files.get(at + 1).map_or(u64::MAX, |(next, _)| *next);
            if before <= next {
                continue;
            }
            if *first > next {
                return Err(IngestError::Gap { path: path.clone(), missing: next, found: *first });
            }
            let mut entries = Vec::new();
            let content = read(path, *first, before, |entry| {
                if entry.position >= next {
                    entries.push(Recovered::of(entry, path)?);
                }
                Ok(())
            })?;
            // Such a file is our own: what we could not write counts where others took it for written, and went on after it.
            if entries.is_empty() || (!content.whole && before == u64::MAX) {
                continue;
            }
            next = content.last + 1;
            others.entries.append(&mut entries);
            others.files.push(Closed::of(path, content));
        }
        Ok(others)
    }

    /// Reads the entries from the position `from` on that count as written, in order.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn entries(&self, from: u64, mut each: impl FnMut(Recovered)) -> Result<(), IngestError> {
        let mut next = from;
        let files = list(self.folder())?;
        for (at, (first, path)) in files.iter().enumerate() {
            let before = files.get(at + 1).map_or(self.next, |(next, _)| self.next.min(*next));
            if before <= next {
                continue;
            }
            if *first > next {
                return Err(IngestError::Gap { path: path.clone(), missing: next, found: *first });
            }
            let content = read(path, *first, before, |entry| {
                if entry.position >= next {
                    each(Recovered::of(entry, path)?);
                }
                Ok(())
            })?;
            next = content.last + 1;
        }
        Ok(())
    }

    /// Goes on after what others appended.
    pub(crate) fn go_on_after(&mut self, others: &mut Others) {
        let Some(last) = others.files.last().map(|f| f.last) else { return };
        self.close_file();
        for file in others.files.drain(..) {
            file.keys.iter().for_each(|key| self.keys.insert(*key));
            match self.closed.iter_mut().find(|closed| closed.path == file.path) {
                Some(closed) => *closed = file,
                None => self.closed.push_back(file),
            }
        }
        self.next = last + 1;
        self.torn = false;
    }

    /// Makes sure that no position up to this one is given again, whatever a power cut leaves of the log.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub(crate) fn tell(&mut self, position: u64) -> Result<(), IngestError> {
        if position <= self.told {
            return Ok(());
        }
        self.sync()?;
        if position <= self.told {
            return Ok(());
        }
        let _turn = self.turn()?;
        tell(self.folder(), &*self.disk, self.next)?;
        self.told = self.next - 1;
        Ok(())
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
        if durability == Durability::Sync {
            self.told = self.next - 1;
        }
        if self.file.as_ref().is_some_and(|f| f.about.bytes >= FILE_BYTES) {
            self.close_file();
        }
        Ok(first)
    }

    fn write(&mut self, entries: &mut [NewEntry], durability: Durability) -> Result<(), IngestError> {
        if self.file.is_none() {
            self.file = Some(self.begin_file()?);
            // What a file before this one holds from here on does not count.
            self.torn = false;
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

    /// In place of what others left there to tell its name.
    fn begin_file(&self) -> Result<Open, IngestError> {
        let path = self.path_of_others();
        let begin = || {
            let mut file = self.disk.create(&path)?;
            file.write_all(MAGIC)?;
            self.disk.sync_dir(self.folder())?;
            Ok(file)
        };
        let file = begin().map_err(IngestError::io("begin", &path))?;
        let about = Closed { path, bytes: MAGIC.len() as u64, last: self.next - 1, keys: Vec::new() };
        Ok(Open { file, about, synced: false })
    }

    /// Leaves a file that could not be written to: what is in it of the group that failed is not counted, and taken away
    /// where the disk lets us, since others may take it for written.
    fn give_up_file(&mut self) {
        let Some(open) = self.file.take() else { return };
        let Closed { path, bytes, .. } = &open.about;
        // Where it holds nothing that was acknowledged, the next file will have its name.
        let is_empty = *bytes == MAGIC.len() as u64;
        if let Err(error) = self.disk.shrink(path, *bytes) {
            self.torn = true;
            tracing::warn!(path = %path.display(), %error, "could not cut off what was not written");
        }
        if !is_empty {
            self.closed.push_back(open.about);
        }
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
        match synced {
            Ok(()) => self.told = self.next - 1,
            Err(_) => self.give_up_file(),
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
        if count == self.closed.len() && self.file.is_none() && count > 0 {
            // Without any file nobody could tell what the next position is.
            let _turn = self.turn()?;
            tell(self.folder(), &*self.disk, self.next)?;
        }
        for file in self.closed.iter_mut().take(count) {
            self.keys.keep(&*self.disk, &self.place.folder, file.last, &file.keys)?;
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
        self.disk.sync_dir(self.folder()).map_err(IngestError::io("sync", self.folder()))
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
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
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
