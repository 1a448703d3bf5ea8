//! Maintains a table beside its writers: merges small segments and deletes old rows.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use arrow::temporal_conversions::timestamp_us_to_datetime;
use table::upkeep::{TrimLimit, TrimOptions, VacuumOptions, compact, trim, vacuum};
use table::{ErrorKind, Table, TableError};
use tokio::sync::watch;

use crate::flush::is_gone;
use crate::live::Live;
use decode::TIME;

/// How often to check for work.
const LOOK_EACH: Duration = Duration::from_millis(500);
/// How often to look for expired rows and files.
const CLEAN_EACH: Duration = Duration::from_mins(10);

/// Maintains a table until the store closes.
pub(crate) async fn keep(live: Arc<Live>, mut closing: watch::Receiver<bool>) {
    let mut merged_at = 0;
    let mut cleaned: Option<Instant> = None;
    while !*closing.borrow() && !is_gone(&closing) {
        let segments = live.counts.segments.load(Ordering::Relaxed);
        let each = live.options.compact_segments as u64;
        if each > 0 && segments >= merged_at + each {
            merged_at = segments;
            let Ok(_turn) = live.shared.upkeep.acquire().await else { return };
            told(&live, "merge its segments", compact(&live.root, live.disk.clone(), None).await.map(drop));
        }
        // Rows expire even without new ones; files expire only after changes.
        let is_due = segments > 0 || (live.options.retain.is_some() && Table::committed_at(&live.root).is_some());
        if is_due && cleaned.is_none_or(|at| at.elapsed() >= CLEAN_EACH) {
            cleaned = Some(Instant::now());
            let Ok(_turn) = live.shared.upkeep.acquire().await else { return };
            clean(&live).await;
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EACH) => {}
            _ = closing.changed() => {}
        }
    }
}

/// Removes unneeded log files until the store closes, which removes the rest.
pub(crate) async fn tidy(live: Arc<Live>, mut closing: watch::Receiver<bool>) {
    let mut committed = live.committed.subscribe();
    loop {
        tokio::select! {
            _ = closing.changed() => return,
            changed = committed.changed() => if changed.is_err() { return },
        }
        let position = *committed.borrow_and_update();
        let (releasing, closes) = (live.clone(), closing.clone());
        let released = tokio::task::spawn_blocking(move || releasing.release(position, || !*closes.borrow())).await;
        if let Err(error) = released.unwrap_or_else(|panic| Err(panic.into())) {
            // The rows are in the table; the log files are removed later.
            tracing::warn!(table = %live.name, %error, "could not remove what is no longer needed of the log");
        }
    }
}

/// Deletes expired rows, and files that no version has needed for long.
async fn clean(live: &Live) {
    if let Some(before) = live.options.retain.and_then(ago) {
        let options = TrimOptions { limit: TrimLimit::Before(before), column: Some(TIME.to_owned()), apply: true };
        told(live, "remove its old rows", trim(&live.root, live.disk.clone(), &options).await.map(drop));
    }
    let options = VacuumOptions { retain: live.options.vacuum_after, apply: true };
    told(live, "remove its old files", vacuum(&live.root, live.disk.clone(), options).await.map(drop));
}

/// The time `age` ago, as text.
fn ago(age: Duration) -> Option<String> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    let then = now.as_micros() as i64 - age.as_micros() as i64;
    Some(format!("{}Z", timestamp_us_to_datetime(then)?.format("%Y-%m-%dT%H:%M:%S%.6f")))
}

/// Logs a failure, which is retried later: it costs only space and speed.
fn told(live: &Live, what: &str, done: Result<(), TableError>) {
    match done {
        Err(error) if error.kind() == ErrorKind::Conflict => {
            tracing::debug!(table = %live.name, %error, "could not {what}; trying later");
        }
        Err(error) => tracing::warn!(table = %live.name, %error, "could not {what}; trying later"),
        Ok(()) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_past_are_told_in_the_form_that_trim_reads() {
        let hour = ago(Duration::from_hours(1)).unwrap();
        let day = ago(Duration::from_hours(24)).unwrap();
        assert!(day < hour && hour.ends_with('Z') && hour.len() == "2026-01-01T00:00:00.000000Z".len(), "{hour}");
    }
}
