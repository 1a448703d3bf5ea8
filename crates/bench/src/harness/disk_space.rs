//! Free disk space, and sizes of folders.

use std::path::Path;

use crate::error::BenchError;

/// Bytes that this user may still write to a folder's disk.
pub(crate) fn free(folder: &Path) -> Result<u64, BenchError> {
    let disk =
        rustix::fs::statvfs(folder).map_err(|errno| BenchError::io("look at the disk of", folder)(errno.into()))?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

pub(crate) fn folder_bytes(folder: &Path) -> Result<u64, BenchError> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).map_err(BenchError::io("list", folder))? {
        let entry = entry.map_err(BenchError::io("list", folder))?;
        let metadata = entry.metadata().map_err(BenchError::io("look at", &entry.path()))?;
        bytes += if metadata.is_dir() { folder_bytes(&entry.path())? } else { metadata.len() };
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
    fn the_disk_of_a_folder_has_a_size() {
        let folder = std::env::temp_dir();
        assert!(free(&folder).unwrap() > 0);
        let said = free(&folder.join("is/not/there")).unwrap_err().to_string();
        assert!(said.starts_with("cannot look at the disk of "), "{said}");
    }
}
