//! `quantile(x, p)` and `histogram(x, buckets)`, both exact. They use memory for each distinct value, within the
//! query's limit.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, Float64Array, Int64Array, ListArray, PrimitiveArray,
    RecordBatch, StructArray, UInt64Array,
};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, Float64Type, Int64Type, UInt64Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, ColumnarValue, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;

use super::runs::{Runs, quantile};
use crate::error::QueryError;

const BUCKETS_MAX: u64 = 10_000;

const QUANTILE: &str = "quantile(x, p)";
const HISTOGRAM: &str = "histogram(x, buckets)";

fn arguments(function: &'static str, reason: impl Into<String>) -> DataFusionError {
    QueryError::Arguments { function, reason: reason.into() }.into()
}

/// Maps values to integer keys of the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    Signed,
    Unsigned,
    Float,
}

const SIGN: u64 = 1 << 63;

impl Keys {
    /// `None` for types without order, or without support.
    fn of(of: &DataType) -> Option<Self> {
        match of {
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => Some(Self::Unsigned),
            DataType::Float16 | DataType::Float32 | DataType::Float64 => Some(Self::Float),
            other if other.is_signed_integer() || other.is_temporal() && !matches!(other, DataType::Interval(_)) => {
                Some(Self::Signed)
            }
            _ => None,
        }
    }

    /// The keys of a column's values.
    fn read(self, values: &ArrayRef) -> Result<PrimitiveArray<UInt64Type>> {
        fn keys<T: ArrowPrimitiveType>(
            values: &ArrayRef,
            to: &DataType,
            key: impl Fn(T::Native) -> u64,
        ) -> Result<UInt64Array> {
            Ok(whole(values, to)?.as_primitive::<T>().unary(key))
        }
        match self {
            Self::Signed => keys::<Int64Type>(values, &DataType::Int64, |v| v as u64 ^ SIGN),
            Self::Unsigned => keys::<UInt64Type>(values, &DataType::UInt64, |v| v),
            Self::Float => keys::<Float64Type>(values, &DataType::Float64, |v| {
                // Zeros are one value, and all NaN.
                let bits = if v.is_nan() { f64::NAN } else { v + 0.0 }.to_bits();
                if bits & SIGN == 0 { bits | SIGN } else { !bits }
            }),
        }
    }

    /// The values of keys.
    fn write(self, keys: &PrimitiveArray<UInt64Type>, to: &DataType) -> Result<ArrayRef> {
        let values: ArrayRef = match self {
            Self::Signed => Arc::new(keys.unary::<_, Int64Type>(|key| (key ^ SIGN) as i64)),
            Self::Unsigned => Arc::new(keys.clone()),
            Self::Float => Arc::new(keys.unary::<_, Float64Type>(float)),
        };
        // Dates and times of 32 bits need a cast through integers.
        let narrow = match to {
            DataType::Date32 | DataType::Time32(_) => cast(&values, &DataType::Int32)?,
            _ => values,
        };
        Ok(cast(&narrow, to)?)
    }

    /// The value of a key as a real number.
    fn number(self, key: u64) -> f64 {
        match self {
            Self::Signed => (key ^ SIGN) as i64 as f64,
            Self::Unsigned => key as f64,
            Self::Float => float(key),
        }
    }
}

fn float(key: u64) -> f64 {
    f64::from_bits(if key & SIGN == 0 { !key } else { key & !SIGN })
}

/// Values as 64-bit integers.
fn whole(values: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let values = match values.data_type() {
        DataType::Date32 | DataType::Time32(_) => cast(values, &DataType::Int32)?,
        _ => values.clone(),
    };
    Ok(cast(&values, to)?)
}

/// The result of a function, with its second argument.
#[derive(Debug, Clone)]
enum Finish {
    Quantile(f64),
    Histogram(u64),
}

