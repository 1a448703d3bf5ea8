//! Estimates of outcomes from some worlds: partial results that merge exactly, in any order.

use std::collections::BTreeMap;

use model::{Catalogue, OutcomeBlock, Values};
use serde::{Deserialize, Serialize};

use crate::column::{Column, Narrow};
use crate::interval::{Interval, Level, Sample};

/// Follow all outcomes by default, up to this many in an ensemble.
pub const FOLLOWED_MAX: usize = 1_000;

/// One outcome of one entity over some worlds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Aggregate {
    /// Worlds.
    pub count: u64,
    sum: Sum,
    /// Smallest and largest value, in the outcome's unit; both infinite without worlds.
    min: f64,
    max: f64,
    /// Number of values in each bucket.
    buckets: BTreeMap<i32, u64>,
}

/// Sums of values and of their squares: exact for integers, before division by the outcome's scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Sum {
    Whole { sum: i128, squares: i128, scale: i32 },
    Real { mean: f64, squares: f64 },
}

/// A bucket is a double's sign, exponent, and 7 bits of its fraction: at most 1/128 of its values wide, and one per
/// integer up to 255.
const BUCKET_SHIFT: u32 = 45;

/// The bucket of a value; buckets are ordered like values. NaN is the greatest, whatever its bits.
fn bucket(value: f64) -> i32 {
    let value = if value.is_nan() { f64::NAN } else { value };
    let bits = value.to_bits() as i64;
    // Negative numbers descend as their bits ascend.
    let ordered = bits ^ (((bits >> 63) as u64) >> 1) as i64;
    (ordered >> BUCKET_SHIFT) as i32
}

/// The middle of a bucket. For integers divided by `scale`, the only such value in it, if there is exactly one.
fn value_of(place: i32, scale: Option<i32>) -> f64 {
    let of = |ordered: i64| f64::from_bits((ordered ^ (((ordered >> 63) as u64) >> 1) as i64) as u64);
    let (low, high) = (of(i64::from(place) << BUCKET_SHIFT), of(((i64::from(place) + 1) << BUCKET_SHIFT) - 1));
    let Some(scale) = scale.map(f64::from) else { return f64::midpoint(low, high) };
    let first = (low * scale).floor();
    let mut there = [first, first + 1.0, first + 2.0].map(|whole| whole / scale).into_iter();
    let mut there = std::iter::from_fn(|| there.find(|value| bucket(*value) == place));
    match (there.next(), there.next()) {
        (Some(alone), None) => alone,
        _ => f64::midpoint(low, high),
    }
}

impl Aggregate {
    /// Aggregates a column of a block; `scale` is the outcome's.
    pub fn of(values: &Values<'_>, scale: i32) -> Self {
        match values {
            Values::I16(v) => Self::of_whole(v.iter().map(|x| i32::from(*x)), scale),
            Values::I32(v) => Self::of_whole(v.iter().copied(), scale),
            Values::F64(v) => Self::of_real(v),
        }
    }

    /// Aggregates a column of stored worlds.
    pub(crate) fn of_column(column: &Column) -> Self {
        match &column.values {
            Narrow::U8(v) => Self::of_whole(v.iter().map(|x| i32::from(*x)), column.scale),
            Narrow::I16(v) => Self::of_whole(v.iter().map(|x| i32::from(*x)), column.scale),
            Narrow::I32(v) => Self::of_whole(v.iter().copied(), column.scale),
            Narrow::F64(v) => Self::of_real(v),
        }
    }

    fn of_whole(values: impl ExactSizeIterator<Item = i32> + Clone, scale: i32) -> Self {
        let (mut sum, mut squares, mut low, mut high) = (0i64, 0i128, i32::MAX, i32::MIN);
        for value in values.clone() {
            sum += i64::from(value);
            squares += i128::from(i64::from(value) * i64::from(value));
            (low, high) = (low.min(value), high.max(value));
        }
        let count = values.len() as u64;
        let unit = f64::from(scale);
        let mut aggregate = Self {
            count,
            sum: Sum::Whole { sum: i128::from(sum), squares, scale },
            min: if count == 0 { f64::INFINITY } else { f64::from(low) / unit },
            max: if count == 0 { f64::NEG_INFINITY } else { f64::from(high) / unit },
            buckets: BTreeMap::new(),
        };
        aggregate.count_buckets(values.map(|value| f64::from(value) / unit));
        aggregate
    }

