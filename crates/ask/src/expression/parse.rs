//! Reads a condition.

use expr::{Budget, TooLarge};

use super::lex::{Token, What, lex};
use crate::error::AskError;

/// A condition as it was written; `at` is where, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Compare { left: Operand, comparison: Comparison, right: Operand, at: usize },
    Match { column: Name, pattern: String, pattern_at: usize, negated: bool },
    In { column: Name, values: Vec<Operand>, negated: bool },
    IsNull { column: Name, negated: bool },
    Has { column: Name, member: String, negated: bool },
    Holds(Name),
    Constant(bool),
}

/// A column's name, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Name {
    pub(crate) name: String,
    pub(crate) at: usize,
}

/// What can be compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Column(Name),
    Int(i64),
    Real(f64),
    Text(String, usize),
    Bool(bool),
    Null,
    Negative(Box<Self>),
    /// A number and what is done to it, from left to right, with the place of each operator. A chain is one node, however
    /// long: a tree of pairs would be as deep as the chain is long.
    Chain(Box<Self>, Vec<(Operator, Self, usize)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    pub(crate) fn sign(self) -> char {
        match self {
            Self::Add => '+',
            Self::Subtract => '-',
            Self::Multiply => '*',
            Self::Divide => '/',
        }
    }
}

impl Comparison {
    /// What is true where this is not.
    pub(crate) fn negated(self) -> Self {
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
    pub(crate) fn exchanged(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }

    /// Whether it holds of two values in this order.
    pub(crate) fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }

    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    fn of(sign: &str) -> Option<Self> {
        Some(match sign {
            "=" => Self::Equal,
            "!=" | "<>" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => return None,
        })
    }
}

const WORDS: [&str; 9] = ["AND", "OR", "NOT", "IN", "IS", "NULL", "HAS", "TRUE", "FALSE"];

