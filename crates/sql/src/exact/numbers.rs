//! Integers of all widths in 128 bits.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray as _, PrimitiveArray};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, DecimalType as _, Int64Type, UInt64Type};
use datafusion::error::Result;

use super::arithmetic::overflow;

pub(super) type Wide = PrimitiveArray<Decimal128Type>;

/// Whether this module sums values of a type, in 128 bits.
pub(super) fn is_whole(of: &DataType) -> bool {
    of.is_integer() || matches!(of, DataType::Duration(_) | DataType::Decimal128(..))
}

/// Converts values to the type of sums.
pub(super) fn wide(values: &ArrayRef) -> Result<Wide> {
    Ok(match values.data_type() {
        DataType::Decimal128(..) => values.as_primitive::<Decimal128Type>().clone(),
        DataType::UInt64 => values.as_primitive::<UInt64Type>().unary(i128::from),
        _ => in_64_bits(values)?.as_primitive::<Int64Type>().unary(i128::from),
    })
}

fn in_64_bits(values: &ArrayRef) -> Result<ArrayRef> {
    if *values.data_type() == DataType::Int64 {
        return Ok(values.clone());
    }
    Ok(cast_with_options(values, &DataType::Int64, &CastOptions { safe: false, ..CastOptions::default() })?)
}

/// The sum and count of values.
pub(super) fn total(values: &ArrayRef) -> Result<(i128, u64)> {
    let count = (values.len() - values.null_count()) as u64;
    if let DataType::Decimal128(..) = values.data_type() {
        let mut values = values.as_primitive::<Decimal128Type>().iter().flatten();
        let sum = values.try_fold(0, i128::checked_add);
        return Ok((sum.ok_or_else(|| overflow("a sum overflows DECIMAL(38)"))?, count));
    }
    let nulls = values.nulls().filter(|nulls| nulls.null_count() > 0);
    let runs = |sum: &dyn Fn(usize, usize) -> i128, all: usize| match nulls {
        Some(nulls) => nulls.valid_slices().map(|(from, to)| sum(from, to)).sum(),
        None => sum(0, all),
    };
    let sum = if *values.data_type() == DataType::UInt64 {
        let values = values.as_primitive::<UInt64Type>().values();
        runs(&|from, to| sum_of(&values[from..to], |v| v) as i128, values.len())
    } else {
        const SIGN: u64 = 1 << 63;
        let values = in_64_bits(values)?;
        let values = values.as_primitive::<Int64Type>().values();
        // Shift by 2^63, so that both halves are unsigned.
        let moved = |values: &[i64]| sum_of(values, |v| v as u64 ^ SIGN) as i128 - values.len() as i128 * SIGN as i128;
        runs(&|from, to| moved(&values[from..to]), values.len())
    };
    Ok((sum, count))
}

/// Sums 32-bit halves. No batch is long enough to overflow 64 bits, and the loop vectorizes.
fn sum_of<T: Copy>(values: &[T], bits: impl Fn(T) -> u64) -> u128 {
    let sum = |chunk: &[T]| {
        let (low, high) = chunk.iter().fold((0_u64, 0_u64), |(low, high), &value| {
            let bits = bits(value);
            (low + (bits & 0xffff_ffff), high + (bits >> 32))
        });
        u128::from(low) + (u128::from(high) << 32)
    };
    values.chunks(1 << 30).map(sum).sum()
}

/// Converts sums to the type of the answer.
pub(super) fn narrow(sums: Wide, to: &DataType) -> Result<ArrayRef> {
    let check = |fits: &dyn Fn(i128) -> bool| match sums.iter().flatten().find(|&sum| !fits(sum)) {
        Some(sum) if sum == POISON => Err(overflow("a sum overflows 128 bits")),
        Some(sum) => Err(overflow(&format!("the sum {sum} overflows {to}"))),
        None => Ok(()),
    };
    match *to {
        DataType::Decimal128(precision, scale) => {
            check(&|sum| Decimal128Type::validate_decimal_precision(sum, precision, scale).is_ok())?;
            Ok(Arc::new(sums.with_precision_and_scale(precision, scale)?))
        }
        DataType::UInt64 => {
            check(&|sum| u64::try_from(sum).is_ok())?;
            Ok(Arc::new(sums.unary::<_, UInt64Type>(|sum| sum as u64)))
        }
        _ => {
            check(&|sum| i64::try_from(sum).is_ok())?;
            let sums: ArrayRef = Arc::new(sums.unary::<_, Int64Type>(|sum| sum as i64));
            Ok(cast_with_options(&sums, to, &CastOptions::default())?)
        }
    }
}

/// Marks a sum that exceeded 128 bits; valid decimals are smaller.
pub(super) const POISON: i128 = i128::MAX;

/// Adds; a sum that exceeds 128 bits stays [`POISON`].
pub(super) fn add(sum: &mut i128, value: i128) {
    *sum = match sum.checked_add(value) {
        Some(added) if *sum != POISON && value != POISON => added,
        _ => POISON,
    };
}
