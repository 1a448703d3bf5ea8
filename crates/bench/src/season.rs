//! The season's experiments, one after the other.

use std::path::{Path, PathBuf};

use run::Summary;
use serde::Serialize;
use table::Codec;

use crate::bars::{Bar, bars};
use crate::bench::Bench;
use crate::error::BenchError;
use crate::launch::RunRequest;
use crate::machine::Machine;
use crate::reads::{Reads, Sql, read_all};
use crate::report::in_brief;
use crate::room;
use crate::scaling::{Scaling, scaling};
use crate::sweeps::{Sweep, sweep_all};
use crate::writes::{HashCheck, Hashes, Write, write_matrix};

/// The ensemble that is asked.
pub(crate) const READ_NAME: &str = "season";

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Workload {
    /// Worlds of the seasons written, at least one.
    pub scales: Vec<u32>,
    /// The seed of them all.
    pub seed: u64,
    /// Whether to write every scale with plays too.
    pub plays: bool,
    /// Worker threads to compare.
    pub threads: Vec<usize>,
    /// Worlds of a range to compare.
    pub ranges: Vec<u32>,
    /// Compression codecs to compare.
    pub codecs: Vec<Codec>,
    /// Worlds of each run that is compared; 0 to compare none.
    pub sweep_worlds: u32,
    /// How long to repeat each read.
    pub read_seconds: f64,
}

impl Workload {
    /// The season that is asked: worlds of the largest one, and that it has no plays.
    pub(crate) fn kept_season(&self) -> (u32, bool) {
        (self.scales.iter().copied().max().unwrap_or(0), false)
    }

    /// Every season once, by its worlds and whether it has plays, that which is kept last.
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

    /// Worlds of a range where ranges are not what is compared: as many ranges for one thread as for many, so that only
    /// the number of hands differs.
    pub(crate) fn shared_range_worlds(&self) -> u32 {
        let most_threads = self.threads.iter().copied().max().unwrap_or(1);
        self.sweep_worlds.div_ceil(2 * most_threads as u32).max(1)
    }

    fn check(&self) -> Result<(), BenchError> {
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

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Season {
    /// Where.
    pub machine: Machine,
    /// What.
    pub workload: Workload,
    /// The write matrix.
    pub writes: Vec<Write>,
    /// Whether cost grows as the worlds do.
    pub scaling: Vec<Scaling>,
    /// Threads, range sizes, compression codecs.
    pub sweeps: Vec<Sweep>,
    /// Read latencies.
    pub reads: Reads,
    /// Whether runs of as many worlds stored the same.
    pub hashes: Vec<HashCheck>,
    /// The bars, and what was measured.
    pub bars: Vec<Bar>,
}

impl Season {
    /// Whether all runs of as many worlds stored the same.
    pub fn is_deterministic(&self) -> bool {
        self.hashes.iter().all(|h| h.different.is_empty())
    }
}

/// Runs the season's experiments. With `sql`, questions are asked in SQL too. What is left in the folder at the end is the
/// largest season's data folder.
///
/// # Errors
/// Where a run fails or an answer is wrong. That runs differ in what they stored is no error but a result, in
/// [`Season::hashes`].
pub async fn season(bench: &Bench<'_, Workload>, sql: Option<Sql<'_>>) -> Result<Season, BenchError> {
    bench.workload.check()?;
    bench.check_empty()?;
    let machine = Machine::here();
    let needed = room::needed(bench.workload, machine.cores);
    bench.check_stop(&room::check(bench.data, needed, room::free(bench.data)?)?)?;
    let mut hashes = Hashes::default();
    // What is compared goes first: nothing may lie on the disk beside the largest seasons.
    let sweeps = sweep_all(bench, &mut hashes)?;
    let writes = write_matrix(bench, &mut hashes)?;
    let reads = read_all(bench, sql).await?;
    Ok(Season {
        machine,
        workload: bench.workload.clone(),
        scaling: scaling(&writes),
        bars: bars(&writes, &sweeps, &reads),
        hashes: hashes.check(),
        writes,
        sweeps,
        reads,
    })
}

impl Bench<'_, Workload> {
    /// The data folder of the season that is asked.
    pub(crate) fn read_folder(&self) -> PathBuf {
        self.data.join("largest")
    }

    /// A run with nothing special, to be changed where it is.
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

    /// Tells what a run stored and what that took.
    pub(crate) fn tell_run(&self, what: &str, summary: &Summary) {
        (self.note)(&format!("{what}: {}", in_brief(summary)));
    }
}

#[cfg(test)]
pub(crate) mod tests;
