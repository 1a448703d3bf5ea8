//! One process that answers questions, as the server has it.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream as StdStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;

use super::message::{Failure, Part, Setup, length_of, put};
use crate::error::Refusal;

/// How long the last words of a process that died may take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Of its last words.
const WORDS_BYTES_MAX: usize = 4096;

/// A process that waits for a question or answers one.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stream: UnixStream,
    words: JoinHandle<String>,
    spill: PathBuf,
}

impl Process {
    /// Starts `program`, whose temporary files are to go to the folder that `setup` names.
    ///
    /// # Errors
    /// Where the system has no process, socket or folder for it.
    pub(super) async fn start(program: &[OsString], setup: &Setup) -> io::Result<Self> {
        let [program, words @ ..] = program else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is set that answers questions"));
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&setup.spill)?;
        let (ours, theirs) = StdStream::pair()?;
        let mut command = Command::new(program);
        command.args(words).stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::piped());
        // Its last words are those that matter, and many bad questions must not fill the log.
        command.env("RUST_BACKTRACE", "0");
        let mut child = command.spawn()?;
        // From here on it ends by itself once `ours` is dropped.
        ours.set_nonblocking(true)?;
        let mut stream = UnixStream::from_std(ours)?;
        let stderr = child.stderr.take().ok_or_else(|| io::Error::other("the process has no stderr"))?;
        let words = tokio::spawn(hear(pipe::Receiver::from_owned_fd(stderr.into())?));
        let mut message = Vec::new();
        put(&mut message, setup)?;
        stream.write_all(&message).await?;
        Ok(Self { child, stream, words, spill: setup.spill.clone() })
    }

    /// Whether it has not ended.
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

    /// Why it ended in the middle of an answer.
    pub(super) async fn last_words(&mut self) -> Failure {
        let said = tokio::time::timeout(LAST_WORDS, &mut self.words).await;
        let said = said.ok().and_then(Result::ok).unwrap_or_default();
        let refuse = |status, code, text: &str| Failure::of(&Refusal::new(status, text), code, None);
        if ["memory allocation of", "allocate", "capacity overflow"].iter().any(|words| said.contains(words)) {
            let text = "the query needs more memory than its limit: select fewer columns or rows";
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, "53200", text);
        }
        if said.contains("overflowed its stack") {
            return refuse(StatusCode::BAD_REQUEST, "54001", "the statement is too large: it is nested too deeply");
        }
        tracing::error!(said, "a question ended the process that answered it");
        let text =
            "the question ended the process that answered it; nothing else was harmed, and the server's log has more";
        refuse(StatusCode::INTERNAL_SERVER_ERROR, "XX000", text)
    }

    /// Ends it, and waits until the system has its memory and its files are gone. Blocks.
    pub(super) fn end(mut self) {
        let ended = self.child.kill().and_then(|()| self.child.wait()).map(drop);
        if let Err(error) = ended.and_then(|()| fs::remove_dir_all(&self.spill)) {
            tracing::error!(%error, process = self.child.id(), "what a question left behind cannot be removed");
        }
    }
}

/// Passes on what a process says on stderr, and keeps the end of it.
async fn hear(stderr: pipe::Receiver) -> String {
    let mut lines = BufReader::new(stderr);
    let (mut line, mut last) = (Vec::new(), String::new());
    // A line without end is heard in pieces.
    while matches!((&mut lines).take(WORDS_BYTES_MAX as u64).read_until(b'\n', &mut line).await, Ok(1..)) {
        let said = String::from_utf8_lossy(&line);
        tracing::warn!(target: "question", "{}", said.trim_end());
        last.push_str(&said);
        let cut = last.ceil_char_boundary(last.len().saturating_sub(WORDS_BYTES_MAX));
        last.drain(..cut);
        line.clear();
    }
    last
}
