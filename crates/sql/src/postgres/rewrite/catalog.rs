//! Columns of PostgreSQL's catalogue that differ here.

use datafusion::sql::sqlparser::ast::{
    self, BinaryOperator, Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, Query, SelectItem, SetExpr,
    Statement, TableFactor, TableWithJoins, Value,
};

use super::{boolean, null, own_table, qualifier, text};
use crate::error::QueryError;
use crate::literals::{binary, call};
use crate::postgres::CATALOG;
use crate::postgres::layout::{self, Kind};
use crate::postgres::own::TYPE_FUNCTIONS;
use crate::syntax::{Node, walk};

/// Removes a recursive query about types that are made of others, as asyncpg asks it: it would not be planned, and no
/// type here is a domain or a row.
pub(super) fn never(when: &mut ast::CaseWhen) {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = &when.condition else { return };
    let Expr::CompoundIdentifier(names) = &**left else { return };
    let is_kind = names.last().is_some_and(|name| name.value == "typtype");
    let other =
        matches!(&**right, Expr::Value(kind) if kind.value.clone().into_string().is_some_and(|kind| kind != "b"));
    if is_kind && other && matches!(&when.result, Expr::Subquery(query) if query.with.is_some()) {
        when.result = null();
    }
}

/// Rewrites a comparison of a column of PostgreSQL's catalogue whose type differs here.
pub(super) fn compared(left: &mut Expr, op: &BinaryOperator, right: &mut Expr) {
    if is_function(left) && matches!(right, Expr::Value(number) if matches!(number.value, Value::Number(..))) {
        // PostgreSQL writes the function of number 0 so.
        *right = text("-");
    }
    if *op == BinaryOperator::Eq && is_function(left) {
        by_name(right);
    } else if *op == BinaryOperator::Eq && is_function(right) {
        by_name(left);
    }
    if is_truth(left) {
        truth(right);
    }
}

/// Compares functions by their names, `p.proname` in place of `p.oid`: types name them here.
fn by_name(expr: &mut Expr) {
    if let Expr::CompoundIdentifier(names) = expr
        && let Some(name) = names.last_mut().filter(|name| name.value == "oid")
    {
        *name = Ident::new("proname");
    }
}

/// Lets a text be true or false.
fn truth(expr: &mut Expr) {
    let Expr::Value(value) = &*expr else { return };
    match value.value.clone().into_string().map(|word| word.to_lowercase()).as_deref() {
        Some("t" | "true") => *expr = boolean(true),
        Some("f" | "false") => *expr = boolean(false),
        _ => {}
    }
}

/// Rewrites `CASE column WHEN 't'` of a column that is true or false.
pub(super) fn cases_of_truth(operand: Option<&Expr>, conditions: &mut [ast::CaseWhen]) {
    if operand.is_some_and(is_truth) {
        conditions.iter_mut().for_each(|when| truth(&mut when.condition));
    }
}

/// Gives the names of functions to queries that look up those of types.
pub(super) fn name_type_functions(statement: &mut Statement) -> Result<(), QueryError> {
    let mut asked = false;
    walk(statement, &mut |node| {
        asked |= matches!(&node, Node::Expr(expr) if is_function(expr));
        Ok(())
    })?;
    if !asked {
        return Ok(());
    }
    walk(statement, &mut |node| {
        if let Node::Relation(relation) = node
            && own_table(relation).is_some_and(|table| table.name == "pg_proc")
        {
            *relation = ObjectName::from(vec![Ident::new(CATALOG), Ident::new(TYPE_FUNCTIONS)]);
        }
        Ok(())
    })
}

