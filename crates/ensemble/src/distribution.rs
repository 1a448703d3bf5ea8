//! The distribution of one outcome: every value and its frequency.

use crate::column::{Column, Narrow};
use crate::interval::{Interval, Level, Sample};

/// An exact distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Distinct values, ascending, with their number of worlds.
    pub counts: Vec<(f64, usize)>,
    pub worlds: usize,
    /// The smallest difference between values; `None` for real numbers.
    unit: Option<f64>,
}

impl Distribution {
    /// Counts a column.
    pub fn of(column: &Column) -> Self {
        let scale = f64::from(column.scale);
        let counts = match &column.values {
            Narrow::U8(v) => {
                let mut slots = [0usize; 256];
                v.iter().for_each(|x| slots[usize::from(*x)] += 1);
                occupied(&slots, 0, scale)
            }
            Narrow::I16(v) => {
                let mut slots = vec![0usize; 1 << 16];
                v.iter().for_each(|x| slots[(i32::from(*x) + 32_768) as usize] += 1);
                occupied(&slots, -32_768, scale)
            }
            Narrow::I32(_) | Narrow::F64(_) => {
                let mut values: Vec<f64> = (0..column.len()).map(|w| column.value(w)).collect();
                values.sort_by(f64::total_cmp);
                values.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
            }
        };
        Self { counts, worlds: column.len(), unit: column.unit() }
    }

    /// From distinct values, ascending, with their number of worlds; values differ by multiples of `unit`.
    pub(crate) fn of_counts(counts: Vec<(f64, usize)>, unit: f64) -> Self {
        let worlds = counts.iter().map(|(_, n)| n).sum();
        Self { counts, worlds, unit: Some(unit) }
    }

    /// The mean; NaN without worlds.
    pub fn mean(&self) -> f64 {
        self.counts.iter().map(|(value, n)| value * *n as f64).sum::<f64>() / self.worlds as f64
    }

    /// The standard deviation over the worlds (divisor: their number).
    pub fn standard_deviation(&self) -> f64 {
        let mean = self.mean();
        let squares = self.counts.iter().map(|(value, n)| (value - mean).powi(2) * *n as f64);
        (squares.sum::<f64>() / self.worlds as f64).sqrt()
    }

    /// The mean's 95% confidence interval; `None` for fewer than two worlds, and for real numbers that are all equal.
    pub fn interval(&self) -> Option<Interval> {
        let counts = self.counts.iter().map(|(value, n)| (*value, *n as u64));
        Sample::of(counts, self.unit).interval(Level::FIXED)
    }

    /// The smallest value that at least a share `p` (0 to 1) of the worlds does not exceed; NaN without worlds.
    pub fn quantile(&self, p: f64) -> f64 {
        let rank = self.rank(p);
        let mut below = 0;
        let reached = self.counts.iter().find(|(_, n)| {
            below += n;
            below >= rank
        });
        reached.map_or(f64::NAN, |(value, _)| *value)
    }

    /// The quantiles of shares (0 to 1) in any order; see [`Self::quantile`].
    pub fn quantiles(&self, shares: &[f64]) -> Vec<f64> {
        let mut below = 0;
        let up_to: Vec<usize> = self
            .counts
            .iter()
            .map(|(_, n)| {
                below += n;
                below
            })
            .collect();
        let quantile = |share: &f64| {
            let place = up_to.partition_point(|below| *below < self.rank(*share));
            self.counts.get(place).map_or(f64::NAN, |(value, _)| *value)
        };
        shares.iter().map(quantile).collect()
    }

    /// The place of a quantile among the worlds, from 1.
    fn rank(&self, share: f64) -> usize {
        (share.clamp(0.0, 1.0) * self.worlds as f64).ceil().max(1.0) as usize
    }

    /// Each value with the share of worlds that do not exceed it.
    pub fn cdf(&self) -> impl Iterator<Item = (f64, f64)> {
        let mut below = 0;
        self.counts.iter().map(move |(value, n)| {
            below += n;
            (*value, below as f64 / self.worlds as f64)
        })
    }

    /// At most `bins` equal bins of the values as (from, to, worlds); the last bin includes its end.
    pub fn histogram(&self, bins: usize) -> Vec<(f64, f64, usize)> {
        let (Some((low, _)), Some((high, _))) = (self.counts.first(), self.counts.last()) else {
            return Vec::new();
        };
        if self.counts.len() <= bins {
            return self.counts.iter().map(|(value, n)| (*value, *value, *n)).collect();
        }
        // Integer bin widths for integer values, so that every bin covers the same number of them.
        let whole = self.counts.iter().all(|(value, _)| value.fract() == 0.0);
        let step = if whole { ((high - low + 1.0) / bins as f64).ceil() } else { (high - low) / bins as f64 };
        let place = |value: f64| (((value - low) / step) as usize).min(bins - 1);
        let mut counts = vec![0; place(*high) + 1];
        self.counts.iter().for_each(|(value, n)| counts[place(*value)] += n);
        let last = if whole { 1.0 } else { 0.0 };
        let bin = |(i, n)| (low + i as f64 * step, low + (i + 1) as f64 * step - last, n);
        counts.into_iter().enumerate().map(bin).collect()
    }
}

fn occupied(slots: &[usize], first: i32, scale: f64) -> Vec<(f64, usize)> {
    let used = slots.iter().enumerate().filter(|(_, n)| **n > 0);
    used.map(|(i, n)| (f64::from(i as i32 + first) / scale, *n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(values: Narrow) -> Distribution {
        Distribution::of(&Column { values, scale: 2 })
    }

    #[test]
    fn moments_and_quantiles_are_exact() {
        let d = distribution(Narrow::I16(vec![-4, 2, 2, 8]));
        assert_eq!(d.counts, [(-2.0, 1), (1.0, 2), (4.0, 1)]);
        assert_eq!((d.mean(), d.quantile(0.0), d.quantile(0.5), d.quantile(0.76)), (1.0, -2.0, 1.0, 4.0));
        assert!((d.standard_deviation() - 4.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(d.quantiles(&[1.0, 0.25, 0.251, 0.0, 0.75]), [4.0, -2.0, 1.0, -2.0, 1.0]);
        assert!(distribution(Narrow::U8(Vec::new())).quantile(0.5).is_nan());
        assert_eq!(d.cdf().collect::<Vec<_>>(), [(-2.0, 0.25), (1.0, 0.75), (4.0, 1.0)]);
        assert_eq!(d.counts, distribution(Narrow::F64(vec![4.0, -2.0, 1.0, 1.0])).counts);
    }

    #[test]
    fn a_histogram_counts_every_world_once() {
        let d = Distribution::of(&Column { values: Narrow::U8((0..=200).collect()), scale: 1 });
        for bins in [1, 7, 20, 201, 300] {
            let bins = d.histogram(bins);
            assert_eq!(bins.iter().map(|b| b.2).sum::<usize>(), 201);
            assert!(bins.windows(2).all(|w| w[0].1 < w[1].0));
        }
    }
}
