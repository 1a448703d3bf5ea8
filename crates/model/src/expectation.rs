//! What a value of an event column is expected to be, so that a store needs to hold only the difference.

use serde::{Deserialize, Serialize};

/// A column of the same row, or of the row before in the same world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operand {
    pub column: String,
    pub before: bool,
}

impl Operand {
    pub fn same_row(column: &str) -> Self {
        Self { column: column.to_owned(), before: false }
    }

    pub fn row_before(column: &str) -> Self {
        Self { column: column.to_owned(), before: true }
    }
}

/// A sum: a constant, and integers times a factor each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Formula {
    pub constant: i32,
    pub terms: Vec<(i32, Operand)>,
}

impl Formula {
    pub fn constant(constant: i32) -> Self {
        Self { constant, terms: Vec::new() }
    }

    #[must_use]
    pub fn plus(mut self, factor: i32, operand: Operand) -> Self {
        self.terms.push((factor, operand));
        self
    }
}

/// What a value of an integer column is expected to be. In the first row of a world it is expected to be 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectation {
    /// Chooses the formula: a column of words or of 8-bit integers.
    pub by: Option<Operand>,
    /// Formulas for some of its codes or integers.
    pub cases: Vec<(Vec<u8>, Formula)>,
    /// The formula for the others.
    pub otherwise: Formula,
}

impl Expectation {
    /// The same formula in every row.
    pub fn always(formula: Formula) -> Self {
        Self { by: None, cases: Vec::new(), otherwise: formula }
    }

    /// The formulas, [`Self::otherwise`] first.
    fn formulas(&self) -> impl Iterator<Item = &Formula> {
        std::iter::once(&self.otherwise).chain(self.cases.iter().map(|(_, formula)| formula))
    }

    /// The columns whose numbers it adds up.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &Operand> {
        self.formulas().flat_map(|formula| &formula.terms).map(|(_, operand)| operand)
    }
}
