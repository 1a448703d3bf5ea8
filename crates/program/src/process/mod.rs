//! A running program: lines in, an answer out, and an end that nothing outlives.

mod guard;
mod output;
mod reading;
mod stderr;

use std::io::{self, BufReader, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use arrow::buffer::{Buffer, MutableBuffer};
use model::Stop;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::command::CommandLine;
use crate::error::{ProgramError, said};
use guard::Guard;
use output::Output;
pub(crate) use reading::Reading;
use stderr::Stderr;

/// Maximum length of a line of an answer.
pub(crate) const LINE_BYTES_MAX: u64 = 1 << 20;
/// Maximum length of a program's first line.
const DESCRIPTION_BYTES_MAX: u64 = 16 << 20;
/// Maximum time from the start to the first line.
const START: Duration = Duration::from_mins(1);
/// Time to end after the end of input, before the program is killed.
const PARTING: Duration = Duration::from_millis(500);
/// Size of messages from which their memory is used again.
const SPARE_BYTES_MIN: usize = 1 << 16;
/// Characters of rubbish in a message.
const SHOWN_MAX: usize = 100;

/// A program that has described itself. Dropping it ends the program and all processes of its group.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    guard: Guard,
    /// Takes requests to the program's input, which is closed without it.
    requests: Option<mpsc::Sender<Vec<u8>>>,
    output: BufReader<Output>,
    /// Memory of an earlier message, for the next: the system gives new pages slowly.
    spare: Option<MutableBuffer>,
    stderr: Stderr,
    /// The time for the current answer.
    limit: Duration,
    answer_bytes_max: u64,
    /// When the input was closed.
    closed: Option<Instant>,
}

impl Process {
    /// Starts a program, and returns the line in which it describes itself.
    ///
    /// # Errors
    /// If it cannot start, or prints no line in time.
    pub(crate) fn start(command: &CommandLine, limit: Duration) -> Result<(Self, String), ProgramError> {
        let started = Command::new(command.program())
            .args(command.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C at the terminal is for this process, which lets ranges finish.
            .process_group(0)
            .spawn();
        let failed = |cause| ProgramError::Start { program: command.program().to_owned(), cause };
        let mut child = started.map_err(failed)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let guard = Guard::of(child.id()).inspect_err(|_| kill(&mut child))?;
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            kill(&mut child);
            return Err(io::Error::other("a pipe is missing").into());
        };
        let mut process = Self {
            child,
            guard,
            requests: None,
            output: BufReader::with_capacity(1 << 16, Output::new(stdout)),
            spare: None,
            stderr: Stderr::drain(stderr)?,
            limit: limit.min(START),
            answer_bytes_max: DESCRIPTION_BYTES_MAX,
            closed: None,
        };
        process.requests = Some(writer(stdin)?);
        process.output.get_mut().begin(process.limit, DESCRIPTION_BYTES_MAX);
        let mut line = Vec::new();
        process.reading(&mut || Ok(())).line(&mut line, DESCRIPTION_BYTES_MAX)?;
        let line = String::from_utf8(line)
            .map_err(|_| ProgramError::Description { reason: "its first line is not text in UTF-8".to_owned() })?;
        Ok((process, line))
    }

    /// Sends a request. Its answer must come within `limit`, and have at most `bytes_max` bytes.
    ///
    /// # Errors
    /// If the program ended, or printed something after its last answer.
    pub(crate) fn ask(&mut self, request: Vec<u8>, limit: Duration, bytes_max: u64) -> Result<(), ProgramError> {
        (self.limit, self.answer_bytes_max) = (limit, bytes_max);
        let has_more = !self.output.buffer().is_empty() || self.output.get_ref().wait(Duration::ZERO)?;
        self.output.get_mut().begin(limit, bytes_max);
        if has_more {
            let rubbish = self.reading(&mut || Ok(())).rubbish()?;
            let second = "print a second one only if the request has \"events\": true";
            let hint = if rubbish == "an Arrow stream" { format!(": {second}") } else { String::new() };
            return Err(ProgramError::Protocol(format!("{rubbish} after the end of its answer{hint}")));
        }
        // If the thread is gone, so is the program; its output says why.
        let _ = self.requests.as_ref().map(|requests| requests.send(request));
        Ok(())
    }

