//! File operations, with durability explicit.
//!
//! All writes that must survive a power cut go through a [`Disk`]. Tests use [`crate::power_loss::PowerLossDisk`],
//! which forgets all unsynced data.

use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// A file system with explicit durability.
pub trait Disk: Debug + Send + Sync + 'static {
    /// Creates an empty file, replacing any file of this name.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Renames a file, replacing any file of the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name; fails with [`io::ErrorKind::AlreadyExists`] if the name exists.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Truncates a file. A power cut may undo this.
    fn shrink(&self, path: &Path, bytes: u64) -> io::Result<()>;
    /// Makes a file's content durable, including other writers' data.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Creates one folder; its parent must exist.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder with its content.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes other writers' files readable here. Takes each file's length, if known. Local disks do nothing. Fails if a
    /// file does not exist.
    fn fetch(&self, _files: &[(&Path, Option<u64>)]) -> io::Result<()> {
        Ok(())
    }

    /// Makes other writers' entries in a table's log readable here.
    fn fetch_log(&self, _log: &Path) -> io::Result<()> {
        Ok(())
    }

    /// The path to show to users.
    fn shown(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

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

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

/// Options for creating a file with access for its owner only. In a folder shared with a group (setgid) the umask
/// decides.
pub fn create_options(path: &Path) -> fs::OpenOptions {
    let mut options = File::options();
    options.mode(if is_shared(parent(path)) { 0o666 } else { 0o600 });
    options
}

/// Creates one folder with access for its owner only; setgid folders as in [`create_options`].
pub fn create_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(if is_shared(parent(path)) { 0o777 } else { 0o700 }).create(path)
}

/// Calls [`create_dir`] for a folder and its missing parents. Does not sync.
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

/// Durably creates a folder and its missing parents. Also syncs the name of the lowest existing parent, in case a
/// killed process created it last.
pub fn create_dirs(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    let named = || path.ancestors().take_while(|p| !p.as_os_str().is_empty());
    let missing: Vec<&Path> = named().take_while(|p| !p.exists()).collect();
    if let Some(there) = named().nth(missing.len()) {
        match disk.sync_dir(parent(there)) {
            // A folder that we may not read is not ours.
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

/// Atomically and durably writes a file, replacing any file of this name.
pub fn write_file(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary_name(path);
    let mut file = disk.create(&temporary)?;
    file.write_all(bytes)?;
    file.sync()?;
    disk.rename(&temporary, path)?;
    disk.sync_dir(parent(path))
}

pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The suffix of temporary names. After a crash such files can be removed.
pub const TEMPORARY_SUFFIX: &str = ".tmp";

pub fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}{TEMPORARY_SUFFIX}", uuid::Uuid::new_v4().simple()))
}
