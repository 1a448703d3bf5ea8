//! What a siege finds.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// What must be zero, but for the last two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Acknowledged requests of which rows are not there.
    pub lost: u64,
    /// Requests of which rows are there more than once, or that were refused or removed and are there.
    pub doubled: u64,
    /// Rows with other values than were sent.
    pub changed: u64,
    /// Answers that cannot be right, and refusals of what must be taken.
    pub wrong: u64,
    /// Processes that ended other than by their own end or a kill of the siege, and panics.
    pub deaths: u64,
    /// Seconds in which a server that was up did not answer, beyond the first second of each silence.
    pub silent_s: f64,
    /// The longest time without an answer.
    pub longest_silence_s: f64,
}

impl Figures {
    /// Whether all is zero that must be.
    pub fn holds(&self) -> bool {
        [self.lost, self.doubled, self.changed, self.wrong, self.deaths].iter().all(|figure| *figure == 0)
    }
}

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which figure it counts in.
    pub kind: Kind,
    /// In which life of the server.
    pub life: u32,
    /// In words.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Lost => "lost",
            Kind::Doubled => "doubled",
            Kind::Changed => "changed",
            Kind::Wrong => "wrong",
            Kind::Death => "a death",
        };
        write!(f, "life {}, {kind}: {}", self.life, self.what)
    }
}

/// The figures that findings count in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Something acknowledged is not there.
    Lost,
    /// Something is there more than once, or should not be there.
    Doubled,
    /// Something is there with another value.
    Changed,
    /// An answer cannot be right.
    Wrong,
    /// A process died by itself.
    Death,
}

/// Findings beyond so many are counted, not kept.
const KEPT_MAX: usize = 100;

/// Collects findings from all threads.
#[derive(Default)]
pub(super) struct Findings(Mutex<(Figures, Vec<Finding>)>);

impl Findings {
    /// Counts something `times` and keeps it.
    pub(super) fn add(&self, kind: Kind, life: u32, times: u64, what: String) {
        let (figures, kept) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *match kind {
            Kind::Lost => &mut figures.lost,
            Kind::Doubled => &mut figures.doubled,
            Kind::Changed => &mut figures.changed,
            Kind::Wrong => &mut figures.wrong,
            Kind::Death => &mut figures.deaths,
        } += times;
        if kept.len() < KEPT_MAX {
            kept.push(Finding { kind, life, what });
        }
    }

    /// Takes a silence of a server into account.
    pub(super) fn silence(&self, seconds: f64) {
        let (figures, _) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        figures.silent_s += (seconds - 1.0).max(0.0);
        figures.longest_silence_s = figures.longest_silence_s.max(seconds);
    }

    /// Those from one on.
    pub(super) fn since(&self, first: usize) -> Vec<Finding> {
        let (_, kept) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(first..).unwrap_or_default().to_vec()
    }

    /// The figures so far, and what was kept.
    pub(super) fn all(&self) -> (Figures, Vec<Finding>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
