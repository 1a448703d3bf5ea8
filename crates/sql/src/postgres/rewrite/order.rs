//! The order of rows.

use datafusion::sql::sqlparser::ast::{
    Expr, GroupByExpr, Ident, OrderBy, OrderByExpr, OrderByKind, Query, SelectItem, SetExpr, TableAlias, TableFactor,
    TableWithJoins, Value,
};

use super::nothing::columns;

/// The names of a query in place of a table, and of the columns that only order its rows.
const ORDERED: &str = "ordered";
const KEY: &str = "order key ";

fn asks(expr: &Expr) -> bool {
    match expr {
        Expr::InSubquery { .. } | Expr::Subquery(_) | Expr::Exists { .. } => true,
        Expr::Nested(expr) => asks(expr),
        Expr::Case { conditions, .. } => conditions.iter().any(|when| asks(&when.condition) || asks(&when.result)),
        _ => false,
    }
}

/// Removes the expressions that order a query.
pub(super) fn take(query: &mut Query) -> Option<Vec<OrderByExpr>> {
    match query.order_by.take()?.kind {
        OrderByKind::Expressions(order) => Some(order),
        OrderByKind::All(_) => None,
    }
}

/// The order of the values of the only column, which may be named by its position.
pub(super) fn of_values(mut order: Vec<OrderByExpr>, value: &Expr) -> Vec<OrderByExpr> {
    for key in &mut order {
        if matches!(&key.expr, Expr::Value(number) if matches!(number.value, Value::Number(..))) {
            key.expr = value.clone();
        }
    }
    order
}

/// Lets columns of an inner query order the rows, where subqueries do: DataFusion does not plan these in `ORDER BY`.
pub(super) fn by_columns(query: &mut Query) {
    let Some(OrderBy { kind: OrderByKind::Expressions(order), .. }) = &mut query.order_by else { return };
    let SetExpr::Select(select) = &mut *query.body else { return };
    if select.distinct.is_some() || !order.iter().any(|key| asks(&key.expr)) {
        return;
    }
    let Some(names) = columns(&SetExpr::Select(select.clone())) else { return };
    let mut inner = select.clone();
    for (place, key) in order.iter_mut().enumerate().filter(|(_, key)| asks(&key.expr)) {
        let name = Ident::with_quote('"', format!("{KEY}{place}"));
        let expr = std::mem::replace(&mut key.expr, Expr::Identifier(name.clone()));
        inner.projection.push(SelectItem::ExprWithAlias { expr, alias: name });
    }
    let named = |name: String| SelectItem::UnnamedExpr(Expr::Identifier(Ident::with_quote('"', name)));
    select.projection = names.into_iter().map(named).collect();
    select.selection = None;
    select.having = None;
    select.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
    let body = Box::new(SetExpr::Select(inner));
    let mut inner = query.clone();
    (inner.body, inner.with, inner.order_by, inner.limit_clause, inner.fetch) = (body, None, None, None, None);
    let alias = TableAlias { explicit: true, name: Ident::new(ORDERED), columns: Vec::new(), at: None };
    let relation = TableFactor::Derived { lateral: false, subquery: Box::new(inner), alias: Some(alias), sample: None };
    if let SetExpr::Select(select) = &mut *query.body {
        select.from = vec![TableWithJoins { relation, joins: Vec::new() }];
    }
}
