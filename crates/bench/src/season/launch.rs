//! Runs the program in separate processes.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use run::Summary;
use table::Codec;

use crate::error::BenchError;
use crate::harness::child::{Running, command, measure_json};
use crate::harness::disk_space::remove_folder;

/// One `manyworlds run football`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunRequest<'a> {
    pub(crate) program: &'a [OsString],
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
    fn command(&self) -> Command {
        let options = [
            ("--worlds", Some(self.worlds.to_string())),
            ("--seed", Some(self.seed.to_string())),
            ("--events", Some(if self.plays { "store" } else { "replay" }.to_owned())),
            ("--threads", self.threads.map(|n| n.to_string())),
            ("--range-worlds", self.range_worlds.map(|n| n.to_string())),
            ("--codec", self.codec.map(|codec| codec.to_string())),
        ];
        let mut command = command(self.program, ["run", "football", "--format", "json", "--name", self.name]);
        for (option, value) in options {
            if let Some(value) = value {
                command.arg(option).arg(value);
            }
        }
        command.arg("--data").arg(self.data);
        command
    }

    /// Plays to the end.
    pub(crate) fn play(&self) -> Result<Summary, BenchError> {
        Ok(measure_json(self.command())?.0)
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
        Running::start(&mut self.command(), Stdio::null())
    }
}
