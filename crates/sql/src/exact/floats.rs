//! Compares real numbers by value: zeros are equal, all NaN are equal, and NaN exceeds all other numbers.
//!
//! DataFusion compares bits. It orders -0 before 0, and NaN with a sign (which processors produce for `0 / 0`) before
//! everything. This module rewrites comparisons of a column with a constant so that they are correct for all bits and
//! still prune. All other compared, grouped, joined or sorted values first lose the sign of zero and NaN.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, ArrowPrimitiveType, AsArray as _, PrimitiveArray};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{
    AggregateFunction, Between, BinaryExpr, GroupingSet, InList, InSubquery, ScalarFunction, Sort as SortExpr,
    WindowFunction,
};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    Aggregate, ColumnarValue, Distinct, Expr, ExprSchemable as _, Filter, Join, LogicalPlan, LogicalPlanBuilder,
    Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Sort, Volatility, binary_expr, lit,
};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;

use crate::filter::is_plain;

/// Corrects expressions that compare real numbers.
pub(super) fn rewrite(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() && is_real(&left, schema)? => {
            Ok(Transformed::yes(compared(*left, op, *right, schema)?))
        }
        Expr::Between(Between { expr, negated, low, high }) if is_real(&expr, schema)? => {
            let low = compared((*expr).clone(), if negated { Operator::Lt } else { Operator::GtEq }, *low, schema)?;
            let high = compared(*expr, if negated { Operator::Gt } else { Operator::LtEq }, *high, schema)?;
            Ok(Transformed::yes(if negated { low.or(high) } else { low.and(high) }))
        }
        Expr::InList(InList { expr, list, negated }) if is_real(&expr, schema)? => {
            let is_common = |e: &Expr| constant(e).is_some_and(|value| value != 0.0 && !value.is_nan());
            let (expr, list) = if list.iter().all(is_common) {
                (*expr, list)
            } else {
                let list = list.into_iter().map(|e| plain(e, schema)).collect::<Result<_>>()?;
                (plain(*expr, schema)?, list)
            };
            Ok(Transformed::yes(expr.in_list(list, negated)))
        }
        Expr::InSubquery(InSubquery { expr, subquery, negated }) if is_real(&expr, schema)? => {
            let rows = plain_columns(&subquery.subquery, |_| true)?.build()?;
            let subquery = subquery.with_plan(Arc::new(rows));
            Ok(Transformed::yes(Expr::InSubquery(InSubquery::new(Box::new(plain(*expr, schema)?), subquery, negated))))
        }
        // These expressions compare without a comparison operator.
        Expr::Case(mut case) if case.expr.is_some() => {
            let compared = case.expr.iter_mut().chain(case.when_then_expr.iter_mut().map(|(when, _)| when));
            for compared in compared {
                **compared = plain((**compared).clone(), schema)?;
            }
            Ok(Transformed::yes(Expr::Case(case)))
        }
        Expr::ScalarFunction(ScalarFunction { func, args })
            if matches!(func.name(), "nullif" | "greatest" | "least") =>
        {
            let args = plain_all(args, schema)?;
            Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args })))
        }
        Expr::AggregateFunction(AggregateFunction { func, mut params }) => {
            if params.distinct || orders(func.name()) {
                params.args = plain_all(params.args, schema)?;
            }
            plain_sorts(&mut params.order_by, schema)?;
            Ok(Transformed::yes(Expr::AggregateFunction(AggregateFunction { func, params })))
        }
        Expr::WindowFunction(mut window) => {
            let WindowFunction { fun, params } = &mut *window;
            if params.distinct || orders(fun.name()) {
                params.args = plain_all(std::mem::take(&mut params.args), schema)?;
            }
            params.partition_by = plain_all(std::mem::take(&mut params.partition_by), schema)?;
            plain_sorts(&mut params.order_by, schema)?;
            Ok(Transformed::yes(Expr::WindowFunction(window)))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Corrects plan nodes that compare without an expression.
pub(super) fn rewrite_plan(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Distinct(Distinct::All(input)) if has_real(input.schema()) => {
            Ok(Transformed::yes(plain_columns(&input, |_| true)?.distinct()?.build()?))
        }
        LogicalPlan::Distinct(Distinct::On(mut distinct)) => {
            distinct.on_expr = plain_all(distinct.on_expr, distinct.input.schema())?;
            plain_sorts(distinct.sort_expr.as_deref_mut().unwrap_or_default(), distinct.input.schema())?;
            Ok(Transformed::yes(LogicalPlan::Distinct(Distinct::On(distinct))))
        }
        LogicalPlan::Filter(filter) if filter.predicate.contains_outer() => correlated(filter),
        LogicalPlan::Aggregate(aggregate) if has_real(aggregate.input.schema()) => {
            let schema = aggregate.input.schema().clone();
            let groups =
                aggregate.group_expr.into_iter().map(|expr| group(expr, &schema)).collect::<Result<Vec<_>>>()?;
            Ok(Transformed::yes(LogicalPlan::Aggregate(Aggregate::try_new(
                aggregate.input,
                groups,
                aggregate.aggr_expr,
            )?)))
        }
        LogicalPlan::Sort(Sort { mut expr, input, fetch }) => {
            plain_sorts(&mut expr, input.schema())?;
            Ok(Transformed::yes(LogicalPlan::Sort(Sort { expr, input, fetch })))
        }
        LogicalPlan::Join(mut join) if !join.on.is_empty() => {
            let Join { on, left, right, .. } = &mut join;
            for (of_left, of_right) in on {
                *of_left = plain(of_left.clone(), left.schema())?;
                *of_right = plain(of_right.clone(), right.schema())?;
            }
            Ok(Transformed::yes(LogicalPlan::Join(join)))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Corrects comparisons of a column with values of an outer query. DataFusion plans some of them only if the column
/// stands alone, so its numbers lose their signs before.
fn correlated(filter: Filter) -> Result<Transformed<LogicalPlan>> {
    let mut compared = Vec::new();
    let is_outer = |expr: &Expr| expr.contains_outer() && !expr.any_column_refs();
    let predicate = filter.predicate.transform_up(|expr| {
        let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = &expr else {
            return Ok(Transformed::no(expr));
        };
        let (column, other) = match (alone(left), alone(right)) {
            (Some(column), _) if is_outer(right) => (column, right),
            (_, Some(column)) if is_outer(left) => (column, left),
            _ => return Ok(Transformed::no(expr)),
        };
        compared.extend(column.column_refs().into_iter().cloned());
        Ok(Transformed::yes(column.clone().eq((**other).clone())))
    })?;
    let input = if compared.is_empty() {
        filter.input
    } else {
        plain_columns(&filter.input, |c| compared.contains(c))?.build()?.into()
    };
    Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate.data, input)?)))
}

