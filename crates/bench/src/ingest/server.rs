//! A server in a process of its own, whose processor time and memory are its own.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ingest::Durability;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::time::TimeValLike as _;
use nix::unistd::Pid;
use table::Codec;

use crate::error::BenchError;
use crate::launch;

/// How long it may take to start, and to write everything out at the end.
const PATIENCE: Duration = Duration::from_mins(5);

/// Settings of a server that are compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ServerSettings {
    pub(super) durability: Durability,
    pub(super) codec: Codec,
    pub(super) flush_rows: u64,
    pub(super) flushes: u64,
    /// Megabytes of rows that may wait.
    pub(super) memory_mb: u64,
}

/// What a server has used from its start to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ServerUsage {
    pub(super) cpu_s: f64,
    pub(super) peak_rss_bytes: u64,
}

/// A running server. It is killed when dropped before [`Self::stop`].
pub(super) struct RunningServer {
    child: Child,
    program: PathBuf,
    pub(super) address: SocketAddr,
    /// What it says.
    said: Receiver<String>,
    /// What all ended children of this process had used before it was started.
    cpu_before_s: f64,
    peak_rss_bytes: u64,
}

impl RunningServer {
    /// Starts one over the folder `data` and waits until it listens.
    pub(super) fn start(program: &Path, data: &Path, settings: &ServerSettings) -> Result<Self, BenchError> {
        let failed = |source| BenchError::Io { doing: "start", path: program.to_owned(), source };
        let cpu_before_s = cpu_of_children().map_err(failed)?;
        let mut command = launch::command(program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--durability", &settings.durability.to_string()]);
        for (flag, value) in [
            ("--codec", settings.codec.to_string()),
            ("--flush-rows", settings.flush_rows.to_string()),
            ("--flushes", settings.flushes.to_string()),
            ("--memory", settings.memory_mb.to_string()),
        ] {
            command.arg(flag).arg(value);
        }
        command.arg("--data").arg(data);
        // In a group of its own: Ctrl-C ends the bench, which then ends the server.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(failed)?;
        let (tell, said) = channel();
        if let Some(stderr) = child.stderr.take() {
            // Nobody waits for this thread: it ends when the server does.
            std::thread::spawn(move || {
                for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                    // Where nobody listens any more, what it says must still be read.
                    drop(tell.send(line));
                }
            });
        }
        let unknown = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server =
            Self { child, program: program.to_owned(), address: unknown, said, cpu_before_s, peak_rss_bytes: 0 };
        server.address = server.wait_until_listening()?;
        Ok(server)
    }

    fn wait_until_listening(&mut self) -> Result<SocketAddr, BenchError> {
        let mut last = String::new();
        let deadline = Instant::now() + PATIENCE;
        while let Ok(line) = self.said.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            let address = line.split_once("http://").and_then(|(_, rest)| rest.split(';').next()?.trim().parse().ok());
            if let Some(address) = address {
                return Ok(address);
            }
            last = line;
        }
        Err(went_wrong(format!("it does not listen: {last}")))
    }

    /// Asks it to write everything out and end, and waits until it has.
    pub(super) fn stop(mut self) -> Result<ServerUsage, BenchError> {
        let failed = |program: &Path, source| BenchError::Io { doing: "stop", path: program.to_owned(), source };
        self.note_peak();
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM)
            .map_err(|errno| failed(&self.program, errno.into()))?;
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            // What is written out at the end takes memory too.
            self.note_peak();
            if let Some(status) = self.child.try_wait().map_err(|source| failed(&self.program, source))? {
                break status;
            }
            if Instant::now() > deadline {
                return Err(went_wrong("it does not end".to_owned()));
            }
            sleep(Duration::from_millis(10));
        };
        if !status.success() {
            let last = self.said.try_iter().last().unwrap_or_else(|| "it said nothing".to_owned());
            return Err(went_wrong(format!("{last} ({status})")));
        }
        let cpu_s = cpu_of_children().map_err(|source| failed(&self.program, source))? - self.cpu_before_s;
        Ok(ServerUsage { cpu_s, peak_rss_bytes: self.peak_rss_bytes })
    }

    fn note_peak(&mut self) {
        // Once it has ended, there is nothing to read any more.
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kib: Option<u64> = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|n| n.parse().ok());
        self.peak_rss_bytes = self.peak_rss_bytes.max(kib.unwrap_or(0) * 1024);
    }
}

fn went_wrong(said: String) -> BenchError {
    BenchError::Run { command: "manyworlds serve".to_owned(), said }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // After `stop` it has ended already; before, nothing of it is wanted any more.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// User and system time of children that have ended and were waited for.
fn cpu_of_children() -> io::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6)
}
