//! Points at which a cancelled query can stop.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;

/// Makes joins yield regularly. In DataFusion only scans yield, which is too rare if a join turns one batch into
/// millions of rows.
#[derive(Debug)]
pub(crate) struct PauseInJoins;

impl PhysicalOptimizerRule for PauseInJoins {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            if plan.children().len() < 2 || !plan.name().ends_with("JoinExec") {
                return Ok(Transformed::no(plan));
            }
            Ok(Transformed::yes(Arc::new(CooperativeExec::new(plan)) as Arc<dyn ExecutionPlan>))
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "PauseInJoins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
