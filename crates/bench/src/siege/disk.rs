//! A disk that is filled, and emptied again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::FallocateFlags;

use crate::error::BenchError;
use crate::harness::disk_space;

/// The disk of a data folder, which nobody else uses.
pub(super) struct OwnDisk {
    ballast: PathBuf,
}

impl OwnDisk {
    /// That which `folder` is the root of.
    pub(super) fn new(folder: &Path) -> Self {
        Self { ballast: folder.join("ballast") }
    }

    /// Takes all room but `left` bytes.
    pub(super) fn fill(&self, left: u64) -> Result<(), BenchError> {
        let folder = self.ballast.parent().unwrap_or(Path::new("/"));
        let taken = disk_space::free(folder)?.saturating_sub(left);
        let failed = |source| BenchError::Io { doing: "write", path: self.ballast.clone(), source };
        let file = File::create(&self.ballast).map_err(failed)?;
        if taken == 0 {
            return Ok(());
        }
        match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, taken) {
            // Others took some of it meanwhile: then it is full as it is.
            Ok(()) | Err(rustix::io::Errno::NOSPC) => Ok(()),
            Err(errno) => Err(failed(errno.into())),
        }
    }

    /// Gives the room back.
    pub(super) fn release(&self) -> Result<(), BenchError> {
        match fs::remove_file(&self.ballast) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(BenchError::Io { doing: "remove", path: self.ballast.clone(), source })
            }
            _ => Ok(()),
        }
    }
}
