//! This process's memory, as counted by the system.

use std::io;

/// Bytes of memory that this process has requested, without mapped files.
#[cfg(target_os = "linux")]
pub(super) fn used() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.map(|n| n << 10).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the system tells no VmData"))
}

/// Limits this process to `bytes` of memory. A larger request ends it.
#[cfg(target_os = "linux")]
pub(super) fn limit(bytes: u64) -> io::Result<()> {
    use nix::sys::resource::{Resource, setrlimit};
    setrlimit(Resource::RLIMIT_DATA, bytes, bytes).map_err(io::Error::from)
}

/// Other systems neither report nor limit memory, so only the engine's limit applies there.
#[cfg(not(target_os = "linux"))]
pub(super) fn used() -> io::Result<u64> {
    Ok(0)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn limit(_bytes: u64) -> io::Result<()> {
    Ok(())
}
