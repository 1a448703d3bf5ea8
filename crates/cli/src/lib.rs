//! The command line: words in, text out.
//!
//! Enters: the words of a command. Leaves: text on stdout, notes and errors on stderr, and the exit code. The program
//! `manyworlds` and the command of the Python package are both [`main`].
//!
//! Adds advice on flags to the errors of the libraries, and holds no logic that another face would need.

mod advice;
mod args;
mod chart;
mod commands;
mod output;
mod progress;
mod settings;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, OnceLock};
use std::thread;

use anyhow::{Context as _, Result};
use model::Models;

/// How this process was started.
static STARTED: OnceLock<Started> = OnceLock::new();

struct Started {
    /// A program and its first arguments, or why they are unknown.
    program: io::Result<Vec<OsString>>,
    /// The words after the program's name.
    words: Vec<OsString>,
}

/// Runs a command and returns the exit code. `words` are the command line with the program's name first; `program` runs
/// commands that follow it, for commands that start processes of their own: a file and its first arguments.
pub fn main(words: Vec<OsString>, program: io::Result<Vec<OsString>>) -> ExitCode {
    // Commands run once in a process.
    let _ = STARTED.set(Started { program, words: words.iter().skip(1).cloned().collect() });
    // Errors of delta-rs and of the broker's client come back as values; main prints them once.
    let filter = tracing_subscriber::EnvFilter::try_from_env("MANYWORLDS_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,deltalake_core=off,buoyant_kernel=off,lapin=off"));
    // A process that has a subscriber keeps it.
    let colours = io::stderr().is_terminal();
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(colours).try_init();
    let work = || {
        let (args, settings) = settings::parse(words)?;
        commands::dispatch(args, &settings)
    };
    // The main thread's stack is too small for large statements.
    let thread = thread::Builder::new().name("main".to_owned()).stack_size(sql::STACK_BYTES).spawn(work);
    let done = match thread.context("cannot start a thread") {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(error) => Err(error),
    };
    match done {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // If stderr is closed, the error has no reader.
            let _ = writeln!(io::stderr(), "error: {}", advice::explain(&error));
            ExitCode::ERROR
        }
    }
}

/// The models that commands can play. A face may add its own.
pub fn models() -> Arc<Models> {
    commands::MODELS.clone()
}

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode(pub u8);

impl ExitCode {
    /// The command did its work, and found nothing wrong.
    pub const SUCCESS: Self = Self(0);
    /// The command did its work, and found something wrong.
    pub const FAILURE: Self = Self(1);
    /// The command could not do its work.
    pub const ERROR: Self = Self(2);
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> Self {
        Self(code)
    }
}

impl From<()> for ExitCode {
    fn from((): ()) -> Self {
        Self::SUCCESS
    }
}

/// The program that runs commands, and its first arguments.
fn program() -> Result<Vec<OsString>> {
    match STARTED.get().map(|started| &started.program) {
        Some(Ok(program)) => Ok(program.clone()),
        Some(Err(error)) => Err(io::Error::new(error.kind(), error.to_string())).context("cannot find this program"),
        None => anyhow::bail!("cannot find this program"),
    }
}

/// The words of this command line after the program.
fn words() -> &'static [OsString] {
    STARTED.get().map_or(&[], |started| &started.words)
}

/// Whether the reader of stdout closed it early, like `head`. This is not an error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let causes = error.chain().filter_map(|c| c.downcast_ref::<io::Error>());
    causes.into_iter().any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `docs/models.md` says.
    #[test]
    fn other_programs_add_their_models() {
        models().add(dice::PLUGIN.clone()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().to_str().unwrap();
        for words in [
            &["run", "dice", "--worlds", "40", "--name", "dice", "--param", "rolls=3", "--events", "replay"][..],
            &["events", "dice", "--entity", "table-2", "--world", "7"],
            &["verify", "dice", "--replay"],
        ] {
            let words = [&["own"], words, &["--data", data]].concat().into_iter().map(OsString::from).collect();
            let program = std::env::current_exe().map(|file| vec![file.into_os_string()]);
            assert_eq!(main(words, program), ExitCode::SUCCESS);
        }
    }
}
