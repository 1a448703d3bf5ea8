//! Exact `sum` of integers: in 38 digits for 64-bit integers, in 64 bits for narrower ones; larger sums fail.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray as _, BooleanArray};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, Expr, ExprSchemable as _, GroupsAccumulator, ReversedUDAF,
    Signature, Volatility,
};
use datafusion_functions_aggregate_common::aggregate::groups_accumulator::prim_op::PrimitiveGroupsAccumulator;

use super::arithmetic::{WIDE, overflow};
use super::numbers::{add, is_whole, narrow, total, wide};
use super::window::Recent;
use crate::error::QueryError;

/// The type for summing values: DataFusion's if it is wide enough.
pub(super) fn coerced(function: &'static str, types: &[DataType]) -> Result<Vec<DataType>> {
    let [of] = types else {
        return Err(
            QueryError::Arguments { function, reason: format!("expected 1 argument, got {}", types.len()) }.into()
        );
    };
    Ok(vec![match of {
        DataType::Null => DataType::Int64,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => DataType::Float64,
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Dictionary(_, values) => return coerced(function, &[(**values).clone()]),
        other if is_whole(other) => other.clone(),
        other => return Err(QueryError::Arguments { function, reason: format!("x is {other}: give numbers") }.into()),
    }])
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Sum {
    name: &'static str,
    /// DataFusion's `sum`, for real numbers.
    real: Arc<AggregateUDF>,
    signature: Signature,
}

impl Default for Sum {
    fn default() -> Self {
        Self { name: "sum", real: sum_udaf(), signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// Renames a sum if a sum of it has another type, because the optimizer merges partial sums by name.
pub(super) fn rewrite(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::AggregateFunction(AggregateFunction { func, params }) = expr else { return Ok(Transformed::no(expr)) };
    let stays = match &params.args[..] {
        [arg] if func.name() == "sum" => {
            let sum = Sum::default();
            let once = sum.return_type(&[arg.get_type(schema)?])?;
            sum.return_type(std::slice::from_ref(&once))? == once
        }
        _ => true,
    };
    if stays {
        return Ok(Transformed::no(Expr::AggregateFunction(AggregateFunction { func, params })));
    }
    let func = Arc::new(AggregateUDF::new_from_impl(Sum { name: "sum_of_small", ..Sum::default() }));
    Ok(Transformed::yes(Expr::AggregateFunction(AggregateFunction { func, params })))
}

/// The types of the values and of their sum.
fn types(args: &AccumulatorArgs<'_>) -> (DataType, DataType) {
    (args.expr_fields[0].data_type().clone(), args.return_field.data_type().clone())
}

/// The type of partial sums.
fn state_type(of: &DataType) -> DataType {
    match of {
        DataType::Decimal128(_, scale) => DataType::Decimal128(38, *scale),
        _ => WIDE,
    }
}

impl AggregateUDFImpl for Sum {
    fn name(&self) -> &'static str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        coerced("sum(x)", types)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(match &types[0] {
            DataType::Int64 | DataType::UInt64 => WIDE,
            of if of.is_signed_integer() => DataType::Int64,
            of if of.is_unsigned_integer() => DataType::UInt64,
            _ => self.real.inner().return_type(types)?,
        })
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let (of, result) = types(&args);
        Ok(match (is_whole(&of), args.is_distinct) {
            (true, true) => Box::new(Distinct::new(of, result, narrowed)),
            (true, false) => Box::new(Whole { of, result, sum: 0, count: 0 }),
            (false, _) => self.real.inner().accumulator(args)?,
        })
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let of = args.input_fields[0].data_type();
        if !is_whole(of) {
            return self.real.inner().state_fields(args);
        }
        let sum = Field::new(format_state_name(args.name, "sum"), state_type(of), true);
        if args.is_distinct {
            let item = Field::new_list_field(state_type(of), true);
            return Ok(vec![Arc::new(Field::new_list(format_state_name(args.name, "sum distinct"), item, false))]);
        }
        Ok(vec![Arc::new(sum)])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        let (of, result) = types(&args);
        let state = state_type(&of);
        match of {
            DataType::Decimal128(..) => Ok(Box::new(Groups {
                inner: PrimitiveGroupsAccumulator::<Decimal128Type, _>::new(&state, add),
                result,
            })),
            // A sum of 64-bit integers exceeds 128 bits only with more values than any machine can hold.
            of if is_whole(&of) => {
                let add = |sum: &mut i128, value: i128| *sum = sum.wrapping_add(value);
                Ok(Box::new(Groups {
                    inner: PrimitiveGroupsAccumulator::<Decimal128Type, _>::new(&state, add),
                    result,
                }))
            }
            _ => self.real.inner().create_groups_accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if *args.expr_fields[0].data_type() == DataType::Float64 && !args.is_distinct {
            return Ok(Box::new(Recent::sum()));
        }
        if is_whole(args.expr_fields[0].data_type()) {
            return self.accumulator(args);
        }
        self.real.inner().create_sliding_accumulator(args)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

/// A sum of integers, also over windows.
#[derive(Debug)]
struct Whole {
    of: DataType,
    result: DataType,
    sum: i128,
    count: u64,
}

impl Whole {
    /// Adds or removes the sum of values.
    fn accumulate(&mut self, values: &ArrayRef, apply: fn(i128, i128) -> Option<i128>) -> Result<u64> {
        let (sum, count) = total(values)?;
        self.sum = apply(self.sum, sum).ok_or_else(|| overflow("a sum overflows 128 bits"))?;
        Ok(count)
    }
}

impl Accumulator for Whole {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.count += self.accumulate(&values[0], i128::checked_add)?;
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.count -= self.accumulate(&values[0], i128::checked_sub)?;
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let sum = (self.count > 0).then_some(self.sum);
        Ok(vec![ScalarValue::new_primitive::<Decimal128Type>(sum, &state_type(&self.of))?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&narrowed(self.sum, self.count, &self.result)?, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// Computes a result of the given type from a sum and a count.
type Finish = fn(i128, u64, &DataType) -> Result<ArrayRef>;

fn narrowed(sum: i128, count: u64, result: &DataType) -> Result<ArrayRef> {
    narrow([(count > 0).then_some(sum)].into_iter().collect(), result)
}

/// Distinct integers, also over windows.
#[derive(Debug)]
pub(super) struct Distinct {
    of: DataType,
    result: DataType,
    finish: Finish,
    /// The count of each integer.
    counts: HashMap<i128, u64>,
    sum: i128,
}

impl Distinct {
    pub(super) fn new(of: DataType, result: DataType, finish: Finish) -> Self {
        Self { of, result, finish, counts: HashMap::new(), sum: 0 }
    }
}

impl Accumulator for Distinct {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in wide(&values[0])?.iter().flatten() {
            let count = self.counts.entry(value).or_insert(0);
            *count += 1;
            if *count == 1 {
                add(&mut self.sum, value);
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        states[0].as_list::<i32>().iter().flatten().try_for_each(|values| self.update_batch(&[values]))
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in wide(&values[0])?.iter().flatten() {
            if let Some(count) = self.counts.get_mut(&value) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(&value);
                    add(&mut self.sum, -value);
                }
            }
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let state = state_type(&self.of);
        let value = |&value: &i128| ScalarValue::new_primitive::<Decimal128Type>(Some(value), &state);
        let values = self.counts.keys().map(value).collect::<Result<Vec<_>>>()?;
        Ok(vec![ScalarValue::List(ScalarValue::new_list_nullable(&values, &state))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&(self.finish)(self.sum, self.counts.len() as u64, &self.result)?, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.counts.capacity() * size_of::<(i128, u64)>()
    }
}

/// Sums per group: DataFusion's accumulator, but always in 128 bits.
struct Groups<F: Fn(&mut i128, i128) + Send + Sync + 'static> {
    inner: PrimitiveGroupsAccumulator<Decimal128Type, F>,
    result: DataType,
}

impl<F: Fn(&mut i128, i128) + Send + Sync + 'static> fmt::Debug for Groups<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Groups").field("result", &self.result).finish_non_exhaustive()
    }
}

fn wides(values: &[ArrayRef]) -> Result<[ArrayRef; 1]> {
    Ok([Arc::new(wide(&values[0])?)])
}

impl<F: Fn(&mut i128, i128) + Send + Sync + 'static> GroupsAccumulator for Groups<F> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.inner.update_batch(&wides(values)?, groups, filter, total)
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let sums = self.inner.evaluate(emit)?;
        narrow(sums.as_primitive::<Decimal128Type>().clone(), &self.result)
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        self.inner.state(emit)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.inner.merge_batch(states, groups, total)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.inner.convert_to_state(&wides(values)?, filter)
    }

    fn size(&self) -> usize {
        self.inner.size()
    }
}
