//! Event columns as differences from the values that their catalogue expects, and back.

use model::{Catalogue, EventKind, EventValues, Operand, OwnedEventValues};

/// Worlds whose rows are computed together: few enough for the caches.
const WORLDS_AT_ONCE: usize = 32;

/// The least difference in a column of 8 bits. Differences from here to 255 more take one byte in a segment.
const BYTE_MIN: i32 = -64;

/// Numbers by the code or integer that chooses among formulas.
type ByCase = [i32; 256];

/// The expectation of one column.
pub(crate) struct Expected {
    column: usize,
    kind: EventKind,
    /// The column that chooses, of the row before if true.
    by: Option<(usize, bool)>,
    constants: ByCase,
    /// The column's own value in the row before.
    own: Option<Term>,
    others: Vec<Term>,
}

/// A column, of the row before if `before`, and its factors.
struct Term {
    column: usize,
    before: bool,
    factors: ByCase,
}

/// Memory for the rows of some worlds.
#[derive(Default)]
struct Rows {
    cases: Vec<u8>,
    expected: Vec<i32>,
}

impl Expected {
    /// The expectation of a column; `None` if it has none.
    pub(crate) fn of(catalogue: &Catalogue, column: usize) -> Option<Self> {
        let expected = catalogue.events[column].expected.as_ref()?;
        let place = |operand: &Operand| Some((catalogue.event_column(&operand.column)?, operand.before));
        let mut formulas = [&expected.otherwise; 256];
        for (values, formula) in &expected.cases {
            values.iter().for_each(|value| formulas[usize::from(*value)] = formula);
        }
        let mut terms: Vec<Term> = Vec::new();
        for (case, formula) in formulas.iter().enumerate() {
            for (factor, operand) in &formula.terms {
                let (column, before) = place(operand)?;
                let known = terms.iter().position(|term| (term.column, term.before) == (column, before));
                let term = known.unwrap_or_else(|| {
                    terms.push(Term { column, before, factors: [0; 256] });
                    terms.len() - 1
                });
                terms[term].factors[case] += factor;
            }
        }
        let own = terms.iter().position(|term| term.column == column).map(|own| terms.swap_remove(own));
        Some(Self {
            column,
            kind: catalogue.events[column].kind.clone(),
            by: expected.by.as_ref().and_then(place),
            constants: formulas.map(|formula| formula.constant),
            own,
            others: terms,
        })
    }

    /// The columns that the expectation needs, besides its own.
    pub(crate) fn operands(&self) -> impl Iterator<Item = usize> {
        self.others.iter().map(|term| term.column).chain(self.by.map(|(column, _)| column))
    }