/// The plan with normalized real numbers in the columns that `which` chooses, under the same names.
fn plain_columns(plan: &LogicalPlan, which: impl Fn(&Column) -> bool) -> Result<LogicalPlanBuilder> {
    let columns = plan.schema().iter().map(|(qualifier, field)| {
        let column = Column::from((qualifier, field));
        if which(&column) { named(Expr::Column(column), plan.schema()) } else { Ok(Expr::Column(column)) }
    });
    LogicalPlanBuilder::from(plan.clone()).project(columns.collect::<Result<Vec<_>>>()?)
}

/// A grouped expression, under the same name.
fn group(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let all = |exprs: Vec<Expr>| exprs.into_iter().map(|expr| named(expr, schema)).collect::<Result<Vec<_>>>();
    Ok(match expr {
        Expr::GroupingSet(GroupingSet::Rollup(exprs)) => Expr::GroupingSet(GroupingSet::Rollup(all(exprs)?)),
        Expr::GroupingSet(GroupingSet::Cube(exprs)) => Expr::GroupingSet(GroupingSet::Cube(all(exprs)?)),
        Expr::GroupingSet(GroupingSet::GroupingSets(sets)) => {
            Expr::GroupingSet(GroupingSet::GroupingSets(sets.into_iter().map(all).collect::<Result<_>>()?))
        }
        expr => named(expr, schema)?,
    })
}

/// A real number without the sign of zero and NaN, under the same name.
fn named(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let (qualifier, name) = expr.qualified_name();
    let changed = plain(expr.clone(), schema)?;
    Ok(if changed == expr { expr } else { changed.alias_qualified(qualifier, name) })
}

/// Whether an aggregate depends on the order of values.
fn orders(aggregate: &str) -> bool {
    matches!(aggregate, "min" | "max" | "median" | "percentile_cont") || aggregate.starts_with("approx_")
}

fn is_floating(of: &DataType) -> bool {
    matches!(of, DataType::Float32 | DataType::Float64)
}

fn is_real(expr: &Expr, schema: &DFSchema) -> Result<bool> {
    Ok(is_floating(&expr.get_type(schema)?))
}

fn has_real(schema: &DFSchema) -> bool {
    schema.fields().iter().any(|field| is_floating(field.data_type()))
}

/// The number of a constant expression.
pub(super) fn constant(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Literal(ScalarValue::Float64(value), _) => *value,
        Expr::Literal(ScalarValue::Float32(value), _) => value.map(f64::from),
        Expr::Literal(ScalarValue::Int64(value), _) => value.map(|value| value as f64),
        Expr::Cast(cast) => match cast.field.data_type() {
            DataType::Float32 => constant(&cast.expr).map(|value| f64::from(value as f32)),
            DataType::Float64 => constant(&cast.expr),
            _ => None,
        },
        Expr::Negative(inner) => constant(inner).map(|value| -value),
        _ => None,
    }
}

