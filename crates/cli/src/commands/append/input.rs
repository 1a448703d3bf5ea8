//! Reads input: files, and pipes that may never end.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use decode::expand_stream;

use crate::args::{AppendArgs, InputFormat};
use crate::commands::chunk_bytes;

/// Bytes per read from a pipe, and the maximum number of waiting reads.
const PIECE_BYTES: usize = 1 << 20;
const PIECES_MAX: usize = 16;
/// Longest delay of rows by a silent pipe.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct Input {
    /// Its name in messages.
    pub(super) name: String,
    pub(super) format: InputFormat,
    from: From,
}

enum From {
    File(Box<dyn Read>),
    Pipe(Receiver<io::Result<Vec<u8>>>),
}

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    /// Bytes; more may follow.
    Bytes,
    /// No bytes for now.
    Nothing,
    End,
}

impl Input {
    /// Opens all inputs.
    pub(super) fn of(args: &AppendArgs) -> Result<Vec<Self>> {
        if args.files.is_empty() {
            return Ok(vec![Self::stdin(args)?]);
        }
        let open = |path: &std::path::PathBuf| match path.to_str() {
            Some("-") => Self::stdin(args),
            _ => Self::file(path, args),
        };
        args.files.iter().map(open).collect()
    }

    fn file(path: &Path, args: &AppendArgs) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        let format = args.format.unwrap_or_else(|| InputFormat::of(path));
        Ok(Self { format, from: From::over(file).with_context(|| format!("cannot open {name}"))?, name })
    }

    fn stdin(args: &AppendArgs) -> Result<Self> {
        let stdin = io::stdin().as_fd().try_clone_to_owned().context("cannot open stdin")?;
        let from = From::over(stdin.into()).context("cannot open stdin")?;
        Ok(Self { name: "stdin".to_owned(), format: args.format.unwrap_or(InputFormat::Json), from })
    }

    /// Whether the input may never end.
    pub(super) fn is_piped(&self) -> bool {
        matches!(self.from, From::Pipe(_))
    }

    /// Appends the next bytes. A pipe returns the bytes that arrive by `until`.
    pub(super) fn more(&mut self, bytes: &mut Vec<u8>, until: Option<Instant>) -> io::Result<More> {
        match &mut self.from {
            From::File(file) => {
                let chunk = chunk_bytes();
                let read = file.by_ref().take(chunk as u64).read_to_end(bytes)?;
                Ok(if read < chunk { More::End } else { More::Bytes })
            }
            From::Pipe(pieces) => {
                let patience = until.map_or(PATIENCE, |until| until.saturating_duration_since(Instant::now()));
                match pieces.recv_timeout(patience) {
                    Ok(piece) => bytes.append(&mut piece?),
                    Err(RecvTimeoutError::Timeout) => return Ok(More::Nothing),
                    Err(RecvTimeoutError::Disconnected) => return Ok(More::End),
                }
                while bytes.len() < chunk_bytes()
                    && let Ok(piece) = pieces.try_recv()
                {
                    bytes.append(&mut piece?);
                }
                Ok(More::Bytes)
            }
        }
    }
}

impl From {
    fn over(file: File) -> io::Result<Self> {
        if file.metadata()?.is_file() {
            return Ok(Self::File(expand_stream(file)?.1));
        }
        let (pieces, received) = sync_channel(PIECES_MAX);
        // The thread ends with the pipe or with the process.
        std::thread::Builder::new().name("input".to_owned()).spawn(move || {
            let mut stream = match expand_stream(file) {
                Ok((_, stream)) => stream,
                Err(error) => {
                    // A closed channel has no reader.
                    let _ = pieces.send(Err(error));
                    return;
                }
            };
            loop {
                let mut piece = vec![0; PIECE_BYTES];
                let read = match stream.read(&mut piece) {
                    Ok(0) => return,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    read => read,
                };
                let failed = read.is_err();
                let piece = read.map(|read| {
                    piece.truncate(read);
                    piece
                });
                if pieces.send(piece).is_err() || failed {
                    return;
                }
            }
        })?;
        Ok(Self::Pipe(received))
    }
}
