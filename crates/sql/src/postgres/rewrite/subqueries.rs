//! Subqueries in places where DataFusion plans none.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArgumentClause, FunctionArguments, GroupByExpr, LimitClause, Query, Select,
    SelectItem, SetExpr, Statement, UnaryOperator, Value,
};

use super::nothing::{self, Known, known};
use super::{boolean, last_lower, number, order};
use crate::error::QueryError;
use crate::literals::call;
use crate::syntax::{Node, walk};

/// Replaces `EXISTS (SELECT ...)` in all columns of a statement.
pub(crate) fn existences(statement: &mut Statement) -> Result<(), QueryError> {
    walk(statement, &mut |node| match node {
        Node::Select(select) => select.projection.iter_mut().try_for_each(|item| in_columns(item, false)),
        _ => Ok(()),
    })
}

/// Replaces `EXISTS (SELECT ...)` in a column of an answer, and `x IN (SELECT ...)` if the statement is about
/// PostgreSQL's catalogue, where nothing is NULL that could be found. DataFusion plans both only as conditions of rows.
pub(super) fn in_columns(item: &mut SelectItem, about: bool) -> Result<(), QueryError> {
    walk(item, &mut |node| {
        let Node::Expr(of) = node else { return Ok(()) };
        let changed = match of {
            // Those of empty tables are known without planning.
            Expr::Exists { subquery, .. } | Expr::InSubquery { subquery, .. }
                if known(subquery) == Some(Known::NoRows) =>
            {
                None
            }
            Expr::Exists { subquery, negated } => has_rows((**subquery).clone(), !*negated),
            Expr::InSubquery { expr, subquery, negated } if about => {
                list_of((**subquery).clone()).map(|list| is_in(list, expr, *negated))
            }
            _ => None,
        };
        if let Some(changed) = changed {
            *of = changed;
        }
        Ok(())
    })
}

/// Whether a list has a value, or has not.
fn is_in(list: Expr, value: &Expr, negated: bool) -> Expr {
    let found = call("array_has", vec![list, value.clone()]);
    // The list of no rows is NULL.
    let found = call("coalesce", vec![found, boolean(false)]);
    if negated { Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(found) } } else { found }
}

/// The select of a query without set operations, if it neither limits nor groups nor aggregates its rows.
fn plain_select(query: &mut Query) -> Option<&mut Select> {
    let limited = query.limit_clause.is_some() || query.fetch.is_some();
    let SetExpr::Select(select) = &mut *query.body else { return None };
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    let is_plain = !limited && !grouped && select.having.is_none() && select.distinct.is_none();
    (is_plain && !nothing::aggregates(select)).then_some(select)
}

/// The single expression that a select returns.
fn single(select: &mut Select) -> Option<&mut Expr> {
    match select.projection.as_mut_slice() {
        [SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }] => Some(expr),
        _ => None,
    }
}

/// A subquery that compares the number of its rows with zero: whether it `has` rows, or has none.
fn has_rows(mut query: Query, has: bool) -> Option<Expr> {
    query.order_by = None;
    if is_limited_to_some(&query) {
        query.limit_clause = None;
    }
    if let SetExpr::Select(select) = &mut *query.body {
        select.distinct = None;
    }
    let select = plain_select(&mut query)?;
    let (left, right) = (Box::new(call("count", vec![number("1")])), Box::new(number("0")));
    let op = if has { BinaryOperator::Gt } else { BinaryOperator::Eq };
    select.projection = vec![SelectItem::UnnamedExpr(Expr::BinaryOp { left, op, right })];
    Some(Expr::Subquery(Box::new(query)))
}

/// Whether a query has a `LIMIT` that leaves a row if there are any.
fn is_limited_to_some(query: &Query) -> bool {
    let Some(LimitClause::LimitOffset { limit: Some(Expr::Value(limit)), offset: None, .. }) = &query.limit_clause
    else {
        return false;
    };
    matches!(&limit.value, Value::Number(rows, _) if rows != "0")
}

/// Lets a subquery return its first row. DataFusion accepts correlated subqueries only if they aggregate.
pub(super) fn first_row(query: &mut Query) {
    let Some(select) = plain_select(query) else { return };
    if let Some(expr) = single(select) {
        *expr = call("first_value", vec![expr.clone()]);
    }
}

/// Writes `ARRAY(SELECT x ...)` as a subquery that aggregates to a list.
pub(super) fn list_of(mut query: Query) -> Option<Expr> {
    let order = order::take(&mut query);
    let expr = single(plain_select(&mut query)?)?;
    let order = order.map(|order| order::of_values(order, expr));
    let mut list = call("array_agg", vec![expr.clone()]);
    if let (Expr::Function(Function { args: FunctionArguments::List(list), .. }), Some(order)) = (&mut list, order) {
        list.clauses.push(FunctionArgumentClause::OrderBy(order));
    }
    *expr = list;
    Some(Expr::Subquery(Box::new(query)))
}

/// The expression that a subquery without tables returns, as in `(SELECT f(t.x))`.
pub(super) fn expression(query: &Query) -> Option<Expr> {
    let mut query = query.clone();
    let is_plain = query.with.is_none();
    let select = plain_select(&mut query).filter(|_| is_plain)?;
    let is_one_row = select.from.is_empty() && select.selection.is_none();
    if !is_one_row || nothing::calls(&["unnest", "generate_series", "generate_subscripts"], select.projection.first()?)
    {
        return None;
    }
    single(select).map(|expr| Expr::Nested(Box::new(expr.clone())))
}

/// Whether a query counts, and returns nothing else.
pub(super) fn is_count(query: &Query) -> bool {
    let SetExpr::Select(select) = &*query.body else { return false };
    let is_it = |expr: &Expr| matches!(expr, Expr::Function(function) if last_lower(&function.name) == "count");
    matches!(select.projection.as_slice(), [SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }] if is_it(expr))
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    #[test]
    fn columns_count_the_rows_that_exist() {
        for (sql, expected) in [
            ("SELECT EXISTS (SELECT a FROM t)", "SELECT (SELECT count(1) > 0 FROM t)"),
            ("SELECT NOT EXISTS (SELECT DISTINCT a FROM t ORDER BY a LIMIT 1)", "SELECT (SELECT count(1) = 0 FROM t)"),
            (
                "SELECT 1 FROM (SELECT EXISTS (SELECT 1 FROM t) AS x) y",
                "SELECT 1 FROM (SELECT (SELECT count(1) > 0 FROM t) AS x) y",
            ),
            // These keep their meaning only as they are.
            ("SELECT EXISTS (SELECT 1 FROM t LIMIT 0)", "SELECT EXISTS (SELECT 1 FROM t LIMIT 0)"),
            ("SELECT EXISTS (SELECT a FROM t GROUP BY a)", "SELECT EXISTS (SELECT a FROM t GROUP BY a)"),
            ("SELECT 1 WHERE EXISTS (SELECT 1 FROM t)", "SELECT 1 WHERE EXISTS (SELECT 1 FROM t)"),
            ("SELECT 1 IN (SELECT a FROM t)", "SELECT 1 IN (SELECT a FROM t)"),
        ] {
            let mut statement = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap().remove(0);
            existences(&mut statement).unwrap();
            assert_eq!(statement.to_string(), expected, "{sql}");
        }
    }
}
