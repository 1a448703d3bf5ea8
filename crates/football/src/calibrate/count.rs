//! A game as the figures count it: over both sides, and with what is not an outcome.

use crate::box_score::{BoxScore, Side, Stat, Window};
use crate::play::{Kind, Outcome, Play};

/// A game's plays, and the outcomes counted from them.
#[derive(Clone, Copy)]
pub(super) struct Count<'a> {
    pub(super) plays: &'a [Play],
    pub(super) score: &'a BoxScore,
}

impl<'a> Count<'a> {
    /// Number of plays for which `holds`.
    pub(super) fn plays(self, holds: impl Fn(&Play) -> bool) -> f64 {
        self.plays.iter().filter(|play| holds(play)).count() as f64
    }

    pub(super) fn rows(self, kind: Kind) -> f64 {
        self.plays(|p| p.kind == kind)
    }

    /// Runs as the real league counts them: with scrambles and kneels.
    pub(super) fn runs(self) -> f64 {
        self.plays(is_run)
    }

    /// Sum of a number of all plays.
    pub(super) fn sum(self, number: impl Fn(&Play) -> i8) -> f64 {
        self.plays.iter().map(|play| f64::from(number(play))).sum()
    }

    /// Sum of a count of both sides.
    pub(super) fn sides(self, count: impl Fn(&Side) -> i16) -> f64 {
        self.score.sides.iter().map(|side| f64::from(count(side))).sum()
    }

    /// A statistic of both sides.
    pub(super) fn stat(self, stat: Stat) -> f64 {
        f64::from(self.score.count(0, stat, Window::Game) + self.score.count(1, stat, Window::Game))
    }

    /// The plays of each possession that has a snap.
    pub(super) fn drives(self) -> impl Iterator<Item = &'a [Play]> {
        self.plays.chunk_by(|a, b| a.drive == b.drive).filter(|drive| drive.iter().any(|p| p.down > 0))
    }
}

pub(super) fn is_run(play: &Play) -> bool {
    matches!(play.kind, Kind::Run | Kind::Scramble | Kind::Kneel)
}

pub(super) fn is_caught(play: &Play) -> bool {
    play.kind == Kind::Pass && !matches!(play.outcome, Outcome::Incomplete | Outcome::Intercepted)
}
