//! Casts to PostgreSQL's types.

use datafusion::sql::sqlparser::ast::{ArrayElemTypeDef, DataType, Expr, Value};

use super::{last_lower, text};
use crate::error::{QueryError, no_table};
use crate::literals::call;
use crate::postgres::functions::NAME_OF_TABLE;

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
        ("regtype", Some(_)) => Ok(Some(call("to_regtype", take(expr)))),
        ("regtype", None) => Ok(Some(call("format_type", take(expr)))),
        ("regproc" | "regprocedure", Some(name)) => Ok(Some(text(name.strip_prefix("pg_catalog.").unwrap_or(&name)))),
        _ => {
            if let Expr::Cast { expr: inner, data_type, .. } = &mut **expr
                && matches!(name.as_str(), "oid" | "int8" | "bigint" | "int" | "int4" | "integer")
                && name_of(data_type) == "regclass"
            {
                **expr = call("to_regclass", take(inner));
            }
            simplify(to);
            Ok(None)
        }
    }
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
    let known = match name_of(of).as_str() {
        "oid" | "xid" | "int8" => DataType::BigInt(None),
        "int2" => DataType::SmallInt(None),
        "int4" | "cardinal_number" => DataType::Int(None),
        "float4" => DataType::Real,
        "float8" => DataType::DoublePrecision,
        "bool" => DataType::Boolean,
        "name" | "char" | "bpchar" | "text" | "citext" | "uuid" | "json" | "jsonb" | "regproc" | "regprocedure"
        | "regnamespace" | "regrole" | "sql_identifier" | "character_data" | "yes_or_no" => DataType::Text,
        _ => return,
    };
    // `"char"` of PostgreSQL's catalogue is text. CHAR(3) keeps its length.
    if !matches!(of, DataType::Char(_)) {
        *of = known;
    }
}
