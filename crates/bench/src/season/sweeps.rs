//! Varies one setting at a time: threads, range sizes or codecs.

use std::fmt;

use run::Summary;
use serde::Serialize;
use table::Codec;

use super::launch::RunRequest;
use super::workload::SeasonWorkload;
use super::writes::Hashes;
use crate::error::BenchError;
use crate::harness::bench::Bench;
use crate::harness::report::number::count;
use crate::harness::statistics::median;

/// Repeats of each setting, in rotated order, so that a slow phase of the machine affects all settings.
const REPEATS: usize = 3;

/// The varied setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SweepKind {
    Threads,
    RangeWorlds,
    Codec,
}

/// One value of the varied setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Setting {
    /// A number of threads or worlds.
    Count(u32),
    Codec(Codec),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(n) => f.write_str(&count(u64::from(*n))),
            Self::Codec(codec) => codec.fmt(f),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sweep {
    pub kind: SweepKind,
    /// Worlds of each run.
    pub worlds: u32,
    /// Whether plays were stored.
    pub plays: bool,
    /// The fixed settings, as text.
    pub fixed: String,
    /// The measurements, in the requested order.
    pub points: Vec<SweepPoint>,
}

/// Medians over the runs with one value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepPoint {
    pub setting: Setting,
    pub runs: usize,
    pub wall_s: f64,
    pub cpu_s: f64,
    pub cpu_ms_per_world: f64,
    /// Speed-up over the first value by elapsed time: the median of the ratios within each repeat. This is robust
    /// against other load on the machine.
    pub speed_up: f64,
    /// Time of encoding, compressing and hashing, summed over the threads.
    pub encode_s: f64,
    /// Elapsed time of commits.
    pub commit_s: f64,
    pub peak_rss_bytes: u64,
    /// Bytes on disk of outcomes and plays together.
    pub stored_bytes: u64,
    /// Bits per outcome value on disk.
    pub bits_per_value: f64,
    /// Bytes per play on disk; 0 without plays.
    pub bytes_per_play: f64,
}

pub(crate) fn sweep_all(bench: &Bench<'_, SeasonWorkload>, hashes: &mut Hashes) -> Result<Vec<Sweep>, BenchError> {
    let workload = bench.workload;
    if workload.sweep_worlds == 0 {
        return Ok(Vec::new());
    }
    let range = workload.shared_range_worlds();
    let mut ranges: Vec<u32> = workload.ranges.iter().map(|r| *r.min(&workload.sweep_worlds)).collect();
    ranges.dedup();
    let data = bench.data.join("sweep");
    let base = bench.request(&data);
    let shared = RunRequest { range_worlds: Some(range), ..base };
    let by_threads =
        workload.threads.iter().map(|&n| (Setting::Count(n as u32), RunRequest { threads: Some(n), ..shared }));
    let by_range = ranges
        .iter()
        .map(|&worlds| (Setting::Count(worlds), RunRequest { threads: Some(1), range_worlds: Some(worlds), ..base }));
    let by_codec = workload
        .codecs
        .iter()
        .map(|&codec| (Setting::Codec(codec), RunRequest { codec: Some(codec), plays: workload.plays, ..shared }));
    let shared = format!("ranges of {range} worlds");
    Ok(vec![
        sweep(bench, hashes, SweepKind::Threads, &shared, &by_threads.collect::<Vec<_>>())?,
        sweep(bench, hashes, SweepKind::RangeWorlds, "one thread", &by_range.collect::<Vec<_>>())?,
        sweep(bench, hashes, SweepKind::Codec, &shared, &by_codec.collect::<Vec<_>>())?,
    ])
}

fn sweep(
    bench: &Bench<'_, SeasonWorkload>,
    hashes: &mut Hashes,
    kind: SweepKind,
    fixed: &str,
    requests: &[(Setting, RunRequest<'_>)],
) -> Result<Sweep, BenchError> {
    let mut runs: Vec<Vec<Summary>> = vec![Vec::new(); requests.len()];
    for repeat in 0..REPEATS {
        for step in 0..requests.len() {
            let place = (repeat + step) % requests.len();
            let (setting, request) = &requests[place];
            let what = format!("{} {setting}, run {} of {REPEATS}", kind.word(), repeat + 1);
            bench.check_stop(&what)?;
            let summary = request.play_and_remove()?;
            bench.note_run(&what, &summary);
            hashes.add(&what, &summary);
            runs[place].push(summary);
        }
    }
    let points = requests.iter().zip(&runs).map(|((setting, _), of)| SweepPoint::of(*setting, of, &runs[0]));
    Ok(Sweep {
        kind,
        worlds: bench.workload.sweep_worlds,
        plays: requests.iter().any(|(_, request)| request.plays),
        fixed: fixed.to_owned(),
        points: points.collect(),
    })
}

impl SweepKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::RangeWorlds => "range worlds",
            Self::Codec => "codec",
        }
    }
}

impl SweepPoint {
    /// The medians of `runs`; `first` are the runs to compare with, repeat by repeat.
    pub(super) fn of(setting: Setting, runs: &[Summary], first: &[Summary]) -> Self {
        let middle = |figure: fn(&Summary) -> f64| median(&runs.iter().map(figure).collect::<Vec<_>>());
        let speed_ups: Vec<f64> = first.iter().zip(runs).map(|(a, b)| a.wall_s / b.wall_s).collect();
        Self {
            setting,
            runs: runs.len(),
            wall_s: middle(|r| r.wall_s),
            cpu_s: middle(|r| r.cpu_s),
            cpu_ms_per_world: middle(|r| r.cpu_s * 1e3 / r.worlds.max(1) as f64),
            speed_up: median(&speed_ups),
            encode_s: middle(|r| r.phases.encode_s),
            commit_s: middle(|r| r.phases.commit_s),
            peak_rss_bytes: middle(|r| r.peak_rss_bytes as f64) as u64,
            stored_bytes: middle(|r| (r.outcomes.bytes + r.events.bytes) as f64) as u64,
            bits_per_value: middle(|r| r.outcomes.bits_per_value),
            bytes_per_play: middle(|r| r.events.bytes_per_row),
        }
    }
}
