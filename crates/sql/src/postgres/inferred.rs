//! Types of the parameters `$1`, `$2` that follow from what a plan does with them.

use std::collections::HashMap;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable as _, LogicalPlan};

/// Types of parameters by number: of what a parameter is compared with, or is an alternative to.
pub(crate) fn types(plan: &LogicalPlan) -> Result<HashMap<usize, DataType>> {
    let mut found = HashMap::new();
    plan.apply_with_subqueries(|plan| {
        let schema = merge_schema(&plan.inputs());
        plan.apply_expressions(|expr| {
            expr.apply(|expr| {
                let among = alternatives(expr);
                let known = among.iter().find_map(|expr| expr.get_type(&schema).ok().filter(|of| !of.is_null()));
                for (number, of) in among.into_iter().chain([expr]).filter_map(parameter) {
                    if let Some(of) = of.or_else(|| known.clone()) {
                        found.entry(number).or_insert(of);
                    }
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(found)
}

/// Expressions that have one type, because any of them may be the value of `expr`.
fn alternatives(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::ScalarFunction(call) if matches!(call.name(), "coalesce" | "greatest" | "least" | "nullif") => {
            call.args.iter().collect()
        }
        Expr::Case(case) => {
            let results = case.when_then_expr.iter().map(|(_, result)| result);
            results.chain(&case.else_expr).map(|result| &**result).collect()
        }
        _ => Vec::new(),
    }
}

/// The number of a parameter, and its type if DataFusion knows it.
fn parameter(expr: &Expr) -> Option<(usize, Option<DataType>)> {
    let Expr::Placeholder(Placeholder { id, field }) = expr else { return None };
    let number = id.strip_prefix('$')?.parse().ok()?;
    Some((number, field.as_ref().map(|field| field.data_type().clone())))
}