    fn of_real(values: &[f64]) -> Self {
        let count = values.len() as u64;
        let mean = values.iter().sum::<f64>() / (count.max(1) as f64);
        let mut aggregate = Self {
            count,
            sum: Sum::Real { mean, squares: values.iter().map(|x| (x - mean) * (x - mean)).sum() },
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            buckets: BTreeMap::new(),
        };
        aggregate.count_buckets(values.iter().copied());
        aggregate
    }

    fn count_buckets(&mut self, values: impl Iterator<Item = f64>) {
        const DENSE_MAX: i64 = 1 << 16;
        if self.count == 0 {
            return;
        }
        let first = bucket(self.min);
        let span = i64::from(bucket(self.max)) - i64::from(first);
        // Without numbers other than NaN, the bounds are those of nothing.
        if !(0..DENSE_MAX).contains(&span) {
            values.for_each(|value| *self.buckets.entry(bucket(value)).or_default() += 1);
            return;
        }
        // The common case: count in place, without lookups.
        let mut counts = vec![0u64; span as usize + 1];
        values.for_each(|value| match counts.get_mut((bucket(value) - first) as usize) {
            Some(count) => *count += 1,
            // NaN, which the bounds leave out.
            None => *self.buckets.entry(bucket(value)).or_default() += 1,
        });
        let there = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
        self.buckets.extend(there.map(|(place, count)| (first + place as i32, count)));
    }

    /// Adds the same outcome over other worlds.
    pub fn merge(&mut self, other: &Self) {
        self.sum = match (self.sum, other.sum) {
            (Sum::Whole { sum: a, squares: x, scale }, Sum::Whole { sum: b, squares: y, .. }) => {
                Sum::Whole { sum: a + b, squares: x + y, scale }
            }
            // The parallel form of Welford's sums (Chan, Golub and LeVeque 1979).
            (a, b) => {
                let (n, m) = (self.count as f64, other.count as f64);
                let ((mean_a, squares_a), (mean_b, squares_b)) = (moments(a, self.count), moments(b, other.count));
                let apart = mean_b - mean_a;
                let share = m / (n + m).max(1.0);
                Sum::Real { mean: mean_a + apart * share, squares: squares_a + squares_b + apart * apart * n * share }
            }
        };
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        for (bucket, count) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += count;
        }
    }

    pub fn mean(&self) -> f64 {
        moments(self.sum, self.count).0
    }

    /// The unbiased variance over worlds; 0 for fewer than two worlds.
    pub fn variance(&self) -> f64 {
        let variance = if self.count < 2 { 0.0 } else { moments(self.sum, self.count).1 / (self.count - 1) as f64 };
        // Rounding may lead below 0; NaN stays NaN.
        if variance < 0.0 { 0.0 } else { variance }
    }

    /// The 95% confidence interval of the mean, valid even if a run checks it after each range and stops once it is
    /// narrow. `None` for fewer than two worlds, and for real numbers that are all equal.
    pub fn interval(&self) -> Option<Interval> {
        let (mean, scale) = (self.mean(), self.scale());
        let cube = |(bucket, count): (&i32, &u64)| *count as f64 * (value_of(*bucket, scale) - mean).powi(3);
        let sample = Sample {
            count: self.count,
            mean,
            variance: self.variance(),
            third: self.buckets.iter().map(cube).sum::<f64>() / self.count.max(1) as f64,
            bounds: [self.min, self.max],
            unit: scale.map(|scale| 1.0 / f64::from(scale)),
        };
        sample.interval(Level::WATCHED)
    }

    /// The distance from the mean to the farther end of the interval.
    pub fn ci_half_width(&self) -> Option<f64> {
        self.interval().map(|interval| interval.reach(self.mean()))
    }

    /// The divisor of integers; `None` for real numbers.
    fn scale(&self) -> Option<i32> {
        match self.sum {
            Sum::Whole { scale, .. } => Some(scale),
            Sum::Real { .. } => None,
        }
    }

    /// Smallest and largest value other than NaN; `None` without any.
    pub fn bounds(&self) -> Option<[f64; 2]> {
        (self.min <= self.max).then_some([self.min, self.max])
    }

    /// The smallest value that at least a share `q` of the worlds does not exceed, within 0.4%; exact for integers up
    /// to 255 and at both ends. `None` without worlds.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = ((q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).max(1);
        let scale = self.scale();
        let mut seen = 0;
        for (bucket, count) in &self.buckets {
            seen += count;
            if seen >= rank {
                let value = value_of(*bucket, scale);
                let bounds = self.bounds().filter(|_| !value.is_nan());
                return Some(bounds.map_or(value, |[min, max]| value.clamp(min, max)));
            }
        }
        None
    }
}

