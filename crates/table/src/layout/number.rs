//! Columns of numbers: integers, decimals of up to 18 digits, days, times in microseconds, and real numbers of 64 bits.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use pages::{Bounds, ChunkWriter, EncodedColumn, delta};
use parquet::basic::Encoding;
use parquet::errors::Result;

use super::extras::Extras;
use super::values::{Value, Values};

/// An integer of up to 32 bits, a decimal of up to 9 digits, or a day.
impl Value for i32 {
    fn bytes(self) -> impl AsRef<[u8]> {
        self.to_le_bytes()
    }

    fn bounds(values: &[Self]) -> Option<Bounds> {
        let (low, high) = (values.iter().copied().min()?, values.iter().copied().max()?);
        Some(Bounds::Integers(low.into(), high.into()))
    }
}

/// An integer of 64 bits, a decimal of up to 18 digits, or a time.
impl Value for i64 {
    fn bytes(self) -> impl AsRef<[u8]> {
        self.to_le_bytes()
    }

    fn bounds(values: &[Self]) -> Option<Bounds> {
        Some(Bounds::Integers(values.iter().copied().min()?, values.iter().copied().max()?))
    }

    fn hour(self) -> i64 {
        const HOUR_US: i64 = 3_600_000_000;
        self.div_euclid(HOUR_US)
    }
}

/// Real numbers compared at once.
const LANES: usize = 8;

/// The bits of a real number, which is not NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Real(u64);

impl Value for Real {
    fn bytes(self) -> impl AsRef<[u8]> {
        self.0.to_le_bytes()
    }

    fn bounds(values: &[Self]) -> Option<Bounds> {
        // Several at a time, because each comparison waits for the one before.
        let first = f64::from_bits(values.first()?.0);
        let (mut low, mut high) = ([first; LANES], [first; LANES]);
        let mut widen = |lane: usize, value: &Self| {
            let value = f64::from_bits(value.0);
            low[lane] = if value < low[lane] { value } else { low[lane] };
            high[lane] = if value > high[lane] { value } else { high[lane] };
        };
        let (rows, rest) = values.as_chunks::<LANES>();
        rows.iter().for_each(|row| (0..LANES).for_each(|lane| widen(lane, &row[lane])));
        rest.iter().for_each(|value| widen(0, value));
        let (low, high) = (low.into_iter().fold(first, f64::min), high.into_iter().fold(first, f64::max));
        Some(Bounds::Reals(low, high))
    }
}

pub(super) fn small_integers(parts: &[ArrayRef]) -> Values<i32> {
    fn push<N: Copy + Into<i32>>(values: &mut Values<i32>, part: &dyn Array, numbers: &[N]) {
        values.push(part, numbers.iter().map(|number| (*number).into()));
    }
    Values::of(parts, |values, part| match part.data_type() {
        DataType::Int8 => push(values, part, part.as_primitive::<Int8Type>().values()),
        DataType::Int16 => push(values, part, part.as_primitive::<Int16Type>().values()),
        DataType::Int32 => push(values, part, part.as_primitive::<Int32Type>().values()),
        DataType::Decimal128(..) => {
            let digits = part.as_primitive::<Decimal128Type>().values();
            values.push(part, digits.iter().map(|digits| *digits as i32));
        }
        _ => push(values, part, part.as_primitive::<Date32Type>().values()),
    })
}

pub(super) fn integers(parts: &[ArrayRef]) -> Values<i64> {
    Values::of(parts, |values, part| match part.data_type() {
        DataType::Int64 => values.push(part, part.as_primitive::<Int64Type>().values().iter().copied()),
        DataType::Decimal128(..) => {
            let digits = part.as_primitive::<Decimal128Type>().values();
            values.push(part, digits.iter().map(|digits| *digits as i64));
        }
        _ => values.push(part, part.as_primitive::<TimestampMicrosecondType>().values().iter().copied()),
    })
}

pub(super) fn reals(parts: &[ArrayRef]) -> Values<Real> {
    Values::of(parts, |values, part| {
        let numbers = part.as_primitive::<Float64Type>().values();
        values.push(part, numbers.iter().map(|number| Real(number.to_bits())));
    })
}

/// Encodes the differences between neighbours.
pub(super) fn encode_deltas<T: Value + delta::Integer>(
    chunk: ChunkWriter<'_>,
    values: &Values<T>,
    nullable: bool,
    extras: Extras,
) -> Result<EncodedColumn> {
    values.write(chunk, nullable, extras, &values.valid, |page, rows| {
        delta::push(page, &values.valid[rows]);
        Encoding::DELTA_BINARY_PACKED
    })
}
