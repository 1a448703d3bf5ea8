//! How to compute an expression in chunks of worlds: numbers exactly where integers hold them, and conditions. A
//! condition is also a number, 0 or 1.

mod exact;

use std::ops::Range;
use std::sync::Arc;

use expr::{Comparison, Operator};

use super::Node;
use crate::column::Column;
pub(super) use exact::Exact;

/// A number in doubles, with exact parts.
#[derive(Debug)]
pub(super) enum Real {
    Exact(Exact),
    Number(f64),
    Column(Arc<Column>),
    Negate(Box<Self>),
    Absolute(Box<Self>),
    Chain(Box<Self>, Vec<(Operator, Self)>),
}

impl Real {
    /// Plans each part once, so that nesting costs no more than its length.
    pub(super) fn plan(node: &Node, columns: &[Arc<Column>]) -> Self {
        let plan = |node| Self::plan(node, columns);
        match node {
            Node::Number(number) => Exact::decimal(*number).map_or(Self::Number(*number), Self::Exact),
            Node::Integer(value) => Self::Exact(Exact::integer(*value)),
            Node::Column(column) => {
                let column = &columns[*column];
                Exact::column(column).map_or_else(|| Self::Column(column.clone()), Self::Exact)
            }
            Node::Negate(inner) => match plan(inner).exactly(Exact::negated) {
                Ok(exact) => Self::Exact(exact),
                Err(real) => Self::Negate(real.into()),
            },
            Node::Absolute(inner) => match plan(inner).exactly(Exact::absolute) {
                Ok(exact) => Self::Exact(exact),
                Err(real) => Self::Absolute(real.into()),
            },
            Node::Chain(first, rest) => {
                rest.iter().fold(plan(first), |left, (operator, node)| left.then(*operator, plan(node)))
            }
            Node::Compare(..) | Node::In(..) | Node::All(_) | Node::Any(_) | Node::Not(_) => {
                Self::Exact(Exact::truth(Truth::plan(node, columns)))
            }
        }
    }

    /// Applies an exact operation, or gives the number back.
    fn exactly(self, operation: fn(Exact) -> Result<Exact, Exact>) -> Result<Exact, Self> {
        match self {
            Self::Exact(exact) => operation(exact).map_err(Self::Exact),
            real => Err(real),
        }
    }

    /// Applies an operator, exactly if 64 bits hold the result.
    fn then(self, operator: Operator, operand: Self) -> Self {
        match (self, operand) {
            (Self::Exact(a), Self::Exact(b)) => match a.then(operator, b) {
                Ok(both) => Self::Exact(both),
                Err((a, b)) => Self::Chain(Self::from(a).into(), vec![(operator, b.into())]),
            },
            (Self::Chain(first, mut rest), operand) => {
                rest.push((operator, operand));
                Self::Chain(first, rest)
            }
            (first, operand) => Self::Chain(first.into(), vec![(operator, operand)]),
        }
    }

    /// The numbers of some worlds.
    pub(super) fn fill(&self, worlds: Range<usize>, out: &mut [f64]) {
        match self {
            Self::Exact(exact) => {
                let mut whole = vec![0; out.len()];
                exact.fill(worlds, &mut whole);
                out.iter_mut().zip(whole).for_each(|(out, whole)| *out = whole as f64 / exact.scale as f64);
            }
            Self::Number(number) => out.fill(*number),
            Self::Column(column) => out.iter_mut().zip(worlds).for_each(|(out, world)| *out = column.value(world)),
            Self::Negate(inner) => {
                inner.fill(worlds, out);
                out.iter_mut().for_each(|x| *x = -*x);
            }
            Self::Absolute(inner) => {
                inner.fill(worlds, out);
                out.iter_mut().for_each(|x| *x = x.abs());
            }
            Self::Chain(first, rest) => {
                first.fill(worlds.clone(), out);
                let mut operands = vec![0.0; out.len()];
                for (operator, operand) in rest {
                    operand.fill(worlds.clone(), &mut operands);
                    out.iter_mut().zip(&operands).for_each(|(a, b)| *a = operator.of(*a, *b));
                }
            }
        }
    }
}

