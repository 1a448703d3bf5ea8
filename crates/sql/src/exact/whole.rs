//! Compares 64-bit integers with constant real numbers exactly. DataFusion converts the integers to real numbers, which
//! are the same for neighbours beyond 2^53.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{Between, BinaryExpr, InList};
use datafusion::logical_expr::{Expr, ExprSchemable as _, Operator, binary_expr};

use super::floats::constant;

/// Corrects a comparison, before type coercion: a cast that the user wrote stays one.
pub(super) fn rewrite(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let exact = match &expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (real(left), real(right)) {
            (None, Some(value)) => Whole::of(left, schema).and_then(|whole| whole.compared(*op, value)),
            (Some(value), None) => {
                Whole::of(right, schema).zip(op.swap()).and_then(|(whole, op)| whole.compared(op, value))
            }
            _ => None,
        },
        Expr::Between(Between { expr, negated, low, high }) => between(expr, *negated, low, high, schema),
        Expr::InList(InList { expr, list, negated }) if list.iter().any(|value| real(value).is_some()) => {
            Whole::of(expr, schema).and_then(|whole| whole.among(list, *negated))
        }
        _ => None,
    };
    exact.map_or(Transformed::no(expr), Transformed::yes)
}

fn between(expr: &Expr, negated: bool, low: &Expr, high: &Expr, schema: &DFSchema) -> Option<Expr> {
    let (whole, low, high) = (Whole::of(expr, schema)?, real(low)?, real(high)?);
    Some(if negated {
        whole.compared(Operator::Lt, low)?.or(whole.compared(Operator::Gt, high)?)
    } else {
        whole.compared(Operator::GtEq, low)?.and(whole.compared(Operator::LtEq, high)?)
    })
}

/// A constant real number.
fn real(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Negative(inner) => real(inner).map(|value| -value),
        Expr::Literal(ScalarValue::Float64(_), _) => constant(expr),
        _ => None,
    }
}

/// A 64-bit integer.
struct Whole<'a> {
    number: &'a Expr,
    /// The type's limits.
    least: ScalarValue,
    most: ScalarValue,
}

impl<'a> Whole<'a> {
    /// `None` for other expressions. Smaller integers need no exactness: every one of them is a real number.
    fn of(number: &'a Expr, schema: &DFSchema) -> Option<Self> {
        let (least, most) = match number.get_type(schema).ok()? {
            DataType::Int64 => (ScalarValue::from(i64::MIN), ScalarValue::from(i64::MAX)),
            DataType::UInt64 => (ScalarValue::from(u64::MIN), ScalarValue::from(u64::MAX)),
            _ => return None,
        };
        Some(Self { number, least, most })
    }

    /// The comparison with `value`; `None` unless that is a number and the operator compares.
    fn compared(&self, op: Operator, value: f64) -> Option<Expr> {
        let than = |op: Operator, value: &ScalarValue| {
            binary_expr(self.number.clone(), op, Expr::Literal(value.clone(), None))
        };
        // True or false for all integers, and NULL for NULL.
        let (always, never) = (|| than(Operator::GtEq, &self.least), || than(Operator::Lt, &self.least));
        let (is_below, round): (bool, fn(f64) -> f64) = match op {
            Operator::Eq | Operator::NotEq if value.fract() != 0.0 => {
                return Some(if op == Operator::Eq { never() } else { always() });
            }
            Operator::Lt | Operator::GtEq => (op == Operator::Lt, f64::ceil),
            Operator::LtEq | Operator::Gt => (op == Operator::LtEq, f64::floor),
            Operator::Eq | Operator::NotEq => (op == Operator::NotEq, f64::round),
            _ => return None,
        };
        if value.is_nan() {
            return None;
        }
        match self.exact(round(value)) {
            Some(value) => Some(than(op, &value)),
            None if matches!(op, Operator::Eq | Operator::NotEq) => Some(if is_below { always() } else { never() }),
            None => Some(if is_below == (value > 0.0) { always() } else { never() }),
        }
    }

    /// Whether the integer is one of some constants; `None` if there are others.
    fn among(&self, list: &[Expr], negated: bool) -> Option<Expr> {
        let mut whole = Vec::with_capacity(list.len());
        for value in list {
            match (real(value), value) {
                (Some(value), _) if value.fract() == 0.0 => {
                    whole.extend(self.exact(value).map(|value| Expr::Literal(value, None)));
                }
                (Some(_), _) => {}
                (None, Expr::Literal(ScalarValue::Int64(Some(_)), _)) => whole.push(value.clone()),
                _ => return None,
            }
        }
        if whole.is_empty() {
            return self.compared(if negated { Operator::NotEq } else { Operator::Eq }, 0.5);
        }
        Some(self.number.clone().in_list(whole, negated))
    }

    /// A whole number as the integer's type; `None` outside of its limits.
    fn exact(&self, value: f64) -> Option<ScalarValue> {
        let value = value as i128;
        match self.most {
            ScalarValue::Int64(_) => i64::try_from(value).ok().map(ScalarValue::from),
            _ => u64::try_from(value).ok().map(ScalarValue::from),
        }
    }
}
