//! The context of a benchmark, and what all results have in common.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::error::{BenchError, SqlError};
use crate::harness::report::Report;

/// The context of a benchmark.
pub struct Bench<'a, W> {
    /// The program to measure, and its first arguments.
    pub program: &'a [OsString],
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
        self.check_running()?;
        (self.note)(next);
        Ok(())
    }

    /// An error if the user asked to stop.
    pub(crate) fn check_running(&self) -> Result<(), BenchError> {
        if (self.stop)() { Err(BenchError::Stopped) } else { Ok(()) }
    }

    /// Creates the work folder; an error if it is not empty.
    pub(crate) fn check_empty(&self) -> Result<(), BenchError> {
        fs::create_dir_all(self.data).map_err(BenchError::io("create", self.data))?;
        let mut entries = fs::read_dir(self.data).map_err(BenchError::io("list", self.data))?;
        if entries.next().is_some() { Err(BenchError::NotEmpty(self.data.to_owned())) } else { Ok(()) }
    }
}

/// Answers an SQL statement over a data folder, and returns the number of rows. The first call for a folder may open it;
/// later calls must reuse it.
pub type Ask<'a> = &'a mut dyn FnMut(&Path, &str) -> Result<usize, SqlError>;

/// The figures of a benchmark.
pub trait Measured: Serialize {
    fn report(&self) -> Report;

    /// The faults that the benchmark found, as sentences.
    fn faults(&self) -> Vec<String>;
}
