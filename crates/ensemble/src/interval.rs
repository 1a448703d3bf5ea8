//! Confidence intervals of shares and means that hold with few worlds, even without a single hit.
//!
//! A share has the Clopper-Pearson interval, within 1% of its width: with no hit in 1,000 worlds it reaches up to 0.37%.
//! The mean of other values has Wilson's score interval for shares, with the range of the values in place of 1; it
//! reaches farther on the side with few extreme values.

use serde::{Deserialize, Serialize};

/// An interval, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl From<[f64; 2]> for Interval {
    fn from([low, high]: [f64; 2]) -> Self {
        Self { low, high }
    }
}

impl From<Interval> for [f64; 2] {
    fn from(interval: Interval) -> Self {
        [interval.low, interval.high]
    }
}

impl Interval {
    /// Clipped to the possible means of a flag, which is 0 or 1.
    pub(crate) fn of_flag(self) -> Self {
        Self { low: self.low.max(0.0), high: self.high.min(1.0) }
    }

    /// The distance from an estimate in it to the farther end.
    pub fn reach(self, estimate: f64) -> f64 {
        (self.high - estimate).max(estimate - self.low)
    }
}

/// A confidence level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    /// The two-sided quantile of the normal distribution.
    z: f64,
    /// The probability of one tail.
    tail: f64,
}

impl Level {
    /// 95%, for a number of worlds fixed in advance.
    pub(crate) const FIXED: Self = Self { z: 1.959_963_984_540_054, tail: 0.025 };
    /// 96%, for runs that check repeatedly and stop once the interval is narrow. Such runs stop early when it is narrow
    /// by chance; at 96% somewhat more than 95% of their intervals still contain the true value.
    pub(crate) const WATCHED: Self = Self { z: 2.053_748_910_631_823, tail: 0.02 };

    /// The probability of one tail.
    pub(crate) fn tail(self) -> f64 {
        self.tail
    }
}

/// The interval of a share, from the number of hits and worlds.
pub(crate) fn of_share(hits: u64, worlds: u64, level: Level) -> Interval {
    let upper = |hits: u64| upper_limit(hits as f64, worlds as f64, level);
    if worlds == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    Interval { low: 1.0 - upper(worlds - hits), high: upper(hits) }
}

/// The upper Clopper-Pearson limit in closed form: Paulson's approximation of F quantiles as corrected by Camp and
/// Pratt (Blyth 1986), within 1% of the interval's width, and mostly within 0.3%.
fn upper_limit(hits: f64, worlds: f64, Level { z, tail }: Level) -> f64 {
    let misses = worlds - hits;
    if misses == 0.0 {
        return 1.0;
    }
    if hits == 0.0 {
        return 1.0 - tail.powf(1.0 / worlds);
    }
    if misses == 1.0 {
        return (1.0 - tail).powf(1.0 / worlds);
    }
    let (a, b, zz) = (hits + 1.0, misses, z * z);
    let root = (9.0 * a * b * (9.0 * worlds + 5.0 - zz) + worlds + 1.0).sqrt();
    let above = 81.0 * a * b - 9.0 * worlds - 8.0 - 3.0 * z * root;
    let below = 81.0 * a * a - 9.0 * a * (2.0 + zz) + 1.0;
    1.0 / (1.0 + (a / b).powi(2) * (above / below).powi(3))
}

/// The moments behind an interval of a mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// Worlds.
    pub(crate) count: u64,
    pub(crate) mean: f64,
    /// Unbiased variance over worlds.
    pub(crate) variance: f64,
    /// Mean cubed deviation from the mean.
    pub(crate) third: f64,
    pub(crate) bounds: [f64; 2],
    /// The smallest difference between values: 1 divided by the scale; `None` for real numbers.
    pub(crate) unit: Option<f64>,
}

impl Sample {
    /// From distinct values with their frequencies.
    pub(crate) fn of(values: impl Iterator<Item = (f64, u64)> + Clone, unit: Option<f64>) -> Self {
        let count: u64 = values.clone().map(|(_, n)| n).sum();
        let n = count.max(1) as f64;
        let mean = values.clone().map(|(value, n)| value * n as f64).sum::<f64>() / n;
        let (mut squares, mut cubes, mut bounds) = (0.0, 0.0, [f64::INFINITY, f64::NEG_INFINITY]);
        for (value, n) in values {
            let away = value - mean;
            squares += n as f64 * away * away;
            cubes += n as f64 * away * away * away;
            bounds = [bounds[0].min(value), bounds[1].max(value)];
        }
        Self { count, mean, variance: squares / (n - 1.0).max(1.0), third: cubes / n, bounds, unit }
    }

