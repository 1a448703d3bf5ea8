//! Questions to other tables within aggregates, as in `sum(CASE WHEN x IN (SELECT ...) THEN 1 END)`.

use datafusion::sql::sqlparser::ast::{
    Expr, GroupByExpr, Ident, Select, SelectItem, SetExpr, TableAlias, TableFactor, TableWithJoins,
    WildcardAdditionalOptions,
};

use super::nothing::is_aggregate;
use super::{last_lower, parsed, qualifier};
use crate::error::QueryError;
use crate::syntax::{Node, walk_outside_queries};

/// Lets a query in place of the only table answer the questions, as columns of its own: DataFusion plans no subqueries in
/// aggregates.
pub(super) fn answer_before(select: &mut Select) -> Result<(), QueryError> {
    let [TableWithJoins { relation, joins }] = select.from.as_slice() else { return Ok(()) };
    let is_call = matches!(relation, TableFactor::Table { args: Some(_), .. });
    let Some(name) = qualifier(relation).filter(|_| joins.is_empty() && !is_call).cloned() else { return Ok(()) };
    let mut asked = Vec::new();
    for item in &mut select.projection {
        walk_outside_queries(item, &mut |node| match node {
            Node::Expr(Expr::Function(function)) if is_aggregate(&last_lower(&function.name)) => {
                walk_outside_queries(function, &mut |node| {
                    take(node, &mut asked);
                    Ok(())
                })
            }
            _ => Ok(()),
        })?;
    }
    if asked.is_empty() {
        return Ok(());
    }
    let inner = Select {
        projection: [SelectItem::Wildcard(WildcardAdditionalOptions::default())].into_iter().chain(asked).collect(),
        distinct: None,
        having: None,
        qualify: None,
        named_window: Vec::new(),
        group_by: GroupByExpr::Expressions(Vec::new(), Vec::new()),
        ..select.clone()
    };
    let Some(mut subquery) = parsed("SELECT 1") else { return Ok(()) };
    *subquery.body = SetExpr::Select(Box::new(inner));
    let alias = TableAlias { explicit: true, name, columns: Vec::new(), at: None };
    let relation = TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None };
    select.from = vec![TableWithJoins { relation, joins: Vec::new() }];
    select.selection = None;
    Ok(())
}

/// Puts a question into a column, and the name of the column in its place.
fn take(node: Node<'_>, asked: &mut Vec<SelectItem>) {
    let Node::Expr(expr @ (Expr::Exists { .. } | Expr::InSubquery { .. })) = node else { return };
    let alias = Ident::with_quote('"', format!("question {}", asked.len()));
    let expr = std::mem::replace(expr, Expr::Identifier(alias.clone()));
    asked.push(SelectItem::ExprWithAlias { expr, alias });
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::ast::Statement;
    use datafusion::sql::sqlparser::dialect::GenericDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    #[test]
    fn aggregates_count_answers() {
        for (sql, expected) in [
            (
                "SELECT a, sum(CASE WHEN b IN (SELECT c FROM u) THEN 1 END) FROM s.t WHERE d GROUP BY a",
                "SELECT a, sum(CASE WHEN \"question 0\" THEN 1 END) FROM (SELECT *, b IN (SELECT c FROM u) AS \"question 0\" \
                 FROM s.t WHERE d) AS t GROUP BY a",
            ),
            (
                "SELECT count(*) FILTER (WHERE EXISTS (SELECT 1 FROM u WHERE u.a = x.a)) FROM t x",
                "SELECT count(*) FILTER (WHERE \"question 0\") FROM (SELECT *, EXISTS (SELECT 1 FROM u WHERE u.a = x.a) AS \
                 \"question 0\" FROM t x) AS x",
            ),
            ("SELECT sum(a), max(b) IN (SELECT 1) FROM t", "SELECT sum(a), max(b) IN (SELECT 1) FROM t"),
            ("SELECT sum(a) FROM t WHERE b IN (SELECT 1)", "SELECT sum(a) FROM t WHERE b IN (SELECT 1)"),
        ] {
            let mut statement = Parser::parse_sql(&GenericDialect {}, sql).unwrap().remove(0);
            let Statement::Query(query) = &mut statement else { panic!("{sql}") };
            let SetExpr::Select(select) = &mut *query.body else { panic!("{sql}") };
            answer_before(select).unwrap();
            assert_eq!(statement.to_string(), expected);
        }
    }
}
