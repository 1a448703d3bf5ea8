//! The write matrix: every scale, with and without plays; and what its hashes must agree on.

use std::collections::BTreeMap;

use run::Summary;
use serde::Serialize;

use crate::bench::Bench;
use crate::error::BenchError;
use crate::launch::RunRequest;
use crate::season::{READ_NAME, Workload};

/// One written season.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Write {
    /// Worlds played.
    pub worlds: u32,
    /// Whether plays were stored beside the outcomes.
    pub plays: bool,
    /// Processor time a world.
    pub cpu_ms_per_world: f64,
    /// Worlds a second of elapsed time.
    pub worlds_per_s: f64,
    /// Outcome values a second of elapsed time.
    pub values_per_s: f64,
    /// Plays stored a second of elapsed time.
    pub events_per_s: f64,
    /// How many times smaller the outcomes are than doubles.
    pub ratio_to_raw: f64,
    /// What the run said of itself.
    pub run: Summary,
}

impl Write {
    /// From what a run said of itself.
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

/// Writes every scale. All are removed at once but the one that is asked later, which is written last: no two seasons lie
/// on the disk at the same time.
pub(crate) fn write_matrix(bench: &Bench<'_, Workload>, hashes: &mut Hashes) -> Result<Vec<Write>, BenchError> {
    let workload = bench.workload;
    let mut writes = Vec::new();
    for (worlds, plays) in workload.seasons() {
        let what = format!("{worlds} worlds, {}", if plays { "outcomes and plays" } else { "outcomes" });
        bench.check_stop(&what)?;
        let kept = (worlds, plays) == workload.kept_season();
        let data = if kept { bench.read_folder() } else { bench.data.join("write") };
        let request = RunRequest { name: READ_NAME, worlds, plays, ..bench.request(&data) };
        let summary = if kept { request.play()? } else { request.play_and_remove()? };
        bench.tell_run(&what, &summary);
        hashes.add(&what, &summary);
        writes.push(Write::of(summary, plays));
    }
    let place = |w: &Write| workload.scales.iter().position(|scale| *scale == w.worlds);
    writes.sort_by_key(|w| (place(w), w.plays));
    Ok(writes)
}

/// The content hashes of runs that must agree: those of as many worlds.
#[derive(Debug, Default)]
pub struct Hashes(BTreeMap<usize, Vec<Hashed>>);

#[derive(Debug)]
struct Hashed {
    run: String,
    outcomes: String,
    events: Option<String>,
}

/// Whether all runs of as many worlds stored the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HashCheck {
    /// Worlds of each run.
    pub worlds: usize,
    /// How many runs there were.
    pub runs: usize,
    /// What the first stored, by its hash.
    pub outcomes: String,
    /// The plays of the first that stored them.
    pub events: Option<String>,
    /// Runs that stored something else: none, or something is wrong.
    pub different: Vec<String>,
}

impl Hashes {
    /// Takes up what a run stored.
    pub fn add(&mut self, run: &str, summary: &Summary) {
        let hashed =
            Hashed { run: run.to_owned(), outcomes: summary.hash.clone(), events: summary.events.hash.clone() };
        self.0.entry(summary.worlds).or_default().push(hashed);
    }

    /// Holds the runs against each other.
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
