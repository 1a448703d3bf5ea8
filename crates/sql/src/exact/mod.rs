//! Rewrites queries that DataFusion would silently answer wrongly: integers that overflow, patterns that the optimizer
//! changes, real numbers compared by bits, and lists that ignore NULL.

mod arithmetic;
mod average;
mod extremes;
mod floats;
mod nulls;
mod numbers;
mod patterns;
mod sum;
mod whole;
mod window;

use std::sync::Arc;

use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::error::Result;
use datafusion::execution::FunctionRegistry as _;
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{AggregateUDF, Expr, LogicalPlan, ScalarUDF};
use datafusion::optimizer::{Analyzer, AnalyzerRule};

pub(crate) use nulls::{optimizer_rules, simplify};

use crate::seconds;

/// Replaces DataFusion's functions of the same names.
pub(crate) fn register(state: &mut SessionState) -> Result<()> {
    state.register_udf(Arc::new(ScalarUDF::new_from_impl(patterns::RegexpLike::default())))?;
    for extreme in [extremes::Extreme::least(), extremes::Extreme::greatest()] {
        state.register_udaf(Arc::new(AggregateUDF::new_from_impl(extreme)))?;
    }
    state.register_udaf(Arc::new(AggregateUDF::new_from_impl(sum::Sum::default())))?;
    state.register_udaf(Arc::new(AggregateUDF::new_from_impl(average::Avg::default())))?;
    Ok(())
}

/// The analyzer's steps: DataFusion's, with rewrites before and after its type coercion.
pub(crate) fn analyzer_rules() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    let mut rules = Analyzer::new().rules;
    rules.insert(0, Arc::new(Uncoerced));
    rules.push(Arc::new(Exact));
    rules
}

/// The rewrites that must see the types a user wrote.
#[derive(Debug)]
struct Uncoerced;

impl AnalyzerRule for Uncoerced {
    fn name(&self) -> &'static str {
        "exact_uncoerced"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(|plan| map_expressions(plan, rewrite_uncoerced))?.data)
    }
}

/// Rewrites an expression before type coercion.
pub(crate) fn rewrite_uncoerced(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    expr.transform_up(|expr| {
        let rewritten = arithmetic::divide(expr, schema)?;
        let rewritten = rewritten.transform_data(|expr| Ok(whole::rewrite(expr, schema)))?;
        rewritten.transform_data(|expr| Ok(seconds::rewrite(expr, schema)))
    })
}

/// The rewrites after type coercion.
#[derive(Debug)]
struct Exact;

impl AnalyzerRule for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(rewrite_plan)?.data)
    }
}

/// The columns that the expressions of a plan node can name.
fn schema_of(plan: &LogicalPlan) -> Result<DFSchema> {
    let mut schema = merge_schema(&plan.inputs());
    if let LogicalPlan::TableScan(scan) = plan {
        schema.merge(&DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?);
    }
    Ok(schema)
}

/// Rewrites the expressions of a plan node, keeps the names of its columns, and corrects their types: integer division of
/// decimals has another type here than in DataFusion.
fn map_expressions(
    plan: LogicalPlan,
    rewrite: impl Fn(Expr, &DFSchema) -> Result<Transformed<Expr>>,
) -> Result<Transformed<LogicalPlan>> {
    let schema = schema_of(&plan)?;
    let names = NamePreserver::new(&plan);
    let rewritten = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        Ok(rewrite(expr, &schema)?.update_data(|expr| name.restore(expr)))
    })?;
    rewritten.transform_data(|plan| plan.recompute_schema().map(Transformed::yes))
}

fn rewrite_plan(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    map_expressions(plan, rewrite)?.transform_data(floats::rewrite_plan)
}

/// Rewrites an expression after type coercion.
pub(crate) fn rewrite(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    expr.transform_up(|expr| {
        let rewritten = arithmetic::rewrite(expr, schema)?;
        let rewritten = rewritten.transform_data(|expr| patterns::rewrite(expr, schema))?;
        let rewritten = rewritten.transform_data(|expr| sum::rewrite(expr, schema))?;
        rewritten.transform_data(|expr| floats::rewrite(expr, schema))
    })
}
