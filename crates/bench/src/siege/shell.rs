//! Runs the program next to its server, and kills some of its processes.

use std::fs::{self, File};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::counts::ActionCounts;
use super::findings::Kind;
use super::front::Campaign;
use crate::error::BenchError;
use crate::harness::child::command;

/// A process that runs longer counts as hanging.
const PATIENCE: Duration = Duration::from_mins(5);

/// How a process ended.
pub(super) enum Ended {
    /// With success and this output.
    Well(Vec<u8>),
    /// With this error.
    Refused(String),
    /// Killed by the siege.
    Killed,
}

/// The context of processes.
pub(super) struct Shell<'a> {
    pub(super) campaign: &'a Campaign<'a>,
    pub(super) life: u32,
    /// The actor that starts the process. It names the process's files, so it must be unique at any time.
    pub(super) actor: &'static str,
}

impl Shell<'_> {
    /// Runs the program with arguments and `--data`. Kills it after `kill_after` if it still runs. A process that dies or
    /// hangs is a finding.
    pub(super) fn run(
        &self,
        words: &[&str],
        input: Option<&[u8]>,
        kill_after: Option<Duration>,
    ) -> Result<Ended, BenchError> {
        let campaign = self.campaign;
        let [stdin, stdout, stderr] =
            ["in", "out", "err"].map(|end| campaign.scratch.join(format!("{}.{end}", self.actor)));
        let mut command = command(campaign.program, words);
        let program = PathBuf::from(command.get_program());
        command.arg("--data").arg(campaign.data).process_group(0);
        campaign.clock.give(&mut command);
        command.stdin(Stdio::null());
        if let Some(input) = input {
            fs::write(&stdin, input).map_err(BenchError::io("write", &stdin))?;
            command.stdin(File::open(&stdin).map_err(BenchError::io("open", &stdin))?);
        }
        command.stdout(File::create(&stdout).map_err(BenchError::io("make", &stdout))?);
        command.stderr(File::create(&stderr).map_err(BenchError::io("make", &stderr))?);
        let started = Instant::now();
        let mut child = command.spawn().map_err(BenchError::io("start", &program))?;
        let mut killed = false;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(BenchError::io("wait for", &program))? {
                break status;
            }
            let since = started.elapsed();
            if !killed && (kill_after.is_some_and(|after| since > after) || since > PATIENCE) {
                killed = true;
                child.kill().map_err(BenchError::io("kill", &program))?;
                if since > PATIENCE {
                    self.find(Kind::Death, format!("`{}` does not end", words.join(" ")));
                }
            }
            std::thread::sleep(Duration::from_millis(3));
        };
        let said = String::from_utf8_lossy(&fs::read(&stderr).map_err(BenchError::io("read", &stderr))?).into_owned();
        if has_died(status, &said, killed) {
            self.find(Kind::Death, format!("`{}` died ({status}): {}", words.join(" "), tail(&said)));
        }
        if status.success() {
            return Ok(Ended::Well(fs::read(&stdout).map_err(BenchError::io("read", &stdout))?));
        }
        if killed && status.signal().is_some() {
            ActionCounts::count(&campaign.actions.killed_processes);
            return Ok(Ended::Killed);
        }
        Ok(Ended::Refused(tail(&said)))
    }

    fn find(&self, kind: Kind, what: String) {
        self.campaign.findings.add(kind, self.life, 1, what);
    }
}

/// Whether a process crashed.
fn has_died(status: ExitStatus, said: &str, killed: bool) -> bool {
    /// The exit code after a panic.
    const PANICKED: i32 = 101;
    said.contains("panicked at") || status.code() == Some(PANICKED) || (status.signal().is_some() && !killed)
}

/// The last three lines of a text.
pub(super) fn tail(said: &str) -> String {
    let lines: Vec<&str> = said.trim().lines().collect();
    lines[lines.len().saturating_sub(3)..].join(" | ")
}
