//! The context of a benchmark: program, work folder, workload, notes and the request to stop.

use std::fs;
use std::path::Path;

use crate::error::BenchError;

/// The context of a benchmark.
pub struct Bench<'a, W> {
    /// The program to measure.
    pub program: &'a Path,
    /// An empty folder to work in.
    pub data: &'a Path,
    pub workload: &'a W,
    /// Receives notes on the current measurement.
    pub note: &'a dyn Fn(&str),
    /// Whether to stop; called between experiments.
    pub stop: &'a dyn Fn() -> bool,
}

impl<W> Bench<'_, W> {
    /// Notes the next step; an error if the user asked to stop.
    pub(crate) fn check_stop(&self, next: &str) -> Result<(), BenchError> {
        if (self.stop)() {
            return Err(BenchError::Stopped);
        }
        (self.note)(next);
        Ok(())
    }

    /// Creates the work folder; an error if it is not empty.
    pub(crate) fn check_empty(&self) -> Result<(), BenchError> {
        fs::create_dir_all(self.data).map_err(BenchError::io("create", self.data))?;
        let mut entries = fs::read_dir(self.data).map_err(BenchError::io("list", self.data))?;
        if entries.next().is_some() { Err(BenchError::NotEmpty(self.data.to_owned())) } else { Ok(()) }
    }
}