/// The computation of a function.
#[derive(Debug, Clone)]
struct Work {
    keys: Keys,
    result: DataType,
    finish: Finish,
}

impl Work {
    fn finish(&self, groups: &mut [Runs]) -> Result<ArrayRef> {
        match self.finish {
            Finish::Quantile(p) => {
                let found: UInt64Array = groups.iter_mut().map(|runs| quantile(runs.finish(), p)).collect();
                self.keys.write(&found, &self.result)
            }
            Finish::Histogram(buckets) => {
                let found = groups.iter_mut().map(|runs| histogram(runs.finish(), self.keys, buckets));
                buckets_of(&found.collect::<Vec<_>>())
            }
        }
    }

    /// Bytes of a group with its answer: buckets may be many more than values, and are in memory twice.
    fn bytes(&self, runs: &Runs) -> usize {
        let answer = match self.finish {
            Finish::Histogram(buckets) if runs.has_several() => buckets as usize * 2 * size_of::<Bucket>(),
            _ => 0,
        };
        runs.size() + answer
    }
}

/// Lower edge, upper edge, number of values.
type Bucket = (f64, f64, u64);

/// Buckets of equal width between the least and the greatest value. A value on an edge is in the upper bucket, the
/// greatest in the last. Equal values have one bucket; without values, there are no buckets.
fn histogram(runs: &[(u64, u64)], keys: Keys, buckets: u64) -> Vec<Bucket> {
    let values = runs.iter().map(|&(key, count)| (keys.number(key), count)).filter(|(value, _)| value.is_finite());
    let mut values = values.peekable();
    let Some(&(least, _)) = values.peek() else { return Vec::new() };
    let greatest = values.clone().last().map_or(least, |(value, _)| value);
    let buckets = if greatest > least { buckets } else { 1 };
    // Halve first: the range of doubles can exceed the greatest double.
    let step = (greatest / 2.0 - least / 2.0) / buckets as f64;
    let edge = |n: u64| if n == buckets { greatest } else { least + step * n as f64 + step * n as f64 };
    let mut found: Vec<Bucket> = (0..buckets).map(|n| (edge(n), edge(n + 1), 0)).collect();
    let mut place = 0;
    for (value, count) in values {
        while place + 1 < found.len() && value >= found[place].1 {
            place += 1;
        }
        found[place].2 += count;
    }
    found
}

fn bucket_fields() -> Fields {
    Fields::from(vec![
        Field::new("low", DataType::Float64, false),
        Field::new("high", DataType::Float64, false),
        Field::new("count", DataType::Int64, false),
    ])
}

fn bucket_list() -> FieldRef {
    Arc::new(Field::new_list_field(DataType::Struct(bucket_fields()), false))
}

fn buckets_of(groups: &[Vec<Bucket>]) -> Result<ArrayRef> {
    let all = || groups.iter().flatten();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Float64Array::from_iter_values(all().map(|b| b.0))),
        Arc::new(Float64Array::from_iter_values(all().map(|b| b.1))),
        Arc::new(Int64Array::from_iter_values(all().map(|b| b.2 as i64))),
    ];
    let buckets = StructArray::try_new(bucket_fields(), columns, None)?;
    let nulls: NullBuffer = groups.iter().map(|group| !group.is_empty()).collect();
    let offsets = OffsetBuffer::from_lengths(groups.iter().map(Vec::len));
    Ok(Arc::new(ListArray::try_new(bucket_list(), offsets, Arc::new(buckets), Some(nulls))?))
}

/// Keys and counts of groups, as two lists per group.
fn state_of(groups: &mut [Runs]) -> Result<Vec<ArrayRef>> {
    let offsets = OffsetBuffer::from_lengths(groups.iter_mut().map(|runs| runs.finish().len()).collect::<Vec<_>>());
    let mut list = |part: fn(&(u64, u64)) -> u64| -> Result<ArrayRef> {
        let values: UInt64Array = groups.iter_mut().flat_map(Runs::finish).map(part).collect::<Vec<_>>().into();
        let item = Arc::new(Field::new_list_field(DataType::UInt64, true));
        Ok(Arc::new(ListArray::try_new(item, offsets.clone(), Arc::new(values), None)?))
    };
    Ok(vec![list(|run| run.0)?, list(|run| run.1)?])
}

