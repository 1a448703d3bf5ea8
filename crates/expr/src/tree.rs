//! What was written, as a tree.

use std::cmp::Ordering;

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub node: Node,
    /// Where it begins in the text, in bytes; the operator of a comparison.
    pub at: usize,
}

/// What a part of an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// Every part holds.
    All(Vec<Expr>),
    /// At least one part holds.
    Any(Vec<Expr>),
    /// The part does not hold.
    Not(Box<Expr>),
    /// Two numbers, texts or truth values.
    Compare(Box<Expr>, Comparison, Box<Expr>),
    /// A text in which a regular expression is found, or is not.
    Match {
        /// The column.
        name: Name,
        /// The regular expression.
        pattern: String,
        /// Where its text begins, after the quote.
        pattern_at: usize,
        /// `!~`.
        negated: bool,
    },
    /// A value that is one of a list, or is not.
    In {
        /// The column.
        name: Name,
        /// Numbers, texts, truth values and NULL, some of them behind a minus.
        values: Vec<Expr>,
        /// `NOT IN`.
        negated: bool,
    },
    /// A value that is missing, or is not.
    IsNull {
        /// The column.
        name: Name,
        /// `IS NOT NULL`.
        negated: bool,
    },
    /// A set with a member, or without it.
    Has {
        /// The column.
        name: Name,
        /// The member.
        member: String,
        /// `NOT HAS`.
        negated: bool,
    },
    /// A column or an outcome.
    Name(String),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Real(f64),
    /// A text.
    Text(String),
    /// TRUE or FALSE.
    Bool(bool),
    /// NULL.
    Null,
    /// A number with the other sign.
    Negative(Box<Expr>),
    /// A number without its sign.
    Absolute(Box<Expr>),
    /// A number and what is done to it, from left to right. A chain is one node, however long: a tree of pairs would be
    /// as deep as the chain is long.
    Chain(Box<Expr>, Vec<(Operator, Expr)>),
}

/// A name, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// As it was written, without quotes.
    pub text: String,
    /// Where, in bytes.
    pub at: usize,
}

/// Two numbers to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, always of real numbers.
    Divide,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
}

/// Two values to a truth value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Expr {
    /// Whether it is true or false by its form. Names and TRUE can be conditions, too.
    pub fn is_condition(&self) -> bool {
        use Node::{All, Any, Compare, Has, In, IsNull, Match, Not};
        matches!(
            self.node,
            All(_) | Any(_) | Not(_) | Compare(..) | Match { .. } | In { .. } | IsNull { .. } | Has { .. }
        )
    }
}

impl Operator {
    /// Applies it to real numbers.
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

/// How two real numbers compare: NaN is greater than all other numbers and equal to itself, and -0 equals 0.
pub fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

impl Comparison {
    /// The one that is true where this is false.
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

    /// The same with its sides exchanged.
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

    /// Whether it holds of two values in this order.
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

    /// As SQL writes it.
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
