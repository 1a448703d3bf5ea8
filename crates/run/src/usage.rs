//! Processor time and memory of a process.

use std::time::Duration;

/// Processor time and memory of a process so far, as Linux counts them; zeros on other systems.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// User and system time of all threads, in steps of 10 ms.
    pub cpu: Duration,
    pub peak_rss_bytes: u64,
}

impl Usage {
    /// Of this process.
    pub fn now() -> Self {
        Self::read("self")
    }

    /// Of a running process, without its children.
    pub fn of(process: u32) -> Self {
        Self::read(&process.to_string())
    }

    fn read(process: &str) -> Self {
        let text = |file| std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
        let (stat, status) = (text("stat"), text("status"));
        Self { cpu: parse_cpu(&stat).unwrap_or_default(), peak_rss_bytes: parse_peak(&status).unwrap_or(0) }
    }
}

/// Fields 14 and 15 of `stat` in proc(5): user and system time in ticks of 10 ms. Counts fields after the bracketed
/// name.
fn parse_cpu(stat: &str) -> Option<Duration> {
    const TICK_MS: u64 = 10;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis((user + system) * TICK_MS))
}

fn parse_peak(status: &str) -> Option<u64> {
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_is_read() {
        let stat = "42 (a ) b) R 1 1 1 0 -1 4194304 100 0 0 0 250 50 0 0 20 0";
        assert_eq!(parse_cpu(stat), Some(Duration::from_secs(3)));
        assert_eq!(parse_peak("VmPeak:\t 9 kB\nVmHWM:\t  2048 kB\n"), Some(2 << 20));
        assert!(Usage::now().peak_rss_bytes > 1 << 20);
        assert!(Usage::of(std::process::id()).peak_rss_bytes > 1 << 20);
    }
}
