//! Conditions and numbers over outcomes: `margin > 3.5 and total < 44.5`.
//!
//! Names in an expression are bound to the outcomes of a catalogue: `outcome`, or `entity:outcome`. A bound expression
//! is evaluated world by world, or 64 worlds per word for a plain comparison. Its values as a number are computed in
//! chunks of worlds, exactly where integers can hold them.

mod bind;
mod bits;
mod evaluate;
mod plan;
mod unit;
mod values;

pub use evaluate::BitSet;

use expr::{Comparison, Error, Operator};
use model::Catalogue;

/// One outcome of one entity, as catalogue indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OutcomeRef {
    /// Index of the entity.
    pub entity: usize,
    /// Index of the outcome within its kind.
    pub outcome: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    text: String,
    columns: Vec<OutcomeRef>,
    root: Node,
}

impl Expression {
    /// Parses `text` for `catalogue`. Outcomes without an entity belong to `entity`, if given.
    ///
    /// # Errors
    /// When the text does not follow the grammar of [`expr`], names something unknown, or compares outcomes with texts.
    pub fn parse(text: &str, catalogue: &Catalogue, entity: Option<usize>) -> Result<Self, Error> {
        bind::bind(text, catalogue, entity)
    }

    /// One outcome alone.
    pub(crate) fn of(outcome: OutcomeRef, name: &str) -> Self {
        Self { text: name.to_owned(), columns: vec![outcome], root: Node::Column(0) }
    }

    /// The outcome, if the expression is the name of one.
    pub fn outcome(&self) -> Option<OutcomeRef> {
        matches!(self.root, Node::Column(_)).then(|| self.columns[0])
    }

    /// Whether it is a condition by its form, and so 0 or 1.
    pub fn is_condition(&self) -> bool {
        matches!(self.root, Node::Compare(..) | Node::In(..) | Node::All(_) | Node::Any(_) | Node::Not(_))
    }

    /// The text as typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The outcomes it reads.
    pub fn columns(&self) -> &[OutcomeRef] {
        &self.columns
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Number(f64),
    /// An integer that a double may not hold.
    Integer(i64),
    /// Index in the expression's columns.
    Column(usize),
    Negate(Box<Node>),
    Absolute(Box<Node>),
    /// A number and the operations on it, from left to right.
    Chain(Box<Node>, Vec<(Operator, Node)>),
    Compare(Comparison, Box<Node>, Box<Node>),
    /// A column's index, and the sorted numbers that its value may equal.
    In(usize, Vec<f64>),
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod values_tests;
