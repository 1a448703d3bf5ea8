//! Fills a disk, and frees it again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::FallocateFlags;

use crate::error::BenchError;
use crate::harness::disk_space;

/// A disk used only by the siege.
pub(super) struct OwnDisk {
    ballast: PathBuf,
}

impl OwnDisk {
    /// The disk whose root is `folder`.
    pub(super) fn new(folder: &Path) -> Self {
        Self { ballast: folder.join("ballast") }
    }

    /// Fills the disk except for `left` bytes.
    pub(super) fn fill(&self, left: u64) -> Result<(), BenchError> {
        let folder = self.ballast.parent().unwrap_or(Path::new("/"));
        let taken = disk_space::free(folder)?.saturating_sub(left);
        let failed = |source| BenchError::Io { doing: "write", path: self.ballast.clone(), source };
        let file = File::create(&self.ballast).map_err(failed)?;
        if taken == 0 {
            return Ok(());
        }
        match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, taken) {
            // Other writers filled the disk first.
            Ok(()) | Err(rustix::io::Errno::NOSPC) => Ok(()),
            Err(errno) => Err(failed(errno.into())),
        }
    }

    pub(super) fn release(&self) -> Result<(), BenchError> {
        match fs::remove_file(&self.ballast) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(BenchError::Io { doing: "remove", path: self.ballast.clone(), source })
            }
            _ => Ok(()),
        }
    }
}
