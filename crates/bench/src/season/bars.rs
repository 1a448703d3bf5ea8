//! The bars of the season, with measured figures.

use super::reads::{Read, Reads};
use super::sweeps::{Setting, Sweep, SweepKind};
use super::writes::Write;
use crate::harness::bars::Bar;

/// The bars for two cores. Each gets the figure measured closest to its number of worlds.
pub(super) fn bars(writes: &[Write], sweeps: &[Sweep], reads: &Reads) -> Vec<Bar> {
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
    let bar = |what: &str, unit, goals, at_worlds, measured: Option<(f64, u32)>| {
        let (measured, worlds) = measured.unzip();
        Bar::new(what, unit, goals, measured).at_worlds(at_worlds, worlds)
    };
    let [cpu, cpu_with_plays] = [false, true].map(|plays| of(plays, |w| w.cpu_ms_per_world));
    let one_game = read("R1", |r| r.cold.p50_ms);
    vec![
        bar("processor time a world, outcomes", "ms", [9.0, 5.0], 10_000, cpu),
        bar("processor time a world, outcomes and plays", "ms", [18.0, 9.0], 10_000, cpu_with_plays),
        bar("peak memory", "GB", [1.5, 0.5], 1_000, peak(1_000)),
        bar("peak memory", "GB", [1.5, 0.5], 100_000, peak(100_000)),
        bar("outcomes on disk", "bits a value", [3.9, 3.3], 10_000, of(false, |w| w.run.outcomes.bits_per_value)),
        bar("plays on disk", "bytes a play", [8.0, 5.0], 10_000, of(true, |w| w.run.events.bytes_per_row)),
        // The cold read decodes files from the page cache. A warm read is too short for a bar.
        bar("one game, all outcomes, files in memory, median", "ms", [500.0, 100.0], 100_000, one_game),
        bar("five-leg price, warm in process, median", "ms", [1.0, 0.05], 100_000, read("R6", |r| r.warm.p50_ms)),
        bar("correlation of all outcomes of a game", "s", [8.0, 2.0], 100_000, read("M", |r| r.warm.p50_ms / 1e3)),
        bar("two threads against one", "times", [1.8, 1.95], 10_000, two),
    ]
}
