//! Subqueries in places where DataFusion plans none.

use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, DataType, Expr, Function, FunctionArgumentClause, FunctionArguments, GroupByExpr, Ident,
    LimitClause, Query, Select, SelectItem, SetExpr, Statement, TableFactor, Value, VisitMut,
};

use super::nothing::{self, Known, known};
use super::{aggregates, boolean, cast_to, last_lower, null, number, order, parsed, qualifier};
use crate::error::QueryError;
use crate::literals::{binary, call};
use crate::syntax::{Node, factors, walk, walk_outside_queries};

/// Replaces `EXISTS (SELECT ...)` and `x IN (SELECT ...)` in all columns of a statement.
pub(crate) fn conditions(statement: &mut Statement) -> Result<(), QueryError> {
    walk(statement, &mut |node| match node {
        Node::Select(select) => {
            aggregates::answer_before(select)?;
            select.projection.iter_mut().try_for_each(in_columns)
        }
        _ => Ok(()),
    })
}

/// Replaces `EXISTS (SELECT ...)` and `x IN (SELECT ...)` in a column of an answer. DataFusion plans both only as
/// conditions of rows.
pub(super) fn in_columns(item: &mut SelectItem) -> Result<(), QueryError> {
    walk_outside_queries(item, &mut |node| {
        let Node::Expr(of) = node else { return Ok(()) };
        let changed = match of {
            // Those of empty tables are known without planning.
            Expr::Exists { subquery, .. } | Expr::InSubquery { subquery, .. }
                if known(subquery) == Some(Known::NoRows) =>
            {
                None
            }
            Expr::Exists { subquery, negated } => has_rows((**subquery).clone(), !*negated),
            Expr::InSubquery { expr, subquery, negated } => is_in(expr, subquery, *negated)?,
            _ => None,
        };
        if let Some(changed) = changed {
            *of = changed;
        }
        Ok(())
    })
}

/// Whether a query returns a value, or does not: unknown, as in SQL, where that depends on NULL. `None` if value or query
/// have such a question themselves, because each copies its query.
fn is_in(value: &mut Expr, query: &mut Query, negated: bool) -> Result<Option<Expr>, QueryError> {
    if matches!(value, Expr::Tuple(_)) || asks_itself(value)? || asks_itself(query)? {
        return Ok(None);
    }
    let direct = if has_own_names(value, query)? { members(query.clone()) } else { None };
    let Some((query, member)) = direct.or_else(|| wrapped(query)) else { return Ok(None) };
    let case = |cases: [(Expr, Expr); 2], otherwise| Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: cases.map(|(condition, result)| CaseWhen { condition, result }).into(),
        else_result: Some(Box::new(otherwise)),
    };
    let (rows, values) = (call("count", vec![number("1")]), call("count", vec![member.clone()]));
    let some = binary(rows.clone(), BinaryOperator::Gt, number("0"));
    let has_null = binary(rows, BinaryOperator::Gt, values);
    let equal = binary(member, BinaryOperator::Eq, value.clone());
    let found = over(query.clone(), some.clone(), Some(equal));
    // With NULL among the rows nothing is known of a value that is not found, and with any row nothing of NULL.
    let doubt = over(query, case([(has_null, number("2")), (some, number("1"))], number("0")), None);
    let certain = cast_to(Expr::IsNotNull(Box::new(value.clone())), DataType::BigInt(None));
    let unknown = binary(doubt, BinaryOperator::Gt, certain);
    Ok(Some(case([(found, boolean(!negated)), (unknown, null())], boolean(negated))))
}

/// Whether a value means the same inside of a query: whether it names no columns, or those of other tables.
fn has_own_names(value: &mut Expr, query: &Query) -> Result<bool, QueryError> {
    let SetExpr::Select(select) = &*query.body else { return Ok(false) };
    let names: Option<Vec<&Ident>> = select.from.iter().flat_map(factors).map(qualifier).collect();
    let mut own = names.is_some();
    walk(value, &mut |node| {
        own &= match node {
            Node::Expr(Expr::Identifier(_)) | Node::Query(_) => false,
            Node::Expr(Expr::CompoundIdentifier(parts)) => {
                let is_of = |name: &Ident| parts.iter().any(|part| part.value.eq_ignore_ascii_case(&name.value));
                !names.iter().flatten().any(|name| is_of(name))
            }
            _ => true,
        };
        Ok(())
    })?;
    Ok(own)
}

