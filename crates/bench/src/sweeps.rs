//! One setting varied, all else equal: threads, range sizes, compression levels.

use run::Summary;
use serde::Serialize;
use table::Codec;

use crate::error::BenchError;
use crate::launch::RunRequest;
use crate::season::{Bench, remove};
use crate::statistics::median;
use crate::writes::Hashes;

/// Each setting is measured this often, in rotated order, so that a machine that slows down slows all of them.
const REPEATS: usize = 3;

/// What is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SweepKind {
    /// Worker threads.
    Threads,
    /// Worlds of a range.
    RangeWorlds,
    /// Compression level of zstd.
    ZstdLevel,
}

/// One setting varied.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sweep {
    /// What was varied.
    pub kind: SweepKind,
    /// Worlds of each run.
    pub worlds: u32,
    /// Whether plays were stored.
    pub plays: bool,
    /// What was held fixed, for people.
    pub fixed: String,
    /// The settings in the order asked for.
    pub points: Vec<SweepPoint>,
}

/// Medians over the runs of one setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepPoint {
    /// The setting.
    pub setting: u32,
    /// How often it was measured.
    pub runs: usize,
    /// Elapsed time.
    pub wall_s: f64,
    /// Processor time.
    pub cpu_s: f64,
    /// Processor time a world.
    pub cpu_ms_per_world: f64,
    /// How many times faster than the first setting, by elapsed time: the median over the repeats of the ratio within
    /// each, which a machine that others load now and then spoils least.
    pub speed_up: f64,
    /// Elapsed time of commits.
    pub commit_s: f64,
    /// The most memory at once.
    pub peak_rss_bytes: u64,
    /// Bits on disk an outcome value.
    pub bits_per_value: f64,
    /// Bytes on disk a play; 0 where none were stored.
    pub bytes_per_play: f64,
}

/// All sweeps.
pub(crate) fn sweep_all(bench: &Bench<'_>, hashes: &mut Hashes) -> Result<Vec<Sweep>, BenchError> {
    let workload = bench.workload;
    let most_threads = workload.threads.iter().copied().max().unwrap_or(1);
    // As many ranges for one thread as for many, so that only their number of hands differs.
    let range = workload.sweep_worlds.div_ceil(2 * most_threads as u32).max(1);
    let threads: Vec<u32> = workload.threads.iter().map(|t| *t as u32).collect();
    let mut ranges: Vec<u32> = workload.ranges.iter().map(|r| *r.min(&workload.sweep_worlds)).collect();
    ranges.dedup();
    let levels: Vec<u32> = workload.levels.iter().map(|l| *l as u32).collect();
    let shared = format!("ranges of {range} worlds");
    Ok(vec![
        sweep(bench, hashes, SweepKind::Threads, &threads, (&shared, false), |request, setting| RunRequest {
            threads: Some(setting as usize),
            range_worlds: Some(range),
            ..request
        })?,
        sweep(bench, hashes, SweepKind::RangeWorlds, &ranges, ("one thread", false), |request, setting| RunRequest {
            threads: Some(1),
            range_worlds: Some(setting),
            ..request
        })?,
        sweep(bench, hashes, SweepKind::ZstdLevel, &levels, (&shared, workload.plays), |request, setting| {
            RunRequest { range_worlds: Some(range), codec: Some(Codec::Zstd(setting as i32)), ..request }
        })?,
    ])
}

fn sweep<'r>(
    bench: &'r Bench<'_>,
    hashes: &mut Hashes,
    kind: SweepKind,
    settings: &[u32],
    (fixed, plays): (&str, bool),
    vary: impl for<'a> Fn(RunRequest<'a>, u32) -> RunRequest<'a>,
) -> Result<Sweep, BenchError> {
    let data = bench.data.join("sweep");
    let mut runs: Vec<Vec<Summary>> = vec![Vec::new(); settings.len()];
    for repeat in 0..REPEATS {
        for step in 0..settings.len() {
            let place = (repeat + step) % settings.len();
            let what = format!("{} {}, run {} of {REPEATS}", kind.word(), settings[place], repeat + 1);
            bench.check_stop(&what)?;
            let summary = vary(RunRequest { plays, ..bench.request(&data) }, settings[place]).play()?;
            remove(&data)?;
            hashes.add(&what, &summary);
            runs[place].push(summary);
        }
    }
    let points = settings.iter().zip(&runs).map(|(setting, of)| SweepPoint::of(*setting, of, &runs[0])).collect();
    Ok(Sweep { kind, worlds: bench.workload.sweep_worlds, plays, fixed: fixed.to_owned(), points })
}

impl SweepKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::RangeWorlds => "range worlds",
            Self::ZstdLevel => "zstd level",
        }
    }
}

impl SweepPoint {
    /// The medians of some runs; `first` are those of the setting to compare with, repeat by repeat.
    pub fn of(setting: u32, runs: &[Summary], first: &[Summary]) -> Self {
        let middle = |figure: fn(&Summary) -> f64| median(&runs.iter().map(figure).collect::<Vec<_>>());
        let speed_ups: Vec<f64> = first.iter().zip(runs).map(|(a, b)| a.wall_s / b.wall_s).collect();
        Self {
            setting,
            runs: runs.len(),
            wall_s: middle(|r| r.wall_s),
            cpu_s: middle(|r| r.cpu_s),
            cpu_ms_per_world: middle(|r| r.cpu_s * 1e3 / r.worlds.max(1) as f64),
            speed_up: median(&speed_ups),
            commit_s: middle(|r| r.phases.commit_s),
            peak_rss_bytes: middle(|r| r.peak_rss_bytes as f64) as u64,
            bits_per_value: middle(|r| r.outcomes.bits_per_value),
            bytes_per_play: middle(|r| r.events.bytes_per_row),
        }
    }
}
