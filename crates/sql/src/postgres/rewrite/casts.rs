//! Casts to PostgreSQL's types.

use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, DataType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, SelectItem, SetExpr, Value,
};

use super::{last_lower, text};
use crate::error::{QueryError, no_table};
use crate::literals::call;
use crate::postgres::functions::{NAME_OF_SCHEMA, NAME_OF_TABLE};
use crate::postgres::json::CASTS;

/// Rewrites a cast of `expr` to the type `to`. Returns the new expression if more than the type changes.
pub(super) fn cast(
    expr: &mut Box<Expr>,
    to: &mut DataType,
    number: &dyn Fn(&str) -> Option<i64>,
) -> Result<Option<Expr>, QueryError> {
    let name = name_of(to);
    let literal = match &**expr {
        Expr::Value(value) => value.value.clone().into_string(),
        _ => None,
    };
    match (name.as_str(), literal) {
        ("regclass", Some(name)) => {
            let number = name.parse().ok().or_else(|| number(&name)).ok_or_else(|| no_table(&name, []))?;
            Ok(Some(Expr::Value(Value::Number(number.to_string(), false).into())))
        }
        // A number is shown as a name, and a text that is put together becomes a number.
        ("regclass", None) => Ok(Some(call(if is_column(expr) { NAME_OF_TABLE } else { "to_regclass" }, take(expr)))),
        ("regnamespace", Some(_)) => Ok(Some(call("to_regnamespace", take(expr)))),
        ("regnamespace", None) => Ok(Some(call(NAME_OF_SCHEMA, take(expr)))),
        ("regrole", Some(_)) => Ok(Some(call("to_regrole", take(expr)))),
        ("regrole", None) => Ok(Some(call("pg_get_userbyid", take(expr)))),
        ("regtype[]", None) => Ok(numbers_of_types(expr)),
        ("regtype", Some(_)) => Ok(Some(call("to_regtype", take(expr)))),
        ("regtype", None) => Ok(Some(call("format_type", take(expr)))),
        ("regproc" | "regprocedure", Some(name)) => {
            let name = name.strip_prefix("pg_catalog.").unwrap_or(&name);
            Ok(Some(text(name.split('(').next().unwrap_or(name))))
        }
        (name, _) if CASTS.contains(&name) => Ok(Some(call(name, take(expr)))),
        ("text" | "varchar" | "name", None) if is_name_of_table(expr) => Ok(Some(call(NAME_OF_TABLE, take(expr)))),
        _ => {
            if let Expr::Cast { expr: inner, data_type, .. } = &**expr
                && matches!(name.as_str(), "oid" | "int8" | "bigint" | "int" | "int4" | "integer")
                && let Some(function) = number_by_name(&name_of(data_type))
            {
                **expr = call(function, take(inner));
            }
            simplify(to);
            Ok(None)
        }
    }
}

/// Shows the columns of an answer that are casts to `regclass` as names of tables, as PostgreSQL does. Elsewhere they are
/// numbers, so that they can be compared with those of the catalogue.
pub(super) fn show_tables(body: &mut SetExpr) {
    match body {
        SetExpr::Query(query) => show_tables(&mut query.body),
        SetExpr::SetOperation { left, right, .. } => {
            show_tables(left);
            show_tables(right);
        }
        SetExpr::Select(select) => {
            for item in &mut select.projection {
                if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item
                    && is_name_of_table(expr)
                {
                    *expr = call(NAME_OF_TABLE, take(expr));
                }
            }
        }
        _ => {}
    }
}

/// Rewrites an operator with a cast to `regclass` at its side: names of tables are compared as numbers, and put together
/// as texts.
pub(super) fn combined(left: &mut Expr, op: &BinaryOperator, right: &mut Expr) {
    let side = |side: &mut Expr, other: &Expr| match (op, &*side) {
        (BinaryOperator::StringConcat, _) if is_name_of_table(side) => *side = call(NAME_OF_TABLE, take(side)),
        (BinaryOperator::Eq | BinaryOperator::NotEq, Expr::Cast { expr, data_type, .. })
            if name_of(data_type) == "regclass" && is_column(expr) && is_name_of_table(other) =>
        {
            *side = (**expr).clone();
        }
        _ => {}
    };
    side(left, right);
    side(right, left);
}

/// Whether an expression is a cast to `regclass` that becomes a number.
fn is_name_of_table(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(expr) => is_name_of_table(expr),
        Expr::Cast { expr, data_type, .. } => name_of(data_type) == "regclass" && !is_column(expr),
        _ => false,
    }
}

/// The function that returns the number behind a name of a type such as `regclass`.
fn number_by_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "regclass" => "to_regclass",
        "regnamespace" => "to_regnamespace",
        "regproc" | "regprocedure" => "to_regproc",
        "regrole" => "to_regrole",
        "regtype" => "to_regtype",
        _ => return None,
    })
}

/// A list of types by name as the list of their numbers.
fn numbers_of_types(names: &Expr) -> Option<Expr> {
    let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = names else { return None };
    let number = |arg: &FunctionArg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(name)) => Some(call("to_regtype", take(name))),
        _ => None,
    };
    Some(call("make_array", list.args.iter().map(number).collect::<Option<Vec<_>>>()?))
}

fn take(expr: &Expr) -> Vec<Expr> {
    vec![expr.clone()]
}

fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => true,
        Expr::Nested(expr) | Expr::Cast { expr, .. } => is_column(expr),
        _ => false,
    }
}

/// The name of a type in lower case, without a schema.
fn name_of(of: &DataType) -> String {
    match of {
        DataType::Custom(name, _) => last_lower(name),
        other => other.to_string().to_lowercase(),
    }
}

/// Replaces a type that DataFusion lacks with the one that holds its values.
fn simplify(of: &mut DataType) {
    if let DataType::Array(ArrayElemTypeDef::SquareBracket(item, _) | ArrayElemTypeDef::AngleBracket(item)) = of {
        return simplify(item);
    }
    // PostgreSQL's decimals have up to 1000 digits, these 38.
    if let DataType::Numeric(ExactNumberInfo::PrecisionAndScale(digits @ 39.., scale)) = of {
        (*digits, *scale) = (38, (*scale).min(37));
        return;
    }
    let known = match name_of(of).as_str() {
        "oid" | "xid" | "int8" => DataType::BigInt(None),
        "int2" => DataType::SmallInt(None),
        "int4" | "cardinal_number" => DataType::Int(None),
        "float4" => DataType::Real,
        "float8" => DataType::DoublePrecision,
        "bool" => DataType::Boolean,
        "name" | "char" | "bpchar" | "text" | "citext" | "uuid" | "json" | "jsonb" | "regproc" | "regprocedure"
        | "sql_identifier" | "character_data" | "yes_or_no" => DataType::Text,
        _ => return,
    };
    // `"char"` of PostgreSQL's catalogue is text. CHAR(3) keeps its length.
    if !matches!(of, DataType::Char(_)) {
        *of = known;
    }
}
