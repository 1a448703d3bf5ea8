//! Corrects the precedence of `IS DISTINCT FROM`.
//!
//! The parser takes everything that follows as the right side: `a IS DISTINCT FROM b AND c` becomes
//! `a IS DISTINCT FROM (b AND c)` (sqlparser 0.62, `parse_infix`). In SQL, the right side ends before `AND` and `OR`.
//! The parsed tree keeps explicit parentheses, so this module can restore the original order and rebuild the tree.

use std::mem::replace;

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value, VisitMut};

use crate::error::QueryError;
use crate::syntax::{Node, walk};

/// Corrects the right side of every `IS [NOT] DISTINCT FROM` in a statement or an expression.
pub(crate) fn mend(of: &mut impl VisitMut) -> Result<(), QueryError> {
    let mut found = false;
    walk(of, &mut |node| {
        if let Node::Expr(Expr::IsDistinctFrom(_, right) | Expr::IsNotDistinctFrom(_, right)) = node {
            found |= matches!(**right, Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. });
        }
        Ok(())
    })?;
    if !found {
        return Ok(());
    }
    walk(of, &mut |node| {
        if let Node::Expr(expr) = node {
            correct(expr);
        }
        Ok(())
    })
}

fn correct(expr: &mut Expr) {
    if matches!(
        expr,
        Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. }
            | Expr::UnaryOp { op: UnaryOperator::Not, .. }
            | Expr::IsDistinctFrom(..)
            | Expr::IsNotDistinctFrom(..)
    ) {
        let expression = replace(expr, Expr::Value(Value::Null.into()));
        *expr = build(as_written(expression));
    }
}

/// Operators that bind at most as tightly as `IS`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Not,
    Distinct { not: bool },
}

impl Operator {
    fn strength(self) -> u8 {
        match self {
            Self::Or => 0,
            Self::And => 1,
            Self::Not => 2,
            Self::Distinct { .. } => 3,
        }
    }
}

enum Part {
    Operand(Box<Expr>),
    Operator(Operator),
}

/// The operands and operators of an expression in written order. A loop, because expressions can be thousands of levels
/// deep.
fn as_written(expr: Expr) -> Vec<Part> {
    let (mut parts, mut left) = (Vec::new(), vec![Part::Operand(Box::new(expr))]);
    while let Some(part) = left.pop() {
        let Part::Operand(expr) = part else {
            parts.push(part);
            continue;
        };
        let mut binary = |a: Box<Expr>, operator, b: Box<Expr>| {
            left.extend([Part::Operand(b), Part::Operator(operator), Part::Operand(a)]);
        };
        match *expr {
            Expr::BinaryOp { left: a, op: BinaryOperator::And, right: b } => binary(a, Operator::And, b),
            Expr::BinaryOp { left: a, op: BinaryOperator::Or, right: b } => binary(a, Operator::Or, b),
            Expr::IsDistinctFrom(a, b) => binary(a, Operator::Distinct { not: false }, b),
            Expr::IsNotDistinctFrom(a, b) => binary(a, Operator::Distinct { not: true }, b),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
                left.extend([Part::Operand(expr), Part::Operator(Operator::Not)]);
            }
            other => parts.push(Part::Operand(Box::new(other))),
        }
    }
    parts
}

/// Builds the expression from parts in written order (Dijkstra's shunting yard).
fn build(parts: Vec<Part>) -> Expr {
    let (mut operands, mut operators): (Vec<Expr>, Vec<Operator>) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Operand(expr) => operands.push(*expr),
            Part::Operator(Operator::Not) => operators.push(Operator::Not),
            Part::Operator(operator) => {
                while let Some(before) = operators.pop_if(|before| before.strength() >= operator.strength()) {
                    apply(before, &mut operands);
                }
                operators.push(operator);
            }
        }
    }
    while let Some(operator) = operators.pop() {
        apply(operator, &mut operands);
    }
    operands.pop().unwrap_or(Expr::Value(Value::Null.into()))
}

/// Applies an operator to the last operands.
fn apply(operator: Operator, operands: &mut Vec<Expr>) {
    // Every operator came from a tree together with its operands.
    let Some(right) = operands.pop().map(Box::new) else { return };
    let left = if operator == Operator::Not { None } else { operands.pop().map(Box::new) };
    operands.push(match (operator, left) {
        (Operator::Or, Some(left)) => Expr::BinaryOp { left, op: BinaryOperator::Or, right },
        (Operator::And, Some(left)) => Expr::BinaryOp { left, op: BinaryOperator::And, right },
        (Operator::Distinct { not: false }, Some(left)) => Expr::IsDistinctFrom(left, right),
        (Operator::Distinct { not: true }, Some(left)) => Expr::IsNotDistinctFrom(left, right),
        (_, _) => Expr::UnaryOp { op: UnaryOperator::Not, expr: right },
    });
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::GenericDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    fn read(sql: &str) -> Expr {
        Parser::new(&GenericDialect {}).try_with_sql(sql).unwrap().parse_expr().unwrap()
    }

    /// The expression with explicit parentheses everywhere.
    fn bracketed(expr: &Expr) -> String {
        match expr {
            Expr::BinaryOp { left, op, right } => format!("({} {op} {})", bracketed(left), bracketed(right)),
            Expr::IsDistinctFrom(a, b) => format!("({} # {})", bracketed(a), bracketed(b)),
            Expr::IsNotDistinctFrom(a, b) => format!("({} == {})", bracketed(a), bracketed(b)),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => format!("(NOT {})", bracketed(expr)),
            Expr::Nested(expr) => bracketed(expr),
            other => other.to_string(),
        }
    }

    #[test]
    fn right_side_ends_before_and_or() {
        for (sql, expected) in [
            ("a IS DISTINCT FROM b AND c", "((a # b) AND c)"),
            ("a IS NOT DISTINCT FROM b OR c", "((a == b) OR c)"),
            ("a IS DISTINCT FROM b AND c OR d", "(((a # b) AND c) OR d)"),
            ("x AND a IS DISTINCT FROM b OR c", "((x AND (a # b)) OR c)"),
            ("NOT a IS DISTINCT FROM b AND c", "((NOT (a # b)) AND c)"),
            ("a IS DISTINCT FROM NOT b AND c", "((a # (NOT b)) AND c)"),
            ("a IS DISTINCT FROM (b AND c)", "(a # (b AND c))"),
            ("(a OR b) IS DISTINCT FROM b + 1 AND c = 2", "(((a OR b) # (b + 1)) AND (c = 2))"),
            ("a IS DISTINCT FROM b OR c IS NOT DISTINCT FROM d AND e", "((a # b) OR ((c == d) AND e))"),
            ("(x IS DISTINCT FROM y OR z) AND a IS DISTINCT FROM b AND c", "((((x # y) OR z) AND (a # b)) AND c)"),
            ("a AND b OR NOT c", "((a AND b) OR (NOT c))"),
        ] {
            let mut expr = read(sql);
            mend(&mut expr).unwrap();
            assert_eq!(bracketed(&expr), expected, "{sql}");
        }
    }
}
