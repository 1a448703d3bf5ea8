//! Numbers of any type, as tables store them: for models that are described at run time.
//!
//! A model in Rust emits the stored types itself. A program and a model in Python give numbers of many types, which are
//! checked against their outcome and converted here, with the same result and the same words for both.

use std::fmt::Display;

use crate::{Outcome, OutcomeKind};

/// A value that its column does not accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Its place among the given values.
    pub row: usize,
    /// The value, for people.
    pub value: String,
    /// Why the column does not accept it, and what to do: follows the value.
    pub reason: String,
}

/// Converts the numbers of an outcome that is not real to integers: the value times the scale.
///
/// Both conversions return the integer and whether the value fits. They have no branches, so that loops over them use
/// vectors, if their closures own it.
#[derive(Debug, Clone, Copy)]
pub struct Whole {
    scale: i64,
    real_scale: f64,
    /// The middle of the integers that may be stored, and how far from it they go.
    middle: f64,
    reach: f64,
    /// The smallest and the largest integer before it is multiplied.
    given: [i64; 2],
}

/// The largest error, in units of 1 / scale, that arithmetic may leave.
const ERROR_MAX: f64 = 1e-6;
/// Adding it to a number below 2^31 rounds the number to an integer, which the lower bits then hold.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// Real numbers hold all integers up to this one.
const EXACT_MAX: u64 = 1 << 53;

impl Whole {
    /// The conversion for an outcome.
    pub fn of(outcome: &Outcome) -> Self {
        let stored = match outcome.kind {
            OutcomeKind::Flag => [0, 1],
            OutcomeKind::Code if !outcome.labels.is_empty() => [0, outcome.labels.len() as i64 - 1],
            _ => [-i64::from(i32::MAX), i64::from(i32::MAX)],
        };
        let scale = i64::from(outcome.scale);
        let given = stored.map(|bound| bound / scale);
        let [low, high] = stored.map(|bound| bound as f64);
        Self { scale, real_scale: scale as f64, middle: f64::midpoint(low, high), reach: (high - low) / 2.0, given }
    }

    #[inline]
    pub fn integer(self, value: i64) -> (i32, bool) {
        let [low, high] = self.given;
        (value.wrapping_mul(self.scale) as i32, (low..=high).contains(&value))
    }

    /// Accepts multiples of 1 / scale, and rounds off what arithmetic leaves: 0.1 + 0.2 is 3 tenths.
    #[inline]
    pub fn real(self, value: f64) -> (i32, bool) {
        let scaled = value * self.real_scale;
        let shifted = scaled + ROUND;
        let rounded = shifted - ROUND;
        let fits = ((scaled - rounded).abs() <= ERROR_MAX) & ((rounded - self.middle).abs() <= self.reach);
        (shifted.to_bits() as i32, fits)
    }

    /// Describes a value of `outcome` that does not fit.
    pub fn misfit(self, outcome: &Outcome, row: usize, value: impl Into<Number>) -> Misfit {
        let value = value.into();
        let [low, high] = self.given;
        let scaled = value.real() * self.real_scale;
        let reason = match outcome.kind {
            OutcomeKind::Flag => ": a flag is 0 or 1".to_owned(),
            OutcomeKind::Code => format!(": a code is a whole number from {low} to {high}"),
            _ if (scaled - scaled.round_ties_even()).abs() <= ERROR_MAX => {
                format!(", beyond the numbers from {low} to {high} that its column holds: declare it real")
            }
            _ if self.scale == 1 => ", not a whole number: round it, or declare it real".to_owned(),
            _ => format!(", not a multiple of 1/{}: round it, or declare it real", self.scale),
        };
        Misfit { row, value: value.to_string(), reason }
    }
}

/// A number before its conversion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Integer(i64),
    Real(f64),
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl Number {
    /// The nearest real number.
    pub fn real(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
        }
    }
}

impl Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Real(value) if value.abs() < 1e16 => write!(f, "{value}"),
            // Otherwise up to 300 digits.
            Self::Real(value) => write!(f, "{value:?}"),
        }
    }
}