impl From<Exact> for Real {
    fn from(exact: Exact) -> Self {
        Self::Exact(exact)
    }
}

/// A condition.
#[derive(Debug)]
pub(super) enum Truth {
    /// An exact number compared with 0.
    Sign(Comparison, Exact),
    Compare(Comparison, Real, Real),
    /// A column, and the sorted numbers that its value may equal.
    In(Arc<Column>, Vec<f64>),
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
}

impl Truth {
    /// Plans a condition; a number holds if it is not 0.
    pub(super) fn plan(node: &Node, columns: &[Arc<Column>]) -> Self {
        let plan = |node| Real::plan(node, columns);
        let all = |parts: &[Node]| parts.iter().map(|part| Self::plan(part, columns)).collect();
        match node {
            Node::Compare(comparison, a, b) => Self::compare(*comparison, plan(a), plan(b)),
            Node::In(column, list) => Self::In(columns[*column].clone(), list.clone()),
            Node::All(parts) => Self::All(all(parts)),
            Node::Any(parts) => Self::Any(all(parts)),
            Node::Not(inner) => Self::Not(Self::plan(inner, columns).into()),
            Node::Number(_)
            | Node::Integer(_)
            | Node::Column(_)
            | Node::Negate(_)
            | Node::Absolute(_)
            | Node::Chain(..) => Self::compare(Comparison::NotEqual, plan(node), plan(&Node::Number(0.0))),
        }
    }

    /// Compares without rounding if 64 bits hold the difference.
    fn compare(comparison: Comparison, a: Real, b: Real) -> Self {
        match (a, b) {
            (Real::Exact(a), Real::Exact(b)) => match a.then(Operator::Subtract, b) {
                Ok(difference) => Self::Sign(comparison, difference),
                Err((a, b)) => Self::Compare(comparison, a.into(), b.into()),
            },
            (a, b) => Self::Compare(comparison, a, b),
        }
    }

    /// Whether the condition holds in some worlds.
    pub(super) fn fill(&self, worlds: Range<usize>, out: &mut [bool]) {
        match self {
            Self::Sign(comparison, exact) => {
                let mut values = vec![0; out.len()];
                exact.fill(worlds, &mut values);
                out.iter_mut().zip(values).for_each(|(out, value)| *out = comparison.holds(value.cmp(&0)));
            }
            Self::Compare(comparison, a, b) => {
                let (mut left, mut right) = (vec![0.0; out.len()], vec![0.0; out.len()]);
                a.fill(worlds.clone(), &mut left);
                b.fill(worlds, &mut right);
                let pairs = left.into_iter().zip(right);
                out.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = comparison.holds(expr::order(a, b)));
            }
            Self::In(column, list) => {
                out.iter_mut().zip(worlds).for_each(|(out, world)| *out = is_in(list, column.value(world)));
            }
            Self::All(parts) => Self::join(parts, worlds, out, |a, b| a & b),
            Self::Any(parts) => Self::join(parts, worlds, out, |a, b| a | b),
            Self::Not(inner) => {
                inner.fill(worlds, out);
                out.iter_mut().for_each(|holds| *holds = !*holds);
            }
        }
    }

    fn join(parts: &[Self], worlds: Range<usize>, out: &mut [bool], operation: fn(bool, bool) -> bool) {
        let Some((first, rest)) = parts.split_first() else { return };
        first.fill(worlds.clone(), out);
        let mut holds = vec![false; out.len()];
        for part in rest {
            part.fill(worlds.clone(), &mut holds);
            out.iter_mut().zip(&holds).for_each(|(a, b)| *a = operation(*a, *b));
        }
    }
}

/// Whether a sorted list contains a value.
fn is_in(list: &[f64], value: f64) -> bool {
    let place = list.partition_point(|v| *v < value);
    list.get(place) == Some(&value)
}
