//! Starts the measured program, and measures its processes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wait4::{ResUse, Wait4 as _};

use crate::error::BenchError;

/// Time and memory that a process used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Used {
    /// User and system time of all its threads.
    pub cpu_ms: f64,
    pub wall_ms: f64,
    /// At least what this process used when it started the other: Linux counts that as the other's.
    pub peak_rss_bytes: u64,
}

/// A command of the program, without this process's `MANYWORLDS_` variables: they would change the measurement.
pub(crate) fn command<W: AsRef<OsStr>>(program: &[OsString], words: impl IntoIterator<Item = W>) -> Command {
    let [program, first @ ..] = program else { return Command::new("") };
    let mut command = Command::new(program);
    command.args(first);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"MANYWORLDS_") {
            command.env_remove(name);
        }
    }
    command.args(words);
    command
}

/// Runs a command that prints JSON. Returns what it printed, and the time and memory it used.
pub(crate) fn measure_json<T: DeserializeOwned>(command: Command) -> Result<(T, Used), BenchError> {
    let words = words(&command);
    let (printed, used) = measure(command, None)?;
    let parsed = serde_json::from_slice(&printed);
    Ok((parsed.map_err(|source| BenchError::Summary { command: words, source })?, used))
}

/// A running process; killed when dropped.
pub(crate) struct Running {
    child: Child,
    ended: Option<ResUse>,
    program: PathBuf,
    words: String,
}

impl Running {
    /// Starts a command without input and output; `errors` receives its standard error.
    pub(crate) fn start(command: &mut Command, errors: Stdio) -> Result<Self, BenchError> {
        let (program, words) = (PathBuf::from(command.get_program()), words(command));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).spawn();
        Ok(Self { child: child.map_err(BenchError::io("start", &program))?, ended: None, program, words })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its standard error, if piped and not yet taken.
    pub(crate) fn take_errors(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Its exit status and usage, once it has ended.
    pub(crate) fn ended(&mut self) -> Result<Option<ResUse>, BenchError> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait4().map_err(BenchError::io("wait for", &self.program))?;
        }
        Ok(self.ended)
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.ended(), Ok(None))
    }

    /// Kills it, and waits for its end.
    pub(crate) fn kill(&mut self) -> Result<(), BenchError> {
        // The number of a process that has ended may belong to another one.
        if self.ended.is_none() {
            self.child.kill().map_err(BenchError::io("kill", &self.program))?;
            self.child.wait().map_err(BenchError::io("kill", &self.program))?;
        }
        Ok(())
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) -> Result<(), BenchError> {
        let asked = kill(Pid::from_raw(self.id() as i32), Signal::SIGTERM);
        asked.map_err(|errno| BenchError::io("stop", &self.program)(errno.into()))
    }

    /// Waits for its end; calls `look` meanwhile. The error says that it does not end.
    pub(crate) fn wait(&mut self, patience: Duration, mut look: impl FnMut(u32)) -> Result<ResUse, BenchError> {
        let deadline = Instant::now() + patience;
        loop {
            look(self.id());
            if let Some(ended) = self.ended()? {
                return Ok(ended);
            }
            if Instant::now() > deadline {
                return Err(self.failed("it does not end".to_owned()));
            }
            sleep(Duration::from_millis(5));
        }
    }

    /// An error that says what is wrong with the process.
    pub(crate) fn failed(&self, said: String) -> BenchError {
        BenchError::Run { command: self.words.clone(), said }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only if the process has ended.
        drop(self.kill());
    }
}

/// What a command reads from its standard input.
pub(crate) enum Input<'a> {
    Nothing,
    Bytes(&'a [u8]),
    File(File),
}

impl<'a> Input<'a> {
    pub(crate) fn of(bytes: Option<&'a [u8]>) -> Self {
        bytes.map_or(Self::Nothing, Self::Bytes)
    }
}

