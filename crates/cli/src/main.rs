//! The program `manyworlds`.

use std::process::ExitCode;

/// Returns pages to the system. With the system's allocator, the server and the benchmarks used twice the memory
/// (docs/performance.md).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let program = std::env::current_exe().map(|file| vec![file.into_os_string()]);
    cli::main(std::env::args_os().collect(), program).0.into()
}
