//! Numbers of an answer in their places.

use model::{Misfit, Number, Outcome, Whole, inexact};

/// Where the values of a column go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slots<'a> {
    /// One after another, from this place on.
    Run(usize),
    /// A place for each value.
    Each(&'a [u32]),
}

/// The values of an outcome.
#[derive(Debug)]
pub(crate) enum Column {
    /// Numbers, flags and codes, times the scale.
    Whole(Vec<i32>),
    Real(Vec<f64>),
}

/// Stores integers.
pub(crate) fn store_integers<T: Copy + Into<i64>>(
    values: &[T],
    outcome: &Outcome,
    slots: Slots<'_>,
    column: &mut Column,
) -> Result<(), Misfit> {
    match column {
        Column::Real(into) => {
            slots.fill(into, values, |value| value.into() as f64);
            let integers: Vec<i64> = values.iter().map(|value| (*value).into()).collect();
            inexact(&integers).map_or(Ok(()), Err)
        }
        Column::Whole(into) => {
            let whole = Whole::of(outcome);
            store_whole(
                values,
                outcome,
                slots,
                into,
                move |value: T| whole.integer(value.into()),
                |value: T| Number::Integer(value.into()),
            )
        }
    }
}

/// Stores real numbers; in a column of whole numbers, those that are multiples of 1 / scale.
pub(crate) fn store_reals(
    values: &[f64],
    outcome: &Outcome,
    slots: Slots<'_>,
    column: &mut Column,
) -> Result<(), Misfit> {
    match column {
        Column::Real(into) => {
            slots.fill(into, values, |value| value);
            Ok(())
        }
        Column::Whole(into) => {
            let whole = Whole::of(outcome);
            store_whole(values, outcome, slots, into, move |value| whole.real(value), Number::Real)
        }
    }
}

/// Stores values of whole numbers, which `fit` converts.
fn store_whole<T: Copy>(
    values: &[T],
    outcome: &Outcome,
    slots: Slots<'_>,
    into: &mut [i32],
    fit: impl Fn(T) -> (i32, bool),
    number: impl Fn(T) -> Number,
) -> Result<(), Misfit> {
    let mut all_fit = true;
    slots.fill(into, values, |value| {
        let (stored, fits) = fit(value);
        all_fit &= fits;
        stored
    });
    if all_fit {
        return Ok(());
    }
    let misfit = values.iter().position(|value| !fit(*value).1);
    misfit.map_or(Ok(()), |row| Err(Whole::of(outcome).misfit(outcome, row, number(values[row]))))
}

impl Slots<'_> {
    fn fill<T: Copy, U>(self, into: &mut [U], values: &[T], mut convert: impl FnMut(T) -> U) {
        match self {
            Self::Run(first) => {
                let into = &mut into[first..first + values.len()];
                into.iter_mut().zip(values).for_each(|(into, value)| *into = convert(*value));
            }
            Self::Each(slots) => {
                slots.iter().zip(values).for_each(|(slot, value)| into[*slot as usize] = convert(*value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::OutcomeKind;

    use super::*;

    #[test]
    fn values_go_to_their_places() {
        let tenths = Outcome { scale: 10, ..Outcome::new("x", "", OutcomeKind::Number) };
        let mut column = Column::Whole(vec![0; 3]);
        store_integers(&[3i64, -4], &tenths, Slots::Each(&[2, 0]), &mut column).unwrap();
        store_reals(&[0.1 + 0.2], &tenths, Slots::Run(1), &mut column).unwrap();
        assert!(matches!(&column, Column::Whole(stored) if *stored == [-40, 3, 30]));
        let misfit = store_reals(&[1.0, 0.15], &tenths, Slots::Run(0), &mut column).unwrap_err();
        assert_eq!((misfit.row, &*misfit.value), (1, "0.15"));
        let misfit = store_integers(&[0, 214_748_365i64], &tenths, Slots::Run(0), &mut column).unwrap_err();
        assert_eq!((misfit.row, &*misfit.value), (1, "214748365"));
    }

    #[test]
    fn reals_keep_every_bit() {
        let values = [f64::NAN, -0.0, f64::MIN_POSITIVE / 2.0, f64::INFINITY];
        let mut column = Column::Real(vec![0.0; 4]);
        let real = Outcome::new("x", "", OutcomeKind::Real);
        store_reals(&values, &real, Slots::Run(0), &mut column).unwrap();
        let Column::Real(stored) = &column else { unreachable!() };
        assert_eq!(stored.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), values.map(f64::to_bits));
        let misfit = store_integers(&[1, (1i64 << 53) + 1], &real, Slots::Run(0), &mut column).unwrap_err();
        assert_eq!((misfit.row, &*misfit.value), (1, "9007199254740993"));
    }
}
