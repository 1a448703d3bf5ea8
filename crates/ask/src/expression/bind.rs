//! What a condition means for the columns of a table.
//!
//! `NOT` is taken inwards until it stands at single tests only. Of those it is enough to know where they are true:
//! `AND` and `OR` of truths are true just where SQL has them true.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use regex::Regex;

use super::parse::{Comparison, Expr, Name, Operand, Operator};
use crate::column::Kind;
use crate::error::AskError;

/// A condition over the columns of a table, by their places.
#[derive(Debug, Clone)]
pub(crate) enum Cond {
    All(Vec<Self>),
    Any(Vec<Self>),
    Constant(bool),
    Leaf(Leaf),
    Numbers { left: Number, comparison: Comparison, right: Number },
    Texts { left: usize, comparison: Comparison, right: usize },
}

/// A test of one column, true of rows where the column is not NULL and which do (or, negated, do not) pass it.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub(crate) column: usize,
    pub(crate) test: Test,
    pub(crate) negated: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Test {
    /// Is NULL; negated, is not.
    Null,
    /// Whole numbers within one of these ranges, ends included, in order.
    Ints(Vec<(i64, i64)>),
    Float(Comparison, f64),
    FloatIn(Vec<f64>),
    Text(Comparison, String),
    TextIn(BTreeSet<String>),
    Match(Regex),
    Has(String),
}

/// A number of each row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Number {
    Column(usize),
    Int(i64),
    Real(f64),
    Negative(Box<Self>),
    /// A number and what is done to it, from left to right.
    Chain(Box<Self>, Vec<(Operator, Self)>),
}

impl Cond {
    /// Calls `take` with every column that is named.
    pub(crate) fn each_column(&self, take: &mut impl FnMut(usize)) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.each_column(take)),
            Self::Constant(_) => {}
            Self::Leaf(leaf) => take(leaf.column),
            Self::Numbers { left, right, .. } => {
                left.each_column(take);
                right.each_column(take);
            }
            Self::Texts { left, right, .. } => {
                take(*left);
                take(*right);
            }
        }
    }
}

impl Number {
    fn each_column(&self, take: &mut impl FnMut(usize)) {
        match self {
            Self::Column(column) => take(*column),
            Self::Int(_) | Self::Real(_) => {}
            Self::Negative(inner) => inner.each_column(take),
            Self::Chain(first, rest) => {
                first.each_column(take);
                rest.iter().for_each(|(_, number)| number.each_column(take));
            }
        }
    }
}

/// Gives names their columns.
pub(crate) struct Binder<'a> {
    pub(crate) names: &'a [String],
    pub(crate) kinds: &'a [Kind],
    /// The condition as it was written, and which part of the question it is, for errors.
    pub(crate) text: &'a str,
    pub(crate) what: &'static str,
}

type Bound<T> = Result<T, AskError>;

