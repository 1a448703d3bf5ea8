//! Operators and aggregates of JSON, and rows as JSON.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Select, TableFactor,
};

use super::{last_lower, list, nothing, text};
use crate::error::QueryError;
use crate::literals::{binary, call};
use crate::postgres::functions::PART_OF_JSON;
use crate::postgres::json::{CASTS, ROW, TEXT_OF_PART};
use crate::syntax::{Node, factors, walk_outside_queries};

/// `json -> key`, `json #> path` and the same as text.
pub(super) fn part(json: &Expr, op: &BinaryOperator, key: &mut Expr) -> Option<Expr> {
    let function = match op {
        BinaryOperator::Arrow | BinaryOperator::HashArrow => PART_OF_JSON,
        BinaryOperator::LongArrow | BinaryOperator::HashLongArrow => TEXT_OF_PART,
        _ => return None,
    };
    if matches!(op, BinaryOperator::HashArrow | BinaryOperator::HashLongArrow) {
        list(key);
    }
    Some(call(function, vec![json.clone(), key.clone()]))
}

/// `json_agg(x ...)` as the texts of its values, put together.
pub(super) fn aggregate(function: &Function) -> Option<Expr> {
    let mut texts = function.clone();
    let [json, jsonb] = CASTS;
    let cast = if last_lower(&function.name) == "jsonb_agg" { jsonb } else { json };
    let FunctionArguments::List(list) = &mut texts.args else { return None };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(value))] = list.args.as_slice() else { return None };
    let value = call("coalesce", vec![call("to_json", vec![value.clone()]), text("null")]);
    let Expr::Function(Function { name, args: FunctionArguments::List(args), .. }) =
        call("string_agg", vec![value, text(", ")])
    else {
        return None;
    };
    (texts.name, list.args) = (name, args.args);
    let join = |left, right| binary(left, BinaryOperator::StringConcat, right);
    Some(call(cast, vec![join(join(text("["), Expr::Function(texts)), text("]"))]))
}

/// Functions that write a row if they are given the name of a table.
const OF_ROWS: [&str; 5] = ["json_agg", "jsonb_agg", "row_to_json", "to_json", "to_jsonb"];

/// Replaces the name of a subquery in `row_to_json(t)` with a row of its columns.
pub(super) fn of_rows(select: &mut Select) -> Result<(), QueryError> {
    let rows = select.from.iter().flat_map(factors).filter_map(|factor| match factor {
        TableFactor::Derived { subquery, alias: Some(alias), .. } if alias.columns.is_empty() => {
            Some((alias.name.clone(), nothing::columns(&subquery.body)?))
        }
        _ => None,
    });
    let rows: Vec<(Ident, Vec<String>)> = rows.collect();
    select.projection.iter_mut().try_for_each(|item| {
        walk_outside_queries(item, &mut |node| {
            if let Node::Expr(Expr::Function(Function { name, args: FunctionArguments::List(list), .. })) = node
                && OF_ROWS.contains(&last_lower(name).as_str())
                && let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(row))) = list.args.first_mut()
                && let Expr::Identifier(named) = &*row
                && let Some((table, columns)) = rows.iter().find(|(table, _)| table.value == named.value)
                && !columns.contains(&named.value)
            {
                let of_table = |name: &String| vec![table.clone(), Ident::with_quote('"', name)];
                let members = columns.iter().flat_map(|name| [text(name), Expr::CompoundIdentifier(of_table(name))]);
                *row = call(ROW, members.collect());
            }
            Ok(())
        })
    })
}
