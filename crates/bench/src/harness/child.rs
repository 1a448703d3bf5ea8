//! Runs and measures a process.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Serialize;
use wait4::Wait4 as _;

use crate::error::BenchError;

/// Time and memory that a process used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Used {
    /// User and system time of all its threads.
    pub cpu_ms: f64,
    pub wall_ms: f64,
    pub peak_rss_bytes: u64,
}

/// Runs a command with `input` on its standard input. Returns its output, and the time and memory it used.
///
/// # Errors
/// If it does not start, or if it fails; the error then has its last line on standard error.
pub(crate) fn measure(mut command: Command, input: Option<&[u8]>) -> Result<(Vec<u8>, Used), BenchError> {
    let words = words(&command);
    let program = Path::new(command.get_program()).to_owned();
    let io = |doing| {
        let program = program.clone();
        move |source| BenchError::Io { doing, path: program, source }
    };
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let started = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(io("start"))?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // One thread per pipe: a full pipe would block the process.
    let (printed, said) = std::thread::scope(|scope| {
        let said = scope.spawn(move || {
            let mut said = String::new();
            stderr.map_or(Ok(0), |mut pipe| pipe.read_to_string(&mut said)).map(|_| said)
        });
        let fed = scope.spawn(move || match (stdin, input) {
            (Some(mut pipe), Some(input)) => pipe.write_all(input),
            _ => Ok(()),
        });
        let mut printed = Vec::new();
        let read = stdout.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut printed)).map(|_| printed);
        // A process that ends before it has read all input shows that by its exit code.
        drop(fed.join());
        (read, said.join().unwrap_or_else(|_| Ok(String::new())))
    });
    let ended = child.wait4().map_err(io("wait for"))?;
    let wall = started.elapsed();
    if !ended.status.success() {
        let said = said.map_err(io("read from"))?;
        let last = said.trim().lines().next_back().unwrap_or("no output").to_owned();
        return Err(BenchError::Run { command: words, said: format!("{last} ({})", ended.status) });
    }
    let usage = ended.rusage;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let used = Used { cpu_ms: ms(usage.utime + usage.stime), wall_ms: ms(wall), peak_rss_bytes: usage.maxrss };
    Ok((printed.map_err(io("read from"))?, used))
}

fn words(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let arguments = command.get_args().map(|a| a.to_string_lossy().into_owned());
    [name].into_iter().chain(arguments).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_prints_and_uses_is_told() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "cat; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]);
        let (printed, used) = measure(command, Some(b"hello")).unwrap();
        assert_eq!(printed, b"hello");
        assert!(used.cpu_ms > 0.5 && used.wall_ms >= used.cpu_ms * 0.5 && used.peak_rss_bytes > 100_000, "{used:?}");
    }

    #[test]
    fn a_process_that_fails_is_an_error_with_its_words() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo it broke >&2; exit 3"]);
        let error = measure(command, None).unwrap_err().to_string();
        assert!(error.contains("it broke") && error.contains('3'), "{error}");
    }
}
