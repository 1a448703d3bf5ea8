//! The expectations of a catalogue's event columns.

use super::{Catalogue, EventColumn, EventKind};
use crate::{Expectation, Operand};

impl EventColumn {
    /// The column that holds differences from the expected values.
    pub fn residual_name(&self) -> String {
        format!("{}_residual", self.name)
    }
}

impl Catalogue {
    /// Whether a value of some column is expected.
    pub fn has_expectations(&self) -> bool {
        self.events.iter().any(|column| column.expected.is_some())
    }

    #[must_use]
    pub fn without_expectations(mut self) -> Self {
        self.events.iter_mut().for_each(|column| column.expected = None);
        self
    }

    /// The event columns in an order in which each follows those that it is expected from; `None` if some are expected
    /// from each other.
    pub fn restoring_order(&self) -> Option<Vec<usize>> {
        let mut order: Vec<usize> = Vec::with_capacity(self.events.len());
        while order.len() < self.events.len() {
            let is_known = |column: &str| order.iter().any(|&known| self.events[known].name == column);
            let is_next = |(place, column): &(usize, &EventColumn)| {
                let is_own = |operand: &&Operand| operand.before && operand.column == column.name;
                let operands = |expected: &Expectation| {
                    let others = expected.terms().filter(|operand| !is_own(operand));
                    others.chain(&expected.by).all(|operand| is_known(&operand.column))
                };
                !order.contains(place) && column.expected.as_ref().is_none_or(operands)
            };
            let next: Vec<usize> = self.events.iter().enumerate().filter(is_next).map(|(place, _)| place).collect();
            if next.is_empty() {
                return None;
            }
            order.extend(next);
        }
        Some(order)
    }

    /// Says why its expectations cannot be used; `None` if they can.
    pub(super) fn fault_of_expectations(&self) -> Option<String> {
        let kind_of = |operand: &Operand| self.event_column(&operand.column).map(|place| &self.events[place].kind);
        let found = self.events.iter().find_map(|column| {
            let expected = column.expected.as_ref()?;
            let is_integer = |kind| matches!(kind, &EventKind::I8 | &EventKind::I16 | &EventKind::I32);
            let no_term = || expected.terms().find(|operand| !kind_of(operand).is_some_and(is_integer));
            let no_choice =
                || expected.by.iter().find(|o| !matches!(kind_of(o), Some(EventKind::Label(_) | EventKind::I8)));
            let reason = if column.nullable || !is_integer(&column.kind) {
                "it holds values that are not integers".to_owned()
            } else if self.event_column(&column.residual_name()).is_some() {
                format!("there is another column {:?}", column.residual_name())
            } else if let Some(operand) = no_term() {
                format!("{:?} is not a column of integers", operand.column)
            } else if let Some(operand) = no_choice() {
                format!("{:?} is not a column of words or 8-bit integers", operand.column)
            } else {
                return None;
            };
            Some(format!("event column {:?} cannot be expected: {reason}", column.name))
        });
        let circular = || Some("event columns are expected from each other".to_owned());
        found.or_else(|| if self.restoring_order().is_none() { circular() } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Formula;

    fn catalogue(expected: Expectation) -> Catalogue {
        let words = EventKind::Label(vec!["a".to_owned()]);
        let column = EventColumn::new;
        let events = vec![
            EventColumn { expected: Some(expected), ..column("x", EventKind::I8) },
            EventColumn { expected: Some(Expectation::always(plus("x"))), ..column("y", EventKind::I16) },
            column("word", words),
            column("wide", EventKind::I16),
            column("real", EventKind::F64),
        ];
        Catalogue { kinds: Vec::new(), entities: Vec::new(), events }
    }

    fn plus(column: &str) -> Formula {
        Formula::constant(1).plus(1, Operand::same_row(column))
    }

    fn by(column: &str, before: bool, formula: Formula) -> Expectation {
        let by = Some(Operand { column: column.to_owned(), before });
        Expectation { by, cases: vec![(vec![0], formula)], otherwise: Formula::default() }
    }

    #[test]
    fn columns_follow_those_they_are_expected_from() {
        let good = catalogue(by("word", true, plus("wide").plus(-2, Operand::row_before("x"))));
        assert_eq!(good.fault(), None);
        assert_eq!(good.restoring_order(), Some(vec![2, 3, 4, 0, 1]));
        assert!(good.has_expectations() && !good.clone().without_expectations().has_expectations());
    }

    #[test]
    fn faulty_expectations_are_refused() {
        let cannot = |reason: &str| format!("event column \"x\" cannot be expected: {reason}");
        let always = |column: &str| Expectation::always(plus(column));
        let is_circular = "event columns are expected from each other".to_owned();
        for (expected, fault) in [
            (always("z"), cannot("\"z\" is not a column of integers")),
            (always("word"), cannot("\"word\" is not a column of integers")),
            (always("real"), cannot("\"real\" is not a column of integers")),
            (by("wide", true, plus("wide")), cannot("\"wide\" is not a column of words or 8-bit integers")),
            (by("z", true, plus("wide")), cannot("\"z\" is not a column of words or 8-bit integers")),
            (always("x"), is_circular.clone()),
            (always("y"), is_circular.clone()),
            (by("x", false, plus("wide")), is_circular),
        ] {
            assert_eq!(catalogue(expected).fault(), Some(fault));
        }
        let mut catalogue = catalogue(always("wide"));
        catalogue.events[3].name = "x_residual".to_owned();
        catalogue.events[0].expected = Some(always("y"));
        assert_eq!(catalogue.fault(), Some(cannot("there is another column \"x_residual\"")));
        catalogue.events[3].name = "wide".to_owned();
        catalogue.events[0].nullable = true;
        assert_eq!(catalogue.fault(), Some(cannot("it holds values that are not integers")));
    }
}
