//! Writes every scale with and without plays, and compares the content of runs.

use std::collections::BTreeMap;

use run::Summary;
use serde::Serialize;

use super::launch::RunRequest;
use super::workload::{READ_NAME, SeasonWorkload};
use crate::error::BenchError;
use crate::harness::bench::Bench;

/// One written season.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Write {
    pub worlds: u32,
    /// Whether plays were stored with the outcomes.
    pub plays: bool,
    pub cpu_ms_per_world: f64,
    /// Worlds per second of elapsed time.
    pub worlds_per_s: f64,
    /// Outcome values per second of elapsed time.
    pub values_per_s: f64,
    /// Plays stored per second of elapsed time.
    pub events_per_s: f64,
    /// Size of the outcomes as doubles divided by their stored size.
    pub ratio_to_raw: f64,
    pub run: Summary,
}

impl Write {
    pub fn of(run: Summary, plays: bool) -> Self {
        let per_s = |n: u64| if run.wall_s > 0.0 { n as f64 / run.wall_s } else { 0.0 };
        Self {
            worlds: run.worlds as u32,
            plays,
            cpu_ms_per_world: run.cpu_s * 1e3 / run.worlds.max(1) as f64,
            worlds_per_s: per_s(run.worlds as u64),
            values_per_s: per_s(run.outcomes.values),
            events_per_s: per_s(run.events.rows),
            ratio_to_raw: (run.outcomes.values * 8) as f64 / run.outcomes.bytes.max(1) as f64,
            run,
        }
    }
}

/// Writes every scale. Removes each season before the next, to save disk space; keeps the last one to read it later.
pub(crate) fn write_matrix(bench: &Bench<'_, SeasonWorkload>, hashes: &mut Hashes) -> Result<Vec<Write>, BenchError> {
    let workload = bench.workload;
    let mut writes = Vec::new();
    for (worlds, plays) in workload.seasons() {
        let what = format!("{worlds} worlds, {}", if plays { "outcomes and plays" } else { "outcomes" });
        bench.check_stop(&what)?;
        let kept = (worlds, plays) == workload.kept_season();
        let data = if kept { bench.read_folder() } else { bench.data.join("write") };
        let request = RunRequest { name: READ_NAME, worlds, plays, ..bench.request(&data) };
        let summary = if kept { request.play()? } else { request.play_and_remove()? };
        bench.note_run(&what, &summary);
        hashes.add(&what, &summary);
        writes.push(Write::of(summary, plays));
    }
    let place = |w: &Write| workload.scales.iter().position(|scale| *scale == w.worlds);
    writes.sort_by_key(|w| (place(w), w.plays));
    Ok(writes)
}

/// Content hashes of runs; runs of the same worlds must agree.
#[derive(Debug, Default)]
pub struct Hashes(BTreeMap<usize, Vec<Hashed>>);

#[derive(Debug)]
struct Hashed {
    run: String,
    outcomes: String,
    events: Option<String>,
}

/// Whether all runs of a number of worlds stored the same content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HashCheck {
    /// Worlds of each run.
    pub worlds: usize,
    pub runs: usize,
    /// Hash of the first run's outcomes.
    pub outcomes: String,
    /// Hash of the plays of the first run with plays.
    pub events: Option<String>,
    /// Runs with different content; empty if all is well.
    pub different: Vec<String>,
}

impl Hashes {
    pub fn add(&mut self, run: &str, summary: &Summary) {
        let hashed =
            Hashed { run: run.to_owned(), outcomes: summary.hash.clone(), events: summary.events.hash.clone() };
        self.0.entry(summary.worlds).or_default().push(hashed);
    }

    /// Compares the runs.
    pub fn check(&self) -> Vec<HashCheck> {
        let check = |(worlds, runs): (&usize, &Vec<Hashed>)| {
            let events = runs.iter().find_map(|r| r.events.clone());
            let differs = |r: &&Hashed| r.outcomes != runs[0].outcomes || (r.events.is_some() && r.events != events);
            HashCheck {
                worlds: *worlds,
                runs: runs.len(),
                outcomes: runs[0].outcomes.clone(),
                different: runs.iter().filter(differs).map(|r| r.run.clone()).collect(),
                events,
            }
        };
        self.0.iter().map(check).collect()
    }
}
