//! A clock that steps, for the siege's processes only. It needs the library of `faketime`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::BenchError;

/// Where packages install the library.
const PLACES: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib64/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
];

/// The clock of the siege's processes.
pub(super) struct Clock {
    library: Option<&'static str>,
    /// Holds the offset from the machine's clock.
    file: PathBuf,
}

impl Clock {
    /// Starts at the machine's time.
    pub(super) fn new(scratch: &Path) -> Result<Self, BenchError> {
        let library = PLACES.into_iter().find(|place| Path::new(place).exists());
        let clock = Self { library, file: scratch.join("clock") };
        clock.step(0)?;
        Ok(clock)
    }

    /// Whether the library is installed.
    pub(super) fn is_there(&self) -> bool {
        self.library.is_some()
    }

    /// Sets the offset from the machine's clock.
    pub(super) fn step(&self, seconds: i64) -> Result<(), BenchError> {
        fs::write(&self.file, format!("{seconds:+}\n")).map_err(BenchError::io("write", &self.file))
    }

    /// Sets this clock for a process. Its monotonic clock and file times stay unchanged, as on a machine with a changed
    /// clock.
    pub(super) fn give(&self, command: &mut Command) {
        if let Some(library) = self.library {
            command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", &self.file);
            command.env("FAKETIME_CACHE_DURATION", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
            command.env("NO_FAKE_STAT", "1");
        }
    }
}
