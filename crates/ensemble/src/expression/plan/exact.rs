//! Numbers as integers over a common scale: sums, differences and products of stored integers and decimals, without
//! rounding.

use std::ops::Range;
use std::sync::Arc;

use expr::Operator;

use super::Truth;
use crate::column::{Column, Narrow};

/// An integer in every world; divide it by the scale to get the number. All intermediate results fit in 64 bits.
#[derive(Debug)]
pub(in super::super) struct Exact {
    step: Step,
    pub(in super::super) scale: i64,
    /// Bounds of the integer in any world.
    bounds: [i64; 2],
}

#[derive(Debug)]
enum Step {
    Constant(i64),
    Column(Arc<Column>),
    Truth(Box<Truth>),
    Negate(Box<Self>),
    Absolute(Box<Self>),
    Chain(Box<Self>, Vec<Link>),
}

/// One operation of a chain: `left * value so far  OPERATOR  right * operand`.
#[derive(Debug)]
struct Link {
    left: i64,
    operator: Operator,
    right: i64,
    operand: Step,
}

impl Exact {
    /// A condition as a number, 0 or 1.
    pub(super) fn truth(truth: Truth) -> Self {
        Self { step: Step::Truth(truth.into()), scale: 1, bounds: [0, 1] }
    }

    pub(super) fn negated(self) -> Result<Self, Self> {
        let bounds = self.bounds[1].checked_neg().zip(self.bounds[0].checked_neg());
        let Some((low, high)) = bounds else { return Err(self) };
        Ok(Self { step: Step::Negate(self.step.into()), bounds: [low, high], ..self })
    }

    pub(super) fn absolute(self) -> Result<Self, Self> {
        let bounds = self.bounds[0].checked_abs().zip(self.bounds[1].checked_abs());
        let Some((a, b)) = bounds else { return Err(self) };
        Ok(Self { step: Step::Absolute(self.step.into()), bounds: [0, a.max(b)], ..self })
    }

    /// Applies an operator; gives both numbers back if 64 bits may not hold the result, or it divides by another number
    /// than a constant.
    pub(super) fn then(mut self, operator: Operator, operand: Self) -> Result<Self, (Self, Self)> {
        let Some((scale, bounds, [left, right])) = self.combined(operator, &operand) else {
            return Err((self, operand));
        };
        let link = Link { left, operator, right, operand: operand.step };
        self.step = match self.step {
            Step::Chain(first, mut links) => {
                links.push(link);
                Step::Chain(first, links)
            }
            first => Step::Chain(first.into(), vec![link]),
        };
        Ok(Self { scale, bounds, ..self })
    }

    /// The decimal that prints as `number`; for a constant of up to 15 digits, the one that was typed. `None` if it is too
    /// large, or has too many digits.
    pub(super) fn decimal(number: f64) -> Option<Self> {
        const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
        if !number.is_finite() || number.abs() > WHOLE_MAX {
            return None;
        }
        let text = number.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let value: i64 = format!("{whole}{fraction}").parse().ok()?;
        let scale = 10i64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let common = common_factor(value, scale);
        let (value, scale) = (value / common, scale / common);
        // Doubles hold both, so that their quotient is the number.
        let is_held = value.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS && scale <= 1 << f64::MANTISSA_DIGITS;
        is_held.then(|| Self { scale, ..Self::integer(value) })
    }

    pub(super) fn integer(value: i64) -> Self {
        Self { step: Step::Constant(value), scale: 1, bounds: [value; 2] }
    }

    /// `None` for a real-valued outcome.
    pub(super) fn column(column: &Arc<Column>) -> Option<Self> {
        let bounds = match &column.values {
            Narrow::U8(_) => [0, u8::MAX.into()],
            Narrow::I16(_) => [i16::MIN.into(), i16::MAX.into()],
            Narrow::I32(_) => [i32::MIN.into(), i32::MAX.into()],
            Narrow::F64(_) => return None,
        };
        Some(Self { scale: column.scale.into(), step: Step::Column(column.clone()), bounds })
    }

