//! Conditions in a model's own words, such as a moment of a game.

use std::fmt;

use crate::{EventBlock, UnknownName};

/// The distance of a world that no tolerance is wide enough for.
pub const NEVER: u32 = u32::MAX;

/// A condition on the events of one entity, whose tolerances can be widened.
pub trait Condition: Send + Sync {
    /// The event columns that it reads, by their places in the catalogue.
    fn columns(&self) -> Vec<usize>;

    /// How far each world of `events` is from the condition: how many times its tolerances must be taken
    /// ([`Self::widened`]) for it to hold there. 1 where it holds as it is, [`NEVER`] where no tolerance is wide enough.
    /// Only the columns of [`Self::columns`] have values.
    fn distances(&self, events: &EventBlock<'_>) -> Vec<u32>;

    /// The condition with its tolerances taken `times` times, as a user would type it.
    fn widened(&self, times: u32) -> String;
}

/// Why words of a model make no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// A part does not read.
    #[error("{part:?}: expected {wanted}, as in '{example}'")]
    Syntax {
        /// The part.
        part: String,
        /// What could stand there.
        wanted: String,
        /// A whole condition.
        example: &'static str,
    },
    /// A name is unknown, or the events lack a column that the condition reads.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
}

/// How far a number may lie from the one that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerance {
    amount: i32,
    /// By how much a tolerance of 0 grows each time it is widened.
    step: i32,
}

impl Tolerance {
    /// A tolerance of `amount`, not below 0; one of 0 grows by `step`, which is above 0, each time it is widened.
    pub fn new(amount: i32, step: i32) -> Self {
        Self { amount, step }
    }

    /// Splits `14-10 ±3 points` into what stands before `±` (or `+-`) and the tolerance, 0 where there is none; `None`
    /// where no number follows.
    pub fn split(text: &str, step: i32) -> Option<(&str, Self)> {
        let (rest, number) = Self::split_text(text);
        let number = number.map(|number| number.trim_end_matches(|c: char| c.is_alphabetic() || c.is_whitespace()));
        let amount = number.map_or(Some(0), |number| number.parse().ok()).filter(|amount| *amount >= 0)?;
        Some((rest, Self { amount, step }))
    }

    /// Splits a text at its first `±` or `+-`; the tolerance is `None` where it has neither.
    pub fn split_text(text: &str) -> (&str, Option<&str>) {
        let split = text.split_once('±').or_else(|| text.split_once("+-"));
        split.map_or((text.trim(), None), |(rest, tolerance)| (rest.trim(), Some(tolerance.trim())))
    }

    /// The difference that it covers.
    pub fn amount(self) -> i32 {
        self.amount
    }

    /// How many times it must be taken to cover a difference, which is not below 0: see [`Condition::distances`].
    pub fn times(self, difference: i32) -> u32 {
        let of = |unit: i32| difference.unsigned_abs().div_ceil(unit.unsigned_abs());
        if self.amount > 0 { of(self.amount).max(1) } else { 1 + of(self.step) }
    }

    /// Taken so many times; one of 0 is a step wide the second time.
    #[must_use]
    pub fn widened(self, times: u32) -> Self {
        let (unit, times) = if self.amount > 0 { (self.amount, times) } else { (self.step, times.saturating_sub(1)) };
        Self { amount: unit.saturating_mul(i32::try_from(times).unwrap_or(i32::MAX)), ..self }
    }
}

/// ` ±3`; nothing where it is 0.
impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.amount > 0 { write!(f, " ±{}", self.amount) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_cover_what_they_are_widened_to() {
        for (text, amount) in [("7 ±3 points", 3), ("7+-3", 3), ("7", 0), ("7 ± 0", 0)] {
            let (rest, tolerance) = Tolerance::split(text, 2).unwrap();
            assert_eq!((rest, tolerance), ("7", Tolerance { amount, step: 2 }), "{text}");
            for difference in 0..50 {
                let times = tolerance.times(difference);
                assert!(tolerance.widened(times).amount >= difference, "{text} {difference}");
                assert!(times == 1 || tolerance.widened(times - 1).amount < difference, "{text} {difference}");
            }
        }
        for bad in ["7 ±", "7 ±x", "7 ±-3", "7 ±3 ±4"] {
            assert_eq!(Tolerance::split(bad, 1), None, "{bad}");
        }
        assert_eq!(Tolerance::split("7 ±2000000000", 1).unwrap().1.widened(3).amount, i32::MAX);
    }
}
