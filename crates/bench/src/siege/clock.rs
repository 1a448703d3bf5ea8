//! A clock that steps, for the processes of a siege alone: the library of `faketime`, where it is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::BenchError;

/// Where packages put the library.
const PLACES: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib64/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
];

/// The clock of the siege's processes.
pub(super) struct Clock {
    library: Option<&'static str>,
    /// Says how far it is from the machine's.
    file: PathBuf,
}

impl Clock {
    /// The machine's, at first.
    pub(super) fn new(scratch: &Path) -> Result<Self, BenchError> {
        let library = PLACES.into_iter().find(|place| Path::new(place).exists());
        let clock = Self { library, file: scratch.join("clock") };
        clock.step(0)?;
        Ok(clock)
    }

    /// Whether it can step.
    pub(super) fn is_there(&self) -> bool {
        self.library.is_some()
    }

    /// Sets it so many seconds off the machine's.
    pub(super) fn step(&self, seconds: i64) -> Result<(), BenchError> {
        fs::write(&self.file, format!("{seconds:+}\n")).map_err(BenchError::io("write", &self.file))
    }

    /// Gives a process this clock. Its monotonic clock stays, as it does on a machine whose clock is set; so do the
    /// times of files.
    pub(super) fn give(&self, command: &mut Command) {
        if let Some(library) = self.library {
            command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", &self.file);
            command.env("FAKETIME_CACHE_DURATION", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
            command.env("NO_FAKE_STAT", "1");
        }
    }
}
