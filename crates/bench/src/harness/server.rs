//! Runs and measures a server process.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::time::TimeValLike as _;
use nix::unistd::Pid;

use crate::error::BenchError;

/// Time limit for the server to start, and to flush everything at its end.
const PATIENCE: Duration = Duration::from_mins(5);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ServerUsage {
    pub(crate) cpu_s: f64,
    pub(crate) peak_rss_bytes: u64,
}

/// A running server; killed if dropped before [`Self::stop`].
pub(crate) struct RunningServer {
    child: Child,
    program: PathBuf,
    pub(crate) address: SocketAddr,
    /// The address for clients of `PostgreSQL`, if it has one.
    pub(crate) postgres: Option<SocketAddr>,
    /// Its lines on standard error.
    said: Receiver<String>,
    /// Processor time of this process's ended children before the server's start.
    cpu_before_s: f64,
    peak_rss_bytes: u64,
}

impl RunningServer {
    /// Starts a command of `manyworlds serve --listen 127.0.0.1:0`, and waits until the server listens.
    pub(crate) fn start(mut command: Command) -> Result<Self, BenchError> {
        let program = PathBuf::from(command.get_program());
        let cpu_before_s = cpu_of_children().map_err(BenchError::io("start", &program))?;
        // A separate process group, so that Ctrl-C ends only the benchmark, which then ends the server.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(BenchError::io("start", &program))?;
        let (tell, said) = channel();
        if let Some(stderr) = child.stderr.take() {
            // Nothing joins this thread: it ends with the server.
            std::thread::spawn(move || {
                for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                    // Keep reading after the receiver is gone: a full pipe would block the server.
                    drop(tell.send(line));
                }
            });
        }
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server = Self { child, program, address, postgres: None, said, cpu_before_s, peak_rss_bytes: 0 };
        server.wait_until_listening()?;
        Ok(server)
    }

    /// Reads the server's addresses; the line about HTTP comes last.
    fn wait_until_listening(&mut self) -> Result<(), BenchError> {
        let mut last = String::new();
        let deadline = Instant::now() + PATIENCE;
        while let Ok(line) = self.said.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            let after = |words: &str| line.split_once(words)?.1.split(';').next()?.trim().parse().ok();
            if let Some(address) = after("PostgreSQL clients on ") {
                self.postgres = Some(address);
            }
            if let Some(address) = after("http://") {
                self.address = address;
                return Ok(());
            }
            last = line;
        }
        Err(went_wrong(format!("it does not listen: {last}")))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its exit status, once it has ended.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, BenchError> {
        self.child.try_wait().map_err(BenchError::io("wait for", &self.program))
    }

    /// Kills the server, and waits for its end.
    pub(crate) fn kill(&mut self) -> Result<(), BenchError> {
        self.child.kill().map_err(BenchError::io("kill", &self.program))?;
        self.child.wait().map_err(BenchError::io("kill", &self.program)).map(drop)
    }

    /// New lines on standard error since the last call, or since the server listens.
    pub(crate) fn said(&self) -> Vec<String> {
        self.said.try_iter().collect()
    }

    /// Asks the server to flush everything and end, and waits for it.
    pub(crate) fn stop(mut self) -> Result<ServerUsage, BenchError> {
        self.note_peak();
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM)
            .map_err(|errno| BenchError::io("stop", &self.program)(errno.into()))?;
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            // Flushing takes memory, too.
            self.note_peak();
            if let Some(status) = self.child.try_wait().map_err(BenchError::io("stop", &self.program))? {
                break status;
            }
            if Instant::now() > deadline {
                return Err(went_wrong("it does not end".to_owned()));
            }
            sleep(Duration::from_millis(10));
        };
        if !status.success() {
            let last = self.said.try_iter().last().unwrap_or_else(|| "no output".to_owned());
            return Err(went_wrong(format!("{last} ({status})")));
        }
        let cpu_s = cpu_of_children().map_err(BenchError::io("stop", &self.program))? - self.cpu_before_s;
        Ok(ServerUsage { cpu_s, peak_rss_bytes: self.peak_rss_bytes })
    }

    fn note_peak(&mut self) {
        // Empty once the process has ended.
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
        // After `stop`, the process has ended and both calls fail.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// User and system time of all ended children.
fn cpu_of_children() -> io::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6)
}