/// The mean, and the sum of squared deviations from it.
fn moments(sum: Sum, count: u64) -> (f64, f64) {
    match sum {
        Sum::Real { mean, squares } => (mean, squares),
        Sum::Whole { .. } if count == 0 => (0.0, 0.0),
        Sum::Whole { sum, squares, scale } => {
            let (n, unit) = (i128::from(count), f64::from(scale));
            // n times the sum of squared deviations, exactly.
            let spread = n * squares - sum * sum;
            (sum as f64 / count as f64 / unit, spread as f64 / count as f64 / (unit * unit))
        }
    }
}

/// Aggregates by entity and outcome, as catalogue indices.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Aggregates(BTreeMap<u64, Aggregate>);

fn key(entity: usize, outcome: usize) -> u64 {
    (entity as u64) << 32 | outcome as u64
}

impl Aggregates {
    /// Adds the followed outcomes of a block.
    pub(crate) fn take(&mut self, catalogue: &Catalogue, follow: &Follow, block: &OutcomeBlock<'_>) {
        for (outcome, values) in block.columns.iter().enumerate() {
            if follow.has(block.entity, outcome) {
                let scale = catalogue.kind_of(block.entity).outcomes[outcome].scale;
                let taken = Aggregate::of(values, scale);
                self.0.entry(key(block.entity, outcome)).and_modify(|a| a.merge(&taken)).or_insert(taken);
            }
        }
    }

    pub(crate) fn insert(&mut self, entity: usize, outcome: usize, aggregate: Aggregate) {
        self.0.insert(key(entity, outcome), aggregate);
    }

    /// Adds aggregates of other worlds.
    pub fn merge(&mut self, other: &Self) {
        for (key, aggregate) in &other.0 {
            self.0.entry(*key).and_modify(|a| a.merge(aggregate)).or_insert_with(|| aggregate.clone());
        }
    }

    /// The aggregate of an outcome of an entity.
    pub fn get(&self, entity: usize, outcome: usize) -> Option<&Aggregate> {
        self.0.get(&key(entity, outcome))
    }

    /// Entity, outcome and aggregate of everything followed.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, &Aggregate)> {
        self.0.iter().map(|(key, aggregate)| ((key >> 32) as usize, (key & u64::from(u32::MAX)) as usize, aggregate))
    }
}

/// Which outcomes to follow while an ensemble runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Follow {
    all: bool,
    some: Vec<(usize, usize)>,
}

impl Follow {
    /// Follows the given outcomes, and all if the ensemble has at most [`FOLLOWED_MAX`].
    pub fn new(catalogue: &Catalogue, some: Vec<(usize, usize)>) -> Self {
        Self { all: catalogue.values_per_world() <= FOLLOWED_MAX, some }
    }

    /// Follows nothing: values are written without being aggregated.
    pub fn nothing() -> Self {
        Self { all: false, some: Vec::new() }
    }

    /// Entity and outcome of everything followed, as catalogue indices.
    pub(crate) fn outcomes(&self, catalogue: &Catalogue) -> impl Iterator<Item = (usize, usize)> {
        let of = |entity| (0..catalogue.kind_of(entity).outcomes.len()).map(move |outcome| (entity, outcome));
        let all = (0..catalogue.entities.len()).flat_map(of);
        all.filter(|(entity, outcome)| self.has(*entity, *outcome))
    }