/// The runs of one group, from its two lists.
fn runs_of(states: &[ArrayRef], row: usize) -> impl ExactSizeIterator<Item = (u64, u64)> {
    let part = |list: &ArrayRef| list.as_list::<i32>().value(row).as_primitive::<UInt64Type>().values().clone();
    let (keys, counts) = (part(&states[0]), part(&states[1]));
    (0..keys.len()).map(move |n| (keys[n], counts[n]))
}

fn state_fields(args: &StateFieldsArgs<'_>, name: &str) -> Vec<FieldRef> {
    let list = DataType::List(Arc::new(Field::new_list_field(DataType::UInt64, true)));
    let field =
        |part: &str| Arc::new(Field::new(format_state_name(args.name, &format!("{name}_{part}")), list.clone(), true));
    vec![field("keys"), field("counts")]
}

/// Accumulates without groups, and over windows.
#[derive(Debug)]
struct One {
    work: Work,
    runs: Runs,
}

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.work.keys.read(&values[0])?.iter().flatten().for_each(|key| self.runs.push(key));
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&self.work.finish(std::slice::from_mut(&mut self.runs))?, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.runs.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let state = state_of(std::slice::from_mut(&mut self.runs))?;
        state.iter().map(|list| ScalarValue::try_from_array(list, 0)).collect()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        (0..states[0].len())
            .filter(|&row| states[0].is_valid(row))
            .for_each(|row| self.runs.merge(runs_of(states, row)));
        Ok(())
    }
}

/// Accumulates all groups at once.
#[derive(Debug)]
struct Many {
    work: Work,
    groups: Vec<Runs>,
    /// Bytes of all groups and their answers, updated as they change.
    bytes: usize,
}

impl Many {
    fn take(&mut self, emit: EmitTo) -> Vec<Runs> {
        let emitted = emit.take_needed(&mut self.groups);
        self.bytes -= emitted.iter().map(|runs| self.work.bytes(runs)).sum::<usize>();
        emitted
    }

    fn change(&mut self, group: usize, change: impl FnOnce(&mut Runs)) {
        let runs = &mut self.groups[group];
        let before = self.work.bytes(runs);
        change(runs);
        self.bytes = self.bytes + self.work.bytes(runs) - before;
    }
}

