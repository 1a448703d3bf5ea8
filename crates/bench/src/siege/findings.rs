//! The findings of a siege.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// Counts of findings. All but the last two must be zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Acknowledged requests with missing rows.
    pub lost: u64,
    /// Requests with doubled rows, and stored requests that were refused or removed.
    pub doubled: u64,
    /// Rows with changed values.
    pub changed: u64,
    /// Wrong answers, and wrong refusals.
    pub wrong: u64,
    /// Panics, and processes that died without a kill by the siege.
    pub deaths: u64,
    /// Seconds without an answer from a running server, beyond the first second of each silence.
    pub silent_s: f64,
    pub longest_silence_s: f64,
}

impl Figures {
    /// Whether all required figures are zero.
    pub fn holds(&self) -> bool {
        [self.lost, self.doubled, self.changed, self.wrong, self.deaths].iter().all(|figure| *figure == 0)
    }
}

/// A violation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub kind: Kind,
    /// The life of the server.
    pub life: u32,
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "life {}, ", self.life)?;
        self.kind.serialize(&mut *f)?;
        write!(f, ": {}", self.what)
    }
}

/// Kinds of violations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Acknowledged rows are missing.
    Lost,
    /// Rows are doubled, or should not exist.
    Doubled,
    /// Rows have other values.
    Changed,
    /// An answer is wrong.
    Wrong,
    Death,
}

/// Number of findings to keep; further ones are only counted.
const KEPT_MAX: usize = 100;

/// Collects findings from all threads.
#[derive(Default)]
pub(super) struct Findings(Mutex<(Figures, Vec<Finding>)>);

impl Findings {
    /// Adds a finding that counts `times`.
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

    /// Adds a silence of the server.
    pub(super) fn silence(&self, seconds: f64) {
        let (figures, _) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        figures.silent_s += (seconds - 1.0).max(0.0);
        figures.longest_silence_s = figures.longest_silence_s.max(seconds);
    }

    /// The kept findings from number `first` on.
    pub(super) fn since(&self, first: usize) -> Vec<Finding> {
        let (_, kept) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(first..).unwrap_or_default().to_vec()
    }

    /// The figures and the kept findings.
    pub(super) fn all(&self) -> (Figures, Vec<Finding>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
