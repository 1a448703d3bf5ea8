//! The durable log of one table: holds acknowledged rows until they are in a segment.
//!
//! The log is a folder of files, each named by its first position. Entries are appended in groups, each with one write
//! and one sync. A file is never reopened after it was closed or a write to it failed: later entries go into a new one.
//! So a file ends at an incomplete entry, or where the next file begins.
//!
//! Any number of processes append, each under the append lock ([`crate::locks`]) and after the last complete entry. The
//! last file stays until a later one exists, even if empty: its name records the next position, without the table.

mod entry;
mod files;
mod keys;

use std::collections::VecDeque;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use disk::{Disk, DiskFile, FileLock};
use table::Appender;

pub use entry::Key;
pub(crate) use entry::NewEntry;
pub(crate) use files::{End, files, holds_rows, path_at, remove, tell, whole};

use self::files::{Content, MAGIC, write_all};
use self::keys::Keys;
use crate::error::IngestError;
use crate::locks::{AppendLock, Place};

/// Close a file at this length.
const FILE_BYTES: u64 = 64 << 20;
/// Remove a file in steps of this many bytes, with pauses, unless more files than this wait for removal.
const FREED_BYTES: u64 = 1 << 20;
const FREED_PAUSE: Duration = Duration::from_millis(5);
const FREED_GENTLY_MAX: usize = 4;

/// When written rows are made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Durability {
    /// Before they are acknowledged.
    #[default]
    Sync,
    /// Up to a second later: a power cut loses rows acknowledged in the last second.
    Interval,
    /// Whenever the operating system flushes.
    None,
}

/// The log of one table as a server writes it, beside other processes.
#[derive(Debug)]
pub(crate) struct Log {
    place: Place,
    lock: AppendLock,
    disk: Arc<dyn Disk>,
    /// The position of the next entry.
    next: u64,
    /// Positions up to this one are never given again, even after a power cut.
    told: u64,
    /// Whether a file may hold entries that count as not written.
    torn: bool,
    file: Option<Open>,
    /// Closed files, in order.
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
    /// Its last position; one below its first if empty.
    last: u64,
    keys: Vec<Key>,
}

impl Closed {
    fn of(path: PathBuf, content: Content) -> Self {
        Self { path, bytes: content.bytes, last: content.last, keys: content.keys }
    }
}

/// Acknowledged rows that are in no segment yet.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) position: u64,
    pub(crate) rows: RecordBatch,
}

/// Entries by other processes.
#[derive(Debug, Default)]
pub(crate) struct Others {
    pub(crate) entries: Vec<Recovered>,
    files: Vec<Closed>,
}

impl Log {
    /// Opens or creates the log of the table in the folder `root`, and passes its entries past the position `taken_in`
    /// to `recover`, in order.
    ///
    /// # Errors
    /// When a file cannot be read, a complete entry holds no rows, or entries are missing in between; also errors of
    /// `recover`.
    pub(crate) fn open(
        root: &Path,
        disk: Arc<dyn Disk>,
        taken_in: u64,
        mut recover: impl FnMut(Recovered) -> Result<(), IngestError>,
    ) -> Result<Self, IngestError> {
        let place = Place::enter(root, &*disk)?;
        let lock = AppendLock::open(&place.folder)?;
        let _turn = lock.wait()?;
        let end = End::find(&place.folder, &*disk)?;
        let keys = Keys::read(&place.folder)?;
        let (closed, next) = (VecDeque::new(), taken_in + 1);
        let mut log = Self { place, lock, disk, next, told: 0, torn: false, file: None, closed, keys };
        for file in files(log.folder(), u64::MAX)? {
            // Read files whose rows are all in the table, too: their keys count.
            file.reaches(log.next)?;
            let content = file.recover(taken_in + 1, &mut recover)?;
            log.next = log.next.max(content.last + 1);
            content.keys.iter().for_each(|key| log.keys.insert(*key));
            // Keep an empty last file: its name records the next position.
            if content.last >= file.first || file.before < u64::MAX {
                log.closed.push_back(Closed::of(file.path, content));
            }
        }
        if end.is_none_or(|end| end.next < log.next) {
            log.place.settle(&*log.disk)?;
            tell(log.folder(), &*log.disk, log.next)?;
        } else {
            // The process that named the last file may have died before syncing the name.
            log.disk.sync_dir(log.folder()).map_err(IngestError::io("sync the folder", log.folder()))?;
        }
        log.told = log.next - 1;
        Ok(log)
    }

    fn folder(&self) -> &Path {
        &self.place.folder
    }

    /// Takes the append lock.
    pub(crate) fn turn(&self) -> Result<FileLock, IngestError> {
        self.place.check()?;
        self.lock.wait()
    }

    /// The path of the file to which other processes would append next.
    pub(crate) fn path_of_others(&self) -> PathBuf {
        path_at(self.folder(), self.next)
    }

    /// Entries that others appended since. The caller holds the append lock.
    pub(crate) fn others(&self) -> Result<Others, IngestError> {
        let mut others = Others::default();
        // Other processes start a new file at the position that is next for us, too.
        if !self.torn && !holds_rows(&self.path_of_others()) {
            return Ok(others);
        }
        let mut next = self.next;
        for file in files(self.folder(), u64::MAX)? {
            if !file.reaches(next)? {
                continue;
            }
            let mut entries = Vec::new();
            let content = file.recover(next, |entry| {
                entries.push(entry);
                Ok(())
            })?;
            // This file is our own: our failed entries count if others took them as written and appended after them.
            if entries.is_empty() || (!content.whole && file.before == u64::MAX) {
                continue;
            }
            next = content.last + 1;
            others.entries.append(&mut entries);
            others.files.push(Closed::of(file.path, content));
        }
        Ok(others)
    }

