//! Numbers as integers over a common scale: sums, differences and products of stored integers and decimals, without
//! rounding.

use std::ops::Range;
use std::sync::Arc;

use expr::Operator;

use super::Node;
use crate::column::{Column, Narrow};

/// An integer in every world; divide it by the scale to get the number. All intermediate results fit in 64 bits.
#[derive(Debug)]
pub(super) struct Exact {
    step: Step,
    pub(super) scale: i64,
    /// Bounds of the integer in any world.
    bounds: [i64; 2],
}

#[derive(Debug)]
enum Step {
    Constant(i64),
    Column(Arc<Column>),
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
    /// Plans a number; `None` if integers of 64 bits may not hold it: it reads a real-valued outcome, divides by an
    /// outcome or by 0, or grows too large.
    pub(super) fn plan(node: &Node, columns: &[Arc<Column>]) -> Option<Self> {
        match node {
            Node::Number(number) => Self::decimal(*number),
            Node::Column(column) => Self::column(columns[*column].clone()),
            Node::Negate(inner) => {
                let Self { step, scale, bounds: [low, high] } = Self::plan(inner, columns)?;
                Some(Self { step: Step::Negate(step.into()), scale, bounds: [high.checked_neg()?, low.checked_neg()?] })
            }
            Node::Absolute(inner) => {
                let Self { step, scale, bounds } = Self::plan(inner, columns)?;
                let [low, high] = [bounds[0].checked_abs()?, bounds[1].checked_abs()?];
                Some(Self { step: Step::Absolute(step.into()), scale, bounds: [0, low.max(high)] })
            }
            Node::Chain(first, rest) => {
                let Self { step, mut scale, mut bounds } = Self::plan(first, columns)?;
                let mut links = Vec::with_capacity(rest.len());
                for (operator, operand) in rest {
                    let operand = Self::plan(operand, columns)?;
                    links.push(operand.link(*operator, &mut scale, &mut bounds)?);
                }
                Some(Self { step: Step::Chain(step.into(), links), scale, bounds })
            }
            Node::Compare(..) | Node::In(..) | Node::All(_) | Node::Any(_) | Node::Not(_) => None,
        }
    }

    /// Plans the first number minus the second; `None` as in [`Self::plan`].
    pub(super) fn difference(a: &Node, b: &Node, columns: &[Arc<Column>]) -> Option<Self> {
        let Self { step, mut scale, mut bounds } = Self::plan(a, columns)?;
        let link = Self::plan(b, columns)?.link(Operator::Subtract, &mut scale, &mut bounds)?;
        Some(Self { step: Step::Chain(step.into(), vec![link]), scale, bounds })
    }

    /// The decimal that prints as `number`; for a constant of up to 15 digits, the one that was typed.
    fn decimal(number: f64) -> Option<Self> {
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
        Some(Self { step: Step::Constant(value), scale, bounds: [value; 2] })
    }

    fn column(column: Arc<Column>) -> Option<Self> {
        let bounds = match &column.values {
            Narrow::U8(_) => [0, u8::MAX.into()],
            Narrow::I16(_) => [i16::MIN.into(), i16::MAX.into()],
            Narrow::I32(_) => [i32::MIN.into(), i32::MAX.into()],
            Narrow::F64(_) => return None,
        };
        Some(Self { scale: column.scale.into(), step: Step::Column(column), bounds })
    }

    /// Applies an operator with this operand to a number with a scale and bounds.
    fn link(self, operator: Operator, scale: &mut i64, bounds: &mut [i64; 2]) -> Option<Link> {
        let (left, right);
        match operator {
            Operator::Add | Operator::Subtract | Operator::Min | Operator::Max => {
                let common = common_factor(*scale, self.scale);
                (left, right) = (self.scale / common, *scale / common);
                *scale = scale.checked_mul(left)?;
            }
            Operator::Multiply => {
                (left, right) = (1, 1);
                *scale = scale.checked_mul(self.scale)?;
            }
            Operator::Divide => return self.divisor(scale, bounds),
        }
        let (a, b) = (times(*bounds, left)?, times(self.bounds, right)?);
        *bounds = match operator {
            Operator::Add => [a[0].checked_add(b[0])?, a[1].checked_add(b[1])?],
            Operator::Subtract => [a[0].checked_sub(b[1])?, a[1].checked_sub(b[0])?],
            Operator::Min => [a[0].min(b[0]), a[1].min(b[1])],
            Operator::Max => [a[0].max(b[0]), a[1].max(b[1])],
            Operator::Multiply | Operator::Divide => hull(times(a, b[0])?, times(a, b[1])?),
        };
        Some(Link { left, operator, right, operand: self.step })
    }

    /// Division by a constant other than 0 moves its numerator into the scale.
    fn divisor(self, scale: &mut i64, bounds: &mut [i64; 2]) -> Option<Link> {
        let [value, high] = self.bounds;
        if value != high || value == 0 {
            return None;
        }
        let left = self.scale.checked_mul(value.signum())?;
        *scale = scale.checked_mul(value.checked_abs()?)?;
        *bounds = times(*bounds, left)?;
        Some(Link { left, operator: Operator::Add, right: 0, operand: Step::Constant(0) })
    }

    /// The integers of some worlds.
    pub(super) fn fill(&self, worlds: Range<usize>, out: &mut [i64]) {
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
            Operator::Add => each(|a, b| a + b, numbers),
            Operator::Subtract => each(|a, b| a - b, numbers),
            Operator::Multiply | Operator::Divide => each(|a, b| a * b, numbers),
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
