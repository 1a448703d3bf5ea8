//! The server's side of one query process.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;

use super::message::{Failure, Part, Setup, length_of, put};

/// Time to wait for the last stderr of a dead process.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(1);
/// Maximum bytes to keep of that stderr.
const WORDS_BYTES_MAX: usize = 4096;

/// A process that is idle or runs a query.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stream: UnixStream,
    words: JoinHandle<String>,
    spill: PathBuf,
}

/// A process with a socket as its standard input.
pub(crate) struct Spawned {
    pub(crate) child: Child,
    /// Dropping it ends a query process, and stops a run.
    pub(crate) stream: UnixStream,
    /// The end of its stderr, once it has ended.
    pub(crate) words: JoinHandle<String>,
}

/// Starts a process of the server's own program. A Ctrl-C that ends the server does not reach it: the server decides
/// when it ends.
pub(crate) fn spawn(program: &[OsString]) -> io::Result<Spawned> {
    let [program, words @ ..] = program else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the server does not know its own program"));
    };
    let (ours, theirs) = StdStream::pair()?;
    let mut command = Command::new(program);
    command.args(words).stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    // The panic message suffices, and bad queries must not fill the log.
    command.env("RUST_BACKTRACE", "0");
    let mut child = command.spawn()?;
    // From here on, dropping `ours` ends the process.
    ours.set_nonblocking(true)?;
    let stream = UnixStream::from_std(ours)?;
    let stderr = child.stderr.take().ok_or_else(|| io::Error::other("the process has no stderr"))?;
    let words = tokio::spawn(hear(pipe::Receiver::from_owned_fd(stderr.into())?));
    Ok(Spawned { child, stream, words })
}

impl Process {
    /// Starts `program`; its temporary files go to the folder in `setup`.
    pub(super) async fn start(program: &[OsString], setup: &Setup) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(&setup.spill)?;
        let Spawned { child, mut stream, words } = spawn(program)?;
        let mut message = Vec::new();
        put(&mut message, setup)?;
        stream.write_all(&message).await?;
        Ok(Self { child, stream, words, spill: setup.spill.clone() })
    }

    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    pub(super) async fn ask(&mut self, question: &super::Question) -> io::Result<()> {
        let mut message = Vec::new();
        put(&mut message, question)?;
        self.stream.write_all(&message).await
    }

    /// The next part of the answer.
    pub(super) async fn part(&mut self) -> io::Result<Part> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head).await?;
        let mut rest = vec![0; length_of(head)?];
        self.stream.read_exact(&mut rest).await?;
        Part::of(head, rest)
    }

    /// The reason that the process ended in the middle of an answer.
    pub(super) async fn last_words(&mut self) -> Failure {
        let said = tokio::time::timeout(LAST_WORDS, &mut self.words).await;
        let said = said.ok().and_then(Result::ok).unwrap_or_default();
        // Texts of 2 GB or more in one batch overflow Arrow's offsets.
        let memory = ["memory allocation of", "allocate", "capacity overflow", "offset overflow"];
        if memory.iter().any(|words| said.contains(words)) {
            let text = "the query exceeds its memory limit: select fewer columns or rows";
            return Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "53200", text);
        }
        if said.contains("overflowed its stack") {
            let text = "the statement is too large: it is nested too deeply";
            return Failure::new(StatusCode::BAD_REQUEST, "54001", text);
        }
        tracing::error!(said, "a query ended its process");
        let text = "the query ended its process: see the server's log";
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "XX000", text)
    }

    /// Ends it, then waits until its memory and temporary files are freed. Blocks.
    pub(super) fn end(mut self) {
        let ended = self.child.kill().and_then(|()| self.child.wait()).map(drop);
        if let Err(error) = ended.and_then(|()| remove(&self.spill)) {
            tracing::error!(%error, process = self.child.id(), "cannot remove the temporary files of a query");
        }
    }
}

/// Removes a folder, if it exists.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Logs a process's stderr, and keeps the end of it.
async fn hear(stderr: pipe::Receiver) -> String {
    let mut lines = BufReader::new(stderr);
    let (mut line, mut last) = (Vec::new(), String::new());
    // Read an endless line in pieces.
    while matches!((&mut lines).take(WORDS_BYTES_MAX as u64).read_until(b'\n', &mut line).await, Ok(1..)) {
        let said = String::from_utf8_lossy(&line);
        tracing::warn!(target: "process", "{}", said.trim_end());
        last.push_str(&said);
        let cut = last.ceil_char_boundary(last.len().saturating_sub(WORDS_BYTES_MAX));
        last.drain(..cut);
        line.clear();
    }
    last
}
