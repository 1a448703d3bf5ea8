//! The settings of the benchmark, and the runs that use them.

use std::path::{Path, PathBuf};

use run::Summary;
use serde::Serialize;
use table::Codec;

use super::launch::RunRequest;
use crate::error::BenchError;
use crate::harness::bench::Bench;
use crate::harness::report::number::short;

/// The name of the ensemble to read.
pub(crate) const READ_NAME: &str = "season";

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeasonWorkload {
    /// Numbers of worlds of the written seasons, each at least one.
    pub scales: Vec<u32>,
    /// The seed of all seasons.
    pub seed: u64,
    /// Whether to also write every scale with plays.
    pub plays: bool,
    pub threads: Vec<usize>,
    /// Range sizes in worlds to compare.
    pub ranges: Vec<u32>,
    pub codecs: Vec<Codec>,
    /// Worlds of each run in a sweep; 0 to skip sweeps.
    pub sweep_worlds: u32,
    /// Seconds to repeat each read.
    pub read_seconds: f64,
}

impl SeasonWorkload {
    /// The season to read: the largest number of worlds, without plays.
    pub(crate) fn kept_season(&self) -> (u32, bool) {
        (self.scales.iter().copied().max().unwrap_or(0), false)
    }

    /// Every season once, as worlds and whether it has plays; the season to read comes last.
    pub(crate) fn seasons(&self) -> Vec<(u32, bool)> {
        let of_scale = |worlds| [(worlds, false), (worlds, true)].into_iter().take(if self.plays { 2 } else { 1 });
        let mut seasons: Vec<(u32, bool)> = Vec::new();
        for season in self.scales.iter().copied().flat_map(of_scale) {
            if season != self.kept_season() && !seasons.contains(&season) {
                seasons.push(season);
            }
        }
        seasons.push(self.kept_season());
        seasons
    }

    /// Worlds per range in sweeps of other settings, equal for all numbers of threads.
    pub(crate) fn shared_range_worlds(&self) -> u32 {
        let most_threads = self.threads.iter().copied().max().unwrap_or(1);
        self.sweep_worlds.div_ceil(2 * most_threads as u32).max(1)
    }

    pub(super) fn check(&self) -> Result<(), BenchError> {
        let refuse = |setting, reason: &str| Err(BenchError::Workload { setting, reason: reason.to_owned() });
        if self.scales.is_empty() || self.scales.contains(&0) {
            return refuse("scales", "give the worlds of one or more seasons, each at least 1");
        }
        if self.ranges.contains(&0) || self.threads.contains(&0) {
            return refuse("sweeps", "ranges and threads are at least 1");
        }
        if !(0.0..=600.0).contains(&self.read_seconds) {
            return refuse("read seconds", "give a number from 0 to 600");
        }
        Ok(())
    }
}

impl Bench<'_, SeasonWorkload> {
    pub(crate) fn read_folder(&self) -> PathBuf {
        self.data.join("largest")
    }

    /// A run with default settings.
    pub(crate) fn request<'r>(&'r self, data: &'r Path) -> RunRequest<'r> {
        RunRequest {
            program: self.program,
            data,
            name: "run",
            worlds: self.workload.sweep_worlds,
            seed: self.workload.seed,
            plays: false,
            threads: None,
            range_worlds: None,
            codec: None,
        }
    }

    /// Notes the size and cost of a run.
    pub(super) fn note_run(&self, what: &str, summary: &Summary) {
        (self.note)(&format!("{what}: {}", in_brief(summary)));
    }
}

/// Size and cost of a run in one line.
fn in_brief(run: &Summary) -> String {
    let mut figures = vec![format!("{} bits a value", short(run.outcomes.bits_per_value))];
    if run.events.rows > 0 {
        figures.push(format!("{} bytes a play", short(run.events.bytes_per_row)));
    }
    let cpu_ms = run.cpu_s * 1e3 / run.worlds.max(1) as f64;
    figures.push(format!("{} ms of processor time a world", short(cpu_ms)));
    figures.join(", ")
}
