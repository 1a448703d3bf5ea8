//! Checked integer arithmetic: it fails on overflow, while DataFusion's wraps around.

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
    Signature, Volatility, cast,
};

use crate::error::QueryError;

/// The type of integers wider than 64 bits.
pub(super) const WIDE: DataType = DataType::Decimal128(38, 0);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    /// Integer division of decimals without fraction: sums of integers have this type.
    Divide,
    Quotient,
    Remainder,
    Negate,
}

impl Operation {
    fn sign(self) -> char {
        match self {
            Self::Add => '+',
            Self::Subtract => '-',
            Self::Multiply => '*',
            Self::Divide => ':',
            Self::Quotient => '/',
            Self::Remainder => '%',
            Self::Negate => '~',
        }
    }

    /// The checked operation for `left op right`; `chained`: `left` is the result of another checked operation.
    fn of(op: Operator, left: &DataType, right: &DataType, chained: bool) -> Option<Self> {
        match op {
            // Left by `divide`: a NULL or a parameter has its type only now.
            Operator::Divide if is_whole_decimal(left) && is_whole_decimal(right) => Some(Self::Divide),
            _ if !left.is_integer() || left != right => None,
            Operator::Plus => Some(Self::Add),
            Operator::Minus => Some(Self::Subtract),
            Operator::Multiply => Some(Self::Multiply),
            // These never wrap around.
            Operator::Divide if chained => Some(Self::Quotient),
            Operator::Modulo if chained => Some(Self::Remainder),
            _ => None,
        }
    }

    /// Applies the operation to the result so far and, except for [`Self::Negate`], one more value.
    fn apply(self, so_far: &dyn Datum, value: &dyn Datum) -> Result<ArrayRef, ArrowError> {
        match self {
            Self::Add => numeric::add(so_far, value),
            Self::Subtract => numeric::sub(so_far, value),
            Self::Multiply => numeric::mul(so_far, value),
            Self::Quotient => numeric::div(so_far, value),
            Self::Remainder => numeric::rem(so_far, value),
            Self::Negate => numeric::neg(so_far.get().0),
            Self::Divide => {
                let all = so_far.get().0.len().max(value.get().0.len());
                let whole = |value: &dyn Datum| match value.get() {
                    (value, true) => ScalarValue::try_from_array(value, 0)?.to_array_of_size(all),
                    (value, false) => Ok(datafusion::arrow::array::make_array(value.to_data())),
                };
                let (left, right) = (whole(so_far)?, whole(value)?);
                let divide = |l: i128, r: i128| l.div_checked(r);
                let (left, right) = (left.as_primitive::<Decimal128Type>(), right.as_primitive::<Decimal128Type>());
                let divided = arity::try_binary::<_, _, _, Decimal128Type>(left, right, divide)?;
                Ok(Arc::new(divided.with_data_type(WIDE)))
            }
        }
    }
}

/// Replaces an operation that wraps around with a checked one.
pub(super) fn rewrite(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_arithmetic(op) => {
            let chained = chain(&left).is_some();
            let operation = Operation::of(op, &type_of(&left, schema)?, &type_of(&right, schema)?, chained);
            Ok(match operation {
                Some(operation) => Transformed::yes(chain_to(*left, operation, Some(*right), schema)?),
                None => Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })),
            })
        }
        Expr::Negative(inner) if type_of(&inner, schema)?.is_integer() => {
            Ok(Transformed::yes(chain_to(*inner, Operation::Negate, None, schema)?))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Divides whole decimals as integers, before type coercion: the result's type goes into what surrounds the division.
pub(super) fn divide(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Divide, right }) = expr else {
        return Ok(Transformed::no(expr));
    };
    // A parameter may have no type yet.
    let types = left.get_type(schema).ok().zip(right.get_type(schema).ok());
    let fits = |of: &DataType| of.is_integer() || is_whole_decimal(of);
    match types {
        Some((l, r)) if fits(&l) && fits(&r) && (is_whole_decimal(&l) || is_whole_decimal(&r)) => {
            let wide = |side: Expr, of: &DataType| if *of == WIDE { side } else { cast(side, WIDE) };
            Ok(Transformed::yes(chain_to(wide(*left, &l), Operation::Divide, Some(wide(*right, &r)), schema)?))
        }
        _ => Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op: Operator::Divide, right }))),
    }
}

fn is_whole_decimal(of: &DataType) -> bool {
    matches!(of, DataType::Decimal128(_, 0))
}

fn is_arithmetic(op: Operator) -> bool {
    use Operator::{Divide, Minus, Modulo, Multiply, Plus};
    matches!(op, Plus | Minus | Multiply | Divide | Modulo)
}

/// The chain of checked operations that computes a value, if any.
fn chain(expr: &Expr) -> Option<&Checked> {
    match expr {
        Expr::ScalarFunction(function) => function.func.inner().downcast_ref::<Checked>(),
        _ => None,
    }
}

fn type_of(expr: &Expr, schema: &DFSchema) -> Result<DataType> {
    chain(expr).map_or_else(|| expr.get_type(schema), |chain| Ok(chain.of.clone()))
}

/// Fuses all of `a + b - c` into one function: DataFusion's planning time grows with the cube of the depth of nested
/// functions, because it prints their names again at each level.
fn chain_to(left: Expr, operation: Operation, right: Option<Expr>, schema: &DFSchema) -> Result<Expr> {
    let of = if operation == Operation::Divide { WIDE } else { type_of(&left, schema)? };
    let (mut operations, mut args) = match (chain(&left).map(|chain| chain.operations.clone()), left) {
        (Some(operations), Expr::ScalarFunction(function)) => (operations, function.args),
        (_, left) => (Vec::new(), vec![left]),
    };
    operations.push(operation);
    args.extend(right);
    let checked = Checked::new(operations, of, args.len());
    Ok(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::new_from_impl(checked)), args)))
}

/// Chained operations, each on the result so far and the next argument.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operations: Vec<Operation>,
    /// The result type.
    of: DataType,
    /// Distinguishes different operations on the same arguments.
    name: String,
    signature: Signature,
}

impl Checked {
    fn new(operations: Vec<Operation>, of: DataType, args: usize) -> Self {
        let name = operations.iter().map(|operation| operation.sign()).collect::<String>();
        Self { operations, of, name: format!("checked{name}"), signature: Signature::any(args, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.of.clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.of.clone(), nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut values = args.args.iter();
        let mut so_far = values.next().cloned().unwrap_or(ColumnarValue::Scalar(ScalarValue::Null));
        for operation in &self.operations {
            let value = if *operation == Operation::Negate { None } else { values.next() };
            let both = [Some(&so_far), value];
            let is_scalar = both.iter().flatten().all(|value| matches!(value, ColumnarValue::Scalar(_)));
            let (left, right) = (datum(&so_far)?, datum(value.unwrap_or(&so_far))?);
            let result = operation.apply(&*left, &*right).map_err(|error| out_of_range(error, &self.of))?;
            so_far = if is_scalar {
                ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?)
            } else {
                ColumnarValue::Array(result)
            };
        }
        Ok(so_far)
    }
}

fn datum(value: &ColumnarValue) -> Result<Box<dyn Datum>> {
    Ok(match value {
        ColumnarValue::Array(array) => Box::new(array.clone()),
        ColumnarValue::Scalar(value) => Box::new(Scalar::new(value.to_array()?)),
    })
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
    QueryError::Invalid { reason: format!("number out of range: {what}") }.into()
}
