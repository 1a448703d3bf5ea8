//! Selects the names and worlds that match a query's conditions, to read only those.
//!
//! A condition on one column is evaluated on all names that the column can hold. So `=`, `IN`, `LIKE`, `OR` and
//! functions all prune equally.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use datafusion::catalog::Session;
use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use world::WorldRange;

/// Whether a condition can be evaluated now: it needs no other rows and is deterministic.
pub(crate) fn is_plain(condition: &Expr) -> bool {
    let needs_a_plan = |e: &Expr| {
        matches!(
            e,
            Expr::ScalarSubquery(_)
                | Expr::Exists(_)
                | Expr::InSubquery(_)
                | Expr::SetComparison(_)
                | Expr::OuterReferenceColumn(..)
                | Expr::Placeholder(_)
        )
    };
    !condition.is_volatile() && !any(condition, &needs_a_plan)
}

/// The column of a condition on a single column that can be evaluated now.
pub(crate) fn column_of(condition: &Expr) -> Option<&str> {
    if !is_plain(condition) {
        return None;
    }
    let mut columns = condition.column_refs().into_iter();
    let first = columns.next()?;
    columns.next().is_none().then_some(first.name.as_str())
}

fn any(condition: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    use datafusion::common::tree_node::TreeNode as _;
    condition.exists(|e| Ok(test(e))).unwrap_or(true)
}

/// How completely a table that prunes by `exact` and `inexact` columns handles each condition.
pub(crate) fn support(conditions: &[&Expr], exact: &[&str], inexact: &[&str]) -> Vec<TableProviderFilterPushDown> {
    let one = |condition: &&Expr| match column_of(condition) {
        Some(column) if exact.contains(&column) => TableProviderFilterPushDown::Exact,
        Some(column) if inexact.contains(&column) => TableProviderFilterPushDown::Inexact,
        _ => TableProviderFilterPushDown::Unsupported,
    };
    conditions.iter().map(one).collect()
}

/// The conditions of a query, ready to test names and worlds.
pub(crate) struct Conditions<'a> {
    session: &'a dyn Session,
    conditions: &'a [Expr],
}

impl<'a> Conditions<'a> {
    pub(crate) fn new(session: &'a dyn Session, conditions: &'a [Expr]) -> Self {
        Self { session, conditions }
    }

    /// The indexes of the names that match every condition on `column`.
    pub(crate) fn names<'n>(&self, column: &str, names: impl Iterator<Item = &'n str> + Clone) -> Result<Vec<usize>> {
        let count = names.clone().count();
        let mask =
            self.mask(column, DataType::Utf8View, count, || Arc::new(StringViewArray::from_iter_values(names)))?;
        Ok((0..count).filter(|&i| mask.as_ref().is_none_or(|m| m[i])).collect())
    }

    /// Whether any world of a range matches every condition on `world`.
    pub(crate) fn any_world(&self, range: WorldRange) -> Result<bool> {
        let worlds = || Arc::new(Int32Array::from_iter_values(range.worlds().map(|w| w.0 as i32))) as ArrayRef;
        Ok(self.mask("world", DataType::Int32, range.count(), worlds)?.is_none_or(|m| m.contains(&true)))
    }

    /// The values that match every condition on `column`; `None` without conditions on it.
    fn mask(
        &self,
        column: &str,
        ty: DataType,
        count: usize,
        values: impl FnOnce() -> ArrayRef,
    ) -> Result<Option<Vec<bool>>> {
        let mut mine = self.conditions.iter().filter(|c| column_of(c) == Some(column)).peekable();
        if mine.peek().is_none() {
            return Ok(None);
        }
        let schema = Arc::new(Schema::new(vec![Field::new(column, ty, false)]));
        let batch = RecordBatch::try_new(schema.clone(), vec![values()])?;
        let schema = DFSchema::try_from(schema)?;
        let mut mask = vec![true; count];
        for condition in mine {
            let condition = self.session.create_physical_expr(condition.clone(), &schema)?;
            let holds = condition.evaluate(&batch)?.into_array(count)?;
            if let Some(holds) = holds.as_boolean_opt() {
                for (i, kept) in mask.iter_mut().enumerate() {
                    *kept &= holds.is_valid(i) && holds.value(i);
                }
            }
        }
        Ok(Some(mask))
    }
}
