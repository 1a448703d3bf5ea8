//! Sums behind the figures: first and second moments of pairs of numbers, by block.

use super::Measured;

/// A statistic computed from the moments of (x, y).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statistic {
    /// Mean of x over mean of y.
    Ratio,
    /// Standard deviation of x.
    Deviation,
    Correlation,
    /// Slope of y on x.
    Slope,
}

/// Sums over a set of pairs: 1, x, y, x², y² and xy.
#[derive(Debug, Clone, Copy, Default)]
struct Moments([f64; 6]);

impl Moments {
    fn add(&mut self, x: f64, y: f64) {
        *self = self.plus(&Self([1.0, x, y, x * x, y * y, x * y]), 1.0);
    }

    fn plus(&self, other: &Self, sign: f64) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + sign * other.0[i]))
    }

    fn statistic(&self, statistic: Statistic) -> f64 {
        let [n, x, y, xx, yy, xy] = self.0;
        let variance_x = xx / n - (x / n) * (x / n);
        let variance_y = yy / n - (y / n) * (y / n);
        let covariance = xy / n - (x / n) * (y / n);
        match statistic {
            Statistic::Ratio => x / y,
            Statistic::Deviation => variance_x.sqrt(),
            Statistic::Correlation => covariance / (variance_x * variance_y).sqrt(),
            Statistic::Slope => covariance / variance_x,
        }
    }
}

/// One figure: its label, its statistic and its moments in each block.
pub(super) struct Line {
    group: &'static str,
    what: &'static str,
    spec: f64,
    tolerance: Option<f64>,
    statistic: Statistic,
    blocks: Vec<Moments>,
}

impl Line {
    /// Gives the figure a tolerance.
    pub(super) fn within(&mut self, tolerance: f64) {
        self.tolerance = Some(tolerance);
    }

    fn measured(&self) -> Measured {
        let total = self.blocks.iter().fold(Moments::default(), |sum, b| sum.plus(b, 1.0));
        let without: Vec<f64> = self.blocks.iter().map(|b| total.plus(b, -1.0).statistic(self.statistic)).collect();
        let n = without.len() as f64;
        let mean = without.iter().sum::<f64>() / n;
        let squares: f64 = without.iter().map(|s| (s - mean) * (s - mean)).sum();
        Measured {
            group: self.group,
            what: self.what,
            spec: self.spec,
            model: total.statistic(self.statistic),
            error: ((n - 1.0) / n * squares).sqrt(),
            tolerance: self.tolerance,
        }
    }
}

/// The figures of one unit of observation. Every observation adds the same figures in the same order; a figure's
/// position identifies it.
#[derive(Default)]
pub(super) struct Ledger {
    lines: Vec<Line>,
    block: usize,
    next: usize,
    group: &'static str,
}

impl Ledger {
    /// Starts the next independent block (a season).
    pub(super) fn start_block(&mut self) {
        self.block += 1;
    }

    /// Starts the next observation, with its figures in the same order as before.
    pub(super) fn observe(&mut self) {
        self.next = 0;
    }

    /// Sets the group of the next figures.
    pub(super) fn group(&mut self, group: &'static str) {
        self.group = group;
    }

    fn line(
        &mut self,
        what: &'static str,
        spec: f64,
        statistic: Statistic,
        pairs: impl IntoIterator<Item = (f64, f64)>,
    ) -> &mut Line {
        if self.next == self.lines.len() {
            let (group, blocks) = (self.group, Vec::new());
            self.lines.push(Line { group, what, spec, tolerance: None, statistic, blocks });
        }
        let line = &mut self.lines[self.next];
        assert_eq!(line.what, what, "figures come in the same order in every observation");
        self.next += 1;
        line.blocks.resize(self.block, Moments::default());
        if let Some(block) = line.blocks.last_mut() {
            for (x, y) in pairs {
                block.add(x, y);
            }
        }
        line
    }

    pub(super) fn mean(&mut self, what: &'static str, spec: f64, samples: &[f64]) -> &mut Line {
        self.line(what, spec, Statistic::Ratio, samples.iter().map(|&x| (x, 1.0)))
    }

    /// The percentage of observations in which `holds`.
    pub(super) fn percent(&mut self, what: &'static str, spec: f64, holds: bool) -> &mut Line {
        self.mean(what, spec, &[if holds { 100.0 } else { 0.0 }])
    }

    /// The sum of x over the sum of y.
    pub(super) fn ratio(&mut self, what: &'static str, spec: f64, x: f64, y: f64) -> &mut Line {
        self.line(what, spec, Statistic::Ratio, [(x, y)])
    }

    /// The standard deviation of x.
    pub(super) fn deviation(&mut self, what: &'static str, spec: f64, samples: &[f64]) -> &mut Line {
        self.line(what, spec, Statistic::Deviation, samples.iter().map(|&x| (x, 1.0)))
    }

    pub(super) fn correlation(&mut self, what: &'static str, spec: f64, pairs: &[(f64, f64)]) -> &mut Line {
        self.line(what, spec, Statistic::Correlation, pairs.iter().copied())
    }

    /// The slope of y on x.
    pub(super) fn slope(&mut self, what: &'static str, spec: f64, x: f64, y: f64) -> &mut Line {
        self.line(what, spec, Statistic::Slope, [(x, y)])
    }

    /// Every figure, in order.
    pub(super) fn measured(&self) -> Vec<Measured> {
        self.lines.iter().map(Line::measured).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_and_their_errors_are_those_of_the_textbook() {
        let mut ledger = Ledger::default();
        // Eight blocks of one pair each: the jackknife error of a mean is then the standard error of the mean.
        let xs = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 3.0, 6.0];
        for x in xs {
            ledger.start_block();
            ledger.observe();
            ledger.mean("mean", 0.0, &[x]);
            ledger.deviation("deviation", 0.0, &[x]);
            ledger.correlation("correlation", 0.0, &[(x, -2.0 * x)]);
            ledger.slope("slope", 0.0, x, 3.0 * x + 1.0);
            ledger.ratio("ratio", 0.0, x, 2.0 * x);
        }
        let rows = ledger.measured();
        let model: Vec<f64> = rows.iter().map(|r| r.model).collect();
        let expected = [4.5, 5.25_f64.sqrt(), -1.0, 3.0, 0.5];
        assert!(model.iter().zip(expected).all(|(m, e)| (m - e).abs() < 1e-9), "{model:?}");
        assert!((rows[0].error - (6.0_f64 / 8.0).sqrt()).abs() < 1e-9, "{}", rows[0].error);
        assert!(rows[4].error < 1e-9);
    }
}
