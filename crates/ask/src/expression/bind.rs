//! Binds a condition to the columns of a table.
//!
//! `NOT` is pushed down to single tests, which only track where they are true. `AND` and `OR` of such tests are true
//! exactly where SQL says so.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use expr::{Comparison, Expr, Name, Node, Operator};
use regex::Regex;

use crate::column::Kind;
use crate::error::AskError;

/// A bound condition; columns are indexes into the table's columns.
#[derive(Debug, Clone)]
pub(crate) enum Cond {
    All(Vec<Self>),
    Any(Vec<Self>),
    Constant(bool),
    Leaf(Leaf),
    Numbers { left: Number, comparison: Comparison, right: Number },
    Texts { left: usize, comparison: Comparison, right: usize },
}

/// A test of one column. It is true for rows that are not NULL and pass the test, or fail it if negated.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub(crate) column: usize,
    pub(crate) test: Test,
    pub(crate) negated: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Test {
    /// `IS NULL`; negated, `IS NOT NULL`.
    Null,
    /// Integers within one of these sorted ranges, bounds included.
    Ints(Vec<(i64, i64)>),
    Float(Comparison, f64),
    FloatIn(Vec<f64>),
    Text(Comparison, String),
    TextIn(BTreeSet<String>),
    Match(Regex),
    Has(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Number {
    Column(usize),
    Int(i64),
    Real(f64),
    Negative(Box<Self>),
    Absolute(Box<Self>),
    /// A number and the operations on it, from left to right.
    Chain(Box<Self>, Vec<(Operator, Self)>),
}

impl Cond {
    /// Calls `visit` with every column that the condition names.
    pub(crate) fn each_column(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.each_column(visit)),
            Self::Constant(_) => {}
            Self::Leaf(leaf) => visit(leaf.column),
            Self::Numbers { left, right, .. } => {
                left.each_column(visit);
                right.each_column(visit);
            }
            Self::Texts { left, right, .. } => {
                visit(*left);
                visit(*right);
            }
        }
    }
}

impl Number {
    fn each_column(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Self::Column(column) => visit(*column),
            Self::Int(_) | Self::Real(_) => {}
            Self::Negative(inner) | Self::Absolute(inner) => inner.each_column(visit),
            Self::Chain(first, rest) => {
                first.each_column(visit);
                rest.iter().for_each(|(_, number)| number.each_column(visit));
            }
        }
    }
}

/// Resolves names to columns.
pub(crate) struct Binder<'a> {
    pub(crate) names: &'a [String],
    pub(crate) kinds: &'a [Kind],
    /// The text of the condition, and its part of the question, for errors.
    pub(crate) text: &'a str,
    pub(crate) what: &'static str,
}

type Bound<T> = Result<T, AskError>;