    /// The differences of the column's values from the expected ones. `rows` has the rows of each world.
    pub(crate) fn residuals(&self, columns: &[EventValues<'_>], rows: &[u32]) -> Vec<i32> {
        let values = columns[self.column];
        let mut residuals = Vec::with_capacity(values.len());
        let mut some = Rows::default();
        for worlds in rows.chunks(WORLDS_AT_ONCE) {
            let first = residuals.len();
            self.expect(self.others.iter().chain(&self.own), columns, first, worlds, &mut some);
            residuals.extend(some.expected.iter().map(|expected| expected.wrapping_neg()));
            add(&mut residuals[first..], &some.cases, values, first, |_, value| value);
        }
        match self.kind {
            EventKind::I8 => residuals.iter_mut().for_each(|r| *r = (r.wrapping_sub(BYTE_MIN) & 0xff) + BYTE_MIN),
            EventKind::I16 => residuals.iter_mut().for_each(|r| *r = i32::from(*r as i16)),
            _ => {}
        }
        residuals
    }

    /// The values, from their differences and the columns that the expectation needs; `None` if a difference does not fit
    /// the column.
    pub(crate) fn restore(
        &self,
        mut values: Vec<i32>,
        columns: &[EventValues<'_>],
        rows: &[u32],
    ) -> Option<OwnedEventValues> {
        let fits = |residual: &i32| match self.kind {
            EventKind::I8 => (BYTE_MIN..BYTE_MIN + 256).contains(residual),
            EventKind::I16 => i16::try_from(*residual).is_ok(),
            _ => true,
        };
        if !values.iter().all(fits) {
            return None;
        }
        let mut some = Rows::default();
        let mut first = 0;
        for worlds in rows.chunks(WORLDS_AT_ONCE) {
            self.expect(self.others.iter(), columns, first, worlds, &mut some);
            let values = &mut values[first..first + some.expected.len()];
            values.iter_mut().zip(&some.expected).for_each(|(value, expected)| *value = value.wrapping_add(*expected));
            if let Some(own) = &self.own {
                self.add_own(own, values, &some.cases, worlds);
            }
            first += values.len();
        }
        Some(match self.kind {
            EventKind::I8 => OwnedEventValues::I8(values.into_iter().map(|value| value as i8).collect()),
            EventKind::I16 => OwnedEventValues::I16(values.into_iter().map(|value| value as i16).collect()),
            _ => OwnedEventValues::I32(values),
        })
    }

    /// Adds to each value what the value of the row before adds to it.
    fn add_own(&self, own: &Term, values: &mut [i32], cases: &[u8], worlds: &[u32]) {
        let narrow = |value: i32| match self.kind {
            EventKind::I8 => i32::from(value as i8),
            EventKind::I16 => i32::from(value as i16),
            _ => value,
        };
        let mut row = 0;
        for count in worlds {
            let mut before = 0;
            for _ in 0..*count {
                let factor = own.factors[usize::from(cases[row])];
                before = narrow(values[row].wrapping_add(factor.wrapping_mul(before)));
                values[row] = before;
                row += 1;
            }
        }
    }

    /// What is expected in the rows of `worlds`, which begin at row `first`, from the constants and `terms`.
    fn expect<'t>(
        &self,
        terms: impl Iterator<Item = &'t Term>,
        columns: &[EventValues<'_>],
        first: usize,
        worlds: &[u32],
        some: &mut Rows,
    ) {
        let count = worlds.iter().map(|rows| *rows as usize).sum();
        let Rows { cases, expected } = some;
        cases.clear();
        cases.resize(count, 0);
        expected.clear();
        if let Some((column, before)) = self.by {
            let cases = cases.iter_mut().skip(usize::from(before));
            match columns[column] {
                EventValues::Label(codes) => cases.zip(&codes[first..]).for_each(|(case, code)| *case = *code),
                EventValues::I8(values) => cases.zip(&values[first..]).for_each(|(case, value)| *case = *value as u8),
                // Other columns are a fault of the catalogue.
                _ => {}
            }
            some.expected.extend(some.cases.iter().map(|case| self.constants[usize::from(*case)]));
        } else {
            expected.resize(count, self.constants[0]);
        }
        for term in terms {
            let back = usize::from(term.before).min(count);
            let (expected, cases, values) = (&mut some.expected[back..], &some.cases[back..], columns[term.column]);
            let factor = term.factors[0];
            match self.by {
                None => add(expected, cases, values, first, |_, value| value.wrapping_mul(factor)),
                Some(_) => add(expected, cases, values, first, |case, value| {
                    value.wrapping_mul(term.factors[usize::from(case)])
                }),
            }
        }
        let mut row = 0;
        for count in worlds.iter().filter(|count| **count > 0) {
            some.expected[row] = 0;
            row += *count as usize;
        }
    }
}

/// Adds to each sum what `of` makes of its case and a value: of row `first` to the first sum, and so on.
fn add(sums: &mut [i32], cases: &[u8], values: EventValues<'_>, first: usize, of: impl Fn(u8, i32) -> i32) {
    fn each<T: Copy + Into<i32>>(sums: &mut [i32], cases: &[u8], values: &[T], of: impl Fn(u8, i32) -> i32) {
        for ((sum, case), value) in sums.iter_mut().zip(cases).zip(values) {
            *sum = sum.wrapping_add(of(*case, (*value).into()));
        }
    }
    match values {
        EventValues::I8(values) => each(sums, cases, &values[first..], of),
        EventValues::I16(values) => each(sums, cases, &values[first..], of),
        EventValues::I32(values) => each(sums, cases, &values[first..], of),
        // Other columns are a fault of the catalogue.
        EventValues::Label(_) | EventValues::F64 { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use model::{EventColumn, Expectation, Formula, NULL_I8, NULL_LABEL};

    use super::*;

    /// `x` of each integer type, expected by the word of the row before from itself, `y` and a constant; and `y`, whose
    /// expectation is always the same.
    fn catalogue(kind: EventKind) -> Catalogue {
        let word = EventKind::Label(["a", "b"].map(str::to_owned).to_vec());
        let turned = Formula::constant(i32::MAX)
            .plus(-3, Operand::row_before("x"))
            .plus(1, Operand::same_row("y"))
            .plus(1, Operand::row_before("y"));
        let kept = Formula::default().plus(1, Operand::row_before("x"));
        let x = Expectation { by: Some(Operand::row_before("word")), cases: vec![(vec![1], turned)], otherwise: kept };
        let y = Expectation::always(Formula::constant(7).plus(2, Operand::row_before("z")));
        let events = vec![
            EventColumn { expected: Some(x), ..EventColumn::new("x", kind) },
            EventColumn { expected: Some(y), ..EventColumn::new("y", EventKind::I32) },
            EventColumn { nullable: true, ..EventColumn::new("word", word) },
            EventColumn { nullable: true, ..EventColumn::new("z", EventKind::I8) },
        ];
        Catalogue { kinds: Vec::new(), entities: Vec::new(), events }
    }

    /// Worlds with 0 to 4 rows, more than are computed together, and some numbers that reach every bit.
    fn numbers() -> (Vec<u32>, Vec<i32>) {
        let rows: Vec<u32> = (0..=3 * WORLDS_AT_ONCE as u32).map(|world| world % 5).collect();
        let count = rows.iter().sum::<u32>() as i32;
        (rows, (0..count).map(|row| row.wrapping_mul(0x9e37_79b9_u32 as i32).rotate_left(row as u32)).collect())
    }

    fn columns(kind: &EventKind, numbers: &[i32]) -> Vec<OwnedEventValues> {
        let x = match kind {
            EventKind::I8 => OwnedEventValues::I8(numbers.iter().map(|n| *n as i8).collect()),
            EventKind::I16 => OwnedEventValues::I16(numbers.iter().map(|n| *n as i16).collect()),
            _ => OwnedEventValues::I32(numbers.to_vec()),
        };
        let y = OwnedEventValues::I32(numbers.iter().rev().copied().collect());
        let words = [0, 1, NULL_LABEL].into_iter().cycle().take(numbers.len()).collect();
        let z = [1, NULL_I8, -2, 3].into_iter().cycle().take(numbers.len()).collect();
        vec![x, y, OwnedEventValues::Label(words), OwnedEventValues::I8(z)]
    }

    #[test]
    fn every_integer_is_restored() {
        for kind in [EventKind::I8, EventKind::I16, EventKind::I32] {
            let catalogue = catalogue(kind.clone());
            assert_eq!(catalogue.fault(), None);
            let (rows, numbers) = numbers();
            let columns = columns(&kind, &numbers);
            let block: Vec<EventValues<'_>> = columns.iter().map(OwnedEventValues::borrow).collect();
            for column in [0, 1] {
                let expected = Expected::of(&catalogue, column).unwrap();
                let residuals = expected.residuals(&block, &rows);
                let mut without = block.clone();
                without[column] = EventValues::Label(&[]);
                assert_eq!(expected.restore(residuals, &without, &rows).as_ref(), Some(&columns[column]), "{kind:?}");
            }
        }
    }

    #[test]
    fn residuals_are_differences_that_take_few_bits() {
        let catalogue = catalogue(EventKind::I8);
        let words = [1, 0, 1, 1];
        let (x, y, z) = ([-128, 127, -100, 0], [7, 8, -3, 7], [0, 1, -5, 0]);
        let block = [EventValues::I8(&x), EventValues::I32(&y), EventValues::Label(&words), EventValues::I8(&z)];
        let residuals = |column| Expected::of(&catalogue, column).unwrap().residuals(&block, &[1, 3]);
        // 127 is not yet expected; -100 after 127 by the word "a", and 0 is expected to be -1 + 300 + 7 - 3, modulo 256.
        let wrapped = |difference: i32| (difference + 64).rem_euclid(256) - 64;
        assert_eq!(residuals(0), [wrapped(-128), 127, wrapped(-227), wrapped(-303)]);
        assert_eq!(residuals(1), [7, 8, -3 - 7 - 2, 10]);
    }

    #[test]
    fn residuals_of_another_column_are_refused() {
        let restored = |kind, residual| {
            let catalogue = catalogue(kind);
            let block =
                [EventValues::Label(&[]), EventValues::I32(&[0]), EventValues::Label(&[0]), EventValues::I8(&[0])];
            Expected::of(&catalogue, 0).unwrap().restore(vec![residual], &block, &[1])
        };
        assert_eq!(restored(EventKind::I8, 191), Some(OwnedEventValues::I8(vec![191_u8 as i8])));
        assert_eq!([-65, 192].map(|residual| restored(EventKind::I8, residual)), [None, None]);
        assert_eq!(restored(EventKind::I16, 1 << 15), None);
    }
}
