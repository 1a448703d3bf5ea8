//! Free disk space, and sizes of folders.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::error::BenchError;

/// Bytes that this user may still write to a folder's disk.
pub(crate) fn free(folder: &Path) -> Result<u64, BenchError> {
    let disk =
        rustix::fs::statvfs(folder).map_err(|errno| BenchError::io("look at the disk of", folder)(errno.into()))?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Bytes of all files in a folder.
pub(crate) fn folder_bytes(folder: &Path) -> Result<u64, BenchError> {
    sum(folder, Metadata::len)
}

/// Bytes that a file, or all files of a folder, take on the disk: without holes, which some programs leave in files.
pub(crate) fn allocated_bytes(path: &Path) -> Result<u64, BenchError> {
    let allocated = |metadata: &Metadata| metadata.blocks() * 512;
    match std::fs::metadata(path).map_err(BenchError::io("look at", path))? {
        metadata if metadata.is_dir() => sum(path, allocated),
        metadata => Ok(allocated(&metadata)),
    }
}

fn sum(folder: &Path, of: fn(&Metadata) -> u64) -> Result<u64, BenchError> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).map_err(BenchError::io("list", folder))? {
        let entry = entry.map_err(BenchError::io("list", folder))?;
        let metadata = entry.metadata().map_err(BenchError::io("look at", &entry.path()))?;
        bytes += if metadata.is_dir() { sum(&entry.path(), of)? } else { of(&metadata) };
    }
    Ok(bytes)
}

/// Removes a folder, if it exists.
pub(crate) fn remove_folder(folder: &Path) -> Result<(), BenchError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(BenchError::io("remove", folder)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_take_no_space() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("in")).unwrap();
        std::fs::File::create(folder.path().join("in/hole")).unwrap().set_len(10 << 20).unwrap();
        std::fs::write(folder.path().join("full"), vec![1; 1 << 20]).unwrap();
        assert_eq!(folder_bytes(folder.path()).unwrap(), 11 << 20);
        assert!((1 << 20..2 << 20).contains(&allocated_bytes(folder.path()).unwrap()));
        assert!(allocated_bytes(&folder.path().join("full")).unwrap() >= 1 << 20);
    }

    #[test]
    fn the_disk_of_a_folder_has_a_size() {
        let folder = std::env::temp_dir();
        assert!(free(&folder).unwrap() > 0);
        let said = free(&folder.join("is/not/there")).unwrap_err().to_string();
        assert!(said.starts_with("cannot look at the disk of "), "{said}");
    }
}
