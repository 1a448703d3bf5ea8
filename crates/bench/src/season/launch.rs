//! Runs the program in separate processes.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use run::Summary;
use table::Codec;

use crate::error::BenchError;
use crate::harness::child::measure;
use crate::harness::disk_space::remove_folder;
use crate::harness::launch::command;

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
        command.args(self.words()).arg("--data").arg(self.data);
        command
    }

    /// Plays to the end.
    pub(crate) fn play(&self) -> Result<Summary, BenchError> {
        let (printed, _) = measure(self.command(), None)?;
        let command = || format!("manyworlds {}", self.words().join(" "));
        serde_json::from_slice(&printed).map_err(|source| BenchError::Summary { command: command(), source })
    }

    /// Plays to the end, and removes the data, also after a failure.
    pub(crate) fn play_and_remove(&self) -> Result<Summary, BenchError> {
        let played = self.play();
        let removed = remove_folder(self.data);
        let summary = played?;
        removed?;
        Ok(summary)
    }

    /// Starts playing, and returns at once.
    pub(crate) fn start(&self) -> Result<Running, BenchError> {
        let child = self.command().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Ok(Running(child.map_err(BenchError::io("start", self.program))?))
    }
}

/// A running process; killed when dropped.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only if the process has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
