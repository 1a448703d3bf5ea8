//! Runs the Python files that drive engines.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::compared::Sample;
use super::peer::Peer;
use crate::error::BenchError;
use crate::harness::child::{Input, measure_within};

const FILES: [(&str, &str); 5] = [
    ("clock.py", include_str!("drivers/clock.py")),
    ("ask.py", include_str!("drivers/ask.py")),
    ("appends.py", include_str!("drivers/appends.py")),
    ("calls.py", include_str!("drivers/calls.py")),
    ("joint.py", include_str!("drivers/joint.py")),
];

/// Time limit for a command of a peer; at a great scale, loading takes minutes.
pub(super) const LIMIT: Duration = Duration::from_mins(30);

/// A folder with the Python files.
pub(super) struct Scripts(PathBuf);

/// What a file prints.
#[derive(Deserialize)]
struct Printed {
    cpu_s: f64,
    start_cpu_s: f64,
    answer: Value,
}

/// The name of an engine in the Python files.
pub(super) fn engine(peer: Peer) -> &'static str {
    peer.package().unwrap_or_default()
}

impl Scripts {
    pub(super) fn write(folder: PathBuf) -> Result<Self, BenchError> {
        std::fs::create_dir_all(&folder).map_err(BenchError::io("create", &folder))?;
        for (name, text) in FILES {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(BenchError::io("write", &path))?;
        }
        Ok(Self(folder))
    }

    /// Runs a file; returns its answer, and what it used for `amount`.
    pub(super) fn run<W: AsRef<OsStr>>(
        &self,
        python: &Path,
        file: &str,
        words: impl IntoIterator<Item = W>,
        (amount, input): (f64, Option<&[u8]>),
    ) -> Result<(Value, Sample), BenchError> {
        let mut command = Command::new(python);
        command.arg(self.0.join(file)).args(words);
        let (printed, used) = measure_within(command, Input::of(input), LIMIT)?;
        let parsed = serde_json::from_slice(&printed);
        let printed: Printed =
            parsed.map_err(|source| BenchError::Summary { command: format!("python {file}"), source })?;
        let sample = Sample {
            cpu_s: printed.cpu_s,
            start_cpu_s: printed.start_cpu_s,
            amount,
            peak_rss_bytes: used.peak_rss_bytes,
            disk_bytes: None,
        };
        Ok((printed.answer, sample))
    }
}