    /// Reads what the program prints. Calls `waiting` about twice a second while nothing comes.
    pub(crate) fn reading<'a>(&'a mut self, waiting: &'a mut dyn FnMut() -> Result<(), Stop>) -> Reading<'a> {
        Reading { process: self, waiting }
    }

    /// An empty buffer for a message of an answer.
    pub(crate) fn buffer(&mut self, bytes: usize) -> MutableBuffer {
        let spare = self.spare.take_if(|_| bytes >= SPARE_BYTES_MIN);
        let mut buffer = spare.unwrap_or_else(|| MutableBuffer::new(bytes));
        buffer.clear();
        buffer
    }

    /// Keeps the memory of a message that is used no more.
    pub(crate) fn keep_buffer(&mut self, message: Buffer) {
        if message.len() >= SPARE_BYTES_MIN {
            self.spare = message.into_mutable().ok();
        }
    }

    /// Bytes that the answer may still have.
    pub(crate) fn bytes_left(&self) -> u64 {
        self.output.get_ref().left() + self.output.buffer().len() as u64
    }

    /// The error for an answer that is too long.
    pub(crate) fn long_answer(&self) -> ProgramError {
        ProgramError::LongAnswer(self.answer_bytes_max)
    }

    /// Why the output gives no more.
    fn failed(&mut self, error: io::Error) -> ProgramError {
        match error.kind() {
            io::ErrorKind::TimedOut => ProgramError::TimedOut { limit: self.limit, stderr: self.stderr.end() },
            io::ErrorKind::FileTooLarge => self.long_answer(),
            io::ErrorKind::UnexpectedEof => ProgramError::Ended { how: self.how_it_ended(), stderr: self.stderr.end() },
            _ => error.into(),
        }
    }

    /// The end of standard error, to follow a reason; empty if the program wrote nothing.
    pub(crate) fn last_words(&self) -> String {
        let stderr = self.stderr.end();
        if stderr.is_empty() { stderr } else { said(&stderr) }
    }

    /// Why a program that is gone prints nothing, although another process keeps its output open.
    fn left_behind(&mut self) -> Option<ProgramError> {
        let status = self.child.try_wait().ok().flatten()?;
        let how = format!("{}, and a process that it started keeps its output open", shown_status(status));
        Some(ProgramError::Ended { how, stderr: self.stderr.end() })
    }

    fn how_it_ended(&mut self) -> String {
        let started = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return shown_status(status),
                Ok(None) if started.elapsed() < PARTING => thread::sleep(Duration::from_millis(5)),
                _ => return "closed its output".to_owned(),
            }
        }
    }

    /// Closes the program's input: it should end by itself.
    pub(crate) fn close(&mut self) {
        self.requests = None;
        self.closed.get_or_insert_with(Instant::now);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(closed) = self.closed {
            // Reads what the program still prints, so that it does not wait for a reader.
            self.output.get_mut().begin(PARTING.saturating_sub(closed.elapsed()), LINE_BYTES_MAX);
            let _ = io::copy(&mut self.output, &mut io::sink());
        }
        kill(&mut self.child);
        self.guard.dismiss();
    }
}

/// Ends a program with all processes of its group.
fn kill(child: &mut Child) {
    // The group has the number of its first process, which is free only after the wait.
    let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
    let _ = child.wait();
}

/// Starts a thread that writes requests: the program may print before it reads.
fn writer(mut stdin: ChildStdin) -> io::Result<mpsc::Sender<Vec<u8>>> {
    let (sender, requests) = mpsc::channel::<Vec<u8>>();
    let write = move || {
        for request in requests {
            if stdin.write_all(&request).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("program-input".to_owned()).spawn(write)?;
    Ok(sender)
}

fn shown_status(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "ended with exit status 0, before the end of its input".to_owned(),
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(signal)) => match Signal::try_from(signal) {
            Ok(name) => format!("was ended by signal {signal} ({name})"),
            Err(_) => format!("was ended by signal {signal}"),
        },
        (None, None) => "ended".to_owned(),
    }
}

/// The beginning of a line, quoted.
pub(crate) fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let end = text.char_indices().nth(SHOWN_MAX).map_or(text.len(), |(end, _)| end);
    let more = if end < text.len() { " ..." } else { "" };
    format!("{:?}{more}", &text[..end])
}