/// Whether a filter accepts a row.
pub(crate) fn passes(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

impl GroupsAccumulator for Many {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.groups.resize_with(total, Runs::default);
        let keys = self.work.keys.read(&values[0])?;
        for (row, key) in keys.iter().enumerate() {
            if let Some(key) = key.filter(|_| passes(filter, row)) {
                self.change(groups[row], |runs| runs.push(key));
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let mut groups = self.take(emit);
        self.work.finish(&mut groups)
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        state_of(&mut self.take(emit))
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.groups.resize_with(total, Runs::default);
        for (row, &group) in groups.iter().enumerate() {
            if states[0].is_valid(row) {
                self.change(group, |runs| runs.merge(runs_of(states, row)));
            }
        }
        Ok(())
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let keys = self.work.keys.read(&values[0])?;
        let mut rows: Vec<Runs> = std::iter::repeat_with(Runs::default).take(keys.len()).collect();
        for (row, key) in keys.iter().enumerate() {
            key.filter(|_| passes(filter, row)).into_iter().for_each(|key| rows[row].push(key));
        }
        state_of(&mut rows)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.groups.capacity() * size_of::<Runs>() + self.bytes
    }
}

/// The second argument, which must be constant.
fn constant(args: &AccumulatorArgs<'_>, function: &'static str) -> Result<ScalarValue> {
    if args.is_distinct {
        return Err(arguments(function, "write it without DISTINCT"));
    }
    let none = RecordBatch::new_empty(Arc::new(args.schema.clone()));
    match args.exprs[1].evaluate(&none)? {
        ColumnarValue::Scalar(value) => Ok(value),
        ColumnarValue::Array(_) => Err(arguments(function, "the second argument must be a number, not a column")),
    }
}

/// Coerces two arguments: the first to a type that has keys, the second to `second`.
fn coerced(types: &[DataType], second: DataType, function: &'static str) -> Result<Vec<DataType>> {
    let [of, given] = types else { return Err(arguments(function, "give two arguments")) };
    if !(given.is_numeric() || given.is_null()) {
        return Err(arguments(function, "the second argument must be a number"));
    }
    let of = match of {
        DataType::Null => DataType::Float64,
        decimal if decimal.is_decimal() => DataType::Float64,
        other => other.clone(),
    };
    if Keys::of(&of).is_none() {
        return Err(arguments(function, format!("x is {of}: give numbers")));
    }
    Ok(vec![of, second])
}

/// A function of the sorted values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Function {
    /// The least value such that at least the share `p` of the values do not exceed it.
    Quantile,
    /// The number of values in buckets of equal width.
    Histogram,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Ordered {
    function: Function,
    signature: Signature,
}

impl Ordered {
    pub(super) fn all() -> [Self; 2] {
        [Function::Quantile, Function::Histogram]
            .map(|function| Self { function, signature: Signature::user_defined(Volatility::Immutable) })
    }

    /// The function with its arguments, for errors.
    fn call(&self) -> &'static str {
        match self.function {
            Function::Quantile => QUANTILE,
            Function::Histogram => HISTOGRAM,
        }
    }

    fn work(&self, args: &AccumulatorArgs<'_>) -> Result<Work> {
        let of = args.expr_fields[0].data_type();
        let wrong = |reason: String| arguments(self.call(), reason);
        let (keys, given) = (Keys::of(of), || constant(args, self.call()));
        let (keys, finish) = match self.function {
            Function::Quantile => {
                let keys = keys.ok_or_else(|| wrong(format!("x is {of}: give numbers or times")))?;
                match given()? {
                    ScalarValue::Float64(Some(p)) if (0.0..=1.0).contains(&p) => (keys, Finish::Quantile(p)),
                    other => return Err(wrong(format!("p is {other}: give a number from 0 to 1"))),
                }
            }
            Function::Histogram => {
                let keys = keys.filter(|_| of.is_numeric());
                let keys = keys.ok_or_else(|| wrong(format!("x is {of}: give numbers")))?;
                match given()? {
                    ScalarValue::Int64(Some(n)) if (1..=BUCKETS_MAX as i64).contains(&n) => {
                        (keys, Finish::Histogram(n as u64))
                    }
                    other => {
                        let reason = format!("buckets is {other}: give a whole number from 1 to {BUCKETS_MAX}");
                        return Err(wrong(reason));
                    }
                }
            }
        };
        Ok(Work { keys, result: self.return_type(std::slice::from_ref(of))?, finish })
    }
}

impl AggregateUDFImpl for Ordered {
    fn name(&self) -> &'static str {
        match self.function {
            Function::Quantile => "quantile",
            Function::Histogram => "histogram",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let second = match self.function {
            Function::Quantile => DataType::Float64,
            Function::Histogram => DataType::Int64,
        };
        coerced(types, second, self.call())
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(match self.function {
            Function::Quantile => types[0].clone(),
            Function::Histogram => DataType::List(bucket_list()),
        })
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(state_fields(&args, self.name()))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(One { work: self.work(&args)?, runs: Runs::default() }))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Many { work: self.work(&args)?, groups: Vec::new(), bytes: 0 }))
    }
}
