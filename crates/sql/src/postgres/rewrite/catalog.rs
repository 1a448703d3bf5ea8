//! Columns of PostgreSQL's catalogue that differ here.

use datafusion::sql::sqlparser::ast::{self, BinaryOperator, Expr, Ident, ObjectName, Statement, Value};

use super::{boolean, null, own_table, text};
use crate::error::QueryError;
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
