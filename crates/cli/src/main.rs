//! The program `manyworlds`.

use std::process::ExitCode;

/// Returns pages to the system. With the system's allocator, the server and the benchmarks used twice the memory
/// (docs/performance.md).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    cli::main(std::env::args_os().collect(), std::env::current_exe()).0.into()
}
