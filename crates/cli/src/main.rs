//! The program `manyworlds`: parses arguments, runs a command, returns its exit code.

mod advice;
mod args;
mod chart;
mod commands;
mod output;
mod progress;
mod settings;

use std::io::Write as _;
use std::process::ExitCode;
use std::thread;

use anyhow::Context as _;

/// Returns pages to the system. With the system's allocator, the server and the benchmarks used twice the memory
/// (docs/performance.md).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    // Errors of delta-rs and of the broker's client come back as values; main prints them once.
    let filter = tracing_subscriber::EnvFilter::try_from_env("MANYWORLDS_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,deltalake_core=off,buoyant_kernel=off,lapin=off"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let work = || {
        let (args, settings) = settings::parse(std::env::args_os().collect())?;
        commands::dispatch(args, &settings)
    };
    // The main thread's stack is too small for large statements.
    let thread = thread::Builder::new().name("main".to_owned()).stack_size(sql::STACK_BYTES).spawn(work);
    let done = match thread.context("cannot start a thread") {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(error) => Err(error),
    };
    match done {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // If stderr is closed, the error has no reader.
            let _ = writeln!(std::io::stderr(), "error: {}", advice::explain(&error));
            ExitCode::from(2)
        }
    }
}

/// Whether the reader of stdout closed it early, like `head`. This is not an error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let causes = error.chain().filter_map(|c| c.downcast_ref::<std::io::Error>());
    causes.into_iter().any(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
