//! Functions of times that PostgreSQL has and DataFusion lacks.

use std::str::FromStr as _;
use std::sync::Arc;

use arrow::array::timezone::Tz;
use arrow::array::types::{
    IntervalMonthDayNano, IntervalMonthDayNanoType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow::array::{ArrayRef, AsArray as _, PrimitiveArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{ArrowTimestampType, DataType, Float64Type, IntervalUnit, TimeUnit};
use arrow::error::ArrowError;
use arrow::temporal_conversions::as_datetime_with_timezone;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use datafusion::prelude::SessionContext;

use crate::error::QueryError;

/// `x AT TIME ZONE zone`, with the arguments in PostgreSQL's order: the zone, then the time.
pub(super) const AT_ZONE: &str = "timezone";
/// An interval, and the number that multiplies it.
pub(super) const TIMES_INTERVAL: &str = "multiply_interval";

const UTC: &str = "UTC";

pub(super) fn register(context: &SessionContext) {
    context.register_udf(ScalarUDF::new_from_impl(AtZone(Signature::any(2, Volatility::Stable))));
    context.register_udf(ScalarUDF::new_from_impl(TimesInterval(Signature::any(2, Volatility::Immutable))));
}

/// Fails where a value does not fit, and makes no NULL of it.
fn cast(values: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    Ok(cast_with_options(values, to, &CastOptions { safe: false, ..CastOptions::default() })?)
}

fn invalid(reason: String) -> DataFusionError {
    QueryError::Invalid { reason }.into()
}

/// A time with a zone becomes the time that clocks in another zone show; a time without becomes one with a zone.
#[derive(Debug, PartialEq, Eq, Hash)]
struct AtZone(Signature);

impl ScalarUDFImpl for AtZone {
    fn name(&self) -> &str {
        AT_ZONE
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(match &types[1] {
            DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, None),
            DataType::Timestamp(unit, None) => DataType::Timestamp(*unit, Some(UTC.into())),
            // Times in quotes have a zone, as in PostgreSQL.
            _ => DataType::Timestamp(TimeUnit::Microsecond, None),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let ColumnarValue::Scalar(zone) = &args.args[0] else {
            return Err(invalid("the time zone must be a constant".to_owned()));
        };
        let Some(name) = zone.try_as_str().flatten() else {
            return Err(invalid("the time zone must be a name, such as 'Europe/Berlin'".to_owned()));
        };
        let zone = Tz::from_str(name).map_err(|_| {
            invalid(format!("unknown time zone {name:?}: write a name such as 'Europe/Berlin', or '+02:00'"))
        })?;
        let is_scalar = matches!(args.args[1], ColumnarValue::Scalar(_));
        let times = args.args[1].to_array(args.number_rows)?;
        let moved = match times.data_type() {
            DataType::Timestamp(unit, None) => {
                let zoned = cast(&times, &DataType::Timestamp(*unit, Some(name.into())))?;
                cast(&zoned, &DataType::Timestamp(*unit, Some(UTC.into())))?
            }
            DataType::Timestamp(TimeUnit::Second, Some(_)) => shown::<TimestampSecondType>(&times, zone)?,
            DataType::Timestamp(TimeUnit::Millisecond, Some(_)) => shown::<TimestampMillisecondType>(&times, zone)?,
            DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => shown::<TimestampMicrosecondType>(&times, zone)?,
            DataType::Timestamp(TimeUnit::Nanosecond, Some(_)) => shown::<TimestampNanosecondType>(&times, zone)?,
            _ => {
                let times = cast(&times, &DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())))?;
                shown::<TimestampMicrosecondType>(&times, zone)?
            }
        };
        Ok(if is_scalar {
            ColumnarValue::Scalar(datafusion::scalar::ScalarValue::try_from_array(&moved, 0)?)
        } else {
            ColumnarValue::Array(moved)
        })
    }
}

/// The times that clocks of a zone show.
fn shown<T: ArrowTimestampType>(times: &ArrayRef, zone: Tz) -> Result<ArrayRef> {
    use arrow::temporal_conversions::{MICROSECONDS, MILLISECONDS, NANOSECONDS};
    let second = match T::UNIT {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => MILLISECONDS,
        TimeUnit::Microsecond => MICROSECONDS,
        TimeUnit::Nanosecond => NANOSECONDS,
    };
    let moved: PrimitiveArray<T> = times.as_primitive::<T>().try_unary(|time| {
        let at = as_datetime_with_timezone::<T>(time, zone);
        let ahead = at.map(|at| at.naive_local().signed_duration_since(at.naive_utc()).num_seconds());
        ahead.and_then(|ahead| time.checked_add(ahead * second)).ok_or_else(|| out_of_range("the time"))
    })?;
    Ok(Arc::new(moved))
}

fn out_of_range(what: &str) -> ArrowError {
    ArrowError::ComputeError(format!("{what} is out of range"))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct TimesInterval(Signature);

impl ScalarUDFImpl for TimesInterval {
    fn name(&self) -> &str {
        TIMES_INTERVAL
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Interval(IntervalUnit::MonthDayNano))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let intervals = cast(&arrays[0], &DataType::Interval(IntervalUnit::MonthDayNano))?;
        let numbers = cast(&arrays[1], &DataType::Float64)?;
        let (intervals, numbers) =
            (intervals.as_primitive::<IntervalMonthDayNanoType>(), numbers.as_primitive::<Float64Type>());
        let both = intervals.iter().zip(numbers.iter());
        let products = both.map(|(interval, number)| interval.zip(number).map(|(i, n)| times(i, n)).transpose());
        let products: PrimitiveArray<IntervalMonthDayNanoType> = products.collect::<Result<_, ArrowError>>()?;
        Ok(ColumnarValue::Array(Arc::new(products)))
    }
}

/// A multiple of an interval. Parts of months become days of 30 to a month, and parts of days become hours, as in
/// PostgreSQL.
fn times(interval: IntervalMonthDayNano, number: f64) -> Result<IntervalMonthDayNano, ArrowError> {
    const DAY: f64 = 86_400e9;
    /// Whole numbers below are exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let months = f64::from(interval.months) * number;
    let days = f64::from(interval.days) * number + months.fract() * 30.0;
    let nanoseconds = if number.fract() == 0.0 && number.abs() < EXACT {
        i128::from(interval.nanoseconds) * number as i128
    } else {
        (interval.nanoseconds as f64 * number).round() as i128
    };
    let nanoseconds = i64::try_from(nanoseconds + (days.fract() * DAY).round() as i128);
    let whole = |value: f64| (value.abs() <= f64::from(i32::MAX)).then_some(value.trunc() as i32);
    match (whole(months), whole(days), nanoseconds) {
        (Some(months), Some(days), Ok(nanoseconds)) => Ok(IntervalMonthDayNano::new(months, days, nanoseconds)),
        _ => Err(out_of_range("the interval")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_of_intervals_are_exact() {
        let of = |months, days, nanoseconds| IntervalMonthDayNano::new(months, days, nanoseconds);
        let second = of(0, 0, 1_000_000_000);
        assert_eq!(times(second, 1_760_000_001.0).unwrap(), of(0, 0, 1_760_000_001_000_000_000));
        assert_eq!(times(of(0, 0, 300_000_000_000), 10.0).unwrap(), of(0, 0, 3_000_000_000_000));
        assert_eq!(times(of(1, 1, 0), 1.5).unwrap(), of(1, 16, 43_200_000_000_000));
        assert_eq!(times(of(1, 2, 3), -2.0).unwrap(), of(-2, -4, -6));
        for number in [1e10, f64::NAN, f64::INFINITY] {
            assert!(times(second, number).is_err(), "{number}");
        }
    }
}
