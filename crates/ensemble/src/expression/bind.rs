//! Binds the names of an expression to outcomes.

use std::collections::HashMap;

use expr::{Comparison, Error, Expr, Name, Node as Written};
use model::{Catalogue, Outcome, UnknownName};

use super::{Expression, Node, OutcomeRef};

type Result<T> = std::result::Result<T, Error>;

pub(super) fn bind(text: &str, catalogue: &Catalogue, entity: Option<usize>) -> Result<Expression> {
    let written = expr::parse(text)?;
    let mut binder = Binder { text, catalogue, entity, columns: Vec::new(), places: HashMap::new() };
    let root = binder.condition(&written)?;
    Ok(Expression { text: text.trim().to_owned(), columns: binder.columns, root })
}

impl OutcomeRef {
    /// Finds `outcome` of `entity`, or `entity:outcome`. `None` for an outcome without any entity.
    pub(crate) fn named(
        text: &str,
        catalogue: &Catalogue,
        entity: Option<usize>,
    ) -> Option<std::result::Result<Self, UnknownName>> {
        let (entity, outcome) = match (text.split_once(':'), entity) {
            (Some((entity, outcome)), _) => (catalogue.find_entity(entity), outcome),
            (None, Some(entity)) => (Ok(entity), text),
            (None, None) => return None,
        };
        let find = |entity| Ok(Self { entity, outcome: catalogue.kind_of(entity).find_outcome(outcome)? });
        Some(entity.and_then(find))
    }
}

struct Binder<'a> {
    text: &'a str,
    catalogue: &'a Catalogue,
    entity: Option<usize>,
    columns: Vec<OutcomeRef>,
    /// Indices in `columns` of resolved names.
    places: HashMap<String, usize>,
}

impl Binder<'_> {
    /// A condition, or a number, which holds if it is not 0.
    fn condition(&mut self, expr: &Expr) -> Result<Node> {
        Ok(match &expr.node {
            Written::All(parts) => Node::All(self.conditions(parts)?),
            Written::Any(parts) => Node::Any(self.conditions(parts)?),
            Written::Not(inner) => Node::Not(self.condition(inner)?.into()),
            Written::Compare(left, comparison, right) => {
                let mut labels = |side: &Expr, other: &Expr| self.code(side, other, *comparison);
                let (of_left, of_right) = (labels(left, right)?, labels(right, left)?);
                let mut side =
                    |code: Option<f64>, side| code.map_or_else(|| self.number(side), |n| Ok(Node::Number(n)));
                Node::Compare(*comparison, side(of_left, left)?.into(), side(of_right, right)?.into())
            }
            Written::In { name, values, negated } => {
                let column = self.column(name)?;
                let outcome = self.columns[column];
                let number = |value: &Expr| match &value.node {
                    Written::Text(label) if !self.described(outcome).labels.is_empty() => {
                        self.label(outcome, label, value.at)
                    }
                    _ => self.constant(value),
                };
                let mut list = values.iter().map(number).collect::<Result<Vec<_>>>()?;
                list.sort_unstable_by(f64::total_cmp);
                let is_in = Node::In(column, list);
                if *negated { Node::Not(is_in.into()) } else { is_in }
            }
            Written::Match { name, .. } | Written::IsNull { name, .. } | Written::Has { name, .. } => {
                return self.fail(name.at, "outcomes are numbers and never missing: use = != < <= > >= or IN");
            }
            _ => self.number(expr)?,
        })
    }

    /// The code of a text that is compared with an outcome that has labels.
    fn code(&mut self, text: &Expr, other: &Expr, comparison: Comparison) -> Result<Option<f64>> {
        let Some(name) = other.name() else { return Ok(None) };
        let label = match &text.node {
            Written::Text(label) => label,
            Written::Name(word) => return self.unquoted(word, text.at, &name),
            _ => return Ok(None),
        };
        let column = self.column(&name)?;
        let outcome = self.columns[column];
        if self.described(outcome).labels.is_empty() {
            return Ok(None);
        }
        if !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            return self.fail(text.at, "labels have no order: compare them with = or !=");
        }
        self.label(outcome, label, text.at).map(Some)
    }

    /// Refuses a label without quotes. A word that names an outcome is not a label.
    fn unquoted(&self, word: &str, at: usize, other: &Name) -> Result<Option<f64>> {
        let named = |text| OutcomeRef::named(text, self.catalogue, self.entity).and_then(std::result::Result::ok);
        match named(&other.text) {
            Some(outcome) if named(word).is_none() && self.described(outcome).find_label(word).is_ok() => {
                self.fail(at, &format!("{word} is a label: write it in quotes, '{word}'"))
            }
            _ => Ok(None),
        }
    }

    fn label(&self, outcome: OutcomeRef, label: &str, at: usize) -> Result<f64> {
        let found = self.described(outcome).find_label(label);
        found.map(|code| code as f64).map_err(|unknown| Error::new(self.text, at, unknown.to_string()))
    }

    fn described(&self, outcome: OutcomeRef) -> &Outcome {
        &self.catalogue.kind_of(outcome.entity).outcomes[outcome.outcome]
    }

    fn conditions(&mut self, parts: &[Expr]) -> Result<Vec<Node>> {
        parts.iter().map(|part| self.condition(part)).collect()
    }

    /// A number, or a condition, which counts as 0 or 1.
    fn number(&mut self, expr: &Expr) -> Result<Node> {
        Ok(match &expr.node {
            Written::Name(text) => Node::Column(self.column(&Name { text: text.clone(), at: expr.at })?),
            Written::Negative(inner) => Node::Negate(self.number(inner)?.into()),
            Written::Absolute(inner) => Node::Absolute(self.number(inner)?.into()),
            Written::Chain(first, rest) => {
                let first = self.number(first)?.into();
                let rest = rest.iter().map(|(operator, number)| Ok((*operator, self.number(number)?)));
                Node::Chain(first, rest.collect::<Result<_>>()?)
            }
            _ if expr.is_condition() => self.condition(expr)?,
            Written::Int(value) if value.unsigned_abs() > 1 << f64::MANTISSA_DIGITS => Node::Integer(*value),
            _ => Node::Number(self.constant(expr)?),
        })
    }

    fn constant(&self, expr: &Expr) -> Result<f64> {
        match expr.node {
            Written::Int(value) => Ok(value as f64),
            Written::Real(value) => Ok(value),
            Written::Bool(value) => Ok(f64::from(u8::from(value))),
            _ => self.fail(expr.at, "expected a number: outcomes are numbers"),
        }
    }

    fn column(&mut self, name: &Name) -> Result<usize> {
        let Name { text, at } = name;
        if let Some(place) = self.places.get(text) {
            return Ok(*place);
        }
        let column = match OutcomeRef::named(text, self.catalogue, self.entity) {
            Some(found) => found.map_err(|unknown| Error::new(self.text, *at, unknown.to_string()))?,
            None => return self.fail(*at, &format!("ambiguous outcome {text:?}: write ENTITY:{text}")),
        };
        let place = self.columns.iter().position(|c| *c == column).unwrap_or_else(|| {
            self.columns.push(column);
            self.columns.len() - 1
        });
        self.places.insert(text.clone(), place);
        Ok(place)
    }

    fn fail<T>(&self, at: usize, reason: &str) -> Result<T> {
        Err(Error::new(self.text, at, reason))
    }
}