    /// The scale and the bounds of the result of an operator, and the factors of its sides.
    fn combined(&self, operator: Operator, operand: &Self) -> Option<(i64, [i64; 2], [i64; 2])> {
        let (scale, left, right);
        match operator {
            Operator::Add | Operator::Subtract | Operator::Min | Operator::Max => {
                let common = common_factor(self.scale, operand.scale);
                (left, right) = (operand.scale / common, self.scale / common);
                scale = self.scale.checked_mul(left)?;
            }
            Operator::Multiply => {
                (left, right) = (1, 1);
                scale = self.scale.checked_mul(operand.scale)?;
            }
            Operator::Divide => return self.divided(operand),
        }
        let (a, b) = (times(self.bounds, left)?, times(operand.bounds, right)?);
        let bounds = match operator {
            Operator::Add => [a[0].checked_add(b[0])?, a[1].checked_add(b[1])?],
            Operator::Subtract => [a[0].checked_sub(b[1])?, a[1].checked_sub(b[0])?],
            Operator::Min => [a[0].min(b[0]), a[1].min(b[1])],
            Operator::Max => [a[0].max(b[0]), a[1].max(b[1])],
            Operator::Multiply | Operator::Divide => hull(times(a, b[0])?, times(a, b[1])?),
        };
        Some((scale, bounds, [left, right]))
    }

    /// Division by a constant other than 0 moves its numerator into the scale.
    fn divided(&self, divisor: &Self) -> Option<(i64, [i64; 2], [i64; 2])> {
        let [value, high] = divisor.bounds;
        if value != high || value == 0 {
            return None;
        }
        let left = divisor.scale.checked_mul(value.signum())?;
        let scale = self.scale.checked_mul(value.checked_abs()?)?;
        Some((scale, times(self.bounds, left)?, [left, 0]))
    }

    /// The integers of some worlds.
    pub(in super::super) fn fill(&self, worlds: Range<usize>, out: &mut [i64]) {
        self.step.fill(worlds, out);
    }
}

impl Step {
    fn fill(&self, worlds: Range<usize>, out: &mut [i64]) {
        match self {
            Self::Constant(value) => out.fill(*value),
            Self::Column(column) => match &column.values {
                Narrow::U8(v) => widen(&v[worlds], out),
                Narrow::I16(v) => widen(&v[worlds], out),
                Narrow::I32(v) => widen(&v[worlds], out),
                Narrow::F64(_) => {}
            },
            Self::Truth(truth) => {
                let mut holds = vec![false; out.len()];
                truth.fill(worlds, &mut holds);
                widen(&holds, out);
            }
            Self::Negate(inner) => {
                inner.fill(worlds, out);
                out.iter_mut().for_each(|x| *x = -*x);
            }
            Self::Absolute(inner) => {
                inner.fill(worlds, out);
                out.iter_mut().for_each(|x| *x = x.abs());
            }
            Self::Chain(first, links) => {
                first.fill(worlds.clone(), out);
                let mut operand = vec![0; out.len()];
                for link in links {
                    link.operand.fill(worlds.clone(), &mut operand);
                    link.apply(out, &operand);
                }
            }
        }
    }
}

impl Link {
    fn apply(&self, numbers: &mut [i64], operands: &[i64]) {
        let (left, right) = (self.left, self.right);
        let each = |operation: fn(i64, i64) -> i64, numbers: &mut [i64]| {
            numbers.iter_mut().zip(operands).for_each(|(a, b)| *a = operation(left * *a, right * b));
        };
        match self.operator {
            // The divisor is in the scale.
            Operator::Add | Operator::Divide => each(|a, b| a + b, numbers),
            Operator::Subtract => each(|a, b| a - b, numbers),
            Operator::Multiply => each(|a, b| a * b, numbers),
            Operator::Min => each(i64::min, numbers),
            Operator::Max => each(i64::max, numbers),
        }
    }
}

fn widen<T: Copy + Into<i64>>(values: &[T], out: &mut [i64]) {
    out.iter_mut().zip(values).for_each(|(out, value)| *out = (*value).into());
}

fn times([low, high]: [i64; 2], factor: i64) -> Option<[i64; 2]> {
    let (a, b) = (low.checked_mul(factor)?, high.checked_mul(factor)?);
    Some([a.min(b), a.max(b)])
}

fn hull(a: [i64; 2], b: [i64; 2]) -> [i64; 2] {
    [a[0].min(b[0]), a[1].max(b[1])]
}

/// The greatest common divisor of an integer and a positive one.
fn common_factor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}
