//! Sums of real numbers over moving windows.

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _};
use datafusion::arrow::datatypes::Float64Type;
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::Accumulator;

/// The sum or average of a window, as two stacks. Subtracting a leaving value would keep the effect of infinities, NaN
/// and rounding in the sum.
#[derive(Debug)]
pub(super) struct Recent {
    /// Sums of the older values, the next to leave on top. Each sum includes its value and all values below it.
    front: Vec<f64>,
    /// The newer values.
    back: Vec<f64>,
    back_sum: f64,
    mean: bool,
}

impl Recent {
    pub(super) fn sum() -> Self {
        // DataFusion's sum also starts at this value.
        Self { front: Vec::new(), back: Vec::new(), back_sum: 0.0, mean: false }
    }

    pub(super) fn mean() -> Self {
        Self { mean: true, ..Self::sum() }
    }

    fn leave(&mut self) {
        if self.front.is_empty() {
            let mut sum = 0.0;
            self.front.extend(self.back.drain(..).rev().map(|value| {
                sum += value;
                sum
            }));
            self.back_sum = 0.0;
        }
        self.front.pop();
    }
}

impl Accumulator for Recent {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in values[0].as_primitive::<Float64Type>().iter().flatten() {
            self.back.push(value);
            self.back_sum += value;
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        (values[0].null_count()..values[0].len()).for_each(|_| self.leave());
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let count = self.front.len() + self.back.len();
        let sum = self.front.last().unwrap_or(&0.0) + self.back_sum;
        let value = if self.mean { sum / count as f64 } else { sum };
        Ok(ScalarValue::Float64((count > 0).then_some(value)))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        // Windows need no partial state.
        Ok(vec![self.evaluate()?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn size(&self) -> usize {
        size_of_val(self) + (self.front.capacity() + self.back.capacity()) * size_of::<f64>()
    }
}
