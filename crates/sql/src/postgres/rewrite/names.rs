//! Names of result columns as PostgreSQL gives them: `count` of `count(*)`, and equal ones where expressions are alike.
//! DataFusion wants unique names, so columns get a mark that the answer is without.

use std::collections::BTreeSet;

use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Ident, ObjectName, OrderByKind, Query, SelectItem, SetExpr, TrimWhereField, Value,
};

use super::{last, last_lower};
use crate::postgres::types;

/// Ends the name of a column. No name that a client writes has it.
const MARK: char = '\u{1}';
/// The name of a column without one.
const NONE: &str = "?column?";

/// The name of a column in an answer.
pub(crate) fn without_mark(name: &str) -> &str {
    name.split_once(MARK).map_or(name, |(name, _)| name)
}

/// A plan without the marks of its columns, which JSON writes with an escape.
pub(crate) fn without_marks(plan: &str) -> String {
    let plan = plan.replace("\\u0001", &MARK.to_string());
    let mut parts = plan.split(MARK);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plan, part| plan + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Names the columns of a query.
pub(super) fn name(query: &mut Query) {
    let mut body = &mut *query.body;
    let select = loop {
        match body {
            SetExpr::SetOperation { left, .. } => body = left,
            SetExpr::Query(query) => body = &mut query.body,
            SetExpr::Select(select) => break select,
            _ => return,
        }
    };
    let is_star = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    let has_star = select.projection.iter().any(is_star);
    let (mut columns, mut aliases, mut named) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for (place, item) in select.projection.iter_mut().enumerate() {
        let marked = |name: &str| Ident::with_quote('"', format!("{name}{MARK}{place}"));
        match item {
            SelectItem::UnnamedExpr(expr @ (Expr::Identifier(_) | Expr::CompoundIdentifier(_))) => {
                let is_plain = matches!(expr, Expr::Identifier(_));
                if !columns.insert(expr.to_string()) || (has_star && is_plain) {
                    *item = SelectItem::ExprWithAlias { alias: marked(&of(expr)), expr: expr.clone() };
                }
            }
            SelectItem::UnnamedExpr(expr) => {
                let (name, expr) = (of(expr), expr.clone());
                let alias = marked(&name);
                named.push((name, expr.to_string(), alias.clone()));
                *item = SelectItem::ExprWithAlias { expr, alias };
            }
            SelectItem::ExprWithAlias { alias, .. } if !aliases.insert(alias.value.clone()) => {
                *alias = marked(&alias.value);
            }
            _ => {}
        }
    }
    // The rows may be in the order of such a column, by its name or as it is written.
    if let Some(order) = &mut query.order_by
        && let OrderByKind::Expressions(keys) = &mut order.kind
    {
        for key in keys {
            let written = key.expr.to_string();
            let is_plain = matches!(&key.expr, Expr::Identifier(wanted) if !aliases.contains(&wanted.value));
            let same = named.iter().find(|(_, expr, _)| *expr == written);
            let mut called = named.iter().filter(|(name, ..)| is_plain && *name == written);
            let by_name = called.next().filter(|_| called.next().is_none());
            if let Some((.., alias)) = same.or(by_name) {
                key.expr = Expr::Identifier(alias.clone());
            }
        }
    }
}

/// The name of a column that PostgreSQL makes of an expression.
pub(super) fn of(expr: &Expr) -> String {
    made_of(expr).unwrap_or_else(|| NONE.to_owned())
}

fn made_of(expr: &Expr) -> Option<String> {
    let fixed = match expr {
        Expr::Identifier(name) => return Some(name.value.clone()),
        Expr::CompoundIdentifier(names) => return names.last().map(|name| name.value.clone()),
        Expr::Function(function) => return written(&function.name),
        Expr::Nested(expr) | Expr::Collate { expr, .. } => return made_of(expr),
        Expr::CompoundFieldAccess { root, .. } => return made_of(root),
        // A value has the name of its type.
        Expr::Cast { expr, data_type, .. } => return made_of(expr).or_else(|| of_type(data_type)),
        Expr::TypedString(typed) => return of_type(&typed.data_type),
        Expr::Value(value) if matches!(value.value, Value::Boolean(_)) => "bool",
        Expr::Case { else_result, .. } => {
            return else_result.as_deref().and_then(made_of_column).or_else(|| Some("case".to_owned()));
        }
        Expr::Subquery(query) => {
            let SetExpr::Select(select) = &*query.body else { return None };
            return match select.projection.first()? {
                SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
                SelectItem::UnnamedExpr(expr) => made_of(expr),
                _ => None,
            };
        }
        Expr::Exists { .. } => "exists",
        Expr::Array(_) => "array",
        Expr::Extract { .. } => "extract",
        Expr::Substring { .. } => "substring",
        Expr::Position { .. } => "position",
        Expr::Overlay { .. } => "overlay",
        Expr::AtTimeZone { .. } => "timezone",
        Expr::Interval(_) => "interval",
        Expr::Ceil { .. } => "ceil",
        Expr::Floor { .. } => "floor",
        Expr::Trim { trim_where, .. } => match trim_where {
            Some(TrimWhereField::Leading) => "ltrim",
            Some(TrimWhereField::Trailing) => "rtrim",
            _ => "btrim",
        },
        _ => return None,
    };
    Some(fixed.to_owned())
}

/// The name of a column, also within casts.
fn made_of_column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => made_of(expr),
        Expr::Nested(expr) | Expr::Cast { expr, .. } => made_of_column(expr),
        _ => None,
    }
}

