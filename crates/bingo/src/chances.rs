//! Outcomes of a roll and their chances, for each set of modifiers.

use crate::definition::{Line, Outcome, Roll, chance};

/// Outcomes of one line, found from a draw of 32 bits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chances {
    /// For each outcome, one past the last draw that gives it. Larger draws give nothing.
    ends: Vec<u64>,
}

const DRAWS: f64 = 4_294_967_296.0;

impl Chances {
    /// Takes probabilities with a sum of at most 1; each is exact to within 2^-32.
    fn new(probabilities: &[f64]) -> Self {
        let mut sum = 0.0;
        let ends = probabilities.iter().map(|p| {
            sum += p;
            ((sum * DRAWS).round() as u64).min(1 << 32)
        });
        Self { ends: ends.collect() }
    }

    #[inline]
    pub(crate) fn outcome(&self, draw: u32) -> Option<usize> {
        self.ends.iter().position(|end| u64::from(draw) < *end)
    }
}

/// How chances follow from the fractions in the definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The exact fractions. A factor multiplies the chance of accepted outcomes; the other outcomes share the rest in
    /// their original proportions.
    Exact,
    /// The numerators as weights. A factor multiplies the weights of accepted outcomes, which are rounded. `BingoSim`'s
    /// rule.
    RoundedWeights,
}

impl Reading {
    /// The probability of each outcome of a line; `factor` applies to the outcomes that are `accepted`.
    pub(crate) fn probabilities(self, line: &Line, accepted: impl Fn(&Outcome) -> bool, factor: f64) -> Vec<f64> {
        let fractions = line.outcomes.iter().map(|o| chance(&o.chance).unwrap_or([0, 1]));
        let fractions: Vec<[f64; 2]> = fractions.map(|f| f.map(f64::from)).collect();
        let accepted: Vec<bool> = line.outcomes.iter().map(accepted).collect();
        // Exactly 1 means no factor.
        let is_changed = (factor - 1.0).abs() > 0.0 && accepted.contains(&true);
        match self {
            Self::Exact => {
                let plain: Vec<f64> = fractions.iter().map(|[upper, lower]| upper / lower).collect();
                if is_changed { multiplied(&plain, &accepted, factor) } else { plain }
            }
            Self::RoundedWeights => {
                let plain: Vec<f64> = fractions.iter().map(|[upper, _]| *upper).collect();
                let factor = if is_changed { factor } else { 1.0 };
                weighted(&plain, &accepted, factor)
            }
        }
    }

    pub(crate) fn chances(self, line: &Line, accepted: impl Fn(&Outcome) -> bool, factor: f64) -> Chances {
        Chances::new(&self.probabilities(line, accepted, factor))
    }
}

/// Makes the accepted outcomes together `factor` times as likely, up to certainty. The others, and no outcome, keep
/// their proportions.
fn multiplied(plain: &[f64], accepted: &[bool], factor: f64) -> Vec<f64> {
    let before: f64 = plain.iter().zip(accepted).filter(|(_, a)| **a).map(|(p, _)| p).sum();
    let after = (before * factor).min(1.0);
    let others = if before < 1.0 { (1.0 - after) / (1.0 - before) } else { 0.0 };
    plain.iter().zip(accepted).map(|(p, a)| if *a { p * after / before } else { p * others.max(0.0) }).collect()
}

fn weighted(plain: &[f64], accepted: &[bool], factor: f64) -> Vec<f64> {
    const WEIGHT_MAX: f64 = 1e9;
    let changed = |(p, a): (&f64, &bool)| if *a { (p * factor).round_ties_even().min(WEIGHT_MAX) } else { *p };
    let mut weights: Vec<f64> = plain.iter().zip(accepted).map(changed).collect();
    if weights.iter().all(|w| *w < 1.0) {
        weights = plain.to_vec();
    }
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| w / sum).collect()
}