/// Folds an expression of constants.
fn folded(expr: Expr) -> Expr {
    if constant(&expr).is_some() || !is_plain(&expr) || !expr.column_refs().is_empty() {
        return expr;
    }
    let context = SimplifyContext::builder().with_schema(Arc::new(DFSchema::empty())).build();
    // Keep an expression that fails: it fails again when evaluated.
    ExprSimplifier::new(context).simplify(expr.clone()).unwrap_or(expr)
}

/// A comparison of two real numbers.
fn compared(left: Expr, op: Operator, right: Expr, schema: &DFSchema) -> Result<Expr> {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    let (left, right) = (folded(left), folded(right));
    let (column, op, value, other) = match (constant(&left), constant(&right)) {
        (None, Some(value)) => (left, op, value, right),
        (Some(value), None) => (right, op.swap().unwrap_or(op), value, left),
        _ => return Ok(binary_expr(plain(left, schema)?, op, plain(right, schema)?)),
    };
    if !matches!(column, Expr::Column(_)) || value.is_nan() || !matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq) {
        return Ok(binary_expr(plain(column, schema)?, op, plain(other, schema)?));
    }
    let of = column.get_type(schema)?;
    let number = |value: f64| match of {
        DataType::Float32 => lit(value as f32),
        _ => lit(value),
    };
    let than = |op: Operator, value: f64| binary_expr(column.clone(), op, number(value));
    let zero = |sign: f64| if value == 0.0 { 0.0_f64.copysign(sign) } else { value };
    // Only NaN with a sign sorts before negative infinity.
    let (negative_nan, no_nan) = (|| than(Lt, f64::NEG_INFINITY), || than(GtEq, f64::NEG_INFINITY));
    Ok(match op {
        Eq if value == 0.0 => than(GtEq, -0.0).and(than(LtEq, 0.0)),
        NotEq if value == 0.0 => than(Lt, -0.0).or(than(Gt, 0.0)),
        Gt => than(Gt, zero(1.0)).or(negative_nan()),
        GtEq => than(GtEq, zero(-1.0)).or(negative_nan()),
        Lt => than(Lt, zero(-1.0)).and(no_nan()),
        LtEq => than(LtEq, zero(1.0)).and(no_nan()),
        _ => than(op, value),
    })
}

fn plain_all(exprs: Vec<Expr>, schema: &DFSchema) -> Result<Vec<Expr>> {
    exprs.into_iter().map(|expr| plain(expr, schema)).collect()
}

fn plain_sorts(sorts: &mut [SortExpr], schema: &DFSchema) -> Result<()> {
    for sort in sorts {
        sort.expr = plain(sort.expr.clone(), schema)?;
    }
    Ok(())
}

/// A real number without the sign of zero and NaN.
fn plain(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let is_done = |expr: &Expr| match expr {
        Expr::ScalarFunction(function) => function.func.name() == NAME,
        other => constant(other).is_some_and(|value| value != 0.0 && !value.is_nan()),
    };
    if is_done(&expr) || !is_real(&expr, schema)? {
        return Ok(expr);
    }
    if let Expr::Alias(mut alias) = expr {
        *alias.expr = plain(*alias.expr, schema)?;
        return Ok(Expr::Alias(alias));
    }
    let function = Plain { signature: Signature::any(1, Volatility::Immutable) };
    Ok(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::new_from_impl(function)), vec![expr])))
}

/// The column whose numbers lose their signs, perhaps cast to another type.
fn alone(expr: &Expr) -> Option<&Expr> {
    let Expr::ScalarFunction(function) = expr else { return None };
    let (NAME, [column]) = (function.func.name(), &function.args[..]) else { return None };
    let is_column = match column {
        Expr::Cast(cast) => matches!(*cast.expr, Expr::Column(_)),
        column => matches!(column, Expr::Column(_)),
    };
    is_column.then_some(column)
}

const NAME: &str = "plain_real";

#[derive(Debug, PartialEq, Eq, Hash)]
struct Plain {
    signature: Signature,
}

impl ScalarUDFImpl for Plain {
    fn name(&self) -> &'static str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(types[0].clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(match &args.args[0] {
            ColumnarValue::Array(values) => ColumnarValue::Array(without_signs(values)),
            ColumnarValue::Scalar(value) => {
                ColumnarValue::Scalar(ScalarValue::try_from_array(&without_signs(&value.to_array()?), 0)?)
            }
        })
    }
}

fn without_signs(values: &ArrayRef) -> ArrayRef {
    fn each<T: ArrowPrimitiveType>(values: &ArrayRef, to: impl Fn(T::Native) -> T::Native) -> ArrayRef {
        let values: PrimitiveArray<T> = values.as_primitive::<T>().unary(to);
        Arc::new(values)
    }
    match values.data_type() {
        DataType::Float64 => each::<Float64Type>(values, |v| if v.is_nan() { f64::NAN } else { v + 0.0 }),
        DataType::Float32 => each::<Float32Type>(values, |v| if v.is_nan() { f32::NAN } else { v + 0.0 }),
        _ => values.clone(),
    }
}
