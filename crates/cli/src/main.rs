//! The one binary, `manyworlds`: what was typed, which command that is, and the exit code it ends with.

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

/// Gives pages back: with the system's allocator memory grew with what had ever been held at once by each thread, to
/// twice as much in a server and in the benchmarks (docs/performance.md).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    // Errors of delta-rs and of the broker's client come back to us and are said once, at the end.
    let filter = tracing_subscriber::EnvFilter::try_from_env("MANYWORLDS_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,deltalake_core=off,buoyant_kernel=off,lapin=off"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let work = || {
        let (args, settings) = settings::parse(std::env::args_os().collect())?;
        commands::dispatch(args, &settings)
    };
    // The first thread has less stack than large statements need.
    let thread = thread::Builder::new().name("main".to_owned()).stack_size(query::STACK_BYTES).spawn(work);
    let done = match thread.context("starting a thread") {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(error) => Err(error),
    };
    match done {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to do where even stderr is gone.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whoever read our output has seen enough: no error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let causes = error.chain().filter_map(|c| c.downcast_ref::<std::io::Error>());
    causes.into_iter().any(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