/// A query for the values of a query, and the expression of a value.
fn members(mut query: Query) -> Option<(Query, Expr)> {
    query.order_by = None;
    let select = plain_select(&mut query)?;
    if nothing::calls(is_set, select.projection.first()?) {
        return None;
    }
    let value = single(select)?.clone();
    Some((query, value))
}

/// The same for any query, as a table.
fn wrapped(query: &Query) -> Option<(Query, Expr)> {
    // Names that no client writes, so that they hide none of a value's.
    let outer = as_table(query, "\"members\u{1}\"(\"member\u{1}\")")?;
    Some((outer, Expr::Identifier(Ident::with_quote('"', "member\u{1}"))))
}

/// A query for the rows of any query. That cannot name columns of outer tables.
fn as_table(query: &Query, alias: &str) -> Option<Query> {
    let mut outer = parsed(&format!("SELECT 1 FROM (SELECT 1) AS {alias}"))?;
    let SetExpr::Select(select) = &mut *outer.body else { return None };
    let TableFactor::Derived { subquery, .. } = &mut select.from.first_mut()?.relation else { return None };
    **subquery = query.clone();
    Some(*outer)
}

/// A subquery for an expression over the rows of a select that meet a condition, too.
fn over(mut query: Query, expr: Expr, condition: Option<Expr>) -> Expr {
    if let SetExpr::Select(select) = &mut *query.body {
        let conditions = select.selection.take().into_iter().chain(condition);
        let nested = conditions.map(|condition| Expr::Nested(Box::new(condition)));
        select.selection = nested.reduce(|left, right| binary(left, BinaryOperator::And, right));
        select.projection = vec![SelectItem::UnnamedExpr(expr)];
    }
    Expr::Subquery(Box::new(query))
}

/// Whether `x IN (SELECT ...)` is in an expression, or in a column of a query within.
fn asks_itself(of: &mut impl VisitMut) -> Result<bool, QueryError> {
    fn asks(node: &Node<'_>) -> bool {
        matches!(node, Node::Expr(Expr::InSubquery { .. }))
    }
    let mut found = false;
    walk_outside_queries(of, &mut |node| {
        found |= asks(&node);
        Ok(())
    })?;
    walk(of, &mut |node| {
        let Node::Select(select) = node else { return Ok(()) };
        select.projection.iter_mut().try_for_each(|item| {
            walk_outside_queries(item, &mut |node| {
                found |= asks(&node);
                Ok(())
            })
        })
    })?;
    Ok(found)
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
    if plain_select(&mut query).is_none() {
        query = as_table(&query, "members")?;
    }
    let select = plain_select(&mut query)?;
    let op = if has { BinaryOperator::Gt } else { BinaryOperator::Eq };
    let found = binary(call("count", vec![number("1")]), op, number("0"));
    select.projection = vec![SelectItem::UnnamedExpr(found)];
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
    let select = plain_select(&mut query)?;
    if order.is_none() && nothing::calls(is_set, select.projection.first()?) {
        let (query, member) = wrapped(&query)?;
        return Some(over(query, call("array_agg", vec![member]), None));
    }
    let expr = single(select)?;
    let order = order.map(|order| order::of_values(order, expr));
    let mut list = call("array_agg", vec![expr.clone()]);
    if let (Expr::Function(Function { args: FunctionArguments::List(list), .. }), Some(order)) = (&mut list, order) {
        list.clauses.push(FunctionArgumentClause::OrderBy(order));
    }
    *expr = list;
    Some(Expr::Subquery(Box::new(query)))
}

/// Whether a function returns rows.
fn is_set(name: &str) -> bool {
    matches!(name, "unnest" | "generate_series" | "generate_subscripts")
}

