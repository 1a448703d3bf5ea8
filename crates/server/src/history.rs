//! Measurements of the last hour, in memory.

use std::collections::VecDeque;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::{Extension, State};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use serde_json::{Value, json};

use crate::access::Access;
use crate::app::App;
use crate::error::Refusal;

/// Time between two samples, and the number of samples kept.
const STEP: Duration = Duration::from_secs(10);
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
type Sample = (u64, [Option<f64>; NAMES.len()]);

#[derive(Debug, Default)]
pub(crate) struct History(Mutex<VecDeque<Sample>>);

/// Counters at one moment.
struct Counts {
    at: Instant,
    rows: u64,
    requests: u64,
    queries: u64,
    /// Processor time of this process, in seconds.
    cpu: Option<f64>,
}

/// Takes samples forever.
pub(crate) async fn watch_itself(app: App) {
    let mut before = app.counts();
    let mut ticks = tokio::time::interval(STEP);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let now = app.counts();
        app.history.add(app.sample(&before, &now));
        before = now;
    }
}

impl App {
    fn counts(&self) -> Counts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            at: Instant::now(),
            rows: self.store.figures().rows,
            requests: of(&self.counters.requests),
            queries: of(&self.counters.questions),
            cpu: cpu_seconds(),
        }
    }

    fn sample(&self, before: &Counts, now: &Counts) -> Sample {
        let seconds = now.at.duration_since(before.at).as_secs_f64().max(f64::MIN_POSITIVE);
        // A table that was dropped takes its count with it.
        let rate = |of: fn(&Counts) -> u64| Some(of(now).saturating_sub(of(before)) as f64 / seconds);
        let cpu = before.cpu.zip(now.cpu).map(|(before, now)| (now - before) / seconds);
        let store = self.store.figures();
        let values = [
            rate(|counts| counts.rows),
            rate(|counts| counts.requests),
            rate(|counts| counts.queries),
            Some(self.questions.running() as f64),
            resident_bytes().map(|bytes| bytes as f64),
            cpu,
            Some(store.waiting_rows as f64),
            Some(store.log_bytes as f64),
        ];
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (since.as_millis() as u64, values)
    }
}

impl History {
    fn add(&self, sample: Sample) {
        let mut samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if samples.len() == SAMPLES {
            samples.pop_front();
        }
        samples.push_back(sample);
    }

    fn to_json(&self) -> Value {
        let samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at: Vec<u64> = samples.iter().map(|(at, _)| *at).collect();
        let values = |place: usize| samples.iter().map(|(_, values)| json!(values[place])).collect::<Value>();
        let series: serde_json::Map<String, Value> =
            NAMES.iter().enumerate().map(|(place, name)| ((*name).to_owned(), values(place))).collect();
        json!({"step_s": STEP.as_secs(), "at": at, "series": series})
    }
}

/// Reports the last hour of this process.
pub(crate) async fn history(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Value>, Refusal> {
    access.may_read()?;
    Ok(Json(app.history.to_json()))
}

fn cpu_seconds() -> Option<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    Some((usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e6)
}

/// Memory of this process without its query processes; `None` where the system does not report it.
fn resident_bytes() -> Option<u64> {
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
