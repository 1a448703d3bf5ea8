//! Functions of DataFusion under other names; their result columns have the new names.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature,
};

use crate::forward::forward;

/// A scalar function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct RenamedScalar {
    pub(super) name: &'static str,
    pub(super) inner: Arc<ScalarUDF>,
}

impl ScalarUDFImpl for RenamedScalar {
    fn name(&self) -> &str {
        self.name
    }

    forward! {
        signature() -> &Signature;
        coerce_types(types: &[DataType]) -> Result<Vec<DataType>>;
        return_type(types: &[DataType]) -> Result<DataType>;
        return_field_from_args(args: ReturnFieldArgs<'_>) -> Result<FieldRef>;
        invoke_with_args(args: ScalarFunctionArgs) -> Result<ColumnarValue>;
        simplify(args: Vec<Expr>, context: &SimplifyContext) -> Result<ExprSimplifyResult>;
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        // `ln` fails for values of unknown range; that would fail the whole query.
        Ok(self.inner.inner().output_ordering(inputs).unwrap_or(SortProperties::Unordered))
    }
}

/// An aggregate function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct RenamedAggregate {
    pub(super) name: &'static str,
    pub(super) inner: Arc<AggregateUDF>,
}

impl AggregateUDFImpl for RenamedAggregate {
    fn name(&self) -> &str {
        self.name
    }

    forward! {
        signature() -> &Signature;
        return_type(types: &[DataType]) -> Result<DataType>;
        accumulator(args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>>;
        state_fields(args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>>;
    }
}
