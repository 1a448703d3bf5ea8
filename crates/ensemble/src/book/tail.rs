//! Value at risk and expected shortfall of losses over worlds.

use super::decimal::Decimal;
use crate::expression::BitSet;
use crate::interval::{Interval, Level, Sample};

/// Losses of a book in sorted order, and what they can be at most and at least.
pub(super) struct Losses<'a> {
    /// Ascending, in units.
    pub(super) sorted: &'a [i64],
    /// The smallest and largest loss that the bets allow.
    pub(super) possible: [i64; 2],
    /// Losses differ by multiples of this.
    pub(super) step: i64,
}

/// The tail of the losses at a level: its worst share of `1 - level`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tail {
    /// The loss that the level's share of the worlds does not exceed.
    pub(super) value_at_risk: i64,
    pub(super) value_at_risk_ci: Interval,
    /// The mean loss in the tail.
    pub(super) shortfall: f64,
    pub(super) shortfall_ci: Interval,
    /// Number of worlds in the tail; fractional.
    pub(super) mass: f64,
    /// Weight in the tail of each world with exactly the value at risk, 0 to 1.
    pub(super) tie_weight: f64,
}

impl Losses<'_> {
    /// The tail at a level between 0 and 1.
    ///
    /// The tail is exactly `1 - level` of the worlds: it holds all worlds with losses above the value at risk, and
    /// those with exactly that loss share the rest of it equally (the estimator of Acerbi and Tasche, "On the coherence
    /// of expected shortfall", 2002). So ties do not matter, nor does their order.
    pub(super) fn tail(&self, level: Decimal) -> Tail {
        let worlds = self.sorted.len();
        let (whole, mass) = tail_mass(worlds, level);
        let value_at_risk = self.sorted[worlds - 1 - whole.min(worlds - 1)];
        let from = self.sorted.partition_point(|loss| *loss <= value_at_risk);
        let ties = from - self.sorted.partition_point(|loss| *loss < value_at_risk);
        let rest = mass - (worlds - from) as f64;
        let above: i128 = self.sorted[from..].iter().map(|loss| i128::from(*loss)).sum();
        let shortfall = (above as f64 + rest * value_at_risk as f64) / mass;
        Tail {
            value_at_risk,
            value_at_risk_ci: self.quantile_interval(level.to_f64()),
            shortfall,
            shortfall_ci: self.shortfall_interval(value_at_risk, mass / worlds as f64),
            mass,
            tie_weight: rest / ties as f64,
        }
    }

    /// The 95% confidence interval of a quantile, from two order statistics: the number of worlds with losses below
    /// the true quantile has a binomial distribution, whatever the losses (David and Nagaraja, "Order Statistics",
    /// section 7.1). Where there are too few worlds for such a statistic, the bound is the possible extreme.
    fn quantile_interval(&self, level: f64) -> Interval {
        let worlds = self.sorted.len();
        let [below, above] = binomial_tails(worlds, level, Level::FIXED.tail());
        let low = below.checked_sub(1).map_or(self.possible[0], |place| self.sorted[place]);
        let high = above.checked_sub(1).and_then(|place| self.sorted.get(place)).copied();
        Interval { low: low as f64, high: high.unwrap_or(self.possible[1]) as f64 }
    }

    /// The 95% confidence interval of the expected shortfall.
    ///
    /// Expected shortfall is the mean of `v + max(loss - v, 0) / (1 - level)` at `v` = value at risk, where it is
    /// minimal in `v` (Rockafellar and Uryasev, "Optimization of conditional value-at-risk", 2000). So an error in the
    /// estimated `v` matters in second order only, and the interval is that of a mean over all worlds; its variance is
    /// the one of Manistre and Hancock, "Variance of the CTE estimator", 2005. The interval of a mean used here also
    /// covers skewed losses and few worlds in the tail.
    fn shortfall_interval(&self, value_at_risk: i64, share: f64) -> Interval {
        let beyond = |loss: i64| (loss - value_at_risk).max(0) as f64 / share;
        let values = self.sorted.iter().map(|loss| (beyond(*loss), 1));
        let excess = Sample::of(values, Some(self.step as f64 / share)).interval(Level::FIXED);
        let possible = Interval { low: self.possible[0] as f64, high: self.possible[1] as f64 };
        let Some(Interval { low, high }) = excess else { return possible };
        let at = value_at_risk as f64;
        Interval { low: (at + low).max(possible.low), high: (at + high).min(possible.high) }
    }
}

/// The worlds in the tail at a level: as an integer, rounded down, and with its fraction.
fn tail_mass(worlds: usize, level: Decimal) -> (usize, f64) {
    let one = 10i128.pow(level.places());
    let mass = worlds as i128 * (one - i128::from(level.digits()));
    ((mass / one) as usize, mass as f64 / one as f64)
}

/// The largest `r` with `P(X < r) <= tail`, and the smallest `s` with `P(X >= s) <= tail`, for the binomial number X
/// of hits among `worlds`. From 0 to `worlds + 1`.
fn binomial_tails(worlds: usize, share: f64, tail: f64) -> [usize; 2] {
    /// Terms this much smaller than the largest do not change a sum.
    const SMALL: f64 = 1e-20;
    let mode = (((worlds + 1) as f64 * share) as usize).min(worlds);
    let ratio = |k: usize| (worlds - k) as f64 / (k + 1) as f64 * share / (1.0 - share);
    let mut terms = std::collections::VecDeque::from([1.0]);
    let mut first = mode;
    while first > 0 && terms[0] > SMALL {
        first -= 1;
        terms.push_front(terms[0] / ratio(first));
    }
    let mut last = 1.0;
    for k in mode..worlds {
        last *= ratio(k);
        if last < SMALL {
            break;
        }
        terms.push_back(last);
    }
    let allowed = tail * terms.iter().sum::<f64>();
    let reached = |terms: &mut dyn Iterator<Item = &f64>| {
        let mut sum = 0.0;
        terms
            .take_while(|term| {
                sum += **term;
                sum <= allowed
            })
            .count()
    };
    let below = first + reached(&mut terms.iter());
    let above = first + terms.len() - reached(&mut terms.iter().rev());
    [below, above]
}

/// The worlds of a tail: those beyond the value at risk, and those at it.
pub(super) struct TailWorlds {
    pub(super) beyond: BitSet,
    pub(super) at: BitSet,
}

impl TailWorlds {
    /// Selects among the worlds in `counted`; `losses` has one per world.
    pub(super) fn of(tail: &Tail, losses: &[i64], counted: &BitSet) -> Self {
        let select = |holds: &dyn Fn(i64) -> bool| {
            BitSet::from_fn(losses.len(), |world| counted.contains(world) && holds(losses[world]))
        };
        Self { beyond: select(&|loss| loss > tail.value_at_risk), at: select(&|loss| loss == tail.value_at_risk) }
    }

    /// The weight of the tail's worlds that are in a set.
    pub(super) fn weight(&self, set: &BitSet, tail: &Tail) -> f64 {
        self.beyond.common(set) as f64 + tail.tie_weight * self.at.common(set) as f64
    }
}
