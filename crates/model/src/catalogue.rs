//! What a model emits, by name.

use serde::{Deserialize, Serialize};

use crate::UnknownName;

/// What kind of number an outcome is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeKind {
    /// A whole number (or a decimal, by the outcome's scale).
    Number,
    /// 0 or 1.
    Flag,
    /// A code whose meaning the outcome's unit tells.
    Code,
    /// A real number, stored as a double.
    Real,
}

/// One outcome: one number per world per entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Lower-case words joined by `_`; unique in its entity kind.
    pub name: String,
    /// What one of it is: `points`, `seconds`, or the codes' meaning.
    pub unit: String,
    /// What kind of number it is.
    pub kind: OutcomeKind,
    /// A stored integer divided by this is the value: 1 but for decimals.
    pub scale: i32,
}

/// A kind of entity, and the outcomes that each of its entities has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityKind {
    /// `game`, `team_season`.
    pub name: String,
    /// The outcomes, in storage order.
    pub outcomes: Vec<Outcome>,
}

impl EntityKind {
    /// The place of an outcome by name.
    pub fn outcome(&self, name: &str) -> Option<usize> {
        self.outcomes.iter().position(|o| o.name == name)
    }

    /// The place of an outcome by name, or names that were perhaps meant.
    pub fn find_outcome(&self, name: &str) -> Result<usize, UnknownName> {
        let names = self.outcomes.iter().map(|o| o.name.as_str());
        self.outcome(name).ok_or_else(|| UnknownName::new(format!("a {} has no outcome", self.name), name, names))
    }
}

/// Something that outcomes are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// Unique in the catalogue: `game-017`, `team-03`.
    pub name: String,
    /// Index into [`Catalogue::kinds`].
    pub kind: usize,
    /// For people: `week 2: Harbour City at Northfield`.
    pub title: String,
    /// What it consists of: a game's home and away team by entity name, a team's players by roster place.
    pub members: Vec<String>,
}

/// What an event column holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// One of up to 255 words; a block carries their codes.
    Label(Vec<String>),
    /// An integer within 8 bits.
    I8,
    /// An integer within 16 bits.
    I16,
    /// An integer within 32 bits.
    I32,
}

/// One column of a model's events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventColumn {
    /// Lower-case words joined by `_`.
    pub name: String,
    /// What it means, with its unit.
    pub doc: String,
    /// What it holds.
    pub kind: EventKind,
    /// Whether a row may lack it.
    pub nullable: bool,
}

/// Everything a model emits. A stored ensemble carries its catalogue, so old ensembles stay readable when the
/// model grows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    /// The kinds of entity.
    pub kinds: Vec<EntityKind>,
    /// The entities, in storage order.
    pub entities: Vec<Entity>,
    /// The columns of an event, beside the ensemble, entity, world and row number that every event has. Empty
    /// where the model has no events.
    pub events: Vec<EventColumn>,
}

impl Catalogue {
    /// The place of an entity by name.
    pub fn entity(&self, name: &str) -> Option<usize> {
        self.entities.iter().position(|e| e.name == name)
    }

    /// The kind of an entity.
    pub fn kind_of(&self, entity: usize) -> &EntityKind {
        &self.kinds[self.entities[entity].kind]
    }

    /// The place of an event column by name.
    pub fn event_column(&self, name: &str) -> Option<usize> {
        self.events.iter().position(|c| c.name == name)
    }

    /// The place of an event column by name, or names that were perhaps meant.
    pub fn find_event_column(&self, name: &str) -> Result<usize, UnknownName> {
        let names = self.events.iter().map(|c| c.name.as_str());
        self.event_column(name).ok_or_else(|| UnknownName::new("events have no column", name, names))
    }

    /// The place of an entity by name, or names that were perhaps meant.
    pub fn find_entity(&self, name: &str) -> Result<usize, UnknownName> {
        let names = self.entities.iter().map(|e| e.name.as_str());
        self.entity(name).ok_or_else(|| UnknownName::new("no entity", name, names))
    }

    /// Whether events of `other` read as events of this: the same entities and event columns, in the same order. What is
    /// written for people may differ.
    pub fn has_events_of(&self, other: &Self) -> bool {
        let same_column =
            |(a, b): (&EventColumn, &EventColumn)| a.name == b.name && a.kind == b.kind && a.nullable == b.nullable;
        self.entities.iter().map(|e| &e.name).eq(other.entities.iter().map(|e| &e.name))
            && self.events.len() == other.events.len()
            && self.events.iter().zip(&other.events).all(same_column)
    }

    /// Outcome values in one world, over all entities.
    pub fn values_per_world(&self) -> usize {
        (0..self.entities.len()).map(|e| self.kind_of(e).outcomes.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_compared_without_texts_for_people() {
        let column = |name: &str, doc: &str| EventColumn {
            name: name.into(),
            doc: doc.into(),
            kind: EventKind::I8,
            nullable: true,
        };
        let of = |entity: &str, title: &str, events: Vec<EventColumn>| Catalogue {
            kinds: Vec::new(),
            entities: vec![Entity { name: entity.into(), kind: 0, title: title.into(), members: Vec::new() }],
            events,
        };
        let catalogue = of("a", "A", vec![column("x", "one"), column("y", "")]);
        assert!(catalogue.has_events_of(&of("a", "An A", vec![column("x", "1"), column("y", "2")])));
        for other in [
            of("b", "A", vec![column("x", "one"), column("y", "")]),
            of("a", "A", vec![column("y", ""), column("x", "one")]),
            of("a", "A", vec![column("x", "one")]),
            of("a", "A", vec![column("x", "one"), EventColumn { kind: EventKind::I16, ..column("y", "") }]),
        ] {
            assert!(!catalogue.has_events_of(&other), "{other:?}");
        }
    }
}
