//! Compares an outcome, or an expression of outcomes, of two ensembles, world by world.
//!
//! Ensembles with equal seeds share their random numbers: a world differs between them only through the changed input.
//! The difference is then estimated far better than either mean.

use serde::Serialize;

use crate::column::Column;
use crate::columns::Columns;
use crate::error::QuestionError;
use crate::interval::{Interval, Level, Sample};
use crate::json::{real, reals};
use crate::quantity::Quantity;

/// How an outcome of one ensemble compares with an outcome of another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The outcome or expression, as typed.
    pub outcome: String,
    /// Worlds in both ensembles.
    pub worlds: usize,
    /// Whether both have the same seed, so that worlds can be paired.
    pub is_paired: bool,
    #[serde(serialize_with = "reals")]
    pub means: [f64; 2],
    /// The second mean minus the first.
    #[serde(serialize_with = "real")]
    pub difference: f64,
    /// The 95% confidence interval of the difference: from the differences of paired worlds, or else from the intervals
    /// of both means. `None` for fewer than two worlds.
    pub ci: Option<Interval>,
    /// The distance from the difference to the farther end of the interval.
    pub ci_half_width: Option<f64>,
    /// The same distance computed without pairing.
    pub unpaired_half_width: Option<f64>,
    /// Correlation of both over paired worlds; `None` if either is constant.
    pub correlation: Option<f64>,
    /// For paired worlds, the shares in which the second is less, equal, and greater.
    pub shares: Option<[f64; 3]>,
}

/// Compares an outcome, written as `entity:outcome`, or an expression of such outcomes, between two ensembles over the
/// worlds in both. Stops once `wanted` returns false.
///
/// # Errors
/// When either ensemble does not know a name, the text is not an expression, its value is not finite in some world, either
/// has no worlds, the caller gives up, or segments cannot be read.
pub(crate) fn compare(
    first: &Columns,
    second: &Columns,
    outcome: &str,
    wanted: &dyn Fn() -> bool,
) -> Result<Comparison, QuestionError> {
    let read = |columns: &Columns| {
        let catalogue = &columns.ensemble().plan.catalogue;
        let quantity = Quantity::parse(outcome, catalogue, catalogue.asked_entity(None)?)?;
        if columns.worlds() == 0 {
            return Err(QuestionError::NoWorlds { ensemble: columns.ensemble().plan.name.clone() });
        }
        quantity.column(columns, wanted)
    };
    let is_paired = first.ensemble().plan.seed == second.ensemble().plan.seed;
    let (a, b) = (read(first)?, read(second)?);
    let compared = compared(&a, &b, &common(first, second), is_paired);
    Ok(Comparison { outcome: outcome.to_owned(), ..compared })
}

/// The indices of the common worlds in the columns of each.
fn common(a: &Columns, b: &Columns) -> Vec<[usize; 2]> {
    let worlds = |columns: &Columns| columns.ensemble().world_numbers().collect::<Vec<_>>();
    let (a, b) = (worlds(a), worlds(b));
    let (mut i, mut j) = (0, 0);
    let mut common = Vec::new();
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x == y {
            common.push([i, j]);
        }
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    common
}

fn compared(a: &Column, b: &Column, places: &[[usize; 2]], is_paired: bool) -> Comparison {
    let n = places.len() as f64;
    let pairs = || places.iter().map(|[i, j]| (a.value(*i), b.value(*j)));
    let (sum_a, sum_b) = pairs().fold((0.0, 0.0), |(x, y), (a, b)| (x + a, y + b));
    let means = [sum_a / n.max(1.0), sum_b / n.max(1.0)];
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    let mut counts = [0usize; 3];
    for (a, b) in pairs() {
        counts[match expr::order(b, a) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Greater => 2,
        }] += 1;
        let (a, b) = (a - means[0], b - means[1]);
        (aa, bb, ab) = (aa + a * a, bb + b * b, ab + a * b);
    }
    let (unit_a, unit_b) = (a.unit(), b.unit());
    // The rounded mean of a constant may differ from it.
    let varies = |of: fn((f64, f64)) -> f64| pairs().map(of).zip(pairs().skip(1).map(of)).any(|(x, y)| x != y);
    let varies = varies(|(a, _)| a) && varies(|(_, b)| b);
    let difference = means[1] - means[0];
    let unpaired =
        apart(Sample::of(pairs().map(|(a, _)| (a, 1)), unit_a), Sample::of(pairs().map(|(_, b)| (b, 1)), unit_b));
    let unit = unit_a.filter(|_| unit_a == unit_b);
    // Differences of decimals are rounded: equal ones must stay equal.
    let apart_by = |(a, b): (f64, f64)| unit.map_or(b - a, |unit| ((b - a) / unit).round() * unit);
    let ci = if is_paired {
        Sample::of(pairs().map(|pair| (apart_by(pair), 1)), unit).interval(Level::FIXED)
    } else {
        unpaired
    };
    Comparison {
        outcome: String::new(),
        worlds: places.len(),
        is_paired,
        means,
        difference,
        ci,
        ci_half_width: ci.map(|ci| ci.reach(difference)),
        unpaired_half_width: unpaired.map(|ci| ci.reach(difference)),
        correlation: (is_paired && varies && aa > 0.0 && bb > 0.0).then(|| (ab / (aa * bb).sqrt()).clamp(-1.0, 1.0)),
        shares: (is_paired && n > 0.0).then(|| counts.map(|count| count as f64 / n)),
    }
}

