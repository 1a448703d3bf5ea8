//! Measurements of the last hour, in memory.

use std::collections::VecDeque;
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use serde_json::{Value, json};

/// Time between two samples, and the number of samples kept.
pub(crate) const STEP: Duration = Duration::from_secs(10);
const SAMPLES: usize = 360;

/// The names of the measurements. Rates are per second since the sample before.
const NAMES: [&str; 8] = [
    "rows_per_s",
    "write_requests_per_s",
    "queries_per_s",
    "queries_running",
    "memory_bytes",
    "cpu",
    "waiting_rows",
    "log_bytes",
];

/// One sample: the time in milliseconds since 1970, and a value for each of [`NAMES`].
pub(crate) type Sample = (u64, [Option<f64>; NAMES.len()]);

#[derive(Debug, Default)]
pub(crate) struct History(Mutex<VecDeque<Sample>>);

impl History {
    pub(crate) fn add(&self, sample: Sample) {
        let mut samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if samples.len() == SAMPLES {
            samples.pop_front();
        }
        samples.push_back(sample);
    }

    pub(crate) fn to_json(&self) -> Value {
        let samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at: Vec<u64> = samples.iter().map(|(at, _)| *at).collect();
        let values = |place: usize| samples.iter().map(|(_, values)| json!(values[place])).collect::<Value>();
        let series: serde_json::Map<String, Value> =
            NAMES.iter().enumerate().map(|(place, name)| ((*name).to_owned(), values(place))).collect();
        json!({"step_s": STEP.as_secs(), "at": at, "series": series})
    }
}

/// Processor time of this process.
pub(crate) fn cpu_seconds() -> Option<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    Some((usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e6)
}

/// Memory of this process without its query processes; `None` where the system does not report it.
pub(crate) fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_kept() {
        let history = History::default();
        for at in 0..SAMPLES as u64 + 5 {
            history.add((at, [Some(at as f64); NAMES.len()]));
        }
        let shown = history.to_json();
        assert_eq!(shown["at"].as_array().unwrap().len(), SAMPLES);
        assert_eq!(
            (&shown["at"][0], &shown["series"]["cpu"][0], &shown["step_s"]),
            (&json!(5), &json!(5.0), &json!(10))
        );
        assert_eq!(shown["series"].as_object().unwrap().len(), NAMES.len());
    }

    #[test]
    fn this_process_has_memory_and_processor_time() {
        assert!(resident_bytes().is_none_or(|bytes| bytes > 1 << 20));
        assert!(cpu_seconds().is_some_and(|seconds| seconds > 0.0));
    }
}
