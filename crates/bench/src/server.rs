//! A server in a process of its own, whose processor time and memory are its own.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::time::TimeValLike as _;
use nix::unistd::Pid;

use crate::error::BenchError;

/// How long it may take to start, and to write everything out at the end.
const PATIENCE: Duration = Duration::from_mins(5);

/// What a server has used from its start to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ServerUsage {
    pub(crate) cpu_s: f64,
    pub(crate) peak_rss_bytes: u64,
}

/// A running server. It is killed when dropped before [`Self::stop`].
pub(crate) struct RunningServer {
    child: Child,
    program: PathBuf,
    pub(crate) address: SocketAddr,
    /// Where it answers clients of `PostgreSQL`, if it was told to.
    pub(crate) postgres: Option<SocketAddr>,
    /// What it says.
    said: Receiver<String>,
    /// What all ended children of this process had used before it was started.
    cpu_before_s: f64,
    peak_rss_bytes: u64,
}

impl RunningServer {
    /// Starts one by a command of `manyworlds serve --listen 127.0.0.1:0`, and waits until it listens.
    pub(crate) fn start(mut command: Command) -> Result<Self, BenchError> {
        let program = PathBuf::from(command.get_program());
        let failed = |source| BenchError::Io { doing: "start", path: program.clone(), source };
        let cpu_before_s = cpu_of_children().map_err(failed)?;
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
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server = Self { child, program, address, postgres: None, said, cpu_before_s, peak_rss_bytes: 0 };
        server.wait_until_listening()?;
        Ok(server)
    }

    /// Reads where it listens; the line about HTTP is the last of them.
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

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, where it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, BenchError> {
        self.child.try_wait().map_err(|source| BenchError::Io { doing: "wait for", path: self.program.clone(), source })
    }

    /// Ends it at once, and waits until it has.
    pub(crate) fn kill(&mut self) -> Result<(), BenchError> {
        let failed = |source| BenchError::Io { doing: "kill", path: self.program.clone(), source };
        self.child.kill().map_err(failed)?;
        self.child.wait().map_err(failed)?;
        Ok(())
    }

    /// What it has said since it listens, as far as nobody has taken it.
    pub(crate) fn said(&self) -> Vec<String> {
        self.said.try_iter().collect()
    }

    /// Asks it to write everything out and end, and waits until it has.
    pub(crate) fn stop(mut self) -> Result<ServerUsage, BenchError> {
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
