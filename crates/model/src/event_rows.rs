//! Events in memory.

use world::WorldRange;

use crate::numbers::{Misfit, Number, inexact};
use crate::{EventBlock, EventColumn, EventKind, EventValues, NULL_I8, NULL_I16, NULL_I32, NULL_LABEL};

/// Events in memory: the rows of one entity for adjacent worlds.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRows {
    pub entity: usize,
    pub range: WorldRange,
    /// Rows of each world.
    pub rows: Vec<u32>,
    /// One column for each of the catalogue's event columns, in its order; empty if not requested.
    pub columns: Vec<OwnedEventValues>,
}

/// One event column in memory.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnedEventValues {
    /// Codes of words.
    Label(Vec<u8>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    /// Real numbers; 0 where `valid` is false, for NULL.
    F64 {
        values: Vec<f64>,
        valid: Option<Vec<bool>>,
    },
}

impl OwnedEventValues {
    /// A column of a kind, without rows.
    pub fn empty(kind: &EventKind) -> Self {
        match kind {
            EventKind::Label(_) => Self::Label(Vec::new()),
            EventKind::I8 => Self::I8(Vec::new()),
            EventKind::I16 => Self::I16(Vec::new()),
            EventKind::I32 => Self::I32(Vec::new()),
            EventKind::F64 => Self::F64 { values: Vec::new(), valid: None },
        }
    }

    pub fn borrow(&self) -> EventValues<'_> {
        match self {
            Self::Label(v) => EventValues::Label(v),
            Self::I8(v) => EventValues::I8(v),
            Self::I16(v) => EventValues::I16(v),
            Self::I32(v) => EventValues::I32(v),
            Self::F64 { values, valid } => EventValues::F64 { values, valid: valid.as_deref() },
        }
    }

    /// The number (or code) of a row; `None` for NULL.
    pub fn value(&self, row: usize) -> Option<f64> {
        self.borrow().value(row)
    }

    /// The integer (or code) of a row; `None` for NULL and in a column of real numbers.
    pub fn number(&self, row: usize) -> Option<i32> {
        self.borrow().number(row)
    }

    /// Appends a number, or NULL, of a model that is described at run time. Its columns of 8 bits hold flags.
    ///
    /// # Errors
    /// If `column` does not accept it. The misfit's row is 0.
    pub fn push(&mut self, column: &EventColumn, number: Option<Number>) -> Result<(), Misfit> {
        let refused = |value: String, reason: &str| Err(Misfit { row: 0, value, reason: reason.to_owned() });
        let Some(number) = number else {
            if !column.nullable {
                return refused("NULL".to_owned(), ": give a value, or declare the column nullable");
            }
            self.push_null();
            return Ok(());
        };
        if let Self::F64 { values, valid } = self {
            if let Number::Integer(integer) = number
                && let Some(misfit) = inexact(&[integer])
            {
                return Err(misfit);
            }
            values.push(number.real());
            valid.iter_mut().for_each(|valid| valid.push(true));
            return Ok(());
        }
        let integer = match number {
            Number::Integer(integer) => integer,
            Number::Real(real) if real.fract() == 0.0 => real as i64,
            Number::Real(_) => {
                return refused(number.to_string(), ", not a whole number: round it, or declare it real");
            }
        };
        match (self, &column.kind) {
            (Self::Label(codes), EventKind::Label(words)) => match u8::try_from(integer) {
                Ok(code) if usize::from(code) < words.len() => codes.push(code),
                _ => return refused(number.to_string(), &format!(", not a code from 0 to {}", words.len() as i64 - 1)),
            },
            (Self::I8(flags), _) => match integer {
                0 | 1 => flags.push(integer as i8),
                _ => return refused(number.to_string(), ", not 0 or 1"),
            },
            (Self::I16(values), _) => match i16::try_from(integer) {
                Ok(value) if value != NULL_I16 => values.push(value),
                _ => return refused(number.to_string(), ", not a number within 16 bits"),
            },
            (Self::I32(values), _) => match i32::try_from(integer) {
                Ok(value) if value != NULL_I32 => values.push(value),
                _ => return refused(number.to_string(), ", not a number within 32 bits"),
            },
            _ => return refused(number.to_string(), ", and the column is of another kind"),
        }
        Ok(())
    }

    /// Appends NULL.
    fn push_null(&mut self) {
        match self {
            Self::Label(codes) => codes.push(NULL_LABEL),
            Self::I8(values) => values.push(NULL_I8),
            Self::I16(values) => values.push(NULL_I16),
            Self::I32(values) => values.push(NULL_I32),
            Self::F64 { values, valid } => {
                valid.get_or_insert_with(|| vec![true; values.len()]).push(false);
                values.push(0.0);
            }
        }
    }

    /// The rows in another order: `order` has the place of each.
    fn ordered(&self, order: &[usize]) -> Self {
        fn of<T: Copy>(values: &[T], order: &[usize]) -> Vec<T> {
            order.iter().map(|place| values[*place]).collect()
        }
        match self {
            Self::Label(v) => Self::Label(of(v, order)),
            Self::I8(v) => Self::I8(of(v, order)),
            Self::I16(v) => Self::I16(of(v, order)),
            Self::I32(v) => Self::I32(of(v, order)),
            Self::F64 { values, valid } => {
                Self::F64 { values: of(values, order), valid: valid.as_ref().map(|valid| of(valid, order)) }
            }
        }
    }
}

