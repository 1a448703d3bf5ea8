//! The syntax tree.

use std::cmp::Ordering;

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub node: Node,
    /// First byte in the text; for a comparison, that of its operator.
    pub at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// True if all parts are.
    All(Vec<Expr>),
    /// True if at least one part is.
    Any(Vec<Expr>),
    /// True if the part is false.
    Not(Box<Expr>),
    /// Compares two numbers, texts or truth values.
    Compare(Box<Expr>, Comparison, Box<Expr>),
    /// Searches a text for a regular expression.
    Match {
        name: Name,
        /// The regular expression.
        pattern: String,
        /// The pattern's first byte in the expression, after the quote.
        pattern_at: usize,
        /// `!~`.
        negated: bool,
    },
    /// Tests whether a value is in a list.
    In {
        name: Name,
        /// Numbers, texts, truth values and NULL; some are negated.
        values: Vec<Expr>,
        /// `NOT IN`.
        negated: bool,
    },
    IsNull {
        name: Name,
        /// `IS NOT NULL`.
        negated: bool,
    },
    /// Tests whether a set has a member.
    Has {
        name: Name,
        member: String,
        /// `NOT HAS`.
        negated: bool,
    },
    /// A column or an outcome.
    Name(String),
    Int(i64),
    /// A real number, or an integer beyond 64 bits.
    Real(f64),
    Text(String),
    Bool(bool),
    Null,
    Negative(Box<Expr>),
    Absolute(Box<Expr>),
    /// Operators applied to a number from left to right. One flat node: a tree of pairs would be as deep as the chain
    /// is long.
    Chain(Box<Expr>, Vec<(Operator, Expr)>),
}

/// A name and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name without quotes.
    pub text: String,
    /// Its first byte in the text.
    pub at: usize,
}

/// An operator on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    /// `/`, always on real numbers.
    Divide,
    Min,
    Max,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Expr {
    /// The name, if the expression is one.
    pub fn name(&self) -> Option<Name> {
        if let Node::Name(text) = &self.node { Some(Name { text: text.clone(), at: self.at }) } else { None }
    }

    /// Why a binder that has no conditions as numbers refuses one.
    pub const NO_NUMBER: &str = "expected a number, found a condition: here conditions do not count as 0 and 1";

    /// Whether the form alone makes this a condition. Names and TRUE can be conditions, too.
    pub fn is_condition(&self) -> bool {
        use Node::{All, Any, Compare, Has, In, IsNull, Match, Not};
        matches!(
            self.node,
            All(_) | Any(_) | Not(_) | Compare(..) | Match { .. } | In { .. } | IsNull { .. } | Has { .. }
        )
    }
}

impl Operator {
    /// Applies the operator to real numbers.
    pub fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Min => {
                if order(a, b).is_le() {
                    a
                } else {
                    b
                }
            }
            Self::Max => {
                if order(a, b).is_ge() {
                    a
                } else {
                    b
                }
            }
        }
    }
}

/// Total order of real numbers: NaN is greater than all others and equal to itself, and -0 equals 0.
pub fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

impl Comparison {
    /// The comparison that is true exactly where this one is false.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    /// The comparison with its sides exchanged.
    #[must_use]
    pub fn exchanged(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }

    /// Whether two values in this order satisfy the comparison.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }

    /// The SQL operator.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    pub(crate) fn signed(sign: &str) -> Option<Self> {
        Some(match sign {
            "=" | "==" => Self::Equal,
            "!=" | "<>" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => return None,
        })
    }
}
