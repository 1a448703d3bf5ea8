//! What every bench has in common: where it works, whom it tells, and when it stops.

use std::fs;
use std::path::Path;

use crate::error::BenchError;

/// A bench about to be run.
pub struct Bench<'a, W> {
    /// The program to measure, in processes of its own where the bench starts any.
    pub program: &'a Path,
    /// An empty folder to work in.
    pub data: &'a Path,
    /// What to measure.
    pub workload: &'a W,
    /// Is told what is being measured.
    pub note: &'a dyn Fn(&str),
    /// Asked between experiments whether to stop.
    pub stop: &'a dyn Fn() -> bool,
}

impl<W> Bench<'_, W> {
    /// Tells what comes next, unless asked to stop.
    pub(crate) fn check_stop(&self, next: &str) -> Result<(), BenchError> {
        if (self.stop)() {
            return Err(BenchError::Stopped);
        }
        (self.note)(next);
        Ok(())
    }

    /// Makes the folder, unless something is in it.
    pub(crate) fn check_empty(&self) -> Result<(), BenchError> {
        let io = |doing| move |source| BenchError::Io { doing, path: self.data.to_owned(), source };
        fs::create_dir_all(self.data).map_err(io("create"))?;
        let mut entries = fs::read_dir(self.data).map_err(io("list"))?;
        if entries.next().is_some() { Err(BenchError::NotEmpty(self.data.to_owned())) } else { Ok(()) }
    }
}
