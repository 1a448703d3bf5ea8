//! Sums of real numbers.

/// A sum of real numbers with about twice their digits, so that the order of additions does not change reported digits.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Real {
    pub(crate) sum: f64,
    /// The rounding error of the sum.
    pub(crate) rest: f64,
}

impl Real {
    pub(crate) fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        let part = sum - self.sum;
        let lost = (self.sum - (sum - part)) + (x - part);
        self.sum = sum;
        // An infinite or NaN sum has no rounding error to track.
        if sum.is_finite() {
            self.rest += lost;
        }
    }

    /// Adds a product, exactly.
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        if product.is_finite() {
            let lost = a.mul_add(b, -product);
            if lost.is_finite() {
                self.rest += lost;
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.add(other.sum);
        self.rest += other.rest;
    }

    pub(crate) fn value(self) -> f64 {
        if self.sum.is_finite() { self.sum + self.rest } else { self.sum }
    }

    /// The sum as two numbers that do not overlap.
    fn normal(self) -> Self {
        let mut normal = Self { sum: self.rest, rest: 0.0 };
        normal.add(self.sum);
        normal
    }

    /// The sum of squared deviations from the mean, of values with this sum, total `weight` and sum of `squares`.
    pub(crate) fn spread(self, squares: Self, weight: f64) -> f64 {
        let (sum, squares) = (self.normal(), squares.normal());
        // sum * sum / weight, to twice the digits of a number.
        let mean = sum.sum / weight;
        let mean_rest = ((-mean).mul_add(weight, sum.sum) + sum.rest) / weight;
        let mut spread = squares;
        spread.add_product(-mean, sum.sum);
        spread.add_product(-mean, sum.rest);
        spread.add_product(-mean_rest, sum.sum);
        spread.value().max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_loses_is_kept() {
        let mut sum = Real::default();
        for x in [1e16, 1.0, -1e16, 0.1] {
            sum.add(x);
        }
        assert_eq!(sum.value(), 1.1);
        let mut infinite = Real::default();
        for x in [f64::INFINITY, 1.0] {
            infinite.add(x);
        }
        assert_eq!(infinite.value(), f64::INFINITY);
        infinite.add(f64::NEG_INFINITY);
        assert!(infinite.value().is_nan());
    }

    #[test]
    fn small_deviations_from_large_means_are_seen() {
        let (mut sum, mut squares) = (Real::default(), Real::default());
        for i in 0..1_000 {
            let x = 1e9 + f64::from(i % 2);
            sum.add(x);
            squares.add_product(x, x);
        }
        assert_eq!(sum.spread(squares, 1_000.0), 250.0);
    }
}
