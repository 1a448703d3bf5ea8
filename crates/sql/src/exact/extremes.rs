//! `min` and `max` of real numbers per group. DataFusion's versions start at the greatest finite number, and lose
//! values before a NaN.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef, Float32Type, Float64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, SetMonotonicity, Signature,
    StatisticsArgs,
};
use datafusion_functions_aggregate_common::aggregate::groups_accumulator::prim_op::PrimitiveGroupsAccumulator;

use crate::forward::forward;

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Extreme {
    inner: Arc<AggregateUDF>,
    is_least: bool,
}

impl Extreme {
    pub(super) fn least() -> Self {
        Self { inner: min_udaf(), is_least: true }
    }

    pub(super) fn greatest() -> Self {
        Self { inner: max_udaf(), is_least: false }
    }
}

/// The accumulator of a real type. Any value replaces its initial value.
macro_rules! real {
    ($type:ty, $native:ty, $of:expr, $is_least:expr, $last:expr) => {{
        let last = <$native>::from_bits($last);
        if $is_least {
            let less = |least: &mut $native, value: $native| {
                if value.total_cmp(least).is_lt() {
                    *least = value;
                }
            };
            Ok(Box::new(PrimitiveGroupsAccumulator::<$type, _>::new($of, less).with_starting_value(last)))
        } else {
            let greater = |greatest: &mut $native, value: $native| {
                if value.total_cmp(greatest).is_gt() {
                    *greatest = value;
                }
            };
            Ok(Box::new(PrimitiveGroupsAccumulator::<$type, _>::new($of, greater).with_starting_value(-last)))
        }
    }};
}

impl AggregateUDFImpl for Extreme {
    forward! {
        name() -> &str;
        signature() -> &Signature;
        coerce_types(types: &[DataType]) -> Result<Vec<DataType>>;
        return_type(types: &[DataType]) -> Result<DataType>;
        state_fields(args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>>;
        accumulator(args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>>;
        groups_accumulator_supported(args: AccumulatorArgs<'_>) -> bool;
        create_sliding_accumulator(args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>>;
        is_descending() -> Option<bool>;
        order_sensitivity() -> AggregateOrderSensitivity;
        value_from_stats(statistics: &StatisticsArgs<'_>) -> Option<ScalarValue>;
        set_monotonicity(of: &DataType) -> SetMonotonicity;
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        match args.return_field.data_type() {
            of @ DataType::Float64 => real!(Float64Type, f64, of, self.is_least, i64::MAX as u64),
            of @ DataType::Float32 => real!(Float32Type, f32, of, self.is_least, i32::MAX as u32),
            _ => self.inner.inner().create_groups_accumulator(args),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}
