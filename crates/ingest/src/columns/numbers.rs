//! Integers and real numbers in one column, without changing any value.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array};
use arrow::compute::kernels::cmp::not_distinct;
use arrow::compute::{cast, not, nullif};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use arrow::error::ArrowError;
use decode::{is_exact_as_float, whole};

use super::{Columns, is_same, word};

/// The kind of integers in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integers {
    /// All can become real numbers.
    Exact,
    /// Some are past 2^53, where real numbers are more than 1 apart.
    Large,
    /// Those seen can; those in segments still need a look.
    Unknown,
}

/// How incoming values fit a column.
pub(super) enum Meeting {
    /// All fit, cast to its type.
    All(ArrayRef),
    /// All fit once the column holds real numbers.
    Widens,
    /// Some fit; each side is NULL where the other has a value.
    Some {
        /// Values of the column's type.
        fit: ArrayRef,
        /// Values as they came.
        rest: ArrayRef,
        reason: String,
    },
    /// None fits, and why.
    None(String),
}

impl Columns {
    /// How values of the type `sent` fit the column at `place`.
    pub(super) fn meet(&mut self, place: usize, column: &ArrayRef, sent: &DataType) -> Result<Meeting, ArrowError> {
        let have = self.schema.field(place).data_type().clone();
        match (&have, sent) {
            (have, sent) if is_same(have, sent) => Ok(Meeting::All(column.clone())),
            (DataType::Float64, DataType::Int64) => {
                let values = column.as_primitive::<Int64Type>();
                let fits = BooleanArray::from_unary(values, is_exact_as_float);
                let reason = "holds real numbers, and integers past 2^53 came, which would change among them";
                split(&cast(column, &DataType::Float64)?, column, &fits, reason)
            }
            (DataType::Int64, DataType::Float64) if self.can_widen(place) => Ok(Meeting::Widens),
            (DataType::Int64, DataType::Float64) => {
                let values: Vec<Option<i64>> =
                    column.as_primitive::<Float64Type>().iter().map(|value| whole(value?)).collect();
                let integers: ArrayRef = Arc::new(Int64Array::from(values));
                let fits = arrow::compute::is_not_null(&integers)?;
                let reason = "holds integers past 2^53, and real numbers came, among which they would change";
                split(&integers, column, &fits, reason)
            }
            // The type of a column by other writers is not always known.
            (DataType::Null, _) => Ok(Meeting::All(column.clone())),
            (have, sent) => {
                let reason = format!("holds {}, and {} came", word(have), word(sent));
                let is_date = (have, sent) == (&DataType::Date32, &DataType::Utf8);
                let is_number = have.is_numeric() && sent.is_numeric();
                if !(is_date || is_number) {
                    return Ok(Meeting::None(reason));
                }
                // A failed cast yields NULL, which `split` detects.
                let new = cast(column, have)?;
                let fits = not_distinct(&cast(&new, sent)?, column)?;
                split(&new, column, &fits, &reason)
            }
        }
    }

    /// Whether every integer of the column at `place` can become a real number.
    fn can_widen(&mut self, place: usize) -> bool {
        if self.integers[place] == Integers::Unknown {
            let column = self.schema.field(place).name();
            let is_exact = self.stored.as_ref().is_some_and(|stored| stored.holds_only_exact(column));
            self.integers[place] = if is_exact { Integers::Exact } else { Integers::Large };
            self.changes += 1;
        }
        self.integers[place] == Integers::Exact
    }
}

/// Separates values that fit, in their new form, from the others in the old one.
fn split(new: &ArrayRef, old: &ArrayRef, fits: &BooleanArray, reason: &str) -> Result<Meeting, ArrowError> {
    let rest = nullif(old, fits)?;
    if rest.null_count() == rest.len() {
        return Ok(Meeting::All(new.clone()));
    }
    Ok(Meeting::Some { fit: nullif(new, &not(fits)?)?, rest, reason: reason.to_owned() })
}

pub(super) fn hold_only_exact(column: &ArrayRef) -> bool {
    let values = column.as_primitive::<Int64Type>();
    // Values under NULL are arbitrary: check for NULL only if all else fits.
    values.values().iter().all(|value| is_exact_as_float(*value)) || values.iter().flatten().all(is_exact_as_float)
}

/// Integers as real numbers.
///
/// # Errors
/// When one would change.
pub(super) fn exact_reals(column: &ArrayRef, name: &str) -> Result<ArrayRef, ArrowError> {
    if hold_only_exact(column) {
        return cast(column, &DataType::Float64);
    }
    Err(ArrowError::ComputeError(format!(
        "column {name:?} holds integers past 2^53, which real numbers cannot represent"
    )))
}