    /// Reads the written entries from the position `from` on, in order.
    pub(crate) fn entries(
        &self,
        from: u64,
        mut each: impl FnMut(Recovered) -> Result<(), IngestError>,
    ) -> Result<(), IngestError> {
        self.place.check()?;
        let mut next = from;
        for file in files(self.folder(), self.next)? {
            if file.reaches(next)? {
                next = file.recover(next, &mut each)?.last + 1;
            }
        }
        Ok(())
    }

    /// Continues after entries of other processes.
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

    /// The position of the next entry.
    pub(crate) fn next_position(&self) -> u64 {
        self.next
    }

    /// Ensures that no position up to this one is given again, even after a power cut.
    pub(crate) fn tell(&mut self, position: u64) -> Result<(), IngestError> {
        self.place.check()?;
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

    pub(crate) fn bytes(&self) -> u64 {
        self.closed.iter().chain(self.file.as_ref().map(|f| &f.about)).map(|f| f.bytes).sum()
    }

    /// Whether an entry with this key was written before.
    pub(crate) fn knows(&self, key: Key) -> bool {
        self.keys.contains(key)
    }

    /// Appends entries at the next positions and returns the first; syncs if asked.
    ///
    /// # Errors
    /// When the disk fails; then none of the entries counts as written, and the next group goes into a new file.
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
            // Entries of earlier files from here on do not count.
            self.torn = false;
        }
        let Some(open) = &mut self.file else { return Ok(()) };
        let failed = |doing| IngestError::io(doing, &open.about.path);
        for (position, entry) in (self.next..).zip(entries.iter_mut()) {
            entry.seal(position);
        }
        write_all(&mut *open.file, entries.iter().flat_map(NewEntry::parts)).map_err(failed("write"))?;
        open.synced = durability == Durability::Sync;
        if open.synced {
            open.file.sync().map_err(failed("sync"))?;
        }
        open.about.bytes += entries.iter().map(|entry| entry.len() as u64).sum::<u64>();
        open.about.last += entries.len() as u64;
        for key in entries.iter().filter_map(NewEntry::key) {
            open.about.keys.push(key);
            self.keys.insert(key);
        }
        Ok(())
    }

    /// Begins the next file, to see whether the disk works again. The caller holds the append lock, and took over the
    /// entries of others.
    pub(crate) fn probe(&mut self) -> Result<(), IngestError> {
        let written = self.write(&mut [], Durability::Sync);
        self.give_up_file();
        written
    }

    /// Replaces an empty file that only records the position.
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

    /// Abandons a file after a failed write. Its failed group does not count, and is cut off if the disk allows,
    /// because others may take it as written.
    fn give_up_file(&mut self) {
        let Some(open) = self.file.take() else { return };
        let Closed { path, bytes, .. } = &open.about;
        // The next file takes the name of a file without acknowledged entries.
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

    /// Syncs written entries.
    ///
    /// # Errors
    /// When the disk fails; the next group goes into a new file.
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

    /// Takes out the files up to `position`, which are in a table, for removal. Keys are kept for a day.
    ///
    /// # Errors
    /// When keys cannot be kept; then no file is taken out.
    pub(crate) fn take_done(&mut self, position: u64) -> Result<Done, IngestError> {
        self.place.check()?;
        // Close the current file once all of it is in the table, unless it is tiny.
        if self.file.as_ref().is_some_and(|f| f.about.last <= position && f.about.bytes >= FILE_BYTES / 16) {
            self.close_file();
        }
        let count = self.closed.partition_point(|file| file.last <= position);
        if count == self.closed.len() && self.file.is_none() && count > 0 {
            // Without any file the next position would be unknown.
            let _turn = self.turn()?;
            tell(self.folder(), &*self.disk, self.next)?;
        }
        for file in self.closed.iter_mut().take(count) {
            self.keys.keep(&*self.disk, &self.place.folder, file.last, &file.keys)?;
            file.keys.clear();
        }
        Ok(Done(self.closed.drain(..count).collect()))
    }

    /// Takes back files that could not be removed, to retry later.
    pub(crate) fn put_back(&mut self, done: Done) {
        self.closed = done.0.into_iter().chain(self.closed.drain(..)).collect();
    }

    /// Syncs everything, and removes the current file if all of it is in the table.
    pub(crate) fn close(&mut self, position: u64) -> Result<(), IngestError> {
        self.sync()?;
        self.close_file();
        self.take_done(position)?.remove(&*self.disk, || false)?;
        self.disk.sync_dir(self.folder()).map_err(IngestError::io("sync", self.folder()))
    }
}

/// Files of a log that are no longer needed, in order.
#[derive(Debug)]
pub(crate) struct Done(VecDeque<Closed>);

impl Done {
    /// Removes them, in small steps while `gently` returns true and they are few: file systems that discard freed
    /// blocks delay concurrent syncs by a tenth of a second when a whole file goes at once. Blocks.
    ///
    /// # Errors
    /// When the disk fails; files not removed stay in the list.
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
