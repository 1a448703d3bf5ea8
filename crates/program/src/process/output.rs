//! A program's standard output, with limits on time and bytes.

use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::process::ChildStdout;
use std::time::{Duration, Instant};

use nix::errno::Errno;
#[cfg(target_os = "linux")]
use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

#[cfg(target_os = "linux")]
const PIPE_BYTES: i32 = 1 << 20;

/// Reads fail with [`io::ErrorKind::TimedOut`] after the time, and with [`io::ErrorKind::FileTooLarge`] after the bytes
/// of an answer.
#[derive(Debug)]
pub(super) struct Output {
    pipe: ChildStdout,
    deadline: Instant,
    left: u64,
}

impl Output {
    pub(super) fn new(pipe: ChildStdout) -> Self {
        // A larger pipe saves wake-ups of both sides; the system may refuse it.
        #[cfg(target_os = "linux")]
        let _ = fcntl(&pipe, FcntlArg::F_SETPIPE_SZ(PIPE_BYTES));
        Self { pipe, deadline: Instant::now(), left: 0 }
    }

    /// Sets the limits for what comes now.
    pub(super) fn begin(&mut self, limit: Duration, bytes_max: u64) {
        (self.deadline, self.left) = (Instant::now() + limit, bytes_max);
    }

    /// Bytes until the limit.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Time until the deadline.
    pub(super) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Waits for output, or its end.
    pub(super) fn wait(&self, limit: Duration) -> io::Result<bool> {
        let limit = limit.min(Duration::from_hours(1));
        // Rounded up: a shorter wait would be repeated without end.
        let limit = PollTimeout::try_from(limit.as_micros().div_ceil(1000)).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(self.pipe.as_fd(), PollFlags::POLLIN)], limit) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.wait(self.time_left())? {
            if self.time_left().is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        let length = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if length == 0 && !buffer.is_empty() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let read = self.pipe.read(&mut buffer[..length])?;
        self.left -= read as u64;
        Ok(read)
    }
}
