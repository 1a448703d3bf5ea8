//! A program's standard error: read at once, so that the program never waits, and forgotten but for its end.

use std::io::{self, Read as _};
use std::process::ChildStderr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes and lines of the end that are kept.
const BYTES_MAX: usize = 4096;
const LINES_MAX: usize = 20;
/// Characters of a line that are shown.
const LINE_MAX: usize = 300;
/// Time to wait for the last words of a program that ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct Stderr(Arc<(Mutex<Tail>, Condvar)>);

#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
    /// Whether more came before these bytes.
    is_cut: bool,
    is_closed: bool,
}

impl Stderr {
    pub(super) fn drain(mut pipe: ChildStderr) -> io::Result<Self> {
        let shared = Arc::new((Mutex::new(Tail::default()), Condvar::new()));
        let tail = shared.clone();
        let read = move || {
            let mut buffer = [0; BYTES_MAX];
            loop {
                let read = pipe.read(&mut buffer);
                let mut tail_ = tail.0.lock().unwrap_or_else(PoisonError::into_inner);
                match read {
                    Ok(length @ 1..) => tail_.push(&buffer[..length]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    _ => {
                        tail_.is_closed = true;
                        tail.1.notify_all();
                        return;
                    }
                }
            }
        };
        thread::Builder::new().name("program-stderr".to_owned()).spawn(read)?;
        Ok(Self(shared))
    }

    /// The last lines, once they are complete or after a short wait.
    pub(super) fn end(&self) -> String {
        let (tail, closed) = &*self.0;
        let tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = closed.wait_timeout_while(tail, LAST_WORDS, |tail| !tail.is_closed);
        let (tail, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail.bytes);
        // The first line has lost its beginning.
        let cut = if tail.is_cut { text.split_once('\n').map_or(&*text, |(_, rest)| rest) } else { &text };
        let lines: Vec<String> = cut.trim_end().lines().map(shortened).collect();
        lines[lines.len().saturating_sub(LINES_MAX)..].join("\n")
    }
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let cut = self.bytes.len().saturating_sub(BYTES_MAX);
        self.is_cut |= cut > 0;
        self.bytes.drain(..cut);
    }
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(LINE_MAX) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line.to_owned(),
    }
}
