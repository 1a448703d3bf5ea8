//! Columns as 64-bit real numbers. Values that such a number cannot hold exactly are refused.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::compute::{cast, filter};
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type, UInt64Type};

use crate::names::{Names, is_text};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Flags,
    Numbers,
    /// Texts, by their number in [`Names`].
    Texts,
}

impl Class {
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Self::Flags => "booleans",
            Self::Numbers => "numbers",
            Self::Texts => "texts",
        }
    }
}

/// Why a column cannot be imported: the reason, and the row of the value, or `None` if no value can.
pub(crate) type Refused = (Option<usize>, String);

/// Beyond this some integers have no 64-bit real number.
const INTEGER_MAX: u64 = 1 << 53;
/// A decimal of 15 digits is the nearest of its length to exactly one real number.
const DECIMAL_MAX: i128 = 1_000_000_000_000_000;

/// The words for a NULL.
pub(crate) const MISSING: &str = "the value is missing (NULL)";

/// The values of a column, one for each row.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    /// `None` if every row is NULL.
    pub(crate) class: Option<Class>,
    /// 0 in the place of each NULL; empty if every row is NULL.
    pub(crate) values: ScalarBuffer<f64>,
    pub(crate) nulls: Option<NullBuffer>,
}

impl Given {
    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

/// The values of a column, which may hold NULL if rows may lack its outcome.
pub(crate) fn values(column: &ArrayRef, texts: &mut Names, may_lack: bool) -> Result<Given, Refused> {
    let Some(nulls) = column.logical_nulls().filter(|nulls| nulls.null_count() > 0) else {
        let (class, values) = present(column, texts)?;
        return Ok(Given { class: Some(class), values, nulls: None });
    };
    if !may_lack {
        return Err(((0..nulls.len()).find(|row| nulls.is_null(*row)), MISSING.to_owned()));
    }
    if nulls.null_count() == nulls.len() {
        return Ok(Given { class: None, values: ScalarBuffer::from(Vec::new()), nulls: Some(nulls) });
    }
    let valid = BooleanArray::new(nulls.inner().clone(), None);
    let kept = filter(column, &valid).map_err(|error| (None, error.to_string()))?;
    let row_of = |place: usize| nulls.valid_indices().nth(place);
    let (class, kept) = present(&kept, texts).map_err(|(place, reason)| (place.and_then(row_of), reason))?;
    let mut values = vec![0.0; nulls.len()];
    nulls.valid_indices().zip(kept.iter()).for_each(|(row, value)| values[row] = *value);
    Ok(Given { class: Some(class), values: values.into(), nulls: Some(nulls) })
}

/// The values of a column without NULL.
fn present(column: &ArrayRef, texts: &mut Names) -> Result<(Class, ScalarBuffer<f64>), Refused> {
    match texts.of_column(column).map_err(|error| (None, error.to_string()))? {
        Some(ids) => Ok((Class::Texts, ids.into_iter().map(f64::from).collect())),
        None => numbers(column),
    }
}

/// The values of a column that holds no texts and no NULL.
pub(crate) fn numbers(column: &ArrayRef) -> Result<(Class, ScalarBuffer<f64>), Refused> {
    let as_reals = |column: &ArrayRef| {
        let reals = cast(column, &DataType::Float64).map_err(|error| (None, error.to_string()))?;
        Ok(reals.as_primitive::<Float64Type>().values().clone())
    };
    let beyond = |row: Option<usize>, value: String| match row {
        Some(row) => Err((Some(row), format!("{value} is beyond 2^53, up to which 64-bit real numbers hold integers"))),
        None => Ok(()),
    };
    match column.data_type() {
        DataType::Float64 => return Ok((Class::Numbers, column.as_primitive::<Float64Type>().values().clone())),
        DataType::Boolean => return Ok((Class::Flags, flags(column.as_boolean()))),
        DataType::Int64 => {
            let values = column.as_primitive::<Int64Type>().values();
            let row = values.iter().position(|value| value.unsigned_abs() > INTEGER_MAX);
            beyond(row, row.map_or_else(String::new, |row| values[row].to_string()))?;
        }
        DataType::UInt64 => {
            let values = column.as_primitive::<UInt64Type>().values();
            let row = values.iter().position(|value| *value > INTEGER_MAX);
            beyond(row, row.map_or_else(String::new, |row| values[row].to_string()))?;
        }
        DataType::Float16 | DataType::Float32 => {}
        of if of.is_integer() => {}
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => {
            return Ok((Class::Numbers, decimals(column, *scale)?));
        }
        DataType::Dictionary(_, of) if !is_text(of) => {
            return numbers(&cast(column, of).map_err(|error| (None, error.to_string()))?);
        }
        of => return Err((None, format!("a column of {of} holds no outcome: give numbers, booleans or texts"))),
    }
    Ok((Class::Numbers, as_reals(column)?))
}

fn flags(column: &BooleanArray) -> ScalarBuffer<f64> {
    column.values().iter().map(|flag| f64::from(u8::from(flag))).collect()
}

/// The real numbers nearest to decimals; they print with the same digits.
fn decimals(column: &ArrayRef, scale: i8) -> Result<ScalarBuffer<f64>, Refused> {
    let Some(divisor) = u32::try_from(scale).ok().filter(|scale| *scale <= 22).map(|scale| 10_f64.powi(scale as i32))
    else {
        return Err((None, format!("decimals of scale {scale} cannot be imported: give a scale from 0 to 22")));
    };
    let column = cast(column, &DataType::Decimal128(38, scale)).map_err(|error| (None, error.to_string()))?;
    // The cast makes NULL of longer ones.
    let beyond = first_null(&column);
    let values = column.as_primitive::<Decimal128Type>().values();
    match beyond.or_else(|| values.iter().position(|value| value.unsigned_abs() >= DECIMAL_MAX.unsigned_abs())) {
        Some(row) => Err((Some(row), "a decimal of more than 15 digits has no exact 64-bit real number".to_owned())),
        None => Ok(values.iter().map(|value| *value as f64 / divisor).collect()),
    }
}

pub(crate) fn first_null(column: &ArrayRef) -> Option<usize> {
    column.logical_nulls().filter(|nulls| nulls.null_count() > 0)?.iter().position(|valid| !valid)
}
