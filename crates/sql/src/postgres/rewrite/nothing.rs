//! Finds the queries that return no rows, because they read a table that is empty here.
//!
//! Tools ask PostgreSQL's catalogue for indexes, keys, comments, rules and much more that no table here has, often in a
//! notation that DataFusion lacks. Their answers are known without planning them.

use std::collections::HashSet;
use std::sync::LazyLock;

use datafusion::functions_aggregate::all_default_aggregate_functions;
use datafusion::sql::sqlparser::ast::{
    self, Expr, FunctionArguments, GroupByExpr, ObjectName, Query, Select, SelectItemQualifiedWildcardKind, SetExpr,
    SetOperator, TableFactor, TableWithJoins,
};

use super::{is_of_catalog, last, last_lower, names, null, own_table, qualifier};
use crate::postgres::own::FILLED;
use crate::syntax::{Node, factors, walk};

/// Whether a function returns a row even without rows to read.
pub(super) fn is_aggregate(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let known = all_default_aggregate_functions();
        let known = known.iter().flat_map(|of| of.aliases().iter().cloned().chain([of.name().to_owned()]));
        let more = ["any_value", "approx_quantile", "every", "histogram", "json_agg", "jsonb_agg", "quantile"];
        known.chain(more.map(str::to_owned)).collect()
    });
    NAMES.contains(name)
}

/// What is known of a query without running it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// It returns no rows.
    NoRows,
    /// It returns a row of aggregates over no rows. They are NULL, unless it counts.
    AggregatesOfNothing { counts: bool },
}

/// Names of common table expressions that return no rows.
type Empty<'a> = Vec<&'a str>;

/// What is known of a query; `None` if it has to run.
pub(super) fn known(query: &Query) -> Option<Known> {
    known_within(query, &Empty::new())
}

fn known_within<'a>(query: &'a Query, outer: &Empty<'a>) -> Option<Known> {
    let mut empty = outer.clone();
    for table in query.with.iter().flat_map(|with| &with.cte_tables) {
        let is_empty = known_within(&table.query, &empty) == Some(Known::NoRows);
        empty.retain(|name| *name != table.alias.name.value);
        empty.extend(is_empty.then_some(table.alias.name.value.as_str()));
    }
    body(&query.body, &empty)
}

fn body<'a>(expr: &'a SetExpr, empty: &Empty<'a>) -> Option<Known> {
    let has_no_rows = |side: &'a SetExpr| body(side, empty) == Some(Known::NoRows);
    match expr {
        SetExpr::Select(select) => {
            let nothing = select.from.iter().any(|tables| yields_nothing(tables, empty));
            if nothing && aggregates(select) {
                let counts = select.projection.iter().any(|item| calls(|name| name == "count", item));
                return Some(Known::AggregatesOfNothing { counts });
            }
            nothing.then_some(Known::NoRows)
        }
        SetExpr::Query(query) => known_within(query, empty),
        SetExpr::SetOperation { left, right, op, .. } => {
            let nothing = match op {
                SetOperator::Union => has_no_rows(left) && has_no_rows(right),
                SetOperator::Intersect => has_no_rows(left) || has_no_rows(right),
                _ => has_no_rows(left),
            };
            nothing.then_some(Known::NoRows)
        }
        _ => None,
    }
}

/// Whether a query aggregates all rows to one.
pub(super) fn aggregates(select: &Select) -> bool {
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    !grouped && select.projection.iter().any(|item| calls(is_aggregate, item))
}

/// Whether an item calls such a function, outside subqueries.
pub(super) fn calls(is_such: impl Fn(&str) -> bool, item: &ast::SelectItem) -> bool {
    let mut found = false;
    let walked = walk(&mut item.clone(), &mut |node| {
        match node {
            // What is in a subquery does not count.
            Node::Expr(expr @ (Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. })) => *expr = null(),
            Node::Expr(Expr::Function(function)) => {
                found |= is_such(&last_lower(&function.name));
                if matches!(function.args, FunctionArguments::Subquery(_)) {
                    function.args = FunctionArguments::None;
                }
            }
            _ => {}
        }
        Ok(())
    });
    walked.is_ok() && found
}

fn yields_nothing<'a>(tables: &'a TableWithJoins, empty: &Empty<'a>) -> bool {
    use ast::JoinOperator::{CrossJoin, Inner, Join, Left, LeftOuter};
    let mut nothing = has_no_rows(&tables.relation, empty);
    for join in &tables.joins {
        nothing = match join.join_operator {
            Join(_) | Inner(_) | CrossJoin(_) => nothing || has_no_rows(&join.relation, empty),
            Left(_) | LeftOuter(_) => nothing,
            _ => nothing && has_no_rows(&join.relation, empty),
        };
    }
    nothing
}

