//! The baseline: DuckDB, if installed, answers the same questions about the same events in fresh processes.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::expected::Expected;
use super::questions::Question;
use crate::error::BenchError;
use crate::harness::child::{Used, measure};

/// A DuckDB database with the events.
pub(crate) struct Baseline {
    program: PathBuf,
    database: PathBuf,
}

impl Baseline {
    /// DuckDB's version; `None` if it does not start.
    pub(crate) fn version(program: &Path) -> Option<String> {
        let output = Command::new(program).arg("--version").output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// A database that was loaded in this folder.
    pub(crate) fn open(program: &Path, folder: &Path) -> Self {
        Self { program: program.to_owned(), database: folder.join("baseline.duckdb") }
    }

    /// Loads the events of a file of JSON lines.
    pub(crate) fn load(program: &Path, folder: &Path, events: &Path) -> Result<(Self, Used), BenchError> {
        let baseline = Self::open(program, folder);
        let source = events.display().to_string().replace('\'', "''");
        let statement =
            format!("CREATE TABLE events AS SELECT * FROM read_json('{source}', format = 'newline_delimited')");
        let (_, used) = baseline.run(&statement, false)?;
        Ok((baseline, used))
    }

    pub(crate) fn bytes(&self) -> Result<u64, BenchError> {
        Ok(std::fs::metadata(&self.database).map_err(BenchError::io("look at", &self.database))?.len())
    }

    /// Asks a question, and checks the answer.
    pub(crate) fn ask(&self, question: &Question, expected: &Expected) -> Result<Used, BenchError> {
        let (answer, used) = self.answer(question, expected)?;
        question.check(&answer, expected)?;
        Ok(used)
    }

    /// Asks a question.
    pub(crate) fn answer(&self, question: &Question, expected: &Expected) -> Result<(Vec<u8>, Used), BenchError> {
        self.run(&question.sql(expected), true)
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