impl EventRows {
    /// Orders events by world; those of one world keep their order. `places` has the place of each event's world in the
    /// range, from 0 to below its count.
    pub fn ordered(entity: usize, range: WorldRange, places: &[u32], columns: Vec<OwnedEventValues>) -> Self {
        let mut rows = vec![0; range.count()];
        places.iter().for_each(|place| rows[*place as usize] += 1);
        if places.is_sorted() {
            return Self { entity, range, rows, columns };
        }
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|row| places[*row]);
        let columns = columns.iter().map(|column| column.ordered(&order)).collect();
        Self { entity, range, rows, columns }
    }

    /// The rows as a model emits them; columns not requested are empty.
    pub fn block(&self) -> EventBlock<'_> {
        let columns = self.columns.iter().map(OwnedEventValues::borrow).collect();
        EventBlock { entity: self.entity, range: self.range, rows: &self.rows, columns }
    }
}

#[cfg(test)]
mod tests {
    use world::World;

    use super::*;

    fn column(kind: EventKind, nullable: bool) -> EventColumn {
        EventColumn { nullable, ..EventColumn::new("x", kind) }
    }

    fn words() -> EventKind {
        EventKind::Label(vec!["run".to_owned(), "pass".to_owned()])
    }

    #[test]
    fn numbers_and_null_become_what_tables_store() {
        let of = |kind: EventKind, numbers: &[Option<Number>]| {
            let column = column(kind, true);
            let mut values = OwnedEventValues::empty(&column.kind);
            numbers.iter().for_each(|number| values.push(&column, *number).unwrap());
            values
        };
        let some = |value: i64| Some(Number::Integer(value));
        assert_eq!(of(words(), &[some(1), None]), OwnedEventValues::Label(vec![1, NULL_LABEL]));
        let flags = of(EventKind::I8, &[Some(Number::Real(1.0)), None]);
        assert_eq!(flags, OwnedEventValues::I8(vec![1, NULL_I8]));
        let integers = of(EventKind::I32, &[some(-70_000), None]);
        assert_eq!(integers, OwnedEventValues::I32(vec![-70_000, NULL_I32]));
        let reals = of(EventKind::F64, &[some(2), None, Some(Number::Real(0.5))]);
        let valid = Some(vec![true, false, true]);
        assert_eq!(reals, OwnedEventValues::F64 { values: vec![2.0, 0.0, 0.5], valid });
        let without = of(EventKind::F64, &[some(2)]);
        assert_eq!(without, OwnedEventValues::F64 { values: vec![2.0], valid: None });
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let said = |kind: EventKind, number: Option<Number>| {
            let column = column(kind, false);
            let misfit = OwnedEventValues::empty(&column.kind).push(&column, number).unwrap_err();
            format!("{}{}", misfit.value, misfit.reason)
        };
        let integer = |value: i64| Some(Number::Integer(value));
        assert_eq!(said(words(), integer(2)), "2, not a code from 0 to 1");
        assert_eq!(said(EventKind::I8, integer(-1)), "-1, not 0 or 1");
        assert_eq!(said(EventKind::I16, integer(1 << 15)), "32768, not a number within 16 bits");
        assert_eq!(said(EventKind::I32, integer(i32::MIN.into())), "-2147483648, not a number within 32 bits");
        assert_eq!(said(EventKind::I32, Some(Number::Real(1e300))), "1e300, not a number within 32 bits");
        let half = said(EventKind::I32, Some(Number::Real(0.5)));
        assert_eq!(half, "0.5, not a whole number: round it, or declare it real");
        assert!(said(EventKind::I32, Some(Number::Real(f64::NAN))).starts_with("NaN, not a whole number"));
        assert!(said(EventKind::F64, integer(i64::MAX)).contains("beyond 2^53"));
        assert_eq!(said(EventKind::F64, None), "NULL: give a value, or declare the column nullable");
    }

    #[test]
    fn events_are_ordered_by_world() {
        let range = WorldRange::new(World(5), 3).unwrap();
        let columns = || {
            let valid = Some(vec![true, false, true, true]);
            vec![OwnedEventValues::I32(vec![1, 2, 3, 4]), OwnedEventValues::F64 { values: vec![0.0; 4], valid }]
        };
        let ordered = EventRows::ordered(0, range, &[2, 0, 2, 0], columns());
        assert_eq!((ordered.rows, &ordered.columns[0]), (vec![2, 0, 2], &OwnedEventValues::I32(vec![2, 4, 1, 3])));
        assert_eq!([0, 1].map(|row| ordered.columns[1].value(row)), [None, Some(0.0)]);
        let sorted = EventRows::ordered(0, range, &[0, 1, 1, 2], columns());
        assert_eq!((sorted.rows, sorted.columns), (vec![1, 2, 1], columns()));
    }
}
