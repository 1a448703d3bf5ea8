//! Rewrites statements of PostgreSQL's clients about `pg_catalog` to supported ones.

use datafusion::sql::sqlparser::ast::{
    self, BinaryOperator, CastKind, Expr, FunctionArguments, Ident, ObjectName, ObjectNamePart, SetExpr, Statement,
    TableFactor, TableWithJoins, Value,
};

use crate::error::{QueryError, no_table};
use crate::literals::call;
use crate::syntax::{Node, walk};

use super::CATALOG;

/// Tables of PostgreSQL without rows here; queries of them return no rows.
const NOTHING: &[&str] = &[
    "pg_aggregate",
    "pg_attrdef",
    "pg_auth_members",
    "pg_cast",
    "pg_collation",
    "pg_constraint",
    "pg_depend",
    "pg_description",
    "pg_enum",
    "pg_extension",
    "pg_foreign_server",
    "pg_foreign_table",
    "pg_index",
    "pg_inherits",
    "pg_partitioned_table",
    "pg_matviews",
    "pg_policy",
    "pg_proc",
    "pg_publication",
    "pg_publication_namespace",
    "pg_publication_rel",
    "pg_rewrite",
    "pg_statistic_ext",
    "pg_trigger",
    "pg_event_trigger",
    "pg_language",
    "pg_operator",
    "pg_sequence",
    "pg_subscription",
    "pg_tablespace",
    "pg_views",
];

pub(crate) enum Rewritten {
    /// A runnable query.
    Question,
    /// A query with these columns and no rows.
    Nothing(Vec<String>),
}

/// Rewrites a statement that uses PostgreSQL's own names; `number` maps table names to numbers.
pub(crate) fn rewrite(
    statement: &mut Statement,
    number: &dyn Fn(&str) -> Option<i64>,
) -> Result<Rewritten, QueryError> {
    if let Statement::Query(query) = statement
        && says_nothing(query)
    {
        return Ok(Rewritten::Nothing(columns(&query.body)));
    }
    let writer = Writer { number };
    walk(statement, &mut |node| match node {
        Node::Expr(expr) => writer.expression(expr),
        Node::Relation(relation) => {
            if is_catalog(relation) && relation.0.len() == 1 {
                relation.0.insert(0, ObjectNamePart::Identifier(Ident::new(CATALOG)));
            }
            Ok(())
        }
        Node::Derived => Ok(()),
    })?;
    Ok(Rewritten::Question)
}

fn last(name: &ObjectName) -> Option<&Ident> {
    name.0.last().and_then(ObjectNamePart::as_ident)
}

/// Whether a name belongs to PostgreSQL.
fn is_catalog(name: &ObjectName) -> bool {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(schema), _] => schema.value.eq_ignore_ascii_case(CATALOG),
        [ObjectNamePart::Identifier(name)] => name.value.to_lowercase().starts_with("pg_"),
        _ => false,
    }
}

fn has_no_rows(factor: &TableFactor) -> bool {
    let TableFactor::Table { name, .. } = factor else { return false };
    is_catalog(name) && last(name).is_some_and(|name| NOTHING.contains(&name.value.to_lowercase().as_str()))
}

/// Whether a join never yields rows.
fn yields_nothing(tables: &TableWithJoins) -> bool {
    let inner = |join: &ast::Join| {
        matches!(join.join_operator, ast::JoinOperator::Join(_) | ast::JoinOperator::Inner(_))
            && has_no_rows(&join.relation)
    };
    has_no_rows(&tables.relation) || tables.joins.iter().any(inner)
}

fn says_nothing(query: &ast::Query) -> bool {
    fn body(expr: &SetExpr) -> bool {
        match expr {
            SetExpr::Select(select) => {
                let aggregates =
                    select.projection.iter().any(|item| item.to_string().to_lowercase().contains("count("));
                !aggregates && select.from.iter().any(yields_nothing)
            }
            SetExpr::Query(query) => says_nothing(query),
            SetExpr::SetOperation { left, right, .. } => body(left) && body(right),
            _ => false,
        }
    }
    body(&query.body)
}

