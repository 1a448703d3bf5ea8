//! Histograms.
//!
//! Buckets are a power of two wide and start at multiples of their width. Two adjacent buckets form one of the next
//! width, so buckets can widen as values arrive, and merge without loss.

use super::grouped::{Grouped, each};
use super::ordered::CountedValues;
use crate::column::{Column, Values};

/// Minimum width of buckets of real numbers, as a power of two.
const FINEST_POWER: i32 = -1_000;
/// Integers this close to the extremes share a bucket with others.
const OUTERMOST: i64 = 8;
/// Maximum number of buckets to keep; reported buckets merge from these.
const BUCKETS_MAX: u64 = 4_096;
/// Buckets of values that are not finite.
pub(crate) const NOT_A_NUMBER: i64 = i64::MAX;
pub(crate) const INFINITE: i64 = i64::MAX - 1;
pub(crate) const LEAST: i64 = i64::MIN;
/// Precision of buckets of real numbers, in bits relative to the greatest value.
const FINEST_BITS: i32 = 40;

/// The least and greatest bucket of finite numbers.
pub(crate) fn span(by_group: &[CountedValues]) -> Option<(i64, i64)> {
    let of_bag = |counted: &CountedValues| {
        let mut finite = counted.values().iter().map(|(place, _)| *place).filter(|p| !is_special(*p));
        let low = finite.next()?;
        Some((low, finite.next_back().unwrap_or(low)))
    };
    by_group.iter().filter_map(of_bag).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn is_special(place: i64) -> bool {
    matches!(place, NOT_A_NUMBER | INFINITE | LEAST)
}

/// The buckets, widened by a power of two.
pub(crate) fn shifted(counted: &CountedValues, by: i32) -> CountedValues {
    let mut wider = CountedValues::default();
    for &(place, times) in counted.values() {
        wider.add((if is_special(place) { place } else { place >> by.min(63) }, times));
    }
    wider.settle();
    wider
}

/// `x * 2^power`.
pub(crate) fn scaled(x: f64, power: i32) -> f64 {
    let half = power / 2;
    x * 2f64.powi(half) * 2f64.powi(power - half)
}

/// The width of the finest buckets for the values of a real column, as a power of two.
fn least_shift(column: &Column) -> Option<i32> {
    let Values::Floats(values) = &column.values else { return None };
    let finite = values.iter().enumerate().filter(|(row, x)| x.is_finite() && column.is_valid(*row));
    let greatest = finite.map(|(_, x)| x.abs()).fold(0.0, f64::max);
    (greatest > 0.0).then(|| exponent(greatest) - FINEST_BITS)
}

/// The exponent of the greatest power of two up to a positive number.
fn exponent(x: f64) -> i32 {
    let bits = (x.to_bits() >> 52 & 0x7FF) as i32;
    // Scale subnormal numbers until they have a leading bit.
    if bits == 0 { exponent(x * 2f64.powi(64)) - 64 } else { bits - 1_023 }
}

/// Added to exponents, so that those below 1 stay positive.
pub(crate) const POWERS: i64 = 1_100;

/// The bucket of a value between powers of two: 0 for zero, mirrored for negative values.
pub(super) fn power_of(column: &Column, row: usize) -> i64 {
    match &column.values {
        Values::Ints(values) => match values[row] {
            0 => 0,
            v => v.signum() * (POWERS + i64::from(v.unsigned_abs().ilog2())),
        },
        Values::Floats(values) => match values[row] {
            x if x.is_nan() => NOT_A_NUMBER,
            0.0 => 0,
            x => x.signum() as i64 * (POWERS + i64::from(exponent(x.abs()))),
        },
        _ => 0,
    }
}

/// The buckets of a measure per group, each `2^shift` wide.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    pub(crate) shift: i32,
    pub(crate) by_group: Vec<CountedValues>,
}

impl Histogram {
    /// A histogram without groups, with the finest buckets of the kind.
    pub(super) fn new(is_real: bool) -> Self {
        Self { shift: if is_real { FINEST_POWER } else { 0 }, by_group: Vec::new() }
    }

    pub(super) fn update(&mut self, column: &Column, grouped: &Grouped<'_>) {
        if let Some(least) = least_shift(column) {
            self.coarsen(least);
        }
        // The outermost integers would collide with the buckets of values that are not finite.
        let inner = i64::MIN + OUTERMOST..i64::MAX - OUTERMOST;
        if let Values::Ints(values) = &column.values
            && values.iter().any(|v| !inner.contains(v))
        {
            self.coarsen(OUTERMOST.ilog2() as i32);
        }
        let (shift, by_group) = (self.shift, &mut self.by_group);
        match &column.values {
            Values::Ints(values) => each(column, grouped, |row, group| by_group[group].add((values[row] >> shift, 1))),
            Values::Floats(values) => {
                let place = |x: f64| match x {
                    x if x.is_nan() => NOT_A_NUMBER,
                    f64::INFINITY => INFINITE,
                    f64::NEG_INFINITY => LEAST,
                    // Two steps: the width itself may exceed the largest number.
                    x => (scaled(x, -shift)).floor() as i64,
                };
                each(column, grouped, |row, group| by_group[group].add((place(values[row]), 1)));
            }
            _ => {}
        }
        self.narrow();
    }

    /// Merges another histogram; `map` translates its group numbers to the numbers here.
    pub(super) fn merge(&mut self, other: Self, map: &[u32]) {
        self.coarsen(other.shift);
        for (mut counted, &group) in other.by_group.into_iter().zip(map) {
            counted.settle();
            self.by_group[group as usize].merge(shifted(&counted, self.shift - other.shift));
        }
        self.narrow();
    }

    /// Widens buckets to at least `2^least`.
    fn coarsen(&mut self, least: i32) {
        if least > self.shift {
            for counted in &mut self.by_group {
                counted.settle();
                *counted = shifted(counted, least - self.shift);
            }
            self.shift = least;
        }
    }

    /// Widens buckets until they are few enough.
    fn narrow(&mut self) {
        loop {
            self.by_group.iter_mut().for_each(CountedValues::settle);
            match span(&self.by_group) {
                Some((low, high)) if high.abs_diff(low) >= BUCKETS_MAX => self.coarsen(self.shift + 1),
                _ => return,
            }
        }
    }
}