impl Binder<'_> {
    /// The condition, or with `negated` its opposite.
    pub(crate) fn bind(&self, expr: &Expr, negated: bool) -> Bound<Cond> {
        Ok(match expr {
            Expr::All(parts) | Expr::Any(parts) => {
                let parts = parts.iter().map(|part| self.bind(part, negated)).collect::<Bound<Vec<_>>>()?;
                if matches!(expr, Expr::All(_)) == negated { Cond::Any(parts) } else { Cond::All(parts) }
            }
            Expr::Not(inner) => self.bind(inner, !negated)?,
            Expr::Constant(value) => Cond::Constant(*value != negated),
            Expr::Holds(name) => {
                let column = self.column(name, "a condition", &[Kind::Bool])?;
                leaf(column, Test::Ints(vec![(1, 1)]), negated)
            }
            Expr::IsNull { column, negated: not } => leaf(self.place(column)?, Test::Null, negated != *not),
            Expr::Has { column, member, negated: not } => {
                leaf(self.column(column, "HAS", &[Kind::Set])?, Test::Has(member.clone()), negated != *not)
            }
            Expr::Match { column, pattern, pattern_at, negated: not } => {
                let place = self.column(column, "~", &[Kind::Text])?;
                let regex = regex(pattern, |at, reason| self.fail(pattern_at + 1 + at, reason))?;
                leaf(place, Test::Match(regex), negated != *not)
            }
            Expr::In { column, values, negated: not } => self.list(column, values, negated != *not)?,
            Expr::Compare { left, comparison, right, at } => {
                let comparison = if negated { comparison.negated() } else { *comparison };
                self.compare(left, comparison, right, *at)?
            }
        })
    }

    fn fail(&self, at: usize, reason: impl Into<String>) -> AskError {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        AskError::Text { what: self.what, text: self.text.to_owned(), at, reason: reason.into() }
    }

    fn place(&self, name: &Name) -> Bound<usize> {
        let found = self.names.iter().position(|n| *n == name.name);
        found.ok_or_else(|| AskError::unknown_column(&name.name, self.names.iter().map(String::as_str)))
    }

    fn column(&self, name: &Name, test: &str, kinds: &[Kind]) -> Bound<usize> {
        let place = self.place(name)?;
        if kinds.contains(&self.kinds[place]) {
            return Ok(place);
        }
        let hint = if self.kinds[place] == Kind::Set { ": ask it with HAS" } else { "" };
        let (holds, needs) = (self.kinds[place].holds(), kinds[0].holds());
        Err(self.fail(name.at, format!("{test} needs {needs}, and {:?} holds {holds}{hint}", name.name)))
    }

    fn compare(&self, left: &Operand, comparison: Comparison, right: &Operand, at: usize) -> Bound<Cond> {
        match (left, right) {
            (Operand::Null, _) | (_, Operand::Null) => {
                // The names are checked all the same.
                for operand in [left, right] {
                    if let Operand::Column(name) = operand {
                        self.place(name)?;
                    }
                }
                Ok(Cond::Constant(false))
            }
            (Operand::Column(a), Operand::Column(b)) => self.compare_columns(a, comparison, b),
            (Operand::Column(name), value) if is_constant(value) => self.compare_value(name, comparison, value),
            (value, Operand::Column(name)) if is_constant(value) => {
                self.compare_value(name, comparison.exchanged(), value)
            }
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
                let (a, b) = (&a.name, &b.name);
                let reason =
                    format!("{a:?} holds {}, {b:?} {}: those do not compare", of_left.holds(), of_right.holds());
                Err(self.fail(self.text.find(b.as_str()).unwrap_or(0), reason))
            }
        }
    }

    fn compare_value(&self, name: &Name, comparison: Comparison, value: &Operand) -> Bound<Cond> {
        let column = self.place(name)?;
        let test = match self.kinds[column] {
            Kind::Float => Test::Float(comparison, self.real(name, value)?),
            Kind::Text => Test::Text(comparison, self.text_value(name, value)?),
            kind if kind.is_whole() => return self.whole(name, column, comparison, value),
            kind => {
                let hint = if kind == Kind::Set { ": ask with HAS" } else { "" };
                return Err(self.fail(name.at, format!("{:?} holds {}{hint}", name.name, kind.holds())));
            }
        };
        Ok(leaf(column, test, false))
    }

    fn whole(&self, name: &Name, column: usize, comparison: Comparison, value: &Operand) -> Bound<Cond> {
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

    fn list(&self, name: &Name, values: &[Operand], negated: bool) -> Bound<Cond> {
        let column = self.place(name)?;
        // A value that is not among those, one of which is not known, may or may not be it.
        let unknown = values.contains(&Operand::Null);
        let known = || values.iter().filter(|v| **v != Operand::Null);
        let test = match self.kinds[column] {
            Kind::Float => Test::FloatIn(known().map(|v| self.real(name, v)).collect::<Bound<_>>()?),
            Kind::Text => Test::TextIn(known().map(|v| self.text_value(name, v)).collect::<Bound<_>>()?),
            kind if kind.is_whole() => {
                let mut ranges = Vec::new();
                for value in known() {
                    if let Whole::Value(v) = self.whole_value(name, value)? {
                        ranges.push((v, v));
                    }
                }
                ranges.sort_unstable();
                ranges.dedup();
                Test::Ints(ranges)
            }
            kind => {
                return Err(self.fail(name.at, format!("{:?} holds {}: IN cannot ask that", name.name, kind.holds())));
            }
        };
        Ok(if unknown && negated { Cond::Constant(false) } else { leaf(column, test, negated) })
    }

    fn misfit(&self, name: &Name, value: &Operand, kind: Kind) -> AskError {
        let example = match kind {
            Kind::Bool => "true or false",
            Kind::Int | Kind::Float => "a number",
            Kind::Time => "a time in single quotes, such as '2025-10-01' or '2025-10-01T12:30:00Z'",
            Kind::Date => "a day in single quotes, such as '2025-10-01'",
            _ => "a text in single quotes",
        };
        let at = if let Operand::Text(_, at) = value { *at } else { name.at };
        self.fail(at, format!("{:?} holds {}: compare it with {example}", name.name, kind.holds()))
    }

    fn real(&self, name: &Name, value: &Operand) -> Bound<f64> {
        match value {
            Operand::Int(v) => Ok(*v as f64),
            Operand::Real(v) => Ok(*v),
            _ => Err(self.misfit(name, value, Kind::Float)),
        }
    }

    fn text_value(&self, name: &Name, value: &Operand) -> Bound<String> {
        match value {
            Operand::Text(text, _) => Ok(text.clone()),
            _ => Err(self.misfit(name, value, Kind::Text)),
        }
    }

    fn whole_value(&self, name: &Name, value: &Operand) -> Bound<Whole> {
        let kind = self.kinds[self.place(name)?];
        match (kind, value) {
            (Kind::Int, Operand::Int(v)) => Ok(Whole::Value(*v)),
            (Kind::Int, Operand::Real(v)) => Ok(Whole::of(*v)),
            (Kind::Bool, Operand::Bool(v)) => Ok(Whole::Value(i64::from(*v))),
            (Kind::Time, Operand::Text(text, _)) => {
                micros_of(text).map(Whole::Value).ok_or_else(|| self.misfit(name, value, kind))
            }
            (Kind::Date, Operand::Text(text, _)) => {
                let day = text.parse::<NaiveDate>().map_err(|_| self.misfit(name, value, kind))?;
                Ok(Whole::Value(day.signed_duration_since(NaiveDate::default()).num_days()))
            }
            _ => Err(self.misfit(name, value, kind)),
        }
    }

    /// `at` is where the comparison is, for errors.
    fn number(&self, operand: &Operand, at: usize) -> Bound<Number> {
        Ok(match operand {
            Operand::Column(name) => Number::Column(self.column(name, "arithmetic", &[Kind::Int, Kind::Float])?),
            Operand::Int(value) => Number::Int(*value),
            Operand::Real(value) => Number::Real(*value),
            Operand::Negative(inner) => Number::Negative(Box::new(self.number(inner, at)?)),
            Operand::Chain(first, rest) => {
                let first = self.number(first, rest.first().map_or(at, |(_, _, at)| *at))?;
                let rest = rest.iter().map(|(operator, operand, at)| Ok((*operator, self.number(operand, *at)?)));
                Number::Chain(Box::new(first), rest.collect::<Bound<_>>()?)
            }
            Operand::Text(_, at) => return Err(self.fail(*at, "a number is expected here, not a text")),
            Operand::Bool(_) => return Err(self.fail(at, "numbers do not compare with true or false")),
            Operand::Null => {
                return Err(self.fail(at, "NULL in arithmetic leaves nothing: use IS NULL to ask for missing values"));
            }
        })
    }
}