impl Binder<'_> {
    /// Binds the condition, or its opposite if `negated`.
    pub(crate) fn bind(&self, expr: &Expr, negated: bool) -> Bound<Cond> {
        if let Some(name) = expr.name() {
            let column = self.column(&name, "a condition", &[Kind::Bool])?;
            return Ok(leaf(column, Test::Ints(vec![(1, 1)]), negated));
        }
        Ok(match &expr.node {
            Node::All(parts) | Node::Any(parts) => {
                let all = matches!(expr.node, Node::All(_)) != negated;
                let parts = parts.iter().map(|part| self.bind(part, negated)).collect::<Bound<Vec<_>>>()?;
                if all { Cond::All(parts) } else { Cond::Any(parts) }
            }
            Node::Not(inner) => self.bind(inner, !negated)?,
            Node::Bool(value) => Cond::Constant(*value != negated),
            Node::IsNull { name, negated: not } => leaf(self.place(name)?, Test::Null, negated != *not),
            Node::Has { name, member, negated: not } => {
                leaf(self.column(name, "HAS", &[Kind::Set])?, Test::Has(member.clone()), negated != *not)
            }
            Node::Match { name, pattern, pattern_at, negated: not } => {
                let place = self.column(name, "~", &[Kind::Text])?;
                let regex = expr::regex(pattern).map_err(|(at, reason)| self.fail(pattern_at + at, reason))?;
                leaf(place, Test::Match(regex), negated != *not)
            }
            Node::In { name, values, negated: not } => self.list(name, values, negated != *not)?,
            Node::Compare(left, comparison, right) => {
                let comparison = if negated { comparison.negated() } else { *comparison };
                self.compare(left, comparison, right, expr.at)?
            }
            _ => {
                let expected = "expected a comparison after this: = != < <= > >= ~ !~ IN, IS NULL or HAS";
                return Err(self.fail(expr.at, expected));
            }
        })
    }

    fn fail(&self, at: usize, reason: impl Into<String>) -> AskError {
        AskError::Syntax { what: self.what, error: expr::Error::new(self.text, at, reason) }
    }

    fn place(&self, name: &Name) -> Bound<usize> {
        let found = self.names.iter().position(|n| *n == name.text);
        found.ok_or_else(|| AskError::unknown_column(&name.text, self.names.iter().map(String::as_str)))
    }

    fn column(&self, name: &Name, test: &str, kinds: &[Kind]) -> Bound<usize> {
        let place = self.place(name)?;
        if kinds.contains(&self.kinds[place]) {
            return Ok(place);
        }
        let hint = if self.kinds[place] == Kind::Set { ": use HAS" } else { "" };
        let (holds, needs) = (self.kinds[place].holds(), kinds[0].holds());
        Err(self.fail(name.at, format!("{test} needs {needs}, but {:?} holds {holds}{hint}", name.text)))
    }

    /// `at` is the position of the comparison, for errors.
    fn compare(&self, left: &Expr, comparison: Comparison, right: &Expr, at: usize) -> Bound<Cond> {
        if let Some(condition) = [left, right].into_iter().find(|side| side.is_condition()) {
            return Err(self.fail(condition.at, Expr::NO_NUMBER));
        }
        match (left.name(), right.name()) {
            _ if left.node == Node::Null || right.node == Node::Null => {
                // Comparing with NULL is never true, but the names must still exist.
                for name in [left, right].into_iter().filter_map(Expr::name) {
                    self.place(&name)?;
                }
                Ok(Cond::Constant(false))
            }
            (Some(a), Some(b)) => self.compare_columns(&a, comparison, &b),
            (Some(name), None) if is_constant(right) => self.compare_value(&name, comparison, right),
            (None, Some(name)) if is_constant(left) => self.compare_value(&name, comparison.exchanged(), left),
            _ => {
                let (left, right) = (self.number(left, at)?, self.number(right, at)?);
                Ok(Cond::Numbers { left, comparison, right })
            }
        }
    }

    fn compare_columns(&self, a: &Name, comparison: Comparison, b: &Name) -> Bound<Cond> {
        let (left, right) = (self.place(a)?, self.place(b)?);
        let (of_left, of_right) = (self.kinds[left], self.kinds[right]);
        match (of_left, of_right) {
            (Kind::Text, Kind::Text) => Ok(Cond::Texts { left, comparison, right }),
            _ if (of_left.is_number() && of_right.is_number()) || (of_left == of_right && of_left.is_whole()) => {
                Ok(Cond::Numbers { left: Number::Column(left), comparison, right: Number::Column(right) })
            }
            _ => {
                let (a, of_a, of_b) = (&a.text, of_left.holds(), of_right.holds());
                Err(self.fail(b.at, format!("cannot compare {a:?} ({of_a}) with {:?} ({of_b})", b.text)))
            }
        }
    }

    fn compare_value(&self, name: &Name, comparison: Comparison, value: &Expr) -> Bound<Cond> {
        let column = self.place(name)?;
        let test = match self.kinds[column] {
            Kind::Float => Test::Float(comparison, self.real(name, value)?),
            Kind::Text => Test::Text(comparison, self.text_value(name, value)?),
            kind if kind.is_whole() => return self.whole(name, column, comparison, value),
            kind => {
                let hint = if kind == Kind::Set { ": use HAS" } else { "" };
                return Err(
                    self.fail(name.at, format!("cannot compare {:?}: it holds {}{hint}", name.text, kind.holds()))
                );
            }
        };
        Ok(leaf(column, test, false))
    }

    fn whole(&self, name: &Name, column: usize, comparison: Comparison, value: &Expr) -> Bound<Cond> {
        let below = |v: i64| v.checked_sub(1).map(|hi| (i64::MIN, hi));
        let above = |v: i64| v.checked_add(1).map(|lo| (lo, i64::MAX));
        let (negated, range) = match (self.whole_value(name, value)?, comparison) {
            (Whole::Value(v), Comparison::Equal) => (false, Some((v, v))),
            (Whole::Value(v), Comparison::NotEqual) => (true, Some((v, v))),
            (Whole::Value(v), Comparison::Less) => (false, below(v)),
            (Whole::Value(v), Comparison::LessOrEqual) => (false, Some((i64::MIN, v))),
            (Whole::Value(v), Comparison::Greater) => (false, above(v)),
            (Whole::Value(v), Comparison::GreaterOrEqual) => (false, Some((v, i64::MAX))),
            (Whole::Between(_), Comparison::Equal) => (false, None),
            (Whole::Between(_), Comparison::NotEqual) => (true, None),
            (Whole::Between(hi), Comparison::Less | Comparison::LessOrEqual) => (false, hi.map(|hi| (i64::MIN, hi))),
            (Whole::Between(hi), Comparison::Greater | Comparison::GreaterOrEqual) => {
                (false, hi.map_or(Some((i64::MIN, i64::MAX)), above))
            }
        };
        Ok(leaf(column, Test::Ints(range.into_iter().collect()), negated))
    }

    fn list(&self, name: &Name, values: &[Expr], negated: bool) -> Bound<Cond> {
        let column = self.place(name)?;
        // `NOT IN` a list with NULL is never true: NULL might be the value.
        let has_null = values.iter().any(|v| v.node == Node::Null);
        let values = || values.iter().filter(|v| v.node != Node::Null);
        let test = match self.kinds[column] {
            Kind::Float => Test::FloatIn(values().map(|v| self.real(name, v)).collect::<Bound<_>>()?),
            Kind::Text => Test::TextIn(values().map(|v| self.text_value(name, v)).collect::<Bound<_>>()?),
            kind if kind.is_whole() => {
                let mut ranges = Vec::new();
                for value in values() {
                    if let Whole::Value(v) = self.whole_value(name, value)? {
                        ranges.push((v, v));
                    }
                }
                ranges.sort_unstable();
                ranges.dedup();
                Test::Ints(ranges)
            }
            kind => {
                return Err(self.fail(name.at, format!("cannot use IN on {:?}: it holds {}", name.text, kind.holds())));
            }
        };
        Ok(if has_null && negated { Cond::Constant(false) } else { leaf(column, test, negated) })
    }

    fn type_error(&self, name: &Name, value: &Expr, kind: Kind) -> AskError {
        let example = match kind {
            Kind::Bool => "true or false",
            Kind::Int | Kind::Float => "a number",
            Kind::Time => "a time in single quotes, such as '2025-10-01' or '2025-10-01T12:30:00Z'",
            Kind::Date => "a day in single quotes, such as '2025-10-01'",
            _ => "a text in single quotes",
        };
        self.fail(value.at, format!("{:?} holds {}: compare it with {example}", name.text, kind.holds()))
    }

    fn real(&self, name: &Name, value: &Expr) -> Bound<f64> {
        match value.node {
            Node::Int(v) => Ok(v as f64),
            Node::Real(v) => Ok(v),
            _ => Err(self.type_error(name, value, Kind::Float)),
        }
    }

    fn text_value(&self, name: &Name, value: &Expr) -> Bound<String> {
        match &value.node {
            Node::Text(text) => Ok(text.clone()),
            _ => Err(self.type_error(name, value, Kind::Text)),
        }
    }

    fn whole_value(&self, name: &Name, value: &Expr) -> Bound<Whole> {
        let kind = self.kinds[self.place(name)?];
        let type_error = || self.type_error(name, value, kind);
        match (kind, &value.node) {
            (Kind::Int, Node::Int(v)) => Ok(Whole::Value(*v)),
            (Kind::Int, Node::Real(v)) => Ok(Whole::of(*v)),
            (Kind::Bool, Node::Bool(v)) => Ok(Whole::Value(i64::from(*v))),
            (Kind::Time, Node::Text(text)) => micros_of(text).map(Whole::Value).ok_or_else(type_error),
            (Kind::Date, Node::Text(text)) => days_of(text).map(Whole::Value).ok_or_else(type_error),
            _ => Err(type_error()),
        }
    }

    /// `at` is the position of the comparison, for errors.
    fn number(&self, expr: &Expr, at: usize) -> Bound<Number> {
        if let Some(name) = expr.name() {
            return Ok(Number::Column(self.column(&name, "arithmetic", &[Kind::Int, Kind::Float])?));
        }
        Ok(match &expr.node {
            Node::Int(value) => Number::Int(*value),
            Node::Real(value) => Number::Real(*value),
            Node::Negative(inner) => Number::Negative(Box::new(self.number(inner, at)?)),
            Node::Absolute(inner) => Number::Absolute(Box::new(self.number(inner, inner.at)?)),
            Node::Chain(first, rest) => {
                let rest = rest.iter().map(|(operator, number)| Ok((*operator, self.number(number, number.at)?)));
                Number::Chain(Box::new(self.number(first, first.at)?), rest.collect::<Bound<_>>()?)
            }
            Node::Bool(_) => return Err(self.fail(at, "cannot compare a number with a boolean")),
            Node::Null => {
                return Err(self.fail(at, "arithmetic with NULL is NULL: use IS NULL to find missing values"));
            }
            _ if expr.is_condition() => return Err(self.fail(expr.at, Expr::NO_NUMBER)),
            _ => return Err(self.fail(expr.at, "expected a number here, not a text")),
        })
    }
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr.node, Node::Int(_) | Node::Real(_) | Node::Text(_) | Node::Bool(_))
}

