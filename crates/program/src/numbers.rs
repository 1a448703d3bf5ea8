//! Numbers of an answer, checked against their outcome and stored as tables store them.

use model::{Outcome, OutcomeKind};

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

/// A value that its outcome does not accept: its position, and why.
#[derive(Debug, PartialEq)]
pub(crate) struct Misfit {
    pub(crate) row: usize,
    pub(crate) reason: String,
}

/// Stores integers.
pub(crate) fn store_integers<T: Copy + Into<i64>>(
    values: &[T],
    outcome: &Outcome,
    slots: Slots<'_>,
    column: &mut Column,
) -> Result<(), Misfit> {
    let into = match column {
        Column::Real(into) => {
            slots.fill(into, values, |value| value.into() as f64);
            return Ok(());
        }
        Column::Whole(into) => into,
    };
    let scale = i64::from(outcome.scale);
    let [low, high] = bounds(outcome).map(|bound| bound / scale);
    let mut fits = true;
    slots.fill(into, values, |value| {
        let value = value.into();
        fits &= low <= value && value <= high;
        value.wrapping_mul(scale) as i32
    });
    if fits {
        return Ok(());
    }
    let beyond = |value: i64| value < low || high < value;
    let misfit = values.iter().position(|value| beyond((*value).into()));
    misfit.map_or(Ok(()), |row| Err(Misfit { row, reason: refused(outcome, values[row].into()) }))
}

/// Stores real numbers; in a column of whole numbers, those that are multiples of 1 / scale.
pub(crate) fn store_reals(
    values: &[f64],
    outcome: &Outcome,
    slots: Slots<'_>,
    column: &mut Column,
) -> Result<(), Misfit> {
    let into = match column {
        Column::Real(into) => {
            slots.fill(into, values, |value| value);
            return Ok(());
        }
        Column::Whole(into) => into,
    };
    let scale = f64::from(outcome.scale);
    let [low, high] = bounds(outcome);
    // Most values are exact, and this loop has no branches.
    let mut fits = true;
    slots.fill(into, values, |value| {
        let whole = (value * scale) as i32;
        fits &= f64::from(whole) == value * scale && low <= i64::from(whole) && i64::from(whole) <= high;
        whole
    });
    if fits {
        return Ok(());
    }
    let rounded = |value: f64| {
        let whole = (value * scale).round_ties_even();
        let fits = (value * scale - whole).abs() <= ERROR_MAX && low as f64 <= whole && whole <= high as f64;
        fits.then_some(whole as i32)
    };
    if let Some(row) = values.iter().position(|value| rounded(*value).is_none()) {
        return Err(Misfit { row, reason: refused(outcome, values[row]) });
    }
    slots.fill(into, values, |value| rounded(value).unwrap_or_default());
    Ok(())
}

/// The largest error, in units of 1 / scale, that arithmetic may leave.
const ERROR_MAX: f64 = 1e-6;

/// The smallest and the largest stored integer.
fn bounds(outcome: &Outcome) -> [i64; 2] {
    match outcome.kind {
        OutcomeKind::Flag => [0, 1],
        OutcomeKind::Code if !outcome.labels.is_empty() => [0, outcome.labels.len() as i64 - 1],
        _ => [-i64::from(i32::MAX), i64::from(i32::MAX)],
    }
}

fn refused(outcome: &Outcome, value: impl std::fmt::Display) -> String {
    let name = &outcome.name;
    let [low, high] = bounds(outcome).map(|bound| bound / i64::from(outcome.scale));
    match (outcome.kind, outcome.scale) {
        (OutcomeKind::Flag, _) => format!("{name} is {value}: a flag is 0 or 1"),
        (OutcomeKind::Code, _) => format!("{name} is {value}: a code is a whole number from {low} to {high}"),
        (_, 1) => format!("{name} is {value}, not a whole number from {low} to {high}: round it, or declare it real"),
        (_, scale) => {
            format!("{name} is {value}, not a multiple of 1/{scale} from {low} to {high}: round it, or declare it real")
        }
    }
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
    use super::*;

    fn outcome(kind: OutcomeKind, scale: i32, labels: &[&str]) -> Outcome {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Outcome { name: "x".to_owned(), unit: String::new(), kind, scale, labels }
    }

    fn whole(values: &[f64], outcome: &Outcome) -> Result<Vec<i32>, Misfit> {
        let mut column = Column::Whole(vec![0; values.len()]);
        store_reals(values, outcome, Slots::Run(0), &mut column)?;
        let Column::Whole(stored) = column else { unreachable!() };
        Ok(stored)
    }

    #[test]
    fn multiples_of_the_scale_are_whole() {
        let tenths = outcome(OutcomeKind::Number, 10, &[]);
        assert_eq!(whole(&[0.1, -2.0, 0.1 + 0.2], &tenths).unwrap(), [1, -20, 3]);
        let refused = whole(&[1.0, 0.15], &tenths).unwrap_err();
        assert_eq!((refused.row, refused.reason.starts_with("x is 0.15, not a multiple of 1/10")), (1, true));
        for bad in [f64::NAN, f64::INFINITY, 3e9, 0.5, i32::MIN.into()] {
            assert_eq!(whole(&[0.0, bad], &outcome(OutcomeKind::Number, 1, &[])).unwrap_err().row, 1, "{bad}");
        }
    }

    #[test]
    fn integers_stay_within_their_kind() {
        let check = |values: &[i64], outcome: &Outcome| {
            let mut column = Column::Whole(vec![0; values.len()]);
            store_integers(values, outcome, Slots::Each(&[1, 0]), &mut column).map(|()| column)
        };
        let tenths = outcome(OutcomeKind::Number, 10, &[]);
        assert!(matches!(check(&[3, -4], &tenths), Ok(Column::Whole(stored)) if stored == [-40, 30]));
        for (value, outcome) in [
            (2, outcome(OutcomeKind::Flag, 1, &[])),
            (-1, outcome(OutcomeKind::Code, 1, &["a", "b"])),
            (2, outcome(OutcomeKind::Code, 1, &["a", "b"])),
            (i64::MAX, outcome(OutcomeKind::Number, 1, &[])),
            (214_748_365, tenths.clone()),
        ] {
            let refused = check(&[1, value], &outcome).map(|_| ()).unwrap_err();
            assert!(refused.row == 1 && refused.reason.contains(&value.to_string()), "{refused:?}");
        }
        assert!(check(&[1, 214_748_364], &tenths).is_ok());
    }

    #[test]
    fn reals_keep_every_bit() {
        let values = [f64::NAN, -0.0, f64::MIN_POSITIVE / 2.0, f64::INFINITY];
        let mut column = Column::Real(vec![0.0; 4]);
        store_reals(&values, &outcome(OutcomeKind::Real, 1, &[]), Slots::Run(0), &mut column).unwrap();
        let Column::Real(stored) = column else { unreachable!() };
        assert_eq!(stored.map_bits(), values.to_vec().map_bits());
    }

    trait MapBits {
        fn map_bits(&self) -> Vec<u64>;
    }

    impl MapBits for Vec<f64> {
        fn map_bits(&self) -> Vec<u64> {
            self.iter().map(|value| value.to_bits()).collect()
        }
    }
}
