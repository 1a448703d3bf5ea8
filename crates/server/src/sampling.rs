//! Samples this process for the history of the last hour.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::{Extension, State};
use serde_json::Value;

use crate::access::Access;
use crate::app::App;
use crate::error::Refusal;
use crate::history::{STEP, Sample, cpu_seconds, resident_bytes};

/// Counters at one moment.
struct Counts {
    at: Instant,
    rows: u64,
    requests: u64,
    queries: u64,
    /// Processor time of this process, in seconds.
    cpu: Option<f64>,
}

/// Takes samples forever. The first one counts from this call, not from when its task first runs.
pub(crate) fn watch_itself(app: App) -> impl Future<Output = ()> {
    let mut before = app.counts();
    async move {
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

/// Reports the last hour of this process.
pub(crate) async fn history(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Value>, Refusal> {
    access.may_read()?;
    Ok(Json(app.history.to_json()))
}