    /// The mean's interval. `None` for fewer than two worlds, for real numbers that are all equal, and where its ends
    /// are not finite.
    pub(crate) fn interval(&self, level: Level) -> Option<Interval> {
        self.ends(level).filter(|Interval { low, high }| low.is_finite() && high.is_finite())
    }

    fn ends(&self, level: Level) -> Option<Interval> {
        let [min, max] = self.bounds;
        let Level { z, .. } = level;
        if self.count < 2 {
            return None;
        }
        match self.unit {
            // Unseen values may exist on either side.
            Some(unit) if min == max => {
                let reach = unit * of_share(0, self.count, level).high;
                Some(Interval { low: min - reach, high: max + reach })
            }
            // Two adjacent values: estimate the share of the larger one.
            Some(unit) if max - min < 1.5 * unit => {
                let hits = ((self.mean - min) / (max - min) * self.count as f64).round() as u64;
                let Interval { low, high } = of_share(hits.min(self.count), self.count, level);
                Some(Interval { low: min + (max - min) * low, high: min + (max - min) * high })
            }
            _ if min == max => None,
            _ => {
                let n = self.count as f64;
                let half = z * (self.variance / n + (z * (max - min) / (2.0 * n)).powi(2)).sqrt();
                let lean = z * z / (2.0 * n) * self.third / self.variance;
                Some(Interval { low: self.mean - half + lean.min(0.0), high: self.mean + half + lean.max(0.0) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of at most this many hits.
    fn at_most(hits: u64, worlds: u64, share: f64) -> f64 {
        let mut log = worlds as f64 * (1.0 - share).ln();
        let mut sum = log.exp();
        for k in 1..=hits {
            log += ((worlds - k + 1) as f64 / k as f64 * share / (1.0 - share)).ln();
            sum += log.exp();
        }
        sum
    }

    #[test]
    fn share_limits_are_those_of_clopper_and_pearson() {
        for level in [Level::FIXED, Level::WATCHED] {
            for (hits, worlds) in
                [(0, 1), (1, 3), (2, 20), (1, 100), (5, 100), (50, 100), (99, 100), (3, 20_000), (700, 1_000)]
            {
                let Interval { low, high } = of_share(hits, worlds, level);
                // Just outside the interval the tail is smaller than allowed, just inside it is larger.
                let hair = 0.01 * (high - low);
                if hits < worlds {
                    assert!(at_most(hits, worlds, high - hair) > level.tail, "{hits} of {worlds}");
                    assert!(
                        high + hair >= 1.0 || at_most(hits, worlds, high + hair) < level.tail,
                        "{hits} of {worlds}"
                    );
                }
                if hits > 0 {
                    assert!(1.0 - at_most(hits - 1, worlds, low + hair) > level.tail, "{hits} of {worlds}");
                    let below = (low - hair).max(1e-12);
                    assert!(1.0 - at_most(hits - 1, worlds, below) < level.tail, "{hits} of {worlds}");
                }
            }
        }
        assert_eq!(of_share(0, 0, Level::FIXED), Interval { low: 0.0, high: 1.0 });
        assert_eq!((of_share(0, 9, Level::FIXED).low, of_share(9, 9, Level::FIXED).high), (0.0, 1.0));
    }

    #[test]
    fn nothing_seen_is_not_nothing_possible() {
        let sample = |values: &[(f64, u64)], unit| Sample::of(values.iter().copied(), unit);
        let none = sample(&[(0.0, 1_000)], Some(1.0)).interval(Level::FIXED).unwrap();
        assert!(none.high > 0.0036 && none.high < 0.0038 && none.low == -none.high, "{none:?}");
        assert_eq!(sample(&[(0.5, 1_000)], None).interval(Level::FIXED), None);
        assert_eq!(sample(&[(0.0, 1)], Some(1.0)).interval(Level::FIXED), None);
        // A share with any two values.
        let share = of_share(3, 1_000, Level::FIXED);
        let shifted = sample(&[(7.0, 997), (7.5, 3)], Some(0.5)).interval(Level::FIXED).unwrap();
        assert!((shifted.low - 7.0 - 0.5 * share.low).abs() < 1e-12);
        assert!((shifted.high - 7.0 - 0.5 * share.high).abs() < 1e-12);
        // And about equal for values far apart.
        let apart = sample(&[(0.0, 997), (60.0, 3)], Some(1.0)).interval(Level::FIXED).unwrap();
        assert!((apart.high / 60.0 / share.high - 1.0).abs() < 0.05, "{apart:?} {share:?}");
    }
}
