//! Measurements in turns, and the ratios between them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::peer::{Peer, our_promise};
use super::work::Work;
use crate::error::BenchError;
use crate::harness::child::Used;
use crate::harness::report::number::{count, ms, rate};
use crate::harness::statistics::median;

/// One measurement of a work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    pub(super) cpu_s: f64,
    /// CPU time of an interpreter's start and imports, not in `cpu_s`.
    pub(super) start_cpu_s: f64,
    /// What was done in this time: records, appends, or 1 question.
    pub(super) amount: f64,
    pub(super) peak_rss_bytes: u64,
    pub(super) disk_bytes: Option<u64>,
}

impl Sample {
    /// What a whole process used.
    pub(super) fn of(used: &Used, amount: f64) -> Self {
        let cpu_s = used.cpu_ms / 1e3;
        Self { cpu_s, start_cpu_s: 0.0, amount, peak_rss_bytes: used.peak_rss_bytes, disk_bytes: None }
    }
}

/// A measurement, and how its answer differs from the right one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) sample: Sample,
    pub(super) differs: Option<String>,
}

impl From<Sample> for Outcome {
    fn from(sample: Sample) -> Self {
        Self { sample, differs: None }
    }
}

/// How a figure is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    RecordsPerCpuS,
    CpuMs,
}

impl Unit {
    fn of(self, sample: &Sample) -> f64 {
        match self {
            Self::RecordsPerCpuS => sample.amount / sample.cpu_s.max(1e-9),
            Self::CpuMs => sample.cpu_s * 1e3 / sample.amount.max(1e-9),
        }
    }

    pub(super) fn show(self, figure: f64) -> String {
        match self {
            Self::RecordsPerCpuS => rate(figure),
            Self::CpuMs => ms(figure),
        }
    }
}

/// The median and the range of some ratios.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    pub median: f64,
    pub least: f64,
    pub most: f64,
}

impl Spread {
    /// Of at least one value.
    pub(super) fn of(values: &[f64]) -> Self {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { median: median(values), least, most }
    }
}

/// The medians of one side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// Records per CPU-second, or CPU milliseconds.
    pub figure: f64,
    /// CPU milliseconds of the starts and imports of an interpreter; of one append, of one question, or of a whole load.
    pub start_ms: f64,
    pub peak_rss_bytes: u64,
    pub disk_bytes: Option<u64>,
    pub promise: &'static str,
}

/// A work, compared with one peer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub work: Work,
    /// The part of the work.
    pub what: String,
    pub peer: Peer,
    pub unit: Unit,
    pub rounds: usize,
    pub ours: Side,
    pub theirs: Side,
    /// The peer's CPU time for the same amount, divided by ours.
    pub ratio: Spread,
    /// The same with the start of the peer's interpreter.
    pub ratio_with_start: f64,
    /// The peer's peak memory, divided by ours.
    pub memory_ratio: f64,
    /// The peer's bytes on disk for the same amount, divided by ours.
    pub disk_ratio: Option<f64>,
    /// How the peer's answer differs from the right one; none if they agree.
    pub differs: Option<String>,
}

/// A peer that could not do a work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub work: Work,
    pub what: String,
    pub peer: Peer,
    pub reason: String,
}

/// All measurements of one part of a work.
pub(super) struct Case {
    pub(super) work: Work,
    pub(super) what: String,
    pub(super) unit: Unit,
    ours: Vec<Sample>,
    theirs: BTreeMap<Peer, Vec<Outcome>>,
    pub(super) failures: Vec<Failure>,
}