fn is_constant(operand: &Operand) -> bool {
    matches!(operand, Operand::Int(_) | Operand::Real(_) | Operand::Text(..) | Operand::Bool(_))
}

fn leaf(column: usize, test: Test, negated: bool) -> Cond {
    Cond::Leaf(Leaf { column, test, negated })
}

/// A number among the whole ones.
enum Whole {
    Value(i64),
    /// None of them: the greatest below it, if there is one.
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

/// Compiles a pattern; an error is said by `fail`, of the place in the pattern in bytes.
pub(crate) fn regex(pattern: &str, fail: impl Fn(usize, String) -> AskError) -> Bound<Regex> {
    let parsed = regex_syntax::Parser::new().parse(pattern);
    let (at, reason) = match parsed {
        Err(regex_syntax::Error::Parse(e)) => (e.span().start.offset, e.kind().to_string()),
        Err(regex_syntax::Error::Translate(e)) => (e.span().start.offset, e.kind().to_string()),
        Err(other) => (0, other.to_string()),
        Ok(_) => return Regex::new(pattern).map_err(|e| fail(0, e.to_string())),
    };
    Err(fail(at, format!("the pattern is wrong here: {reason}")))
}

/// Reads a time: RFC 3339, or a day with or without a time of day, in UTC. Microseconds since 1970.
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