fn columns(body: &SetExpr) -> Vec<String> {
    match body {
        SetExpr::Select(select) => select.projection.iter().map(column).collect(),
        SetExpr::Query(query) => columns(&query.body),
        SetExpr::SetOperation { left, .. } => columns(left),
        _ => Vec::new(),
    }
}

fn column(item: &ast::SelectItem) -> String {
    match item {
        ast::SelectItem::ExprWithAlias { alias, .. } => alias.value.clone(),
        ast::SelectItem::UnnamedExpr(Expr::Identifier(name)) => name.value.clone(),
        ast::SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => {
            names.last().map(|name| name.value.clone()).unwrap_or_default()
        }
        ast::SelectItem::UnnamedExpr(Expr::Function(function)) => {
            last(&function.name).map(|name| name.value.clone()).unwrap_or_default()
        }
        _ => "?column?".to_owned(),
    }
}

fn null() -> Expr {
    Expr::Value(Value::Null.into())
}

struct Writer<'a> {
    number: &'a dyn Fn(&str) -> Option<i64>,
}

impl Writer<'_> {
    fn cast(&self, expr: &Expr, to: &mut ast::DataType) -> Result<Option<Expr>, QueryError> {
        let ast::DataType::Custom(name, _) = &*to else { return Ok(None) };
        let Some(name) = last(name).map(|name| name.value.to_lowercase()) else { return Ok(None) };
        let text = match expr {
            Expr::Value(value) => value.value.clone().into_string(),
            _ => None,
        };
        match (name.as_str(), text) {
            ("regclass", Some(text)) => {
                let number = text.parse().ok().or_else(|| (self.number)(&text));
                let number = number.ok_or_else(|| no_table(&text, []))?;
                Ok(Some(Expr::Value(Value::Number(number.to_string(), false).into())))
            }
            ("regtype", Some(text)) => {
                Ok(Some(call("to_regtype", vec![Expr::Value(Value::SingleQuotedString(text).into())])))
            }
            ("regtype", None) => Ok(Some(call("format_type", vec![expr.clone()]))),
            ("oid" | "xid", _) => {
                *to = ast::DataType::BigInt(None);
                Ok(None)
            }
            ("name" | "char" | "text" | "regclass" | "regproc" | "regnamespace" | "regrole" | "json", _) => {
                *to = ast::DataType::Text;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn expression(&self, expr: &mut Expr) -> Result<(), QueryError> {
        let changed = match expr {
            Expr::BinaryOp { op, .. } => {
                if let BinaryOperator::PGCustomBinaryOperator(names) = op {
                    match names.last().map(String::as_str) {
                        Some("~") => *op = BinaryOperator::PGRegexMatch,
                        Some("!~") => *op = BinaryOperator::PGRegexNotMatch,
                        Some("~*") => *op = BinaryOperator::PGRegexIMatch,
                        Some("=") => *op = BinaryOperator::Eq,
                        _ => {}
                    }
                }
                None
            }
            Expr::Collate { expr, .. } => Some((**expr).clone()),
            Expr::Cast { expr: inner, data_type, kind: CastKind::Cast | CastKind::DoubleColon, .. } => {
                self.cast(inner, data_type)?
            }
            Expr::Function(function) => {
                let name = last(&function.name).map(|name| name.value.to_lowercase()).unwrap_or_default();
                if is_catalog(&function.name) && function.name.0.len() == 2 {
                    function.name.0.remove(0);
                }
                let made_of_question = matches!(function.args, FunctionArguments::Subquery(_));
                // The lists of these functions are always empty here.
                (made_of_question || matches!(name.as_str(), "array_to_string" | "current_schemas")).then(null)
            }
            Expr::Subquery(query) if says_nothing(query) => Some(null()),
            Expr::Exists { subquery, negated } if says_nothing(subquery) => {
                Some(Expr::Value(Value::Boolean(*negated).into()))
            }
            _ => None,
        };
        if let Some(changed) = changed {
            *expr = changed;
        }
        Ok(())
    }
}