/// Reads a condition. `what` names the part of the question for errors.
pub(crate) fn parse(text: &str, what: &'static str) -> Result<Expr, AskError> {
    let fail = |(at, reason): (usize, String)| AskError::Text { what, text: text.to_owned(), at, reason };
    let budget = Budget::new(text).map_err(|error| fail((0, error.to_string())))?;
    let mut parser = Parser { tokens: lex(text).map_err(fail)?, at: 0, budget };
    let expr = parser.any().map_err(fail)?;
    match parser.peek() {
        What::End => Ok(expr),
        _ => Err(fail((parser.position(), "nothing more is expected here but AND or OR".to_owned()))),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    budget: Budget,
}

type Parsed<T> = Result<T, (usize, String)>;

impl Parser {
    fn peek(&self) -> &What {
        &self.tokens[self.at].what
    }

    fn position(&self) -> usize {
        self.tokens[self.at].at
    }

    fn fail<T>(&self, reason: &str) -> Parsed<T> {
        Err((self.position(), reason.to_owned()))
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn is_word(&self, ahead: usize, word: &str) -> bool {
        let token = self.tokens.get(self.at + ahead);
        matches!(token.map(|t| &t.what), Some(What::Word(found)) if found.eq_ignore_ascii_case(word))
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(0, word);
        if found {
            self.advance();
        }
        found
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), What::Sign(s) if *s == sign);
        if found {
            self.advance();
        }
        found
    }

    /// What the budget answers, with the place.
    fn allowed(&self, answer: Result<(), TooLarge>) -> Parsed<()> {
        answer.map_err(|error| (self.position(), error.to_string()))
    }

    fn node(&mut self) -> Parsed<()> {
        let answer = self.budget.node();
        self.allowed(answer)
    }

    /// Goes one level deeper for `part`.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.node()?;
        let answer = self.budget.enter();
        self.allowed(answer)?;
        let done = part(self)?;
        self.budget.leave();
        Ok(done)
    }

    fn any(&mut self) -> Parsed<Expr> {
        let mut parts = vec![self.all()?];
        while self.word("OR") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Any(parts) })
    }

    fn all(&mut self) -> Parsed<Expr> {
        let mut parts = vec![self.factor()?];
        while self.word("AND") {
            parts.push(self.factor()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::All(parts) })
    }

    fn factor(&mut self) -> Parsed<Expr> {
        if self.word("NOT") {
            return Ok(Expr::Not(Box::new(self.nested(Self::factor)?)));
        }
        if self.opens_condition() {
            self.advance();
            let inner = self.nested(Self::any)?;
            return if self.sign(")") { Ok(inner) } else { self.fail("a ) is missing") };
        }
        self.test()
    }

    /// Whether the parenthesis here holds a condition rather than a number: what follows its end tells.
    fn opens_condition(&self) -> bool {
        if *self.peek() != What::Sign("(") {
            return false;
        }
        let mut depth = 0;
        for token in &self.tokens[self.at..] {
            match &token.what {
                What::Sign("(") => depth += 1,
                What::Sign(")") => depth -= 1,
                What::Sign("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=" | "~" | "!~") => return true,
                What::Word(w) if WORDS.iter().any(|word| w.eq_ignore_ascii_case(word)) && w != "NULL" => return true,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        // Without a test inside it is a number in parentheses, or a column that holds truths.
        let mut depth = 0;
        let mut rest = self.tokens[self.at..].iter().skip_while(|token| {
            match token.what {
                What::Sign("(") => depth += 1,
                What::Sign(")") => depth -= 1,
                _ => {}
            }
            depth > 0
        });
        let after = rest.nth(1).map(|t| &t.what);
        matches!(after, None | Some(What::End | What::Word(_) | What::Sign(")")))
    }

    fn test(&mut self) -> Parsed<Expr> {
        self.node()?;
        let at = self.position();
        let left = self.sum()?;
        if let What::Sign(sign) = *self.peek() {
            if let Some(comparison) = Comparison::of(sign) {
                let at = self.position();
                self.advance();
                let right = self.sum()?;
                return Ok(Expr::Compare { left, comparison, right, at });
            }
            if sign == "~" || sign == "!~" {
                let column = named(left, at)?;
                self.advance();
                let (pattern, pattern_at) = self.text("a pattern in single quotes is expected here")?;
                return Ok(Expr::Match { column, pattern, pattern_at, negated: sign == "!~" });
            }
        }
        if self.word("IS") {
            let negated = self.word("NOT");
            if !self.word("NULL") {
                return self.fail("NULL is expected here");
            }
            return Ok(Expr::IsNull { column: named(left, at)?, negated });
        }
        let negated = (self.is_word(1, "IN") || self.is_word(1, "HAS")) && self.word("NOT");
        if self.word("IN") {
            return Ok(Expr::In { column: named(left, at)?, values: self.list()?, negated });
        }
        if self.word("HAS") {
            let (member, _) = self.text("a member in single quotes is expected here")?;
            return Ok(Expr::Has { column: named(left, at)?, member, negated });
        }
        match left {
            Operand::Bool(value) => Ok(Expr::Constant(value)),
            Operand::Column(name) if matches!(self.peek(), What::End | What::Word(_) | What::Sign(")")) => {
                Ok(Expr::Holds(name))
            }
            _ => self.fail("a comparison is expected here: = != < <= > >= ~ !~ IN, IS NULL or HAS"),
        }
    }

    fn text(&mut self, expected: &str) -> Parsed<(String, usize)> {
        let at = self.position();
        let What::Text(text) = self.peek().clone() else { return self.fail(expected) };
        self.advance();
        Ok((text, at))
    }

    fn list(&mut self) -> Parsed<Vec<Operand>> {
        if !self.sign("(") {
            return self.fail("a list of values in parentheses is expected here");
        }
        let mut values = Vec::new();
        loop {
            values.push(self.atom()?);
            if self.sign(")") {
                return Ok(values);
            }
            if !self.sign(",") {
                return self.fail("a , or a ) is expected here");
            }
        }
    }

    fn sum(&mut self) -> Parsed<Operand> {
        self.chain(&[("+", Operator::Add), ("-", Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Parsed<Operand> {
        self.chain(&[("*", Operator::Multiply), ("/", Operator::Divide)], Self::atom)
    }

    /// One or more operands with operators between them.
    fn chain(&mut self, operators: &[(&str, Operator)], part: fn(&mut Self) -> Parsed<Operand>) -> Parsed<Operand> {
        let first = part(self)?;
        let mut rest = Vec::new();
        loop {
            let at = self.position();
            let Some((_, operator)) = operators.iter().find(|(sign, _)| self.sign(sign)) else { break };
            self.node()?;
            rest.push((*operator, part(self)?, at));
        }
        Ok(if rest.is_empty() { first } else { Operand::Chain(Box::new(first), rest) })
    }

    fn atom(&mut self) -> Parsed<Operand> {
        let at = self.position();
        let operand = match self.peek().clone() {
            What::Int(value) => Operand::Int(value),
            What::Real(value) => Operand::Real(value),
            What::Text(text) => Operand::Text(text, at),
            What::Quoted(name) => Operand::Column(Name { name, at }),
            What::Sign("-") => {
                self.advance();
                return Ok(match self.nested(Self::atom)? {
                    Operand::Int(value) => Operand::Int(-value),
                    Operand::Real(value) => Operand::Real(-value),
                    other => Operand::Negative(Box::new(other)),
                });
            }
            What::Sign("(") => {
                self.advance();
                let inner = self.nested(Self::sum)?;
                return if self.sign(")") { Ok(inner) } else { self.fail("a ) is missing") };
            }
            What::Word(word) => match word.to_ascii_uppercase().as_str() {
                "NULL" => Operand::Null,
                "TRUE" => Operand::Bool(true),
                "FALSE" => Operand::Bool(false),
                upper if WORDS.contains(&upper) => return self.fail("a column, a number or a 'text' is expected here"),
                _ => Operand::Column(Name { name: word, at }),
            },
            _ => return self.fail("a column, a number or a 'text' is expected here"),
        };
        self.advance();
        Ok(operand)
    }
}

fn named(operand: Operand, at: usize) -> Parsed<Name> {
    match operand {
        Operand::Column(name) => Ok(name),
        _ => Err((at, "a column is expected here".to_owned())),
    }
}
