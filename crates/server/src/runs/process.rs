//! The server's side of a process that plays a run.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::message::{Order, Report, Setup};
use crate::processes::message::{length_of, put};
use crate::processes::{LAST_WORDS, Spawned, spawn};

/// Time for a process to end after its last message.
const PARTING: Duration = Duration::from_secs(10);

/// A process that does a job.
pub(super) struct Process {
    child: Child,
    words: JoinHandle<String>,
    out: OwnedWriteHalf,
    reports: mpsc::Receiver<Report>,
}

/// How a process ended.
pub(super) struct End {
    pub(super) status: io::Result<ExitStatus>,
    pub(super) words: String,
}

impl Process {
    /// Starts `program` with a job.
    pub(super) async fn start(program: &[OsString], setup: &Setup) -> io::Result<Self> {
        let Spawned { child, stream, words } = spawn(program)?;
        let (from, mut out) = stream.into_split();
        let mut message = Vec::new();
        put(&mut message, setup)?;
        out.write_all(&message).await?;
        let (send, reports) = mpsc::channel(16);
        tokio::spawn(receive(from, send));
        Ok(Self { child, words, out, reports })
    }

    /// The next report; `None` once the process has ended.
    pub(super) async fn report(&mut self) -> Option<Report> {
        self.reports.recv().await
    }

    pub(super) async fn order(&mut self, order: Order) -> io::Result<()> {
        let mut message = Vec::new();
        put(&mut message, &order)?;
        self.out.write_all(&message).await
    }

    /// Ends the process at once.
    pub(super) fn kill(&mut self) {
        if let Err(error) = self.child.kill() {
            tracing::error!(%error, process = self.child.id(), "cannot end a process that plays a run");
        }
    }

    /// Waits for the end of a process that has sent its last report.
    pub(super) async fn end(mut self) -> End {
        let pid = self.child.id();
        let waiting = tokio::task::spawn_blocking(move || {
            let started = std::time::Instant::now();
            loop {
                match self.child.try_wait() {
                    Ok(Some(status)) => return Ok(status),
                    Ok(None) if started.elapsed() < PARTING => std::thread::sleep(Duration::from_millis(5)),
                    Ok(None) => {
                        tracing::warn!(process = pid, "killed a process that did not end");
                        self.child.kill()?;
                        return self.child.wait();
                    }
                    Err(error) => return Err(error),
                }
            }
        });
        let status = waiting.await.unwrap_or_else(|panic| Err(io::Error::other(panic)));
        let said = tokio::time::timeout(LAST_WORDS, &mut self.words).await;
        End { status, words: said.ok().and_then(Result::ok).unwrap_or_default() }
    }
}

impl End {
    /// Why a process ended that did not say so itself.
    pub(super) fn reason(&self) -> String {
        let how = match &self.status {
            Ok(status) => match status.signal() {
                Some(signal) => format!("was ended by signal {signal}"),
                None => format!("ended with code {}", status.code().unwrap_or_default()),
            },
            Err(error) => format!("is lost: {error}"),
        };
        let last = self.words.lines().rev().find(|line| !line.trim().is_empty());
        let said = last.map(|line| format!(": {}", line.trim())).unwrap_or_default();
        format!("the process that played it {how}{said}")
    }
}

/// Forwards the reports of a process until it ends.
async fn receive(mut from: OwnedReadHalf, to: mpsc::Sender<Report>) {
    loop {
        let report = match read(&mut from).await {
            Ok(report) => report,
            Err(error) => {
                if error.kind() != io::ErrorKind::UnexpectedEof {
                    tracing::error!(%error, "cannot read what a run reports");
                }
                return;
            }
        };
        if to.send(report).await.is_err() {
            return;
        }
    }
}

async fn read(from: &mut OwnedReadHalf) -> io::Result<Report> {
    let mut head = [0; 5];
    from.read_exact(&mut head).await?;
    let mut rest = vec![0; length_of(head)?];
    from.read_exact(&mut rest).await?;
    Ok(serde_json::from_slice(&rest)?)
}