/// The expression that a subquery without tables returns, as in `(SELECT f(t.x))`.
pub(super) fn expression(query: &Query) -> Option<Expr> {
    let mut query = query.clone();
    let is_plain = query.with.is_none();
    let select = plain_select(&mut query).filter(|_| is_plain)?;
    let is_one_row = select.from.is_empty() && select.selection.is_none();
    if !is_one_row || nothing::calls(is_set, select.projection.first()?) {
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
    fn values_keep_their_names() {
        // In a query with a column of that name, `a` would be another column.
        for (sql, is_wrapped) in [
            ("SELECT a IN (SELECT a FROM t) FROM u", true),
            ("SELECT u.a IN (SELECT a FROM t) FROM u", false),
            ("SELECT u.a IN (SELECT a FROM u) FROM u", true),
            ("SELECT u.a IN (SELECT v.a FROM u v) FROM u", false),
            ("SELECT 1 IN (SELECT a FROM t LIMIT 1)", true),
            ("SELECT 1 IN (SELECT unnest(a) FROM t)", true),
        ] {
            let mut statement = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap().remove(0);
            conditions(&mut statement).unwrap();
            assert_eq!(statement.to_string().contains("\"member\u{1}\" = "), is_wrapped, "{statement}");
        }
    }

    #[test]
    fn nested_questions_do_not_multiply() {
        let nested = (0..20).fold("SELECT 1".to_owned(), |inner, _| format!("SELECT 1 IN ({inner})"));
        let mut statement = Parser::parse_sql(&PostgreSqlDialect {}, &nested).unwrap().remove(0);
        conditions(&mut statement).unwrap();
        assert!(statement.to_string().len() < 2 * nested.len(), "{statement}");
    }

    #[test]
    fn columns_count_the_rows_that_exist() {
        for (sql, expected) in [
            ("SELECT EXISTS (SELECT a FROM t)", "SELECT (SELECT count(1) > 0 FROM t)"),
            ("SELECT NOT EXISTS (SELECT DISTINCT a FROM t ORDER BY a LIMIT 1)", "SELECT (SELECT count(1) = 0 FROM t)"),
            (
                "SELECT 1 FROM (SELECT EXISTS (SELECT 1 FROM t) AS x) y",
                "SELECT 1 FROM (SELECT (SELECT count(1) > 0 FROM t) AS x) y",
            ),
            (
                "SELECT 1 IN (SELECT a FROM t WHERE b OR c)",
                "SELECT CASE WHEN (SELECT count(1) > 0 FROM t WHERE (b OR c) AND (a = 1)) THEN true WHEN (SELECT CASE WHEN \
                 count(1) > count(a) THEN 2 WHEN count(1) > 0 THEN 1 ELSE 0 END FROM t WHERE (b OR c)) > CAST(1 IS NOT \
                 NULL AS BIGINT) THEN NULL ELSE false END",
            ),
            (
                "SELECT EXISTS (SELECT 1 FROM t LIMIT 0)",
                "SELECT (SELECT count(1) > 0 FROM (SELECT 1 FROM t LIMIT 0) AS members)",
            ),
            (
                "SELECT EXISTS (SELECT a, max(b) FROM t GROUP BY a)",
                "SELECT (SELECT count(1) > 0 FROM (SELECT a, max(b) FROM t GROUP BY a) AS members)",
            ),
            // These keep their meaning only as they are.
            ("SELECT 1 WHERE EXISTS (SELECT 1 FROM t)", "SELECT 1 WHERE EXISTS (SELECT 1 FROM t)"),
            ("SELECT 1 WHERE 1 IN (SELECT a FROM t)", "SELECT 1 WHERE 1 IN (SELECT a FROM t)"),
            ("SELECT (1, 2) IN (SELECT a, b FROM t)", "SELECT (1, 2) IN (SELECT a, b FROM t)"),
        ] {
            let mut statement = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap().remove(0);
            conditions(&mut statement).unwrap();
            assert_eq!(statement.to_string(), expected, "{sql}");
        }
    }
}
