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

/// Codecs that other systems also offer, and higher levels of compression.
const COMPARED_CODECS: [Codec; 6] =
    [Codec::None, Codec::Snappy, Codec::Lz4, Codec::Zstd(1), Codec::Zstd(3), Codec::Zstd(9)];

#[derive(Debug, Clone, PartialEq, Serialize, clap::Args)]
pub struct SeasonWorkload {
    /// Write seasons of this many worlds
    ///
    /// The reads use the largest one.
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_values_t = [10, 100, 1_000, 10_000])]
    pub scales: Vec<u32>,
    /// Seed of the seasons
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Write outcomes and no events
    #[arg(long = "skip-plays", action = clap::ArgAction::SetFalse)]
    pub plays: bool,
    /// Compare these numbers of threads
    #[arg(long = "threads-list", value_name = "T,..", value_delimiter = ',', default_values_t = [1, 2])]
    pub threads: Vec<usize>,
    /// Compare ranges of this many worlds
    ///
    /// Larger ranges than --sweep-worlds are left out.
    #[arg(long = "range-list", value_name = "R,..", value_delimiter = ',',
          default_values_t = [500, 1_000, 2_500, 5_000, 10_000])]
    pub ranges: Vec<u32>,
    /// Compare these compression codecs
    ///
    /// none, snappy, lz4, gzip or zstd:LEVEL.
    #[arg(long, value_name = "CODEC,..", value_delimiter = ',', default_values_t = COMPARED_CODECS)]
    pub codecs: Vec<Codec>,
    /// Compare settings with this many worlds
    ///
    /// Each season is written three times. 0 skips the comparison.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub sweep_worlds: u32,
    /// Repeat each read for this many seconds
    #[arg(long, value_name = "S", default_value_t = 1.0)]
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
        let worlds = "give the worlds of one or more seasons, each at least 1";
        BenchError::require(!self.scales.is_empty() && !self.scales.contains(&0), "scales", worlds)?;
        let are_positive = !self.ranges.contains(&0) && !self.threads.contains(&0);
        BenchError::require(are_positive, "sweeps", "ranges and threads are at least 1")?;
        BenchError::require((0.0..=600.0).contains(&self.read_seconds), "read seconds", "give a number from 0 to 600")
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
