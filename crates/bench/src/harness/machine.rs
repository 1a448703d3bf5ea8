//! The measured machine.

use std::fs;

use serde::Serialize;

/// The measured machine, as Linux describes it; unknown on other systems.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// Cores that this process may use.
    pub cores: usize,
    pub cpu_model: String,
    /// Installed memory.
    pub memory_bytes: u64,
    /// Version of the kernel.
    pub kernel: String,
    /// Load average of the minute before the benchmark; well above 0 if other programs were busy.
    pub load_before: f64,
}

impl Machine {
    /// Describes this machine.
    pub fn here() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self {
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            cpu_model: cpu_model(&read("/proc/cpuinfo")),
            memory_bytes: size_in(&read("/proc/meminfo"), "MemTotal:"),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load_before: read("/proc/loadavg").split_whitespace().next().and_then(|l| l.parse().ok()).unwrap_or(0.0),
        }
    }
}

fn cpu_model(cpuinfo: &str) -> String {
    let line = cpuinfo.lines().find(|l| l.starts_with("model name"));
    line.and_then(|l| l.split_once(':')).map_or("unknown processor", |(_, name)| name.trim()).to_owned()
}

/// A size that Linux states of a process, in bytes; 0 once it has ended.
pub(crate) fn size_of(process: u32, field: &str) -> u64 {
    size_in(&fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default(), field)
}

fn size_in(text: &str, field: &str) -> u64 {
    let line = text.lines().find(|l| l.starts_with(field));
    let kib: Option<u64> = line.and_then(|l| l.split_whitespace().nth(1)).and_then(|n| n.parse().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_described() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: A CPU @ 2 GHz\n"), "A CPU @ 2 GHz");
        assert_eq!(cpu_model(""), "unknown processor");
        assert_eq!(size_in("MemFree: 1 kB\nMemTotal:        2048 kB\n", "MemTotal:"), 2 << 20);
        assert!(Machine::here().cores > 0);
    }
}