/// The name of a function, in lower case unless it is quoted.
fn written(name: &ObjectName) -> Option<String> {
    let name = last(name)?;
    Some(if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() })
}

/// The name of a type as in PostgreSQL's catalogue.
fn of_type(of: &DataType) -> Option<String> {
    let known = types::named(&of.to_string()).and_then(|oid| u32::try_from(oid).ok()).map(types::name_of);
    known.filter(|name| !name.is_empty()).or_else(|| match of {
        DataType::Custom(name, _) => Some(last_lower(name)),
        other => Some(other.to_string().to_lowercase()),
    })
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::ast::Statement;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    fn query(sql: &str) -> Box<Query> {
        match Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap().remove(0) {
            Statement::Query(query) => query,
            other => panic!("{other} is no query"),
        }
    }

    #[test]
    fn columns_have_names_of_postgresql() {
        for (sql, expected) in [
            ("count(*)", "count"),
            ("pg_catalog.Upper(host)", "upper"),
            ("cpu.time::date", "time"),
            ("now()::date", "now"),
            ("'1'::int", "int4"),
            ("'x'::pg_catalog.text", "text"),
            ("date '2025-01-01'", "date"),
            ("true", "bool"),
            ("1 + 1", "?column?"),
            ("NULL", "?column?"),
            ("(max(load))", "max"),
            ("CASE WHEN a THEN 1 END", "case"),
            ("CASE WHEN a THEN 1 ELSE b::int END", "b"),
            ("(SELECT max(x) FROM t)", "max"),
            ("EXISTS (SELECT 1)", "exists"),
            ("extract(epoch FROM time)", "extract"),
            ("floor(load)", "floor"),
            ("trim(host)", "btrim"),
            ("time AT TIME ZONE 'UTC'", "timezone"),
        ] {
            let query = query(&format!("SELECT {sql}"));
            let SetExpr::Select(select) = &*query.body else { panic!("{sql}") };
            let SelectItem::UnnamedExpr(expr) = &select.projection[0] else { panic!("{sql}") };
            assert_eq!(of(expr), expected, "{sql}");
        }
    }

    #[test]
    fn names_are_unique_until_they_are_sent() {
        let mut query =
            query("SELECT host, max(a), max(b), 1 AS max, 2 AS max, host FROM t GROUP BY host ORDER BY host");
        name(&mut query);
        let SetExpr::Select(select) = &*query.body else { panic!("no select") };
        let names: Vec<String> = select
            .projection
            .iter()
            .map(|item| match item {
                SelectItem::ExprWithAlias { alias, .. } => alias.value.clone(),
                other => other.to_string(),
            })
            .collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 6, "{names:?}");
        let sent: Vec<&str> = names.iter().map(|name| without_mark(name)).collect();
        assert_eq!(sent, ["host", "max", "max", "max", "max", "host"]);
    }

    #[test]
    fn rows_are_ordered_by_computed_columns() {
        for (order, expected) in [("upper(a)", true), ("upper", true), ("a", false), ("max", false)] {
            let mut query =
                query(&format!("SELECT DISTINCT upper(a), max(b), max(c), 1 AS x FROM t ORDER BY {order} DESC"));
            name(&mut query);
            assert_eq!(query.order_by.unwrap().to_string().contains(MARK), expected, "{order}");
        }
    }
}
