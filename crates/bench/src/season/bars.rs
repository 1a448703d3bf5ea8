//! The bars of the season, with measured figures.

use serde::Serialize;

use super::reads::{Read, Reads};
use super::sweeps::{Setting, Sweep, SweepKind};
use super::writes::Write;
use crate::harness::bars::Verdict;

/// A figure required at a number of worlds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    /// The measured quantity.
    pub what: &'static str,
    pub unit: &'static str,
    /// The required figure.
    pub bar: f64,
    /// The desired figure.
    pub aim: f64,
    pub more_is_better: bool,
    /// The number of worlds that the bar applies to.
    pub at_worlds: u32,
    pub measured: Option<f64>,
    /// The number of worlds of the measurement.
    pub measured_worlds: Option<u32>,
    pub verdict: Verdict,
}

impl Bar {
    /// A bar, with the measured figure and its number of worlds.
    fn new(
        what: &'static str,
        unit: &'static str,
        [bar, aim]: [f64; 2],
        at_worlds: u32,
        measured: Option<(f64, u32)>,
    ) -> Self {
        let (measured, measured_worlds) = measured.unzip();
        let verdict = Verdict::of(measured, [bar, aim]);
        Self { what, unit, bar, aim, more_is_better: aim > bar, at_worlds, measured, measured_worlds, verdict }
    }
}

/// The bars for two cores. Each gets the figure measured closest to its number of worlds.
pub fn bars(writes: &[Write], sweeps: &[Sweep], reads: &Reads) -> Vec<Bar> {
    let write = |plays: bool, worlds: u32| {
        let of_kind = writes.iter().filter(|w| w.plays == plays);
        of_kind.min_by_key(|w| (w.worlds.abs_diff(worlds), w.worlds))
    };
    let of = |plays: bool, figure: fn(&Write) -> f64| write(plays, 10_000).map(|w| (figure(w), w.worlds));
    let peak = |worlds: u32| {
        let both = [write(false, worlds), write(true, worlds)].into_iter().flatten();
        both.map(|w| (w.run.peak_rss_bytes as f64 / 1e9, w.worlds)).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let read = |id: &str, figure: fn(&Read) -> f64| {
        let read = reads.reads.iter().find(|r| r.id == id)?;
        Some((figure(read), reads.worlds as u32))
    };
    let threads = sweeps.iter().find(|s| s.kind == SweepKind::Threads);
    let two = threads.and_then(|s| {
        let first_is_one = s.points.first().is_some_and(|p| p.setting == Setting::Count(1));
        let two = s.points.iter().find(|p| p.setting == Setting::Count(2)).filter(|_| first_is_one)?;
        Some((two.speed_up, s.worlds))
    });
    vec![
        Bar::new("processor time a world, outcomes", "ms", [9.0, 5.0], 10_000, of(false, |w| w.cpu_ms_per_world)),
        Bar::new(
            "processor time a world, outcomes and plays",
            "ms",
            [18.0, 9.0],
            10_000,
            of(true, |w| w.cpu_ms_per_world),
        ),
        Bar::new("peak memory", "GB", [1.5, 0.5], 1_000, peak(1_000)),
        Bar::new("peak memory", "GB", [1.5, 0.5], 100_000, peak(100_000)),
        Bar::new("outcomes on disk", "bits a value", [3.9, 3.3], 10_000, of(false, |w| w.run.outcomes.bits_per_value)),
        Bar::new("plays on disk", "bytes a play", [8.0, 5.0], 10_000, of(true, |w| w.run.events.bytes_per_row)),
        // The cold read decodes files from the page cache. A warm read is too short for a bar.
        Bar::new(
            "one game, all outcomes, files in memory, median",
            "ms",
            [500.0, 100.0],
            100_000,
            read("R1", |r| r.cold.p50_ms),
        ),
        Bar::new("five-leg price, warm in process, median", "ms", [1.0, 0.05], 100_000, read("R6", |r| r.warm.p50_ms)),
        Bar::new("correlation of all outcomes of a game", "s", [8.0, 2.0], 100_000, read("M", |r| r.warm.p50_ms / 1e3)),
        Bar::new("two threads against one", "times", [1.8, 1.95], 10_000, two),
    ]
}
