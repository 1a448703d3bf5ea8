//! Functions that questions have beside DataFusion's: for time, quantiles, histograms and sets.

mod aggregates;
mod renamed;
mod runs;

use datafusion::functions::datetime::date_bin;
use datafusion::functions_aggregate::approx_percentile_cont::approx_percentile_cont_udaf;
use datafusion::functions_nested::array_has::array_has_udf;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion::prelude::SessionContext;

pub(crate) use aggregates::passes;
use aggregates::{Histogram, Quantile};
use renamed::{RenamedAggregate, RenamedScalar};

/// Makes them known to a session.
pub(crate) fn register(context: &SessionContext) {
    let scalars = [("time_bucket", date_bin()), ("set_has", array_has_udf())];
    for (name, inner) in scalars {
        context.register_udf(ScalarUDF::new_from_impl(RenamedScalar { name, inner }));
    }
    let approximate = RenamedAggregate { name: "approx_quantile", inner: approx_percentile_cont_udaf() };
    context.register_udaf(AggregateUDF::new_from_impl(approximate));
    context.register_udaf(AggregateUDF::new_from_impl(Quantile::default()));
    context.register_udaf(AggregateUDF::new_from_impl(Histogram::default()));
}