/// Who rolls a line, and the grants of its outcomes: a drop, and the smallest and largest number of units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinePlan {
    pub(crate) roll: Roll,
    pub(crate) grants: Vec<Vec<(u8, [u32; 2])>>,
}

impl LinePlan {
    pub(crate) fn new(line: &Line, drops: &[String]) -> Self {
        let place = |drop: &str| drops.iter().position(|d| d == drop).unwrap_or_default() as u8;
        let granted = |o: &Outcome| o.grants.iter().map(|g| (place(&g.drop), g.units.bounds())).collect();
        Self { roll: line.roll, grants: line.outcomes.iter().map(granted).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{Grant, Units};

    fn line(chances: &[(&str, &str)]) -> Line {
        let outcome = |(drop, chance): &(&str, &str)| Outcome {
            key: (*drop).to_owned(),
            chance: (*chance).to_owned(),
            grants: vec![Grant { drop: (*drop).to_owned(), units: Units::Fixed(1) }],
        };
        let outcomes = chances.iter().map(outcome).collect();
        Line { key: "line".to_owned(), roll: Roll::Player, seconds: 60, spread: 0, outcomes }
    }

    fn probabilities(reading: Reading, chances: &[(&str, &str)], factor: f64) -> Vec<f64> {
        let rounded = |p: f64| (p * 1e9).round() / 1e9;
        reading.probabilities(&line(chances), |o| o.key == "rare", factor).into_iter().map(rounded).collect()
    }

    #[test]
    fn a_factor_multiplies_a_probability_and_the_rest_keeps_its_proportions() {
        let three = [("rare", "1/10"), ("some", "3/10"), ("much", "3/5")];
        assert_eq!(probabilities(Reading::Exact, &three, 1.0), [0.1, 0.3, 0.6]);
        assert_eq!(probabilities(Reading::Exact, &three, 2.0), [0.2, 0.266_666_667, 0.533_333_333]);
        assert_eq!(probabilities(Reading::Exact, &three, 100.0), [1.0, 0.0, 0.0]);
        assert_eq!(probabilities(Reading::Exact, &[("rare", "1/4"), ("some", "1/4")], 2.0), [0.5, 0.166_666_667]);
        assert_eq!(probabilities(Reading::Exact, &[("rare", "1")], 0.25), [0.25]);
        assert_eq!(probabilities(Reading::Exact, &[("some", "1/2")], 3.0), [0.5], "nothing is accepted");
    }

    #[test]
    fn rounded_weights_ignore_lower_numbers_and_lose_small_factors() {
        let two = [("rare", "1/4"), ("some", "3/4")];
        assert_eq!(probabilities(Reading::RoundedWeights, &two, 1.2), [0.25, 0.75], "1 x 1.2 is 1 again");
        assert_eq!(probabilities(Reading::RoundedWeights, &two, 2.5), [0.4, 0.6], "2.5 rounds to the even 2");
        assert_eq!(probabilities(Reading::RoundedWeights, &two, 0.3), [0.0, 1.0]);
        assert_eq!(probabilities(Reading::RoundedWeights, &[("rare", "1/4")], 0.3), [1.0], "all gone: as they were");
        assert_eq!(probabilities(Reading::RoundedWeights, &[("rare", "1/4"), ("some", "1/2")], 1.0), [0.5, 0.5]);
    }

    #[test]
    fn draws_give_outcomes_in_their_proportions_and_else_nothing() {
        let chances = Reading::Exact.chances(&line(&[("a", "1/4"), ("b", "1/2")]), |_| false, 1.0);
        let quarter = 1u32 << 30;
        let at = |draw: u32| chances.outcome(draw);
        assert_eq!([at(0), at(quarter - 1), at(quarter), at(3 * quarter - 1)], [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!([at(3 * quarter), at(u32::MAX)], [None, None]);
        let certain = Reading::Exact.chances(&line(&[("a", "1/3"), ("b", "1/3"), ("c", "1/3")]), |_| false, 1.0);
        assert_eq!(certain.outcome(u32::MAX), Some(2));
    }
}
