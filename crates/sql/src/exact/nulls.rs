//! Simplification that respects NULL.
//!
//! DataFusion's simplifier merges two lists that are searched for one value. It assumes that neither the value nor an
//! element is NULL, and that elements with different text differ. `a NOT IN (1) OR a NOT IN (2)` becomes true,
//! `a IN (b) AND a IN (c)` becomes false, and `a ^ a` becomes 0. `array_has([a, 1], 2)` also becomes a list
//! (<https://github.com/apache/datafusion/issues/24246>). This module hides such parts in opaque boxes, and simplifies
//! each on its own afterwards.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{DFSchema, internal_err};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Between, BinaryExpr, InList, Like, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    Cast, ColumnarValue, Expr, ExprSchemable as _, LogicalPlan, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, TryCast, Volatility,
};
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::simplify_expressions::{ExprSimplifier, SimplifyExpressions};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use super::schema_of;

/// DataFusion's optimizer rules, with a simplifier that respects NULL.
pub(crate) fn optimizer_rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules = Optimizer::new().rules;
    for rule in &mut rules {
        if rule.name() == SimplifyExpressions::new().name() {
            *rule = Arc::new(Simplify(SimplifyExpressions::new()));
        }
    }
    rules
}

/// Simplifies an expression after type coercion.
pub(crate) fn simplify(simplifier: &ExprSimplifier, expr: Expr, schema: &DFSchema) -> Result<Expr> {
    unboxed(simplifier.simplify(boxed(expr, schema)?.data)?, simplifier)
}

#[derive(Debug)]
struct Simplify(SimplifyExpressions);