/// The number of a table that a subquery looks up by name and schema, as `TypeORM` does in the condition of a join, where
/// DataFusion plans no subquery.
pub(super) fn number_of_table(query: &Query) -> Option<Expr> {
    let SetExpr::Select(select) = &*query.body else { return None };
    let [SelectItem::UnnamedExpr(Expr::CompoundIdentifier(number))] = select.projection.as_slice() else { return None };
    let [TableWithJoins { relation, joins }] = select.from.as_slice() else { return None };
    let [Join { relation: schemas, join_operator, .. }] = joins.as_slice() else { return None };
    let (JoinOperator::Inner(on) | JoinOperator::Join(on) | JoinOperator::Left(on) | JoinOperator::LeftOuter(on)) =
        join_operator
    else {
        return None;
    };
    let (JoinConstraint::On(on), Some(Expr::BinaryOp { left, op: BinaryOperator::And, right })) =
        (on, &select.selection)
    else {
        return None;
    };
    let (table, schema) = (called(relation, "pg_class")?, called(schemas, "pg_namespace")?);
    let is = |expr: &Expr, of: &Ident, column: &str| {
        matches!(expr, Expr::CompoundIdentifier(names) if matches!(names.as_slice(),
            [named, name] if named.value == of.value && name.value == column))
    };
    let joined = equals(on, &|expr| is(expr, schema, "oid"))?;
    let named = equals(left, &|expr| is(expr, table, "relname"))?;
    let within = equals(right, &|expr| is(expr, schema, "nspname"))?;
    if !is(&Expr::CompoundIdentifier(number.clone()), table, "oid") || !is(joined, table, "relnamespace") {
        return None;
    }
    let join = |left, right| binary(left, BinaryOperator::StringConcat, right);
    let quoted = |name: &Expr| call("quote_ident", vec![name.clone()]);
    Some(call("to_regclass", vec![join(join(quoted(within), text(".")), quoted(named))]))
}

/// The name that a query uses for one of PostgreSQL's tables.
fn called<'a>(factor: &'a TableFactor, table: &str) -> Option<&'a Ident> {
    let TableFactor::Table { name, args: None, .. } = factor else { return None };
    let is_it = own_table(name).is_some_and(|own| own.schema == CATALOG && own.name == table);
    qualifier(factor).filter(|_| is_it)
}

/// The other side of an equality with a column.
fn equals<'a>(condition: &'a Expr, is_column: &dyn Fn(&Expr) -> bool) -> Option<&'a Expr> {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = condition else { return None };
    [(left, right), (right, left)].into_iter().find(|(column, _)| is_column(column)).map(|(_, other)| &**other)
}

/// Whether an expression is a column that PostgreSQL's catalogue has, and that is true or false.
fn is_truth(expr: &Expr) -> bool {
    let name = match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(names) => names.last(),
        _ => None,
    };
    let is_it = |name: &Ident| {
        let mut columns = layout::tables()
            .filter(|table| table.schema == CATALOG)
            .flat_map(|table| table.columns().collect::<Vec<_>>());
        columns.any(|(column, kind)| kind == Kind::Boolean && column == name.value)
    };
    name.is_some_and(is_it)
}

/// Whether an expression is a column of `pg_type` that names a function. It is text here, and a number in PostgreSQL.
fn is_function(expr: &Expr) -> bool {
    const FUNCTIONS: [&str; 4] = ["typinput", "typoutput", "typreceive", "typsend"];
    let name = match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(names) => names.last(),
        _ => None,
    };
    name.is_some_and(|name| FUNCTIONS.contains(&name.value.as_str()))
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    #[test]
    fn numbers_of_tables_are_looked_up_without_a_query() {
        let of = |sql: &str| match Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap().remove(0) {
            Statement::Query(query) => number_of_table(&query).map(|number| number.to_string()),
            other => panic!("{other} is no query"),
        };
        let select = "SELECT c.oid FROM pg_class c LEFT JOIN pg_namespace n";
        let found = of(&format!("{select} ON n.oid = c.relnamespace WHERE c.relname = t.name AND n.nspname = 's'"));
        assert_eq!(found.unwrap(), "to_regclass(quote_ident('s') || '.' || quote_ident(t.name))");
        for other in [
            format!("{select} ON n.oid = c.relnamespace WHERE c.relname = t.name AND n.nspname <> 's'"),
            format!("{select} ON n.oid = c.relowner WHERE c.relname = t.name AND n.nspname = 's'"),
            "SELECT c.oid FROM pg_class c WHERE c.relname = t.name".to_owned(),
        ] {
            assert_eq!(of(&other), None, "{other}");
        }
    }
}
