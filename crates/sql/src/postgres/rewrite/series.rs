//! `generate_series` in columns, and in place of a table.

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, SelectItem,
};

use super::last;
use crate::error::QueryError;
use crate::literals::call;
use crate::postgres::types;
use crate::syntax::{Node, walk_outside_queries};

pub(super) const SERIES: &str = "generate_series";

/// Removes casts to whole numbers from the arguments of a series in place of a table: DataFusion wants constants.
pub(super) fn without_casts(args: &mut [FunctionArg]) {
    for arg in args {
        if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = arg
            && let Expr::Cast { expr: inner, data_type, .. } = &*expr
            && matches!(types::named(&data_type.to_string()), Some(20 | 21 | 23))
        {
            *expr = (**inner).clone();
        }
    }
}

/// Lets a series in a column return a row for each value, as in PostgreSQL: DataFusion returns a list.
pub(super) fn as_rows(item: &mut SelectItem) -> Result<(), QueryError> {
    if let SelectItem::UnnamedExpr(expr @ Expr::Function(_)) = item
        && series(expr).is_some()
    {
        *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::new(SERIES) };
    }
    walk_outside_queries(item, &mut |node| {
        let Node::Expr(expr) = node else { return Ok(()) };
        if let Some(function) = series(expr) {
            // The quotes say that this is done: the walk goes on inside of the new expression.
            function.name = ObjectName::from(vec![Ident::with_quote('"', SERIES)]);
            *expr = call("unnest", vec![expr.clone()]);
        } else if let Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) = expr
            && last(name).is_some_and(|name| name.value.eq_ignore_ascii_case("unnest"))
            && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(list))] = list.args.as_mut_slice()
            && let Some(function) = series(list)
        {
            function.name = ObjectName::from(vec![Ident::with_quote('"', SERIES)]);
        }
        Ok(())
    })
}

/// A call of the function, unless its name is quoted.
fn series(expr: &mut Expr) -> Option<&mut Function> {
    let Expr::Function(function) = expr else { return None };
    let name = last(&function.name)?;
    let is_series = name.quote_style.is_none() && name.value.eq_ignore_ascii_case(SERIES);
    is_series.then_some(function)
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::ast::{SetExpr, Statement};
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    #[test]
    fn series_in_columns_become_rows() {
        for (sql, expected) in [
            ("generate_series(1, 3)", "unnest(\"generate_series\"(1, 3)) AS generate_series"),
            ("pg_catalog.generate_series(1, n) * 2 AS x", "unnest(\"generate_series\"(1, n)) * 2 AS x"),
            ("unnest(generate_series(1, 3))", "unnest(\"generate_series\"(1, 3))"),
            ("range(1, 3)", "range(1, 3)"),
        ] {
            let mut statement = Parser::parse_sql(&PostgreSqlDialect {}, &format!("SELECT {sql}")).unwrap().remove(0);
            let Statement::Query(query) = &mut statement else { panic!("{sql}") };
            let SetExpr::Select(select) = &mut *query.body else { panic!("{sql}") };
            as_rows(&mut select.projection[0]).unwrap();
            assert_eq!(select.projection[0].to_string(), expected);
        }
    }
}
