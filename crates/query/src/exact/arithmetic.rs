//! Integer arithmetic that fails where DataFusion's wraps around.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, ArrowNativeTypeOp as _, AsArray as _, Datum, Scalar};
use datafusion::arrow::compute::kernels::{arity, numeric};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef};
use datafusion::arrow::error::ArrowError;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::expr::{BinaryExpr, ScalarFunction};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable as _, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};

use crate::error::QueryError;

/// The type of whole numbers past 64 bits.
pub(super) const WIDE: DataType = DataType::Decimal128(38, 0);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    /// Of decimals without fraction, which are sums of integers: whole, as that of integers is.
    Divide,
    Negate,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Add => "checked_add",
            Self::Subtract => "checked_subtract",
            Self::Multiply => "checked_multiply",
            Self::Divide => "whole_divide",
            Self::Negate => "checked_negate",
        }
    }

    fn of(op: Operator, left: &DataType, right: &DataType) -> Option<Self> {
        let whole = |of: &DataType| matches!(of, DataType::Decimal128(_, 0));
        match op {
            Operator::Divide if whole(left) && whole(right) => Some(Self::Divide),
            _ if !left.is_integer() || left != right => None,
            Operator::Plus => Some(Self::Add),
            Operator::Minus => Some(Self::Subtract),
            Operator::Multiply => Some(Self::Multiply),
            _ => None,
        }
    }

    fn apply(self, values: &[&dyn Datum]) -> Result<ArrayRef, ArrowError> {
        match (self, values) {
            (Self::Add, [left, right]) => numeric::add(*left, *right),
            (Self::Subtract, [left, right]) => numeric::sub(*left, *right),
            (Self::Multiply, [left, right]) => numeric::mul(*left, *right),
            (Self::Negate, [value]) => numeric::neg(value.get().0),
            (Self::Divide, [left, right]) => {
                let all = left.get().0.len().max(right.get().0.len());
                let whole = |value: &dyn Datum| match value.get() {
                    (value, true) => ScalarValue::try_from_array(value, 0)?.to_array_of_size(all),
                    (value, false) => Ok(datafusion::arrow::array::make_array(value.to_data())),
                };
                let (left, right) = (whole(*left)?, whole(*right)?);
                let divide = |l: i128, r: i128| l.div_checked(r);
                let (left, right) = (left.as_primitive::<Decimal128Type>(), right.as_primitive::<Decimal128Type>());
                let divided = arity::try_binary::<_, _, _, Decimal128Type>(left, right, divide)?;
                Ok(Arc::new(divided.with_data_type(WIDE)))
            }
            _ => Err(ArrowError::InvalidArgumentError(format!("{} of {} values", self.name(), values.len()))),
        }
    }
}

/// Puts a checked operation in the place of one that wraps around.
pub(super) fn rewrite(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_arithmetic(op) => {
            let operation = Operation::of(op, &left.get_type(schema)?, &right.get_type(schema)?);
            Ok(match operation {
                Some(operation) => Transformed::yes(call(operation, vec![*left, *right])),
                None => Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })),
            })
        }
        Expr::Negative(inner) if inner.get_type(schema)?.is_integer() => {
            Ok(Transformed::yes(call(Operation::Negate, vec![*inner])))
        }
        other => Ok(Transformed::no(other)),
    }
}

fn is_arithmetic(op: Operator) -> bool {
    matches!(op, Operator::Plus | Operator::Minus | Operator::Multiply | Operator::Divide)
}

fn call(operation: Operation, args: Vec<Expr>) -> Expr {
    let checked = Checked { operation, signature: Signature::any(args.len(), Volatility::Immutable) };
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::new_from_impl(checked)), args))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operation: Operation,
    signature: Signature,
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        self.operation.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(if self.operation == Operation::Divide { WIDE } else { types[0].clone() })
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        let of = self.return_type(&[args.arg_fields[0].data_type().clone()])?;
        Ok(Arc::new(Field::new(self.name(), of, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalars = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let values = args.args.iter().map(|arg| -> Result<Box<dyn Datum>> {
            Ok(match arg {
                ColumnarValue::Array(array) => Box::new(array.clone()),
                ColumnarValue::Scalar(value) => Box::new(Scalar::new(value.to_array()?)),
            })
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        let values: Vec<&dyn Datum> = values.iter().map(AsRef::as_ref).collect();
        let result = self.operation.apply(&values).map_err(|error| out_of_range(error, args.return_type()))?;
        if scalars {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?));
        }
        Ok(ColumnarValue::Array(result))
    }
}

fn out_of_range(error: ArrowError, of: &DataType) -> DataFusionError {
    match error {
        ArrowError::ArithmeticOverflow(what) => {
            let what = what.trim_start_matches("Overflow happened on: ");
            overflow(&format!("{what} overflows {of}; cast a side to DECIMAL(38,0) or DOUBLE"))
        }
        other => other.into(),
    }
}

pub(super) fn overflow(what: &str) -> DataFusionError {
    QueryError::Invalid { reason: format!("a number is out of range: {what}") }.into()
}
