//! The baseline: DuckDB, if installed, answers the same questions about the same events in fresh processes.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::expected::Expected;
use super::questions::Question;
use crate::error::BenchError;
use crate::harness::child::{Used, measure};

/// A DuckDB database with the events.
pub(super) struct Baseline {
    program: PathBuf,
    database: PathBuf,
}

impl Baseline {
    /// DuckDB's version; `None` if it does not start.
    pub(super) fn version(program: &Path) -> Option<String> {
        let output = Command::new(program).arg("--version").output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Loads the events of a file of JSON lines.
    pub(super) fn load(program: &Path, folder: &Path, events: &Path) -> Result<(Self, Used), BenchError> {
        let baseline = Self { program: program.to_owned(), database: folder.join("baseline.duckdb") };
        let source = events.display().to_string().replace('\'', "''");
        let statement =
            format!("CREATE TABLE events AS SELECT * FROM read_json('{source}', format = 'newline_delimited')");
        let (_, used) = baseline.run(&statement, false)?;
        Ok((baseline, used))
    }

    pub(super) fn bytes(&self) -> Result<u64, BenchError> {
        Ok(std::fs::metadata(&self.database).map_err(BenchError::io("look at", &self.database))?.len())
    }

    /// Asks a question, and checks the answer.
    pub(super) fn ask(&self, question: &Question, expected: &Expected) -> Result<Used, BenchError> {
        let (answer, used) = self.run(&question.sql(expected), true)?;
        question.check(&answer, expected)?;
        Ok(used)
    }

    fn run(&self, statement: &str, only_read: bool) -> Result<(Vec<u8>, Used), BenchError> {
        let mut command = Command::new(&self.program);
        command.args(["-init", "/dev/null", "-batch", "-json"]);
        if only_read {
            command.arg("-readonly");
        }
        command.arg(&self.database).arg("-c").arg(statement);
        measure(command, None)
    }
}