    fn has(&self, entity: usize, outcome: usize) -> bool {
        self.all || self.some.contains(&(entity, outcome))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(values: &[i32], scale: i32) -> Aggregate {
        Aggregate::of(&Values::I32(values), scale)
    }

    #[test]
    fn every_real_number_is_counted() {
        let special =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 5e-324, -0.0, 0.0, 1.5, -f64::NAN];
        for chosen in 1u32..1 << special.len() {
            let values = special.iter().enumerate().filter(|(place, _)| chosen >> place & 1 == 1);
            let values: Vec<f64> = values.map(|(_, value)| *value).collect();
            let aggregate = Aggregate::of(&Values::F64(&values), 1);
            assert_eq!(aggregate.buckets.values().sum::<u64>(), values.len() as u64, "{values:?}");
            let _ = (aggregate.interval(), aggregate.quantile(0.5), aggregate.bounds());
        }
    }

    proptest! {
        #[test]
        fn parts_merge_into_what_the_whole_is(values in prop::collection::vec(-2_000_000i32..2_000_000, 1..200), cut in 0usize..200, scale in 1i32..100) {
            let cut = cut.min(values.len());
            let all = whole(&values, scale);
            let mut parts = whole(&values[cut..], scale);
            parts.merge(&whole(&values[..cut], scale));
            prop_assert_eq!(&parts, &all);
        }

        #[test]
        fn figures_are_those_of_the_values(values in prop::collection::vec(-50_000i32..90_000, 2..300), q in 0.0f64..=1.0) {
            let n = values.len() as f64;
            let all = whole(&values, 10);
            let of: Vec<f64> = values.iter().map(|v| f64::from(*v) / 10.0).collect();
            let mean = of.iter().sum::<f64>() / n;
            let variance = of.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
            prop_assert!((all.mean() - mean).abs() < 1e-6);
            prop_assert!((all.variance() - variance).abs() < 1e-6 * variance.max(1.0));
            let real = Aggregate::of(&Values::F64(&of), 1);
            prop_assert!((real.variance() - variance).abs() < 1e-6 * variance.max(1.0));
            let mut sorted = of.clone();
            sorted.sort_by(f64::total_cmp);
            let exact = sorted[((q * n).ceil() as usize).clamp(1, values.len()) - 1];
            for aggregate in [&all, &real] {
                let found = aggregate.quantile(q).unwrap();
                prop_assert!((found - exact).abs() <= exact.abs() * 0.004 + 1e-12, "{} is not {}", found, exact);
                prop_assert_eq!(aggregate.bounds(), Some([sorted[0], sorted[sorted.len() - 1]]));
            }
        }

        #[test]
        fn real_parts_merge(values in prop::collection::vec(-1e6f64..1e6, 2..100), cut in 1usize..99) {
            let cut = cut.min(values.len() - 1);
            let all = Aggregate::of(&Values::F64(&values), 1);
            let mut parts = Aggregate::of(&Values::F64(&values[..cut]), 1);
            parts.merge(&Aggregate::of(&Values::F64(&values[cut..]), 1));
            prop_assert!((parts.mean() - all.mean()).abs() < 1e-6);
            prop_assert!((parts.variance() - all.variance()).abs() <= 1e-9 * all.variance().max(1.0));
            prop_assert_eq!(parts.quantile(0.5), all.quantile(0.5));
        }
    }

    #[test]
    fn small_whole_numbers_have_exact_quantiles() {
        let values: Vec<i32> = (0..256).collect();
        let all = whole(&values, 1);
        for rank in 1..=256 {
            assert_eq!(all.quantile(f64::from(rank) / 256.0), Some(f64::from(rank - 1)));
        }
        let shares: Vec<i32> = (0..=12).collect();
        assert_eq!(whole(&shares, 12).quantile(5.0 / 13.0), Some(4.0 / 12.0));
        assert_eq!(whole(&[], 1).quantile(0.5), None);
        assert_eq!((whole(&[], 1).bounds(), whole(&[7], 1).interval()), (None, None));
    }
}
