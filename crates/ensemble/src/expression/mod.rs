//! Conditions and numbers over outcomes: `home_margin > 3.5 and total_points < 44.5`.
//!
//! An expression is parsed against a catalogue, so that a misspelt outcome is told with its nearest names, and then
//! evaluated world by world, or 64 worlds a word where it is a plain comparison.
//!
//! ```text
//! condition  = condition ("or" condition | "and" condition) | "not" condition | sum (("<"|"<="|">"|">="|"="|"!=") sum)?
//! sum        = sum ("+"|"-"|"*"|"/") sum | "-" sum | number | outcome | "abs(" sum ")" | "min(" sum "," sum ")" | "(" ... ")"
//! outcome    = name | entity ":" name
//! ```

mod evaluate;
mod parse;
mod token;

pub use evaluate::BitSet;
pub use parse::ExpressionError;

use model::Catalogue;

/// One outcome of one entity, by their places in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OutcomeRef {
    /// Place of the entity.
    pub entity: usize,
    /// Place of the outcome among its kind's.
    pub outcome: usize,
}

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    text: String,
    columns: Vec<OutcomeRef>,
    root: Node,
}

impl Expression {
    /// Parses `text`; outcome names without an entity belong to `entity`, where one is given.
    pub fn parse(text: &str, catalogue: &Catalogue, entity: Option<usize>) -> Result<Self, ExpressionError> {
        parse::parse(text, catalogue, entity)
    }

    /// As it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The outcomes it reads.
    pub fn columns(&self) -> &[OutcomeRef] {
        &self.columns
    }
}

/// Two numbers to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Min,
    Max,
}

/// Two numbers to a truth value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Number(f64),
    /// Place in the expression's columns.
    Column(usize),
    Negate(Box<Node>),
    Absolute(Box<Node>),
    /// A number and what is done to it, from left to right. A chain is one node, however long: a tree of pairs would be
    /// as deep as the chain is long.
    Chain(Box<Node>, Vec<(Arithmetic, Node)>),
    Compare(Comparison, Box<Node>, Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
}

#[cfg(test)]
mod tests;
