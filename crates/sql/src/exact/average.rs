//! `avg` of integers: the nearest real number to their exact sum divided by their count.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray as _, BooleanArray, Float64Array, Int64Array, UInt64Array};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef, UInt64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};

use super::arithmetic::{WIDE, overflow};
use super::numbers::{POISON, Wide, add, is_whole, total, wide};
use super::sum::{Distinct, coerced};
use super::window::Recent;
use crate::functions::passes;

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Avg {
    /// DataFusion's `avg`, for all other types.
    real: Arc<AggregateUDF>,
    signature: Signature,
}

impl Default for Avg {
    fn default() -> Self {
        Self { real: avg_udaf(), signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// Whether this module computes averages of a type.
fn is_ours(of: &DataType) -> bool {
    is_whole(of) && !matches!(of, DataType::Decimal128(_, scale) if *scale != 0)
}

impl AggregateUDFImpl for Avg {
    fn name(&self) -> &'static str {
        "avg"
    }

    fn aliases(&self) -> &[String] {
        self.real.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        coerced("avg(x)", types)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match &types[0] {
            DataType::Duration(_) => Ok(types[0].clone()),
            of if is_ours(of) => Ok(DataType::Float64),
            _ => self.real.inner().return_type(types),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let of = args.expr_fields[0].data_type();
        match (is_ours(of), args.is_distinct) {
            (true, false) => Ok(Box::new(Mean { result: args.return_type().clone(), sum: 0, count: 0 })),
            (true, true) => {
                let finish = |sum, count, result: &DataType| means(result, &[sum], &[count]);
                Ok(Box::new(Distinct::new(of.clone(), args.return_type().clone(), finish)))
            }
            (false, _) => self.real.inner().accumulator(args),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if !is_ours(args.input_fields[0].data_type()) {
            return self.real.inner().state_fields(args);
        }
        let named = |part: &str| format_state_name(args.name, part);
        Ok(if args.is_distinct {
            vec![Arc::new(Field::new_list(named("avg distinct"), Field::new_list_field(WIDE, true), false))]
        } else {
            vec![
                Arc::new(Field::new(named("count"), DataType::UInt64, true)),
                Arc::new(Field::new(named("sum"), WIDE, true)),
            ]
        })
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        let ours = is_ours(args.expr_fields[0].data_type());
        !args.is_distinct && (ours || self.real.inner().groups_accumulator_supported(args))
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        let of = args.expr_fields[0].data_type();
        if is_ours(of) {
            return Ok(Box::new(Means { result: args.return_type().clone(), sums: Vec::new(), counts: Vec::new() }));
        }
        self.real.inner().create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if *args.expr_fields[0].data_type() == DataType::Float64 && !args.is_distinct {
            return Ok(Box::new(Recent::mean()));
        }
        self.accumulator(args)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

/// Averages from sums and counts; NULL for a count of 0.
fn means(result: &DataType, sums: &[i128], counts: &[u64]) -> Result<ArrayRef> {
    if sums.contains(&POISON) {
        return Err(overflow("the sum of an average overflows 128 bits"));
    }
    let nulls: NullBuffer = counts.iter().map(|&count| count > 0).collect();
    let both = || sums.iter().zip(counts);
    if let DataType::Duration(_) = result {
        let mean = |(&sum, &count): (&i128, &u64)| (sum / i128::from(count.max(1))) as i64;
        let means: ArrayRef = Arc::new(Int64Array::new(both().map(mean).collect(), Some(nulls)));
        return Ok(cast(&means, result)?);
    }
    let mean = |(&sum, &count): (&i128, &u64)| sum as f64 / count.max(1) as f64;
    Ok(Arc::new(Float64Array::new(both().map(mean).collect(), Some(nulls))))
}

#[derive(Debug)]
struct Mean {
    result: DataType,
    sum: i128,
    count: u64,
}

impl Accumulator for Mean {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (sum, count) = total(&values[0])?;
        add(&mut self.sum, sum);
        self.count += count;
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (sum, count) = total(&values[0])?;
        add(&mut self.sum, -sum);
        self.count -= count;
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let sum = ScalarValue::new_primitive::<Decimal128Type>(Some(self.sum), &WIDE)?;
        Ok(vec![ScalarValue::UInt64(Some(self.count)), sum])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        add(&mut self.sum, total(&states[1])?.0);
        self.count += states[0].as_primitive::<UInt64Type>().iter().flatten().sum::<u64>();
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&means(&self.result, &[self.sum], &[self.count])?, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

#[derive(Debug)]
struct Means {
    result: DataType,
    sums: Vec<i128>,
    counts: Vec<u64>,
}

impl GroupsAccumulator for Means {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.sums.resize(total, 0);
        self.counts.resize(total, 0);
        let values = wide(&values[0])?;
        if filter.is_none() && values.null_count() == 0 {
            for (&group, &value) in groups.iter().zip(values.values()) {
                add(&mut self.sums[group], value);
                self.counts[group] += 1;
            }
            return Ok(());
        }
        for (row, value) in values.iter().enumerate() {
            if let Some(value) = value.filter(|_| passes(filter, row)) {
                add(&mut self.sums[groups[row]], value);
                self.counts[groups[row]] += 1;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        means(&self.result, &emit.take_needed(&mut self.sums), &emit.take_needed(&mut self.counts))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let sums = Wide::new(emit.take_needed(&mut self.sums).into(), None).with_data_type(WIDE);
        Ok(vec![Arc::new(UInt64Array::from(emit.take_needed(&mut self.counts))), Arc::new(sums)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.sums.resize(total, 0);
        self.counts.resize(total, 0);
        let (counts, sums) = (states[0].as_primitive::<UInt64Type>(), states[1].as_primitive::<Decimal128Type>());
        for (row, &group) in groups.iter().enumerate() {
            self.counts[group] += counts.value(row);
            add(&mut self.sums[group], sums.value(row));
        }
        Ok(())
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let values = wide(&values[0])?;
        let counts = (0..values.len()).map(|row| u64::from(values.is_valid(row) && passes(filter, row)));
        let counts = UInt64Array::from_iter_values(counts);
        let sums = values.values().iter().zip(counts.values()).map(|(value, count)| value * i128::from(*count));
        Ok(vec![Arc::new(counts.clone()), Arc::new(Wide::from_iter_values(sums).with_data_type(WIDE))])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.sums.capacity() * size_of::<i128>() + self.counts.capacity() * size_of::<u64>()
    }
}