impl Case {
    /// Measures this program (`None`) and each peer, `rounds` times. The order rotates, so that nothing always comes first.
    /// A peer that fails is left out from then on.
    pub(super) fn in_turns(
        (work, what, unit): (Work, impl Into<String>, Unit),
        rounds: usize,
        peers: &[Peer],
        mut measure: impl FnMut(Option<Peer>) -> Result<Outcome, BenchError>,
    ) -> Result<Self, BenchError> {
        let mut case =
            Self { work, what: what.into(), unit, ours: Vec::new(), theirs: BTreeMap::new(), failures: Vec::new() };
        let mut order: Vec<Option<Peer>> = [None].into_iter().chain(peers.iter().copied().map(Some)).collect();
        for _ in 0..rounds {
            for who in order.clone() {
                match (who, measure(who)) {
                    (None, measured) => case.ours.push(case.right(measured?)?),
                    (Some(peer), Ok(outcome)) => case.theirs.entry(peer).or_default().push(outcome),
                    (_, Err(BenchError::Stopped)) => return Err(BenchError::Stopped),
                    (Some(peer), Err(error)) => {
                        order.retain(|other| *other != who);
                        case.theirs.remove(&peer);
                        let reason = with_causes(&error);
                        case.failures.push(Failure { work, what: case.what.clone(), peer, reason });
                    }
                }
            }
            order.rotate_left(1);
        }
        Ok(case)
    }

    /// Our own measurement; a wrong answer of ours is an error.
    fn right(&self, outcome: Outcome) -> Result<Sample, BenchError> {
        match outcome.differs {
            None => Ok(outcome.sample),
            Some(differs) => Err(BenchError::Wrong(format!("{}: {differs}", self.what))),
        }
    }

    /// A row for each peer.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row> {
        self.theirs.iter().map(|(peer, outcomes)| self.row(*peer, outcomes))
    }

    fn row(&self, peer: Peer, outcomes: &[Outcome]) -> Row {
        let theirs: Vec<Sample> = outcomes.iter().map(|outcome| outcome.sample).collect();
        let each = |cpu_s: f64, sample: &Sample| cpu_s / sample.amount.max(1e-9);
        let ratio = |cost: fn(&Sample) -> f64| -> Vec<f64> {
            let pairs = self.ours.iter().zip(&theirs);
            pairs.map(|(ours, theirs)| each(cost(theirs), theirs) / each(ours.cpu_s, ours).max(1e-12)).collect()
        };
        let memory = |samples: &[Sample]| median(&samples.iter().map(|s| s.peak_rss_bytes as f64).collect::<Vec<_>>());
        let disk = |samples: &[Sample]| {
            let bytes = |s: &Sample| Some(s.disk_bytes? as f64 / s.amount.max(1e-9));
            samples.iter().map(bytes).collect::<Option<Vec<_>>>().map(|bytes| median(&bytes))
        };
        Row {
            work: self.work,
            what: self.what.clone(),
            peer,
            unit: self.unit,
            rounds: theirs.len(),
            ours: self.side(&self.ours, our_promise(self.work)),
            theirs: self.side(&theirs, peer.promise(self.work)),
            ratio: Spread::of(&ratio(|s| s.cpu_s)),
            ratio_with_start: median(&ratio(|s| s.cpu_s + s.start_cpu_s)),
            memory_ratio: memory(&theirs) / memory(&self.ours).max(1.0),
            disk_ratio: disk(&theirs).zip(disk(&self.ours)).map(|(theirs, ours)| theirs / ours.max(1e-9)),
            differs: outcomes.iter().find_map(|outcome| outcome.differs.clone()),
        }
    }

    fn side(&self, samples: &[Sample], promise: &'static str) -> Side {
        let middle = |of: &dyn Fn(&Sample) -> f64| median(&samples.iter().map(of).collect::<Vec<_>>());
        let has_disk = samples.iter().all(|s| s.disk_bytes.is_some());
        Side {
            figure: middle(&|s| self.unit.of(s)),
            start_ms: middle(&|s| match self.unit {
                Unit::RecordsPerCpuS => s.start_cpu_s * 1e3,
                Unit::CpuMs => s.start_cpu_s * 1e3 / s.amount.max(1e-9),
            }),
            peak_rss_bytes: middle(&|s| s.peak_rss_bytes as f64) as u64,
            disk_bytes: has_disk.then(|| middle(&|s| s.disk_bytes.unwrap_or(0) as f64) as u64),
            promise,
        }
    }
}

/// An error with its causes, on one line.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text.lines().collect::<Vec<_>>().join(" ")
}

/// What differs, if a number of stored records does.
pub(super) fn differing_count(what: &str, found: u64, right: u64) -> Option<String> {
    (found != right).then(|| format!("{} {what} of {}", count(found), count(right)))
}
