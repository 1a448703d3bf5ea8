//! Runs of the program, each in a process of its own.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use run::Summary;
use table::Codec;

use crate::error::BenchError;

/// The program, told by its words alone: settings in this process's environment would change what is measured.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"MANYWORLDS_") {
            command.env_remove(name);
        }
    }
    command
}

/// One `manyworlds run football`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunRequest<'a> {
    pub(crate) program: &'a Path,
    pub(crate) data: &'a Path,
    pub(crate) name: &'a str,
    pub(crate) worlds: u32,
    pub(crate) seed: u64,
    pub(crate) plays: bool,
    pub(crate) threads: Option<usize>,
    pub(crate) range_worlds: Option<u32>,
    pub(crate) codec: Option<Codec>,
}

impl RunRequest<'_> {
    fn words(&self) -> Vec<String> {
        let mut words: Vec<String> =
            ["run", "football", "--format", "json", "--name", self.name].map(str::to_owned).into();
        let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        option("worlds", self.worlds.to_string());
        option("seed", self.seed.to_string());
        option("events", if self.plays { "store" } else { "replay" }.to_owned());
        self.threads.into_iter().for_each(|n| option("threads", n.to_string()));
        self.range_worlds.into_iter().for_each(|n| option("range-worlds", n.to_string()));
        self.codec.into_iter().for_each(|codec| option("codec", codec.to_string()));
        words
    }

    fn command(&self) -> Command {
        let mut command = command(self.program);
        command.args(self.words()).arg("--data").arg(self.data).stdin(Stdio::null());
        command
    }

    fn failed(&self, source: std::io::Error) -> BenchError {
        BenchError::Io { doing: "start", path: self.program.to_owned(), source }
    }

    /// Plays to the end.
    pub(crate) fn play(&self) -> Result<Summary, BenchError> {
        let output = self.command().output().map_err(|e| self.failed(e))?;
        let command = || format!("manyworlds {}", self.words().join(" "));
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim().lines().next_back().unwrap_or("it said nothing").to_owned();
            return Err(BenchError::Run { command: command(), said: format!("{said} ({})", output.status) });
        }
        serde_json::from_slice(&output.stdout).map_err(|source| BenchError::Summary { command: command(), source })
    }

    /// Plays to the end and removes what was stored; what a failed run left must not fill the disk either.
    pub(crate) fn play_and_remove(&self) -> Result<Summary, BenchError> {
        let played = self.play();
        let failed = |source| BenchError::Io { doing: "remove", path: self.data.to_owned(), source };
        let removed = std::fs::remove_dir_all(self.data).map_err(failed);
        let summary = played?;
        removed?;
        Ok(summary)
    }

    /// Begins to play, and goes on beside whatever is done next.
    pub(crate) fn start(&self) -> Result<Running, BenchError> {
        let child = self.command().stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Ok(Running(child.map_err(|e| self.failed(e))?))
    }
}

/// A run under way; killed when dropped.
pub(crate) struct Running(Child);

impl Running {
    /// Whether it is still at work.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only where the process has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
