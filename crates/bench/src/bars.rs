//! What the season must reach, and what was measured.

use serde::Serialize;

use crate::reads::{Read, Reads};
use crate::report::number::short;
use crate::report::{Section, Table};
use crate::sweeps::{Setting, Sweep, SweepKind};
use crate::writes::Write;

/// How a figure compares with its bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It reaches what was aimed for.
    AimMet,
    /// It reaches the bar.
    Met,
    /// It does not.
    Missed,
    /// There is no figure.
    NotMeasured,
}

impl Verdict {
    /// How a figure compares with what must and what should be reached; less is better where that is the smaller.
    pub(crate) fn of(measured: Option<f64>, [bar, aim]: [f64; 2]) -> Self {
        let reaches = |figure: f64, goal: f64| if aim > bar { figure >= goal } else { figure <= goal };
        match measured {
            None => Self::NotMeasured,
            Some(figure) if reaches(figure, aim) => Self::AimMet,
            Some(figure) if reaches(figure, bar) => Self::Met,
            Some(_) => Self::Missed,
        }
    }

    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            Self::AimMet => "met, and the aim",
            Self::Met => "met",
            Self::Missed => "missed",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A figure that must be reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// Of what.
    pub what: String,
    /// In what.
    pub unit: &'static str,
    /// What must be reached.
    pub bar: f64,
    /// What is aimed at.
    pub aim: f64,
    /// What was measured.
    pub measured: Option<f64>,
    /// How it compares.
    pub verdict: Verdict,
}

impl Mark {
    pub(crate) fn new(what: impl Into<String>, unit: &'static str, goals: [f64; 2], measured: Option<f64>) -> Self {
        let [bar, aim] = goals;
        Self { what: what.into(), unit, bar, aim, measured, verdict: Verdict::of(measured, goals) }
    }

    /// Some marks as a section of a report.
    pub(crate) fn section(marks: &[Self]) -> Section {
        let row = |mark: &Self| {
            [
                mark.what.clone(),
                mark.unit.to_owned(),
                short(mark.bar),
                short(mark.aim),
                mark.measured.map_or_else(|| "-".to_owned(), short),
                mark.verdict.words().to_owned(),
            ]
        };
        let header = ["what", "unit", "bar", "aim", "measured", "verdict"];
        Section { title: "Bars", blocks: vec![Table::block(header, marks.iter().map(row))] }
    }
}

/// One bar.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    /// What is to be reached.
    pub what: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What must be reached.
    pub bar: f64,
    /// What should be reached.
    pub aim: f64,
    /// Whether more is better.
    pub more_is_better: bool,
    /// At how many worlds it is to be reached.
    pub at_worlds: u32,
    /// What was measured.
    pub measured: Option<f64>,
    /// At how many worlds that was.
    pub measured_worlds: Option<u32>,
    /// How it compares.
    pub verdict: Verdict,
}

impl Bar {
    fn new(what: &'static str, unit: &'static str, [bar, aim]: [f64; 2], at_worlds: u32) -> Self {
        let (measured, measured_worlds) = (None, None);
        let more_is_better = aim > bar;
        Self {
            what,
            unit,
            bar,
            aim,
            more_is_better,
            at_worlds,
            measured,
            measured_worlds,
            verdict: Verdict::NotMeasured,
        }
    }

    /// With what was measured, and at how many worlds.
    fn with(mut self, measured: Option<(f64, u32)>) -> Self {
        let Some((figure, worlds)) = measured else {
            return self;
        };
        self.verdict = Verdict::of(Some(figure), [self.bar, self.aim]);
        (self.measured, self.measured_worlds) = (Some(figure), Some(worlds));
        self
    }
}

/// The season's bars on two cores, each with the measured figure nearest to the worlds that it is set for.
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
        Bar::new("processor time a world, outcomes", "ms", [9.0, 5.0], 10_000).with(of(false, |w| w.cpu_ms_per_world)),
        Bar::new("processor time a world, outcomes and plays", "ms", [18.0, 9.0], 10_000)
            .with(of(true, |w| w.cpu_ms_per_world)),
        Bar::new("peak memory", "GB", [1.5, 0.5], 1_000).with(peak(1_000)),
        Bar::new("peak memory", "GB", [1.5, 0.5], 100_000).with(peak(100_000)),
        Bar::new("outcomes on disk", "bits a value", [3.9, 3.3], 10_000)
            .with(of(false, |w| w.run.outcomes.bits_per_value)),
        Bar::new("plays on disk", "bytes a play", [8.0, 5.0], 10_000).with(of(true, |w| w.run.events.bytes_per_row)),
        // Decoded from files in the system's memory: what this process keeps takes no time worth a bar.
        Bar::new("one game, all outcomes, files in memory, median", "ms", [500.0, 100.0], 100_000)
            .with(read("R1", |r| r.cold.p50_ms)),
        Bar::new("five-leg price, warm in process, median", "ms", [1.0, 0.05], 100_000)
            .with(read("R6", |r| r.warm.p50_ms)),
        Bar::new("correlation of all outcomes of a game", "s", [8.0, 2.0], 100_000)
            .with(read("M", |r| r.warm.p50_ms / 1e3)),
        Bar::new("two threads against one", "times", [1.8, 1.95], 10_000).with(two),
    ]
}
