//! Names of all entities, outcomes and events of a model.

use serde::{Deserialize, Serialize};

use crate::UnknownName;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeKind {
    /// An integer, or a decimal by the outcome's scale.
    Number,
    /// 0 or 1.
    Flag,
    /// A code; the outcome's unit lists the meanings.
    Code,
    /// A real number, stored as a double.
    Real,
}

/// One outcome: one number per world and entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Lower-case words joined by `_`; unique in its entity kind.
    pub name: String,
    /// The unit: `points`, `seconds`, or the meanings of the codes.
    pub unit: String,
    pub kind: OutcomeKind,
    /// Divide a stored integer by this to get the value: 1 except for decimals.
    pub scale: i32,
}

/// A kind of entity, and the outcomes of each entity of this kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityKind {
    /// Its name, such as `game` or `team_season`.
    pub name: String,
    /// The outcomes, in storage order.
    pub outcomes: Vec<Outcome>,
}

impl EntityKind {
    /// The index of an outcome by name.
    pub fn outcome(&self, name: &str) -> Option<usize> {
        self.outcomes.iter().position(|o| o.name == name)
    }

    /// Like [`Self::outcome`]; for an unknown name, the error suggests similar names.
    pub fn find_outcome(&self, name: &str) -> Result<usize, UnknownName> {
        let names = self.outcomes.iter().map(|o| o.name.as_str());
        let article = if self.name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        self.outcome(name)
            .ok_or_else(|| UnknownName::new(format!("{article} {} has no outcome", self.name), name, names))
    }
}

/// An entity, such as a game or a team, which has outcomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// Unique in the catalogue: `game-017`, `team-03`.
    pub name: String,
    /// Index into [`Catalogue::kinds`].
    pub kind: usize,
    /// The display name: `week 2: Harbour City at Northfield`.
    pub title: String,
    /// Its parts: the entity names of a game's home and away team, or a team's players by roster place.
    pub members: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// One of up to 255 words; blocks hold their codes.
    Label(Vec<String>),
    I8,
    I16,
    I32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventColumn {
    /// Lower-case words joined by `_`.
    pub name: String,
    /// Its meaning, with the unit.
    pub doc: String,
    pub kind: EventKind,
    pub nullable: bool,
}

/// All outputs of a model. A stored ensemble includes its catalogue, so that old ensembles stay readable when the model
/// gains outputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    pub kinds: Vec<EntityKind>,
    /// The entities, in storage order.
    pub entities: Vec<Entity>,
    /// The columns of an event, besides the ensemble, entity, world and row number that every event has. Empty if the
    /// model has no events.
    pub events: Vec<EventColumn>,
}

impl Catalogue {
    /// The index of an entity by name.
    pub fn entity(&self, name: &str) -> Option<usize> {
        self.entities.iter().position(|e| e.name == name)
    }

    pub fn kind_of(&self, entity: usize) -> &EntityKind {
        &self.kinds[self.entities[entity].kind]
    }

    /// The index of an event column by name.
    pub fn event_column(&self, name: &str) -> Option<usize> {
        self.events.iter().position(|c| c.name == name)
    }

    /// Like [`Self::event_column`]; for an unknown name, the error suggests similar names.
    pub fn find_event_column(&self, name: &str) -> Result<usize, UnknownName> {
        let names = self.events.iter().map(|c| c.name.as_str());
        self.event_column(name).ok_or_else(|| UnknownName::new("events have no column", name, names))
    }

    /// Like [`Self::entity`]; for an unknown name, the error suggests similar names.
    pub fn find_entity(&self, name: &str) -> Result<usize, UnknownName> {
        let names = self.entities.iter().map(|e| e.name.as_str());
        self.entity(name).ok_or_else(|| UnknownName::new("no entity", name, names))
    }

    /// Whether events of `other` can be read with this catalogue: entities and event columns are the same, in the same
    /// order. Display names and descriptions may differ.
    pub fn has_events_of(&self, other: &Self) -> bool {
        let same_column =
            |(a, b): (&EventColumn, &EventColumn)| a.name == b.name && a.kind == b.kind && a.nullable == b.nullable;
        self.entities.iter().map(|e| &e.name).eq(other.entities.iter().map(|e| &e.name))
            && self.events.len() == other.events.len()
            && self.events.iter().zip(&other.events).all(same_column)
    }

    /// Number of outcome values in one world, over all entities.
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
