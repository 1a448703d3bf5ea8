//! The unit of an expression.

use expr::Operator;
use model::{Catalogue, OutcomeKind};

use super::{Expression, Node, OutcomeRef};

/// The unit of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit<'a> {
    /// A constant fits any unit.
    Any,
    Of(&'a str),
    /// The units differ, or their product or quotient has no name.
    None,
}

impl Expression {
    /// The unit that all its parts share; empty if they share none. A constant factor or divisor keeps the unit. Flags and
    /// conditions count as numbers without a unit.
    pub fn unit<'a>(&self, catalogue: &'a Catalogue) -> &'a str {
        if self.is_condition() {
            return "0 or 1";
        }
        let outcome = |place: OutcomeRef| &catalogue.kind_of(place.entity).outcomes[place.outcome];
        if let Some(place) = self.outcome() {
            return &outcome(place).unit;
        }
        let unit_of = |place: usize| match outcome(self.columns[place]) {
            outcome if outcome.kind == OutcomeKind::Flag => "",
            outcome => outcome.unit.as_str(),
        };
        match unit(&self.root, &unit_of) {
            Unit::Of(unit) => unit,
            Unit::Any | Unit::None => "",
        }
    }
}

fn unit<'a>(node: &Node, outcome: &impl Fn(usize) -> &'a str) -> Unit<'a> {
    match node {
        Node::Number(_) | Node::Integer(_) => Unit::Any,
        Node::Column(place) => Unit::Of(outcome(*place)),
        Node::Negate(inner) | Node::Absolute(inner) => unit(inner, outcome),
        Node::Chain(first, rest) => {
            let join = |left, (operator, right): &(Operator, Node)| joined(left, *operator, unit(right, outcome));
            rest.iter().fold(unit(first, outcome), join)
        }
        Node::Compare(..) | Node::In(..) | Node::All(_) | Node::Any(_) | Node::Not(_) => Unit::Of(""),
    }
}

fn joined<'a>(left: Unit<'a>, operator: Operator, right: Unit<'a>) -> Unit<'a> {
    match (left, operator, right) {
        (left, Operator::Multiply | Operator::Divide, Unit::Any) => left,
        (Unit::Any, Operator::Multiply, right) => right,
        (_, Operator::Multiply | Operator::Divide, _) => Unit::None,
        (Unit::Any, _, unit) | (unit, _, Unit::Any) => unit,
        (left, _, right) if left == right => left,
        _ => Unit::None,
    }
}
