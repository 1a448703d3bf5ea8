//! The distribution of one outcome: every value and its frequency.

use crate::column::{Column, Narrow};
use crate::interval::{Interval, Level, Sample};

/// Up to this distance the whole numbers between two values are exact.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

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
                values.sort_by(|a, b| expr::order(*a, *b));
                let alike = |a: &f64, b: &f64| a == b || (a.is_nan() && b.is_nan());
                values.chunk_by(alike).map(|run| (run[0], run.len())).collect()
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
        let worlds = self.worlds as f64;
        let mean = self.counts.iter().map(|(value, n)| value * *n as f64).sum::<f64>() / worlds;
        if mean.is_finite() {
            return mean;
        }
        // The sum of very large values may overflow where their mean does not.
        self.counts.iter().map(|(value, n)| value * (*n as f64 / worlds)).sum()
    }

    /// The standard deviation over the worlds (divisor: their number).
    pub fn standard_deviation(&self) -> f64 {
        let mean = self.mean();
        let with = |scale: f64| {
            let squares = self.counts.iter().map(|(value, n)| (value * scale - mean * scale).powi(2) * *n as f64);
            (squares.sum::<f64>() / self.worlds as f64).sqrt() / scale
        };
        let deviation = with(1.0);
        // So may squares.
        if deviation.is_infinite() { with(2f64.powi(-600)) } else { deviation }
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

    /// At most `bins` equal bins of the finite values as (from, to, worlds); the last bin includes its end. Infinities
    /// and NaN have bins of their own before and after these.
    pub fn histogram(&self, bins: usize) -> Vec<(f64, f64, usize)> {
        let finite = |(value, _): &(f64, usize)| value.is_finite();
        let first = self.counts.iter().position(finite).unwrap_or(self.counts.len());
        let end = self.counts.iter().rposition(finite).map_or(first, |last| last + 1);
        let alone = |counts: &[(f64, usize)]| counts.iter().map(|(value, n)| (*value, *value, *n)).collect::<Vec<_>>();
        let counts = &self.counts[first..end];
        let inner = if counts.len() <= bins { alone(counts) } else { binned(counts, bins) };
        [alone(&self.counts[..first]), inner, alone(&self.counts[end..])].concat()
    }
}

/// Equal bins of finite values, more values than bins.
fn binned(counts: &[(f64, usize)], bins: usize) -> Vec<(f64, f64, usize)> {
    let (low, high) = (counts[0].0, counts[counts.len() - 1].0);
    // The distance of very large values may overflow, that of scaled ones does not.
    let scale = if (high - low).is_finite() { 1.0 } else { 0.25 };
    let (low, high) = (low * scale, high * scale);
    // Integer bin widths for integer values, so that every bin covers the same number of them.
    let whole = high - low < MAX_WHOLE && counts.iter().all(|(value, _)| value.fract() == 0.0);
    let step = if whole { ((high - low + 1.0) / bins as f64).ceil() } else { (high - low) / bins as f64 };
    let place = |value: f64| (((value * scale - low) / step) as usize).min(bins - 1);
    let mut binned = vec![0; place(counts[counts.len() - 1].0) + 1];
    counts.iter().for_each(|(value, n)| binned[place(*value)] += n);
    let last = if whole { 1.0 } else { 0.0 };
    let edge = |i: usize| (low + i as f64 * step).min(f64::MAX * scale) / scale;
    let bin = |(i, n)| (edge(i), edge(i + 1) - last, n);
    binned.into_iter().enumerate().map(bin).collect()
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
    fn nan_is_the_greatest_whatever_its_sign() {
        let d = distribution(Narrow::F64(vec![-f64::NAN, 2.0, f64::NAN, f64::NEG_INFINITY]));
        assert_eq!((d.quantile(0.25), d.quantile(0.5)), (f64::NEG_INFINITY, 2.0));
        assert!(matches!(d.counts[..], [_, _, (nan, 2)] if nan.is_nan()), "{:?}", d.counts);
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

    #[test]
    fn very_large_values_have_moments_and_bins() {
        let all: Vec<f64> = (0..=200).map(|i| f64::MAX * ((f64::from(i) - 100.0) / 100.0)).collect();
        let d = distribution(Narrow::F64(all.clone()));
        assert!(d.mean().abs() < 1e300, "{}", d.mean());
        let expected = f64::MAX * (((100.0 * 101.0 * 201.0 / 3.0) / 201.0_f64).sqrt() / 100.0);
        assert!((d.standard_deviation() / expected - 1.0).abs() < 1e-12, "{} {expected}", d.standard_deviation());
        let bins = d.histogram(20);
        assert_eq!(bins.iter().map(|bin| bin.2).sum::<usize>(), 201);
        assert!(bins.iter().all(|(from, to, _)| from.is_finite() && to.is_finite() && from < to), "{bins:?}");
        let with = [&all[..], &[f64::NAN, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]].concat();
        let apart = distribution(Narrow::F64(with)).histogram(20);
        assert_eq!((apart[0], apart.len()), ((f64::NEG_INFINITY, f64::NEG_INFINITY, 1), bins.len() + 3));
        assert_eq!(apart[1..=bins.len()], bins);
        let [infinite, none] = [apart[bins.len() + 1], apart[bins.len() + 2]];
        assert!(infinite == (f64::INFINITY, f64::INFINITY, 1) && none.0.is_nan() && none.2 == 2, "{apart:?}");
    }
}