fn has_no_rows<'a>(factor: &'a TableFactor, empty: &Empty<'a>) -> bool {
    match factor {
        TableFactor::Table { name, args: None, .. } => {
            let is_named = name.0.len() == 1 && last(name).is_some_and(|name| empty.contains(&name.value.as_str()));
            is_named || is_empty_table(name)
        }
        // Lists in PostgreSQL's catalogue are all NULL here.
        TableFactor::Table { name, args: Some(_), .. } => {
            name.0.len() == 2 && is_of_catalog(name) && last_lower(name) == "unnest"
        }
        TableFactor::Derived { subquery, .. } => known_within(subquery, empty) == Some(Known::NoRows),
        TableFactor::NestedJoin { table_with_joins, .. } => yields_nothing(table_with_joins, empty),
        _ => false,
    }
}

fn is_empty_table(name: &ObjectName) -> bool {
    own_table(name).is_some_and(|table| !FILLED.contains(&(table.schema, table.name)))
}

/// The names of the columns of a query; `None` if only planning tells them, as for `*` of tables that users have.
pub(super) fn columns(body: &SetExpr) -> Option<Vec<String>> {
    match body {
        SetExpr::Select(select) => {
            let names = select.projection.iter().map(|item| named_columns(item, select));
            Some(names.collect::<Option<Vec<_>>>()?.concat())
        }
        SetExpr::Query(query) => columns(&query.body),
        SetExpr::SetOperation { left, .. } => columns(left),
        _ => None,
    }
}

fn named_columns(item: &ast::SelectItem, select: &Select) -> Option<Vec<String>> {
    match item {
        ast::SelectItem::ExprWithAlias { alias, .. } => Some(vec![names::without_mark(&alias.value).to_owned()]),
        ast::SelectItem::UnnamedExpr(expr) => Some(vec![names::of(expr)]),
        ast::SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(of), options)
            if options.opt_exclude.is_none() =>
        {
            let table = select.from.iter().flat_map(factors).filter_map(|factor| match factor {
                TableFactor::Table { name, args: None, .. } => {
                    (qualifier(factor)?.value == last(of)?.value).then(|| own_table(name))
                }
                _ => None,
            });
            let table = table.flatten().next()?;
            Some(table.columns().map(|(name, _)| name.to_owned()).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    fn known_of(sql: &str) -> Option<Known> {
        match Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap().remove(0) {
            ast::Statement::Query(query) => known(&query),
            other => panic!("{other} is no query"),
        }
    }

    #[test]
    fn queries_of_empty_tables_need_not_run() {
        for sql in [
            "SELECT 1 FROM pg_index",
            "SELECT 1 FROM pg_class c JOIN pg_catalog.pg_index i ON true",
            "SELECT 1 FROM pg_class c, information_schema.views",
            "SELECT 1 FROM pg_index i LEFT JOIN pg_class c ON true",
            "SELECT 1 FROM (SELECT * FROM pg_index) i",
            "SELECT 1 FROM (pg_class c JOIN pg_index i ON true)",
            "WITH i AS (SELECT 1 FROM pg_index) SELECT 1 FROM i",
            "SELECT 1 FROM pg_index UNION SELECT 1 FROM pg_proc",
            "SELECT 1 FROM pg_index EXCEPT SELECT 1 FROM pg_class",
            "SELECT 1 FROM pg_class INTERSECT SELECT 1 FROM pg_index",
            "SELECT (SELECT count(*) FROM pg_class) FROM pg_index",
            "SELECT count(*) FROM pg_index GROUP BY indrelid",
        ] {
            assert_eq!(known_of(sql), Some(Known::NoRows), "{sql}");
        }
        for (sql, counts) in [("SELECT count(*) FROM pg_index", true), ("SELECT max(indrelid) FROM pg_index", false)] {
            assert_eq!(known_of(sql), Some(Known::AggregatesOfNothing { counts }), "{sql}");
        }
    }

    #[test]
    fn columns_of_empty_tables_are_known() {
        let of = |sql: &str| match Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap().remove(0) {
            ast::Statement::Query(query) => columns(&query.body),
            other => panic!("{other} is no query"),
        };
        let names =
            of("SELECT i.*, i.indkey AS keys, c.relname, f(c.oid) FROM pg_index i JOIN pg_class c ON true").unwrap();
        assert_eq!(names[..2], ["indexrelid", "indrelid"]);
        assert_eq!(names[names.len() - 3..], ["keys", "relname", "f"]);
        assert_eq!(of("SELECT mine.* FROM pg_index, mine"), None);
        assert_eq!(of("SELECT * FROM pg_index"), None);
    }

    #[test]
    fn other_queries_run() {
        for sql in [
            "SELECT 1",
            "SELECT 1 FROM pg_class",
            "SELECT 1 FROM mine",
            "SELECT 1 FROM other.pg_index",
            "SELECT 1 FROM pg_class c LEFT JOIN pg_index i ON true",
            "SELECT 1 FROM pg_index i RIGHT JOIN pg_class c ON true",
            "SELECT 1 FROM pg_index i FULL JOIN pg_class c ON true",
            "SELECT 1 FROM pg_index UNION SELECT 1 FROM pg_class",
            "WITH pg_index AS (SELECT 1) SELECT 1 FROM (SELECT 2) x",
            "SELECT 1 FROM information_schema.tables",
        ] {
            assert_eq!(known_of(sql), None, "{sql}");
        }
    }
}
