//! Worker processes.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use wait4::Wait4 as _;

use crate::error::BenchError;

/// Running workers. Dropping this kills workers that were not dismissed.
pub(super) struct Crew {
    program: std::path::PathBuf,
    workers: Vec<Child>,
}

impl Crew {
    pub(super) fn new(program: &Path) -> Self {
        Self { program: program.to_owned(), workers: Vec::new() }
    }

    pub(super) fn add(&mut self, mut command: Command) -> Result<(), BenchError> {
        let worker = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.workers.push(worker.map_err(BenchError::io("start a worker of", &self.program))?);
        Ok(())
    }

    /// Ends all workers in order; returns their processor time.
    pub(super) fn dismiss(mut self) -> Result<Duration, BenchError> {
        let mut cpu = Duration::ZERO;
        for worker in &self.workers {
            kill(Pid::from_raw(worker.id() as i32), Signal::SIGTERM)
                .map_err(|error| BenchError::io("end a worker of", &self.program)(error.into()))?;
        }
        for worker in std::mem::take(&mut self.workers) {
            let ended = worker.wait4().map_err(BenchError::io("wait for a worker of", &self.program))?;
            if !ended.status.success() {
                let said = format!("{}", ended.status);
                return Err(BenchError::Run { command: "manyworlds worker".to_owned(), said });
            }
            cpu += ended.rusage.utime + ended.rusage.stime;
        }
        Ok(cpu)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            // Both fail only if the worker has ended.
            drop(worker.kill());
            drop(worker.wait());
        }
    }
}
