//! Counts the ranges that a process plays, and its time by phase.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ensemble::PhaseTimes;
use strum::VariantNames;

/// The phases of a range, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantNames)]
#[repr(usize)]
#[strum(serialize_all = "lowercase")]
pub enum Phase {
    /// From publishing its message to its arrival at the worker.
    Dispatch,
    /// Waiting for a thread.
    Wait,
    /// Claiming it in the ledger.
    Claim,
    Simulate,
    /// Encoding, compressing and hashing.
    Encode,
    /// Writing and syncing its files.
    Write,
    /// Committing it to the tables.
    Commit,
    /// Noting it in the ledger.
    Note,
    /// Acknowledging its message.
    Acknowledge,
}

/// Names of the phases, in order.
pub const PHASES: &[&str] = Phase::VARIANTS;

/// Nanoseconds that one range spent in each phase.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times([u64; PHASES.len()]);

impl Times {
    pub fn add(&mut self, phase: Phase, time: Duration) {
        self.0[phase as usize] += time.as_nanos() as u64;
    }

    /// Adds the times of the phases that produce files.
    pub fn add_played(&mut self, times: &PhaseTimes) {
        self.add(Phase::Simulate, times.simulate);
        self.add(Phase::Encode, times.encode);
        self.add(Phase::Write, times.write);
    }

    /// Nanoseconds of each phase.
    pub fn ns(&self) -> [u64; PHASES.len()] {
        self.0
    }
}

/// Counts of one process. Times are summed over its ranges, in nanoseconds.
#[derive(Debug, Default)]
pub struct Meter {
    phases: [AtomicU64; PHASES.len()],
    ranges: AtomicU64,
    worlds: AtomicU64,
    failures: AtomicU64,
    given_back: AtomicU64,
    reconnections: AtomicU64,
}

impl Meter {
    pub fn add(&self, phase: Phase, time: Duration) {
        self.phases[phase as usize].fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Adds the times of one range.
    pub fn spent(&self, times: &Times) {
        self.phases.iter().zip(times.0).for_each(|(phase, ns)| _ = phase.fetch_add(ns, Ordering::Relaxed));
    }

    /// Counts a committed range of `worlds` worlds.
    pub fn done(&self, worlds: usize) {
        self.ranges.fetch_add(1, Ordering::Relaxed);
        self.worlds.fetch_add(worlds as u64, Ordering::Relaxed);
    }

    /// Counts a failed range.
    pub fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a claimed range left to other workers.
    pub fn gave_back(&self) {
        self.given_back.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a lost connection to the broker.
    pub fn reconnects(&self) {
        self.reconnections.fetch_add(1, Ordering::Relaxed);
    }

    /// Committed ranges.
    pub fn ranges(&self) -> usize {
        self.ranges.load(Ordering::Relaxed) as usize
    }

    /// Committed worlds.
    pub fn worlds(&self) -> usize {
        self.worlds.load(Ordering::Relaxed) as usize
    }

    /// Time of a phase, summed over all ranges.
    pub fn time(&self, phase: Phase) -> Duration {
        Duration::from_nanos(self.phases[phase as usize].load(Ordering::Relaxed))
    }

    /// Nanoseconds of each phase.
    pub fn phases(&self) -> [u64; PHASES.len()] {
        std::array::from_fn(|phase| self.phases[phase].load(Ordering::Relaxed))
    }

    /// The counts in Prometheus's text format.
    pub fn prometheus(&self) -> String {
        let mut text = String::new();
        let mut counter = |name: &str, help: &str, values: &[(String, String)]| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "# HELP manyworlds_worker_{name} {help}\n# TYPE manyworlds_worker_{name} counter");
            for (labels, value) in values {
                let _ = writeln!(text, "manyworlds_worker_{name}{labels} {value}");
            }
        };
        let one = |count: &AtomicU64| vec![(String::new(), count.load(Ordering::Relaxed).to_string())];
        counter("ranges_total", "Ranges played and committed.", &one(&self.ranges));
        counter("worlds_total", "Worlds played and committed.", &one(&self.worlds));
        counter("failures_total", "Ranges that failed.", &one(&self.failures));
        counter("given_back_total", "Ranges begun and left to others.", &one(&self.given_back));
        counter("reconnections_total", "Connections to the broker made anew.", &one(&self.reconnections));
        let phases = PHASES.iter().zip(self.phases());
        let seconds = phases.map(|(name, ns)| (format!("{{phase=\"{name}\"}}"), format!("{:.9}", ns as f64 / 1e9)));
        counter("phase_seconds_total", "Time of ranges by phase.", &seconds.collect::<Vec<_>>());
        text
    }

    /// One line about the time since `before`, and resets `before`; `None` if no range was committed.
    pub fn line(&self, before: &mut Reading) -> Option<String> {
        let now = Reading { phases: self.phases(), worlds: self.worlds.load(Ordering::Relaxed) };
        let then = std::mem::replace(before, now);
        let spent = PHASES.iter().zip(now.phases.iter().zip(then.phases));
        let spent: Vec<String> = spent.map(|(name, (now, then))| format!("{name} {} ns", now - then)).collect();
        (now.worlds > then.worlds).then(|| format!("{} worlds; {}", now.worlds - then.worlds, spent.join(", ")))
    }
}

/// The counts at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    phases: [u64; PHASES.len()],
    worlds: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_to_the_nanosecond() {
        let meter = Meter::default();
        meter.add(Phase::Commit, Duration::from_nanos(1_500_000_001));
        meter.add(Phase::Acknowledge, Duration::from_nanos(7));
        meter.done(250);
        let text = meter.prometheus();
        for line in [
            "manyworlds_worker_worlds_total 250",
            "manyworlds_worker_phase_seconds_total{phase=\"commit\"} 1.500000001",
            "manyworlds_worker_phase_seconds_total{phase=\"acknowledge\"} 0.000000007",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is missing:\n{text}");
        }
        let mut before = Reading::default();
        let line = meter.line(&mut before).unwrap();
        assert!(line.starts_with("250 worlds; dispatch 0 ns, ") && line.contains("commit 1500000001 ns"), "{line}");
        assert_eq!(meter.line(&mut before), None);
        meter.done(1);
        assert!(meter.line(&mut before).unwrap().contains("commit 0 ns"));
    }
}