fn leaf(column: usize, test: Test, negated: bool) -> Cond {
    Cond::Leaf(Leaf { column, test, negated })
}

/// A constant compared with integers.
enum Whole {
    Value(i64),
    /// Not an integer: the greatest integer below it, if any.
    Between(Option<i64>),
}

impl Whole {
    fn of(value: f64) -> Self {
        const PAST: f64 = 9_223_372_036_854_775_808.0;
        let floor = value.floor();
        if floor >= PAST {
            Self::Between(Some(i64::MAX))
        } else if floor < -PAST {
            Self::Between(None)
        } else if floor == value {
            Self::Value(floor as i64)
        } else {
            Self::Between(Some(floor as i64))
        }
    }
}

/// Parses a day as days since 1970.
pub(crate) fn days_of(text: &str) -> Option<i64> {
    Some(text.parse::<NaiveDate>().ok()?.signed_duration_since(NaiveDate::default()).num_days())
}

/// Parses a time as microseconds since 1970: RFC 3339, or a day with or without a time, in UTC.
pub(crate) fn micros_of(text: &str) -> Option<i64> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.timestamp_micros());
    }
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Some(day.and_hms_opt(0, 0, 0)?.and_utc().timestamp_micros());
    }
    let formats = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
    let parsed = formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    parsed.map(|time| time.and_utc().timestamp_micros())
}
