//! Runs and measures a server process.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::child::Running;
use super::machine::size_of;
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
    pub(crate) process: Running,
    pub(crate) address: SocketAddr,
    /// The address for clients of `PostgreSQL`, if it has one.
    pub(crate) postgres: Option<SocketAddr>,
    /// Its lines on standard error.
    said: Receiver<String>,
}

impl RunningServer {
    /// Starts a command of `manyworlds serve --listen 127.0.0.1:0`, and waits until the server listens.
    pub(crate) fn start(mut command: Command) -> Result<Self, BenchError> {
        // A separate process group, so that Ctrl-C ends only the benchmark, which then ends the server.
        let mut process = Running::start(command.process_group(0), Stdio::piped())?;
        let (tell, said) = channel();
        if let Some(errors) = process.take_errors() {
            // Nothing joins this thread: it ends with the server.
            std::thread::spawn(move || {
                for line in BufReader::new(errors).lines().map_while(Result::ok) {
                    // Keep reading after the receiver is gone: a full pipe would block the server.
                    drop(tell.send(line));
                }
            });
        }
        let mut server = Self { process, address: SocketAddr::from(([127, 0, 0, 1], 0)), postgres: None, said };
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
        Err(self.process.failed(format!("it does not listen: {last}")))
    }

    /// New lines on standard error since the last call, or since the server listens.
    pub(crate) fn said(&self) -> Vec<String> {
        self.said.try_iter().collect()
    }

    /// Asks the server to flush everything and end, and waits for it.
    pub(crate) fn stop(mut self) -> Result<ServerUsage, BenchError> {
        let peak = |id| size_of(id, "VmHWM:");
        let mut peak_rss_bytes = peak(self.process.id());
        self.process.terminate()?;
        // Flushing takes memory, too.
        let ended = self.process.wait(PATIENCE, |id| peak_rss_bytes = peak_rss_bytes.max(peak(id)))?;
        if !ended.status.success() {
            let last = self.said.try_iter().last().unwrap_or_else(|| "no output".to_owned());
            return Err(self.process.failed(format!("{last} ({})", ended.status)));
        }
        Ok(ServerUsage { cpu_s: (ended.rusage.utime + ended.rusage.stime).as_secs_f64(), peak_rss_bytes })
    }
}