/// The interval of the second mean minus the first, for independent samples (Newcombe 1998).
fn apart(a: Sample, b: Sample) -> Option<Interval> {
    let (of_a, of_b) = (a.interval(Level::FIXED)?, b.interval(Level::FIXED)?);
    let difference = b.mean - a.mean;
    let reach = |x: f64, y: f64| x.hypot(y);
    Some(Interval {
        low: difference - reach(b.mean - of_b.low, of_a.high - a.mean),
        high: difference + reach(of_b.high - b.mean, a.mean - of_a.low),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Narrow;

    fn column(values: &[i32]) -> Column {
        Column { values: Narrow::I32(values.to_vec()), scale: 2 }
    }

    #[test]
    fn a_constant_shift_of_decimals_is_one_difference() {
        // 0.1 and 0.2 become 0.3 and 0.4, whose differences are not the same double.
        let tenths = |values: [i32; 2]| Column { values: Narrow::I32(values.repeat(500)), scale: 10 };
        let all: Vec<[usize; 2]> = (0..1_000).map(|world| [world, world]).collect();
        let found = compared(&tenths([1, 2]), &tenths([3, 4]), &all, true);
        let halves = |values: [i32; 2]| Column { values: Narrow::I32(values.repeat(500)), scale: 2 };
        let exact = compared(&halves([1, 2]), &halves([3, 4]), &all, true);
        let widths = [found, exact].map(|compared| compared.ci_half_width.unwrap());
        assert!((widths[0] * 5.0 - widths[1]).abs() < 1e-9 && widths[0] > 1e-4, "{widths:?}");
    }

    #[test]
    fn the_difference_of_pairs_has_its_own_spread() {
        let (a, b) = (column(&[0, 10, 20, 30]), column(&[2, 12, 26, 30]));
        let all = [[0, 0], [1, 1], [2, 2], [3, 3]];
        let found = compared(&a, &b, &all, true);
        // Differences 1, 1, 3, 0: their mean is 1.25, the sum of squared deviations 4.75.
        assert_eq!((found.worlds, found.means, found.difference), (4, [7.5, 8.75], 1.25));
        // Their spread, plus the term for their range of 3 with so few worlds.
        let expected = 1.96 * (4.75f64 / 3.0 / 4.0 + (1.96f64 * 3.0 / 8.0).powi(2)).sqrt();
        let Interval { low, high } = found.ci.unwrap();
        let half = (high - low) / 2.0;
        assert!(half > expected && half < 1.25 * expected, "{found:?}");
        assert_eq!(found.ci_half_width, Some((high - 1.25).max(1.25 - low)));
        assert_eq!(found.shares, Some([0.0, 0.25, 0.75]));
        assert!(found.correlation.unwrap() > 0.98 && found.unpaired_half_width > found.ci_half_width);
        let other = compared(&a, &b, &all, false);
        assert_eq!((other.ci_half_width, other.shares), (found.unpaired_half_width, None));
        let none = compared(&a, &b, &[], true);
        assert_eq!((none.worlds, none.ci_half_width, none.shares), (0, None, None));
        // As in conditions: both zeros are equal, and NaN equals itself.
        let real = |values: [f64; 4]| Column { values: Narrow::F64(values.to_vec()), scale: 1 };
        let (a, b) = (real([0.0, -0.0, f64::NAN, 1.0]), real([-0.0, 0.0, f64::NAN, 2.0]));
        assert_eq!(compared(&a, &b, &all, true).shares, Some([0.0, 0.75, 0.25]));
        let constant = compared(&column(&[4, 4]), &column(&[4, 4]), &all[..2], true);
        assert_eq!((constant.difference, constant.correlation), (0.0, None));
        assert!(constant.ci_half_width.unwrap() > 0.4, "two worlds that are alike say little: {constant:?}");
    }
}
