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

/// Count and sums of a set of pairs.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Moments {
    fn add(&mut self, x: f64, y: f64) {
        *self = self.plus(&Self { n: 1.0, x, y, xx: x * x, yy: y * y, xy: x * y }, 1.0);
    }

    fn plus(&self, other: &Self, sign: f64) -> Self {
        Self {
            n: self.n + sign * other.n,
            x: self.x + sign * other.x,
            y: self.y + sign * other.y,
            xx: self.xx + sign * other.xx,
            yy: self.yy + sign * other.yy,
            xy: self.xy + sign * other.xy,
        }
    }

    fn statistic(&self, statistic: Statistic) -> f64 {
        let variance_x = self.xx / self.n - (self.x / self.n) * (self.x / self.n);
        let variance_y = self.yy / self.n - (self.y / self.n) * (self.y / self.n);
        let covariance = self.xy / self.n - (self.x / self.n) * (self.y / self.n);
        match statistic {
            Statistic::Ratio => self.x / self.y,
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

    fn line(&mut self, what: &'static str, spec: f64, statistic: Statistic, pairs: &[(f64, f64)]) -> &mut Line {
        if self.next == self.lines.len() {
            let (group, blocks) = (self.group, Vec::new());
            self.lines.push(Line { group, what, spec, tolerance: None, statistic, blocks });
        }
        let line = &mut self.lines[self.next];
        assert_eq!(line.what, what, "figures come in the same order in every observation");
        self.next += 1;
        line.blocks.resize(self.block, Moments::default());
        if let Some(block) = line.blocks.last_mut() {
            for &(x, y) in pairs {
                block.add(x, y);
            }
        }
        line
    }

    pub(super) fn mean(&mut self, what: &'static str, spec: f64, samples: &[f64]) -> &mut Line {
        self.over(what, spec, samples, 1.0)
    }

    fn over(&mut self, what: &'static str, spec: f64, samples: &[f64], y: f64) -> &mut Line {
        let mut pairs = [(0.0, 0.0); 2];
        for (pair, &x) in pairs.iter_mut().zip(samples) {
            *pair = (x, y);
        }
        self.line(what, spec, Statistic::Ratio, &pairs[..samples.len()])
    }

    /// The percentage of observations in which `holds`.
    pub(super) fn percent(&mut self, what: &'static str, spec: f64, holds: bool) -> &mut Line {
        self.mean(what, spec, &[if holds { 100.0 } else { 0.0 }])
    }

    /// The sum of x over the sum of y.
    pub(super) fn ratio(&mut self, what: &'static str, spec: f64, x: f64, y: f64) -> &mut Line {
        self.line(what, spec, Statistic::Ratio, &[(x, y)])
    }

    /// The standard deviation of x.
    pub(super) fn deviation(&mut self, what: &'static str, spec: f64, samples: &[f64]) -> &mut Line {
        let mut pairs = [(0.0, 0.0); 2];
        for (pair, &x) in pairs.iter_mut().zip(samples) {
            pair.0 = x;
        }
        self.line(what, spec, Statistic::Deviation, &pairs[..samples.len()])
    }

    pub(super) fn correlation(&mut self, what: &'static str, spec: f64, pairs: &[(f64, f64)]) -> &mut Line {
        self.line(what, spec, Statistic::Correlation, pairs)
    }

    /// The slope of y on x.
    pub(super) fn slope(&mut self, what: &'static str, spec: f64, x: f64, y: f64) -> &mut Line {
        self.line(what, spec, Statistic::Slope, &[(x, y)])
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
