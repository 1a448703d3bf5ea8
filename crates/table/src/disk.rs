//! The disk as durability sees it: what was written, what was named, and what was synced.
//!
//! Everything that must survive a power cut goes through a [`Disk`]. Tests put [`crate::power_loss::PowerLossDisk`]
//! in its place, which forgets whatever was not synced.

use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// A folder tree that can be made durable.
pub trait Disk: Debug + Send + Sync + 'static {
    /// A new, empty file in place of whatever had the name.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Gives a file a new name, in place of whatever had it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name; fails with [`io::ErrorKind::AlreadyExists`] where the name is taken.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Cuts a file off after so many bytes, for good where the power stays and perhaps where it does not.
    fn shrink(&self, path: &Path, bytes: u64) -> io::Result<()>;
    /// Makes durable what somebody else has written to a file.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Takes a name away.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes one folder; its parent must exist.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Exchanges two folders' names: each has one of them at any time.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()>;
    /// Takes a folder and all in it away.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Sees to it that files which others have named can be read here. How long each is, where that is known.
    ///
    /// # Errors
    /// Where one is not there; a disk that all writers share need not look.
    fn bring(&self, _files: &[(&Path, Option<u64>)]) -> io::Result<()> {
        Ok(())
    }

    /// Sees to it that what others have written to a table's log so far can be read here.
    fn bring_log(&self, _log: &Path) -> io::Result<()> {
        Ok(())
    }

    /// A path as people know it.
    fn shown(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// A file being written.
pub trait DiskFile: Write + Send {
    /// Makes the content durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// The operating system's disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl DiskFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(create_options(path).write(true).create(true).truncate(true).open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn shrink(&self, path: &Path, bytes: u64) -> io::Result<()> {
        File::options().write(true).open(path)?.set_len(bytes)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_data()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        create_dir(path)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

/// How a file that does not exist yet is opened: only its owner may read and write it. In a folder that is shared with a
/// group (setgid) the process's umask decides instead.
pub fn create_options(path: &Path) -> fs::OpenOptions {
    let mut options = File::options();
    options.mode(if is_shared(parent(path)) { 0o666 } else { 0o600 });
    options
}

/// Makes one folder, which only its owner may enter; as [`create_options`] says of files.
pub fn create_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(if is_shared(parent(path)) { 0o777 } else { 0o700 }).create(path)
}

/// [`create_dir`] for a folder and those above it that are missing. Nothing of it is durable yet.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    match create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.parent().is_some() => {
            create_dir_all(parent(path))?;
            create_dir_all(path)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        result => result,
    }
}

fn is_shared(folder: &Path) -> bool {
    const SETGID: u32 = 0o2000;
    fs::metadata(folder).is_ok_and(|folder| folder.permissions().mode() & SETGID != 0)
}

/// Makes a folder and those above it that are missing, durably. Of those that are there the lowest may be the last thing
/// that a killed process made: its name is made durable too.
pub fn create_dirs(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    let named = || path.ancestors().take_while(|p| !p.as_os_str().is_empty());
    let missing: Vec<&Path> = named().take_while(|p| !p.exists()).collect();
    if let Some(there) = named().nth(missing.len()) {
        match disk.sync_dir(parent(there)) {
            // Where one may not look one has made nothing.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            result => result?,
        }
    }
    for folder in missing.into_iter().rev() {
        match disk.create_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            result => result?,
        }
        disk.sync_dir(parent(folder))?;
    }
    Ok(())
}

/// A file of some bytes, whole and durable, in place of whatever had the name.
pub fn write_file(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary_name(path);
    let mut file = disk.create(&temporary)?;
    file.write_all(bytes)?;
    file.sync()?;
    disk.rename(&temporary, path)?;
    disk.sync_dir(parent(path))
}

/// The folder a path lies in.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The mark of a name that is not final: such files are nobody's after a crash.
pub const TEMPORARY_SUFFIX: &str = ".tmp";

/// A name beside `path` that no other writer uses.
pub fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}{TEMPORARY_SUFFIX}", uuid::Uuid::new_v4().simple()))
}
