//! Columns of 64-bit numbers: integers, times in microseconds, and real numbers.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float64Type, Int64Type, TimestampMicrosecondType};
use pages::{Bounds, ChunkWriter, EncodedColumn, delta};
use parquet::basic::Encoding;
use parquet::errors::Result;

use super::extras::Extras;
use super::values::{Value, Values};

/// An integer or a time.
impl Value for i64 {
    fn bytes(self) -> impl AsRef<[u8]> {
        self.to_le_bytes()
    }

    fn bounds(values: &[Self]) -> Option<Bounds> {
        Some(Bounds::Integers(*values.iter().min()?, *values.iter().max()?))
    }
}

/// The bits of a real number, which is not NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Real(u64);

impl Value for Real {
    fn bytes(self) -> impl AsRef<[u8]> {
        self.0.to_le_bytes()
    }

    fn bounds(values: &[Self]) -> Option<Bounds> {
        let mut numbers = values.iter().map(|value| f64::from_bits(value.0));
        let first = numbers.next()?;
        let (low, high) = numbers.fold((first, first), |(low, high), v| (low.min(v), high.max(v)));
        Some(Bounds::Reals(low, high))
    }
}

pub(super) fn integers(parts: &[ArrayRef]) -> Values<i64> {
    Values::of(parts, |values, part| {
        let numbers = match part.data_type() {
            DataType::Int64 => part.as_primitive::<Int64Type>().values(),
            _ => part.as_primitive::<TimestampMicrosecondType>().values(),
        };
        values.push(part, |row| numbers[row]);
    })
}

pub(super) fn reals(parts: &[ArrayRef]) -> Values<Real> {
    Values::of(parts, |values, part| {
        let numbers = part.as_primitive::<Float64Type>().values();
        values.push(part, |row| Real(numbers[row].to_bits()));
    })
}

/// Encodes the differences between neighbours.
pub(super) fn encode_deltas(
    chunk: ChunkWriter<'_>,
    values: &Values<i64>,
    nullable: bool,
    extras: Extras,
) -> Result<EncodedColumn> {
    values.write(chunk, nullable, extras, &values.valid, |page, rows| {
        delta::push(page, &values.valid[rows]);
        Encoding::DELTA_BINARY_PACKED
    })
}
