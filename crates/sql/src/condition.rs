//! SQL conditions on the rows of one table, such as those of a deletion.

use std::fmt;
use std::sync::Arc;

use arrow::array::{AsArray, BooleanArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::common::DFSchema;
use datafusion::config::Dialect;
use datafusion::execution::SessionState;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, ExprSchemable as _, lit};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_optimizer::pruning::PruningPredicate;
use datafusion::sql::sqlparser::ast;
use table::Segment;
use table::upkeep::{Fate, Filter};

use crate::distinct;
use crate::error::QueryError;
use crate::exact;
use crate::filter::is_plain;
use crate::parser::parse;
use crate::rows::{batch, invalid};
use crate::session::{Options, state};
use crate::syntax::{Node, walk};
use crate::tables::{LogStatistics, may_match, with_views};

/// A condition on the rows of one table. A row for which it is NULL does not match.
pub struct Condition {
    /// The columns in the condition, or one column if it names none.
    schema: SchemaRef,
    matches: Arc<dyn PhysicalExpr>,
    /// Excludes segments by their statistics; `None` if they prove nothing.
    may_match: Option<PruningPredicate>,
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condition").field("matches", &self.matches).finish_non_exhaustive()
    }
}

impl Condition {
    /// Parses a condition on rows with the columns `schema`, such as `tower < 10 AND price IS NULL`.
    ///
    /// # Errors
    /// If `sql` is not an expression, names an unknown column, is not Boolean, or needs more than one row.
    pub fn parse(sql: &str, schema: &Schema) -> Result<Self, QueryError> {
        Self::of_columns(sql, &with_views(schema)).map_err(of_condition)
    }

    fn of_columns(sql: &str, schema: &SchemaRef) -> Result<Self, QueryError> {
        let state = state(Options::default())?;
        let condition = read(&state, sql, &DFSchema::try_from(schema.clone())?)?;
        let all = state.create_physical_expr(condition.clone(), &DFSchema::try_from(schema.clone())?)?;
        let mut columns: Vec<usize> = collect_columns(&all).into_iter().map(|c| c.index()).collect();
        columns.sort_unstable();
        // A batch without columns has no row count.
        columns.extend(columns.is_empty().then_some(0));
        let may_match = may_match(&state, schema, condition.clone()).ok();
        let schema = Arc::new(schema.project(&columns).map_err(|e| invalid(&e))?);
        let matches = state.create_physical_expr(condition, &DFSchema::try_from(schema.clone())?)?;
        Ok(Self { schema, matches, may_match })
    }

    fn matches(&self, rows: &RecordBatch) -> Result<BooleanArray, QueryError> {
        let columns = rows.columns().iter().zip(self.schema.fields()).map(|(c, field)| cast(c, field.data_type()));
        let columns = columns.collect::<Result<_, _>>().map_err(|e| invalid(&e))?;
        let rows = batch(&self.schema, columns, rows.num_rows())?;
        let matches = self.matches.evaluate(&rows)?.into_array(rows.num_rows())?;
        let not_boolean = || QueryError::Invalid { reason: "it is not Boolean".to_owned() };
        matches.as_boolean_opt().cloned().ok_or_else(not_boolean)
    }
}

/// Parses an expression and folds its constants.
fn read(state: &SessionState, sql: &str, schema: &DFSchema) -> Result<Expr, QueryError> {
    let refuse = |reason: String| QueryError::Condition { reason };
    let mut parsed = parse(sql, Dialect::Generic, |mut parser| parser.parse_into_expr())?;
    if let Some(more) = &parsed.alias {
        return Err(QueryError::Syntax { reason: format!("unexpected {more} after the condition") });
    }
    distinct::mend(&mut parsed.expr)?;
    walk(&mut parsed.expr, &mut |node| match node {
        Node::Expr(ast::Expr::Subquery(_) | ast::Expr::Exists { .. } | ast::Expr::InSubquery { .. }) => {
            Err(refuse("subqueries are not allowed: a condition sees one row at a time".to_owned()))
        }
        _ => Ok(()),
    })?;
    let condition = state.create_logical_expr_from_sql_expr(parsed, schema)?;
    if !is_plain(&condition) {
        return Err(refuse("its result changes from one evaluation to the next".to_owned()));
    }
    let context = SimplifyContext::builder()
        .with_schema(Arc::new(schema.clone()))
        .with_config_options(state.config_options().clone())
        .with_current_time()
        .build();
    let simplifier = ExprSimplifier::new(context);
    let condition = exact::rewrite_uncoerced(condition, schema)?.data;
    let condition = exact::rewrite(simplifier.coerce(condition, schema)?, schema)?.data;
    let ty = condition.get_type(schema)?;
    if ty != DataType::Boolean {
        return Err(refuse(format!("it has type {ty}, not Boolean: add a comparison")));
    }
    let condition = exact::simplify(&simplifier, condition, schema)?;
    // A condition that is always NULL never matches.
    let is_null = matches!(&condition, Expr::Literal(value, _) if value.is_null());
    Ok(if is_null { lit(false) } else { condition })
}

/// Turns a query error into an error of the condition.
fn of_condition(error: QueryError) -> QueryError {
    match error {
        QueryError::Invalid { reason } => QueryError::Condition { reason },
        other => other,
    }
}

impl Filter for Condition {
    fn fate(&self, segment: &Segment) -> Fate {
        let prune = |predicate: &PruningPredicate| {
            let segments = std::slice::from_ref(segment);
            predicate.prune(&LogStatistics { segments, schema: predicate.schema(), partition: &[] })
        };
        match self.may_match.as_ref().map(prune) {
            Some(Ok(kept)) if kept == [false] => Fate::Keep,
            _ => Fate::Look,
        }
    }

    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|f| f.name().clone()).collect()
    }

    fn doomed(&self, rows: &RecordBatch) -> Result<BooleanArray, String> {
        self.matches(rows).map_err(|error| of_condition(error).to_string())
    }
}