/// The first integer that no real number holds exactly, as a misfit of a real column.
pub fn inexact<T: Copy + Into<i128>>(values: &[T]) -> Option<Misfit> {
    let is_inexact = |value: &T| (*value).into().unsigned_abs() > u128::from(EXACT_MAX);
    let row = values.iter().position(is_inexact)?;
    let reason = ", beyond 2^53, up to which real numbers hold integers: give it as a real number".to_owned();
    Some(Misfit { row, value: values[row].into().to_string(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(kind: OutcomeKind, scale: i32, labels: &[&str]) -> Outcome {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Outcome { scale, labels, ..Outcome::new("x", "", kind) }
    }

    #[test]
    fn multiples_of_the_scale_are_whole() {
        let tenths = Whole::of(&outcome(OutcomeKind::Number, 10, &[]));
        for (value, stored) in [(0.1, 1), (-2.0, -20), (0.1 + 0.2, 3), (-0.0, 0), (214_748_364.7, i32::MAX)] {
            assert_eq!(tenths.real(value), (stored, true), "{value}");
        }
        let whole = Whole::of(&outcome(OutcomeKind::Number, 1, &[]));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3e9, 1e300, 0.5, i32::MIN.into()] {
            assert!(!whole.real(bad).1, "{bad}");
        }
        assert_eq!(whole.real(f64::from(-i32::MAX)), (-i32::MAX, true));
    }

    #[test]
    fn integers_stay_within_their_kind() {
        let tenths = Whole::of(&outcome(OutcomeKind::Number, 10, &[]));
        assert_eq!((tenths.integer(3), tenths.integer(-214_748_364)), ((30, true), (-2_147_483_640, true)));
        for (value, outcome) in [
            (2, outcome(OutcomeKind::Flag, 1, &[])),
            (-1, outcome(OutcomeKind::Code, 1, &["a", "b"])),
            (2, outcome(OutcomeKind::Code, 1, &["a", "b"])),
            (i64::MAX, outcome(OutcomeKind::Number, 1, &[])),
            (i64::MIN, outcome(OutcomeKind::Number, 100, &[])),
            (214_748_365, outcome(OutcomeKind::Number, 10, &[])),
        ] {
            let whole = Whole::of(&outcome);
            assert!(!whole.integer(value).1 && !whole.real(value as f64).1, "{value} of {outcome:?}");
            assert_eq!(whole.misfit(&outcome, 7, value).value, value.to_string());
        }
    }

    #[test]
    fn misfits_say_what_to_do() {
        let said = |outcome: &Outcome, value: f64| {
            let misfit = Whole::of(outcome).misfit(outcome, 0, value);
            format!("x is {}{}", misfit.value, misfit.reason)
        };
        let number = outcome(OutcomeKind::Number, 1, &[]);
        assert_eq!(said(&number, 2.5), "x is 2.5, not a whole number: round it, or declare it real");
        assert_eq!(said(&number, f64::NAN), "x is NaN, not a whole number: round it, or declare it real");
        let beyond = "beyond the numbers from -2147483647 to 2147483647 that its column holds: declare it real";
        assert_eq!(said(&number, 3e9), format!("x is 3000000000, {beyond}"));
        assert_eq!(said(&number, 1e300), format!("x is 1e300, {beyond}"));
        let tenths = outcome(OutcomeKind::Number, 10, &[]);
        assert_eq!(said(&tenths, 0.15), "x is 0.15, not a multiple of 1/10: round it, or declare it real");
        assert_eq!(said(&outcome(OutcomeKind::Flag, 1, &[]), 2.0), "x is 2: a flag is 0 or 1");
        let code = outcome(OutcomeKind::Code, 1, &["a", "b"]);
        assert_eq!(said(&code, 2.0), "x is 2: a code is a whole number from 0 to 1");
    }

    #[test]
    fn integers_that_real_numbers_lack_are_found() {
        assert_eq!(inexact(&[1 << 53, -(1i64 << 53)]), None);
        let found = inexact(&[0, (1i64 << 53) + 1]).unwrap();
        assert_eq!((found.row, &*found.value), (1, "9007199254740993"));
        assert_eq!(inexact(&[u64::MAX]).unwrap().value, "18446744073709551615");
    }
}
