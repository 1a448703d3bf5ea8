//! A condition in SQL on the rows of one table, for deleting those that meet it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::{AsArray, BooleanArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::common::DFSchema;
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
use crate::engine::{Options, state};
use crate::error::QueryError;
use crate::exact;
use crate::filter::is_plain;
use crate::rows::{batch, invalid};
use crate::tables::{Known, may_match, with_views};

/// A condition that each row of a table meets or not. Rows for which it is NULL do not.
pub struct Condition {
    /// The columns that it names, or one where it names none.
    schema: SchemaRef,
    meets: Arc<dyn PhysicalExpr>,
    /// Which segments can hold a row that meets it, where statistics tell.
    may_match: Option<PruningPredicate>,
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condition").field("meets", &self.meets).finish_non_exhaustive()
    }
}

impl Condition {
    /// Reads a condition on the rows of a table with the columns `schema`, such as `tower < 10 AND price IS NULL`.
    ///
    /// # Errors
    /// Where `sql` is no expression, names a column that there is not, is neither true nor false, or needs more than one
    /// row to be told.
    pub fn parse(sql: &str, schema: &Schema) -> Result<Self, QueryError> {
        Self::of_columns(sql, &with_views(schema)).map_err(unfit)
    }

    fn of_columns(sql: &str, schema: &SchemaRef) -> Result<Self, QueryError> {
        let state = state(Options::default())?;
        let condition = read(&state, sql, &DFSchema::try_from(schema.clone())?)?;
        let all = state.create_physical_expr(condition.clone(), &DFSchema::try_from(schema.clone())?)?;
        let mut columns: Vec<usize> = collect_columns(&all).into_iter().map(|c| c.index()).collect();
        columns.sort_unstable();
        // Rows of no columns cannot be counted.
        columns.extend(columns.is_empty().then_some(0));
        let may_match = may_match(&state, schema, condition.clone()).ok();
        let schema = Arc::new(schema.project(&columns).map_err(|e| invalid(&e))?);
        let meets = state.create_physical_expr(condition, &DFSchema::try_from(schema.clone())?)?;
        Ok(Self { schema, meets, may_match })
    }

    fn meets(&self, rows: &RecordBatch) -> Result<BooleanArray, QueryError> {
        let columns = rows.columns().iter().zip(self.schema.fields()).map(|(c, field)| cast(c, field.data_type()));
        let columns = columns.collect::<Result<_, _>>().map_err(|e| invalid(&e))?;
        let rows = batch(&self.schema, columns, rows.num_rows())?;
        let meets = self.meets.evaluate(&rows)?.into_array(rows.num_rows())?;
        let not_boolean = || QueryError::Invalid { reason: "it is neither true nor false".to_owned() };
        meets.as_boolean_opt().cloned().ok_or_else(not_boolean)
    }
}

/// Reads an expression and works out what is the same for all rows.
fn read(state: &SessionState, sql: &str, schema: &DFSchema) -> Result<Expr, QueryError> {
    let refuse = |reason: String| QueryError::Condition { reason };
    let mut parsed = state.sql_to_expr_with_alias(sql, &state.config().options().sql_parser.dialect)?;
    if let Some(more) = &parsed.alias {
        return Err(QueryError::Syntax { reason: format!("{more} comes after the end of the condition") });
    }
    distinct::mend(&mut parsed.expr);
    let inner = ast::visit_expressions(&parsed.expr, |e| match e {
        ast::Expr::Subquery(_) | ast::Expr::Exists { .. } | ast::Expr::InSubquery { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    if inner.is_break() {
        return Err(refuse("it holds a question of its own, and may look at one row only".to_owned()));
    }
    let condition = state.create_logical_expr_from_sql_expr(parsed, schema)?;
    if !is_plain(&condition) {
        return Err(refuse("it says something else each time it is asked".to_owned()));
    }
    let context = SimplifyContext::builder()
        .with_schema(Arc::new(schema.clone()))
        .with_config_options(state.config_options().clone())
        .with_current_time()
        .build();
    let simplifier = ExprSimplifier::new(context);
    let condition = exact::rewrite(simplifier.coerce(condition, schema)?, schema)?.data;
    let ty = condition.get_type(schema)?;
    if ty != DataType::Boolean {
        return Err(refuse(format!("it is of type {ty}, and must be true or false: compare it with something")));
    }
    let condition = exact::simplify(&simplifier, condition, schema)?;
    // NULL for all rows is true for none.
    let is_null = matches!(&condition, Expr::Literal(value, _) if value.is_null());
    Ok(if is_null { lit(false) } else { condition })
}

/// An error of the condition, where it would be one of a question.
fn unfit(error: QueryError) -> QueryError {
    match error {
        QueryError::Invalid { reason } => QueryError::Condition { reason },
        other => other,
    }
}

impl Filter for Condition {
    fn fate(&self, segment: &Segment) -> Fate {
        let known = |predicate: &PruningPredicate| {
            let segments = std::slice::from_ref(segment);
            predicate.prune(&Known { segments, schema: predicate.schema(), partition: &[] })
        };
        match self.may_match.as_ref().map(known) {
            Some(Ok(kept)) if kept == [false] => Fate::Keep,
            _ => Fate::Look,
        }
    }

    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|f| f.name().clone()).collect()
    }

    fn doomed(&self, rows: &RecordBatch) -> Result<BooleanArray, String> {
        self.meets(rows).map_err(|error| unfit(error).to_string())
    }
}