impl OptimizerRule for Simplify {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let mut needs_boxes = false;
        plan.apply_expressions(|expr| {
            needs_boxes |= lists_meet(expr)? || expr.exists(|expr| Ok(is_misread(expr)))?;
            Ok(if needs_boxes { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        if !needs_boxes {
            return self.0.rewrite(plan, config);
        }
        let schema = Arc::new(schema_of(&plan)?);
        let names = NamePreserver::new(&plan);
        let plan = plan.map_expressions(|expr| {
            let name = names.save(&expr);
            Ok(boxed(expr, &schema)?.update_data(|expr| name.restore(expr)))
        })?;
        let simplified = self.0.rewrite(plan.data, config)?;
        let context = SimplifyContext::builder()
            .with_schema(schema)
            .with_config_options(config.options())
            .with_query_execution_start_time(config.query_execution_start_time())
            .build();
        let simplifier = ExprSimplifier::new(context);
        simplified.transform_data(|plan| plan.map_expressions(|expr| Ok(Transformed::yes(unboxed(expr, &simplifier)?))))
    }
}

/// Boxes the parts that must not be simplified together.
fn boxed(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let meet = lists_meet(&expr)?;
    let expr = if meet { expr.transform_up(|expr| Ok(united(expr)))? } else { Transformed::no(expr) };
    expr.transform_data(|expr| {
        expr.transform_up(|expr| {
            let of = match &expr {
                list if meet && looked_for(list).is_some() => DataType::Boolean,
                other if is_misread(other) => other.get_type(schema)?,
                _ => return Ok(Transformed::no(expr)),
            };
            Ok(Transformed::yes(Boxed::around(expr, of)))
        })
    })
}

/// Unboxes all parts, and simplifies each on its own.
fn unboxed(expr: Expr, simplifier: &ExprSimplifier) -> Result<Expr> {
    let unboxed = expr.transform_down(|expr| {
        let inner = match &expr {
            Expr::Not(inner) => {
                content(inner).filter(|inner| !is_misread(inner)).map(|inner| Expr::Not(Box::new(inner)))
            }
            other => content(other),
        };
        match inner {
            Some(inner) if is_misread(&inner) => Ok(Transformed::yes(inner)),
            Some(inner) => simplifier.simplify(inner).map(Transformed::yes),
            None => Ok(Transformed::no(expr)),
        }
    });
    Ok(unboxed?.data)
}

/// Whether two lists, or comparisons that become lists, search for the same value and are joined by more than `OR`.
fn lists_meet(expr: &Expr) -> Result<bool> {
    let (mut values, mut is_repeated, mut is_joined) = (HashSet::new(), false, false);
    expr.apply(|expr| {
        is_repeated |= looked_for(expr).is_some_and(|value| !values.insert(value));
        is_joined |= match expr {
            Expr::BinaryExpr(BinaryExpr { op, .. }) => {
                matches!(op, Operator::And | Operator::NotEq | Operator::RegexNotMatch)
            }
            Expr::InList(list) => list.negated,
            Expr::Like(like) => like.negated,
            Expr::Between(between) => between.negated,
            Expr::Not(_) | Expr::Case(_) => true,
            _ => false,
        };
        Ok(if is_repeated && is_joined { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(is_repeated && is_joined)
}

/// The value that is searched for in a list, or compared in a form that can become one: `s ~ '^(a|b)$'`, `s LIKE 'a'`
/// and `x BETWEEN 1 AND 1`. Ignores casts.
fn looked_for(expr: &Expr) -> Option<&Expr> {
    let mut value = operand(expr)?;
    while let Expr::Cast(Cast { expr, .. }) | Expr::TryCast(TryCast { expr, .. }) = value {
        value = expr;
    }
    Some(value)
}

fn operand(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::InList(InList { expr: value, .. })
        | Expr::Like(Like { expr: value, .. })
        | Expr::Between(Between { expr: value, .. }) => Some(&**value).filter(|value| varies(value)),
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::Eq | Operator::NotEq | Operator::RegexMatch | Operator::RegexNotMatch,
            right,
        }) => match (varies(left), varies(right)) {
            (true, false) => Some(left),
            (false, true) => Some(right),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the value can differ between rows.
fn varies(expr: &Expr) -> bool {
    let is_varying =
        |expr: &Expr| matches!(expr, Expr::Column(_) | Expr::OuterReferenceColumn(..) | Expr::ScalarSubquery(_));
    expr.exists(|expr| Ok(is_varying(expr))).unwrap_or(true)
}

/// Whether the simplifier changes the value for NULL operands.
fn is_misread(expr: &Expr) -> bool {
    let is_named = match expr {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => *op == Operator::BitwiseXor,
        Expr::ScalarFunction(function) => matches!(function.func.name(), "array_has" | "set_has"),
        _ => false,
    };
    is_named && varies(expr)
}

/// Merges two lists that are searched for one value and joined by `OR`. This is correct for NULL, too.
fn united(expr: Expr) -> Transformed<Expr> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => match (list_of(*left), list_of(*right)) {
            (Ok(mut list), Ok(more)) if list.expr == more.expr => {
                list.list.extend(more.list);
                Transformed::yes(Expr::InList(list))
            }
            (left, right) => {
                let whole = |list: Result<InList, Expr>| list.map_or_else(|expr| expr, Expr::InList);
                Transformed::no(whole(left).or(whole(right)))
            }
        },
        other => Transformed::no(other),
    }
}

/// The list that an expression searches; otherwise the expression itself.
fn list_of(expr: Expr) -> Result<InList, Expr> {
    match expr {
        Expr::InList(list) if !list.negated => Ok(list),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) if varies(&left) != varies(&right) => {
            let (expr, constant) = if varies(&left) { (left, right) } else { (right, left) };
            Ok(InList { expr, list: vec![*constant], negated: false })
        }
        other => Err(other),
    }
}

/// Hides an expression from the simplifier.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Boxed {
    expr: Expr,
    of: DataType,
    signature: Signature,
}

impl Boxed {
    fn around(expr: Expr, of: DataType) -> Expr {
        // Without a varying argument, DataFusion would evaluate the box at once.
        let columns = expr.column_refs().into_iter().cloned().map(Expr::Column);
        let args = columns.take(1).collect::<Vec<_>>();
        let volatility =
            if args.is_empty() || expr.is_volatile() { Volatility::Volatile } else { Volatility::Immutable };
        let boxed = Self { signature: Signature::any(args.len(), volatility), expr, of };
        Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::new_from_impl(boxed)), args))
    }
}

/// The content of a box; `None` for other expressions.
fn content(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::ScalarFunction(ScalarFunction { func, .. }) => {
            func.inner().downcast_ref::<Boxed>().map(|boxed| boxed.expr.clone())
        }
        _ => None,
    }
}

impl ScalarUDFImpl for Boxed {
    fn name(&self) -> &'static str {
        "boxed"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.of.clone())
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        internal_err!("{} was not unboxed", self.expr)
    }
}
