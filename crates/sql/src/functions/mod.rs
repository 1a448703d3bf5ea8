//! Functions that DataFusion lacks: for time, quantiles, histograms and sets.

mod aggregates;
mod renamed;
mod runs;

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::functions::datetime::date_bin;
use datafusion::functions::math::{acos, acosh, asin, atanh, ln, log2, log10, sqrt};
use datafusion::functions_aggregate::approx_percentile_cont::approx_percentile_cont_udaf;
use datafusion::functions_nested::array_has::array_has_udf;
use datafusion::logical_expr::registry::FunctionRegistry as _;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

use aggregates::Ordered;
pub(crate) use aggregates::passes;
use renamed::{RenamedAggregate, RenamedScalar};

pub(crate) fn register(state: &mut SessionState) -> Result<()> {
    let renamed = [("time_bucket", date_bin()), ("set_has", array_has_udf())];
    let of_a_range = [("acos", acos()), ("acosh", acosh()), ("asin", asin()), ("atanh", atanh())];
    let of_positive = [("ln", ln()), ("log2", log2()), ("log10", log10()), ("sqrt", sqrt())];
    for (name, inner) in renamed.into_iter().chain(of_a_range).chain(of_positive) {
        state.register_udf(Arc::new(ScalarUDF::new_from_impl(RenamedScalar { name, inner })))?;
    }
    let approximate = RenamedAggregate { name: "approx_quantile", inner: approx_percentile_cont_udaf() };
    state.register_udaf(Arc::new(AggregateUDF::new_from_impl(approximate)))?;
    for function in Ordered::all() {
        state.register_udaf(Arc::new(AggregateUDF::new_from_impl(function)))?;
    }
    Ok(())
}
