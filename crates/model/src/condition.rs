//! Conditions in a model's own language, such as a moment of a game.

use std::fmt;

use crate::{EventBlock, UnknownName};

/// The distance of a world that no tolerance includes.
pub const NEVER: u32 = u32::MAX;

/// A condition on the events of one entity, with tolerances that can be widened.
pub trait Condition: Send + Sync {
    /// The event columns that it reads, as catalogue indices.
    fn columns(&self) -> Vec<usize>;

    /// The distance of each world of `events`: the smallest factor on the tolerances ([`Self::widened`]) with which the
    /// condition holds. 1 if it holds unchanged, [`NEVER`] if no factor is large enough. Only the columns of
    /// [`Self::columns`] have values.
    fn distances(&self, events: &EventBlock<'_>) -> Vec<u32>;

    /// The condition with its tolerances times `times`, in the form that a user types.
    fn widened(&self, times: u32) -> String;
}

/// Why a text is not a valid condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    #[error("{part:?}: expected {wanted}, as in '{example}'")]
    Syntax {
        part: String,
        wanted: String,
        /// An example of a whole condition.
        example: &'static str,
    },
    /// A name is unknown, or the events lack a column that the condition needs.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
}

/// The largest accepted difference of a number from the requested one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerance {
    amount: i32,
    /// Growth of a tolerance of 0 per widening.
    step: i32,
}

impl Tolerance {
    /// A tolerance of `amount` (at least 0). If it is 0, each widening adds `step` (above 0).
    pub fn new(amount: i32, step: i32) -> Self {
        Self { amount, step }
    }

    /// Splits `14-10 ±3 points` into the text before `±` (or `+-`) and the tolerance, which is 0 if missing. `None` if
    /// no number follows the sign.
    pub fn split(text: &str, step: i32) -> Option<(&str, Self)> {
        let (rest, number) = Self::split_text(text);
        let number = number.map(|number| number.trim_end_matches(|c: char| c.is_alphabetic() || c.is_whitespace()));
        let amount = number.map_or(Some(0), |number| number.parse().ok()).filter(|amount| *amount >= 0)?;
        Some((rest, Self { amount, step }))
    }

    /// Splits a text at its first `±` or `+-`; the tolerance is `None` if there is no sign.
    pub fn split_text(text: &str) -> (&str, Option<&str>) {
        let split = text.split_once('±').or_else(|| text.split_once("+-"));
        split.map_or((text.trim(), None), |(rest, tolerance)| (rest.trim(), Some(tolerance.trim())))
    }

    /// The largest difference that it accepts.
    pub fn amount(self) -> i32 {
        self.amount
    }

    /// The smallest factor that covers a difference (at least 0): see [`Condition::distances`].
    pub fn times(self, difference: i32) -> u32 {
        let of = |unit: i32| difference.unsigned_abs().div_ceil(unit.unsigned_abs());
        if self.amount > 0 { of(self.amount).max(1) } else { 1 + of(self.step) }
    }

    /// The tolerance times `times`. A tolerance of 0 grows to one step at `times` = 2.
    #[must_use]
    pub fn widened(self, times: u32) -> Self {
        let (unit, times) = if self.amount > 0 { (self.amount, times) } else { (self.step, times.saturating_sub(1)) };
        Self { amount: unit.saturating_mul(i32::try_from(times).unwrap_or(i32::MAX)), ..self }
    }
}

/// Formats as ` ±3`; as nothing if 0.
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