/// Runs a command with `input` on its standard input. Returns its output, and the time and memory it used. The error of a
/// failed command has its last line on standard error.
pub(crate) fn measure(command: Command, input: Option<&[u8]>) -> Result<(Vec<u8>, Used), BenchError> {
    measure_within(command, Input::of(input), Duration::MAX)
}

/// As [`measure`]; kills a command that takes longer than `limit`.
pub(crate) fn measure_within(
    mut command: Command,
    input: Input<'_>,
    limit: Duration,
) -> Result<(Vec<u8>, Used), BenchError> {
    let words = words(&command);
    let program = Path::new(command.get_program()).to_owned();
    let io = |doing| {
        let program = program.clone();
        move |source| BenchError::Io { doing, path: program, source }
    };
    let (stdin, input) = match input {
        Input::Nothing => (Stdio::null(), None),
        Input::Bytes(bytes) => (Stdio::piped(), Some(bytes)),
        Input::File(file) => (file.into(), None),
    };
    command.stdin(stdin);
    forget_own_peak().map_err(io("measure"))?;
    let started = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(io("start"))?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let id = child.id();
    let (ends, end) = channel();
    // One thread per pipe: a full pipe would block the process.
    let (printed, said, is_late) = std::thread::scope(|scope| {
        let late = scope.spawn(move || kill_after(limit, id, &end));
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
        let said = said.join().unwrap_or_else(|_| Ok(String::new()));
        drop(ends);
        (read, said, late.join().unwrap_or(false))
    });
    let ended = child.wait4().map_err(io("wait for"))?;
    let wall = started.elapsed();
    if is_late {
        return Err(BenchError::Run { command: words, said: format!("it took longer than {} s", limit.as_secs()) });
    }
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

/// Kills a process that was not waited for yet, unless `end` is closed within `limit`. Returns whether it did.
fn kill_after(limit: Duration, id: u32, end: &Receiver<()>) -> bool {
    let is_late = end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
    // Fails only if the process has ended.
    is_late && kill(Pid::from_raw(id as i32), Signal::SIGKILL).is_ok()
}

/// Lets the peak of this process's memory be what it uses now: Linux counts the peak of the process that starts another
/// as the other's own.
fn forget_own_peak() -> std::io::Result<()> {
    std::fs::write("/proc/self/clear_refs", "5")
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
    fn output_time_and_memory_are_measured() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "cat; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]);
        let (printed, used) = measure(command, Some(b"hello")).unwrap();
        assert_eq!(printed, b"hello");
        assert!(used.cpu_ms > 0.5 && used.wall_ms >= used.cpu_ms * 0.5 && used.peak_rss_bytes > 100_000, "{used:?}");
    }

    #[test]
    fn a_file_is_read_from_standard_input() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let input = Input::File(File::open(&path).unwrap());
        let (printed, _) = measure_within(Command::new("cat"), input, Duration::MAX).unwrap();
        assert_eq!(printed, std::fs::read(&path).unwrap());
    }

    #[test]
    fn a_process_that_takes_too_long_is_killed() {
        let mut command = Command::new("sleep");
        command.arg("600");
        let error = measure_within(command, Input::Nothing, Duration::from_millis(50)).unwrap_err().to_string();
        assert!(error.contains("`sleep 600` failed: it took longer than 0 s"), "{error}");
    }

    #[test]
    fn earlier_memory_of_this_process_is_not_counted() {
        let own = std::hint::black_box(vec![1u8; 512 << 20]).len() as u64;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "sleep 0.1"]);
        let (_, used) = measure(command, None).unwrap();
        assert!((100_000..own / 2).contains(&used.peak_rss_bytes), "{used:?}");
    }

    #[test]
    fn a_process_that_fails_is_an_error_with_its_words() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo it broke >&2; exit 3"]);
        let error = measure(command, None).unwrap_err().to_string();
        assert!(error.contains("it broke") && error.contains('3'), "{error}");
    }
}
