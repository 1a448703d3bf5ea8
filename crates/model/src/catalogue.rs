//! Names of all entities, outcomes and events of a model.

mod expectations;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{Expectation, MemberNames, MembersOf, UnknownName};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeKind {
    /// An integer, or a decimal by the outcome's scale.
    Number,
    /// 0 or 1.
    Flag,
    /// A code; the outcome's labels or its unit give the meanings.
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
    /// The words for codes 0, 1, 2 and so on; an empty text where a code has none. Catalogues of old ensembles have no
    /// labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

impl Outcome {
    /// An outcome of whole numbers, or of real ones, without labels.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, kind: OutcomeKind) -> Self {
        Self { name: name.into(), unit: unit.into(), kind, scale: 1, labels: Vec::new() }
    }

    /// The label of a code.
    pub fn label(&self, code: f64) -> Option<&str> {
        let place = self.labels.iter().enumerate().find(|(place, _)| *place as f64 == code);
        place.map(|(_, label)| label.as_str()).filter(|label| !label.is_empty())
    }

    /// The code of a label; for an unknown label, the error suggests similar ones.
    pub fn find_label(&self, label: &str) -> Result<usize, UnknownName> {
        let labels = || self.labels.iter().map(String::as_str).filter(|label| !label.is_empty());
        let place = self.labels.iter().position(|known| known == label && !label.is_empty());
        place.ok_or_else(|| UnknownName::new(format!("{} has no label", self.name), label, labels()))
    }
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

impl Entity {
    /// An entity of a kind, titled by its name and without members.
    pub fn new(name: impl Into<String>, kind: usize) -> Self {
        let name = name.into();
        Self { title: name.clone(), name, kind, members: Vec::new() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// One of up to 255 words; blocks hold their codes.
    Label(Vec<String>),
    I8,
    I16,
    I32,
    /// Real numbers, stored as doubles.
    F64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventColumn {
    /// Lower-case words joined by `_`.
    pub name: String,
    /// Its meaning, with the unit.
    pub doc: String,
    pub kind: EventKind,
    pub nullable: bool,
    /// Whose members the words stand for. Catalogues of old ensembles do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<MembersOf>,
    /// What its values are expected to be. A stored catalogue says so only where segments hold the differences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expectation>,
}

impl EventColumn {
    /// A column that is never NULL, without a description.
    pub fn new(name: impl Into<String>, kind: EventKind) -> Self {
        Self { name: name.into(), doc: String::new(), kind, nullable: false, members: None, expected: None }
    }
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

    /// The entity of a question: the named one, or else the only one. `None` if none is named and there are several.
    pub fn asked_entity(&self, name: Option<&str>) -> Result<Option<usize>, UnknownName> {
        match name {
            Some(name) => self.find_entity(name).map(Some),
            None => Ok((self.entities.len() == 1).then_some(0)),
        }
    }

    /// The names behind the words of an event column; `None` if its words stand for no members.
    pub fn member_names(&self, entity: usize, column: usize) -> Option<MemberNames<'_>> {
        let of = self.events.get(column)?.members.as_ref()?;
        let names = |place: &usize| {
            let owner = self.entities[entity].members.get(*place).and_then(|name| self.entity(name));
            owner.map_or(&[][..], |owner| &self.entities[owner].members)
        };
        Some(MemberNames { chooser: self.event_column(&of.column)?, names: of.places.iter().map(names).collect() })
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

    /// Whether worlds of `other` have the same outputs: entities, outcomes and event columns are the same, in the same
    /// order. Display names and descriptions may differ.
    pub fn has_outputs_of(&self, other: &Self) -> bool {
        let same_kind = |(a, b): (&EntityKind, &EntityKind)| {
            let stored = |outcome: &Outcome| (outcome.name.clone(), outcome.kind, outcome.scale);
            a.outcomes.iter().map(stored).eq(b.outcomes.iter().map(stored))
        };
        self.has_events_of(other)
            && self.entities.iter().map(|e| e.kind).eq(other.entities.iter().map(|e| e.kind))
            && self.kinds.len() == other.kinds.len()
            && self.kinds.iter().zip(&other.kinds).all(same_kind)
    }

    /// Says why ensembles with this catalogue cannot be stored; `None` if they can.
    pub fn fault(&self) -> Option<String> {
        let kind_without = self.entities.iter().find(|entity| entity.kind >= self.kinds.len());
        let kinds = self.kinds.iter().find_map(|kind| {
            let unscaled = kind.outcomes.iter().find(|outcome| outcome.scale < 1);
            let what = format!("outcome of kind {:?}", kind.name);
            repeated(&what, kind.outcomes.iter().map(|outcome| &*outcome.name))
                .or_else(|| kind.outcomes.iter().find_map(fault_of_labels))
                .or_else(|| unscaled.map(|o| format!("{what} {:?} has scale {}, below 1", o.name, o.scale)))
        });
        let words = self.events.iter().find_map(|column| match &column.kind {
            EventKind::Label(words) if words.len() > LABELS_MAX => {
                Some(format!("event column {:?} has {} words, more than {LABELS_MAX}", column.name, words.len()))
            }
            EventKind::Label(words) => {
                repeated(&format!("word of {:?}", column.name), words.iter().map(String::as_str))
            }
            _ => None,
        });
        let names = self.entities.iter().find_map(|entity| fault_of_name("entity", &entity.name)).or_else(|| {
            let mut outcomes = self.kinds.iter().flat_map(|kind| &kind.outcomes);
            outcomes.find_map(|outcome| fault_of_name("outcome", &outcome.name))
        });
        let columns = COMMON_COLUMNS.into_iter().chain(self.events.iter().map(|column| &*column.name));
        let many = self.entities.len();
        (many > ENTITIES_MAX)
            .then(|| format!("there are {many} entities, and an ensemble has at most {ENTITIES_MAX}"))
            .or_else(|| repeated("entity", self.entities.iter().map(|entity| &*entity.name)))
            .or_else(|| kind_without.map(|e| format!("entity {:?} has kind {}, which does not exist", e.name, e.kind)))
            .or(kinds)
            .or(names)
            .or_else(|| repeated("event column", columns))
            .or(words)
            .or_else(|| self.fault_of_expectations())
    }

    /// Number of outcome values in one world, over all entities.
    pub fn values_per_world(&self) -> usize {
        (0..self.entities.len()).map(|e| self.kind_of(e).outcomes.len()).sum()
    }
}

/// Maximum entities: each is a row group of a file, and Parquet counts these in 16 bits.
const ENTITIES_MAX: usize = i16::MAX as usize;
/// Maximum words of a label column: one code stands for NULL.
const LABELS_MAX: usize = 255;
/// Columns that stand beside outcomes.
const RESERVED: [&str; 2] = ["world", "entity"];

/// Says why an `entity` or `outcome`, whichever `what` is, cannot have a name; `None` if it can. Conditions write
/// `ENTITY:OUTCOME`, and tables have columns for worlds and entities.
pub fn fault_of_name(what: &str, name: &str) -> Option<String> {
    let is_reserved = what == "outcome" && RESERVED.contains(&name);
    let is_good = !name.trim().is_empty() && !name.contains(':') && !name.chars().any(char::is_control);
    (is_reserved || !is_good).then(|| {
        let reserved = if is_reserved { ", and other than \"world\" and \"entity\"" } else { "" };
        format!("{name:?} cannot name an {what}: use a name without ':' and control characters{reserved}")
    })
}

/// Columns that the events of every model have.
const COMMON_COLUMNS: [&str; 5] = ["ensemble", "version", "entity", "world", "number"];

/// Codes without a label have an empty text.
fn fault_of_labels(outcome: &Outcome) -> Option<String> {
    let labels = outcome.labels.iter().map(String::as_str).filter(|label| !label.is_empty());
    repeated(&format!("label of {:?}", outcome.name), labels)
}

/// Finds an empty or repeated name.
fn repeated<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut seen = BTreeSet::new();
    let found = names.into_iter().find(|name| name.is_empty() || !seen.insert(*name))?;
    Some(if found.is_empty() {
        format!("a name of an {what} is empty")
    } else {
        format!("{what} {found:?} is repeated")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faulty_catalogues_are_refused() {
        let outcome = |name: &str, scale| Outcome { scale, ..Outcome::new(name, "", OutcomeKind::Number) };
        let entity = |name: &str, kind| Entity::new(name, kind);
        let column = |name: &str, kind| EventColumn::new(name, kind);
        let words = |words: &[&str]| EventKind::Label(words.iter().map(|word| (*word).to_owned()).collect());
        let of = |outcomes, entities, events| {
            Catalogue { kinds: vec![EntityKind { name: "game".into(), outcomes }], entities, events }.fault()
        };
        let one = || vec![outcome("points", 10)];
        let labelled = |labels: &[&str]| {
            let labels = labels.iter().map(|label| (*label).to_owned()).collect();
            Outcome { labels, ..Outcome::new("side", "", OutcomeKind::Code) }
        };
        assert_eq!(of(one(), vec![entity("a", 0), entity("b", 0)], vec![column("x", words(&["u", "v"]))]), None);
        for (fault, expected) in [
            (of(one(), vec![entity("a", 0), entity("a", 0)], vec![]), "entity \"a\" is repeated"),
            (
                of(one(), (0..40_000).map(|n| entity(&n.to_string(), 0)).collect(), vec![]),
                "there are 40000 entities, and an ensemble has at most 32767",
            ),
            (of(one(), vec![entity("a", 1)], vec![]), "entity \"a\" has kind 1, which does not exist"),
            (of(vec![outcome("x", 0)], vec![], vec![]), "outcome of kind \"game\" \"x\" has scale 0, below 1"),
            (of(vec![labelled(&["u", "", "", "u"])], vec![], vec![]), "label of \"side\" \"u\" is repeated"),
            (of(vec![outcome("", 1)], vec![], vec![]), "a name of an outcome of kind \"game\" is empty"),
            (
                of(one(), vec![entity("a:b", 0)], vec![]),
                "\"a:b\" cannot name an entity: use a name without ':' and control characters",
            ),
            (
                of(vec![outcome("a\nb", 1)], vec![], vec![]),
                "\"a\\nb\" cannot name an outcome: use a name without ':' and control characters",
            ),
            (
                of(vec![outcome("entity", 1)], vec![], vec![]),
                "\"entity\" cannot name an outcome: use a name without ':' and control characters, and other than \"world\" \
                 and \"entity\"",
            ),
            (of(one(), vec![], vec![column("world", EventKind::I8)]), "event column \"world\" is repeated"),
            (of(one(), vec![], vec![column("x", words(&["u", "u"]))]), "word of \"x\" \"u\" is repeated"),
            (
                of(one(), vec![], vec![column("x", words(&["w"; 256]))]),
                "event column \"x\" has 256 words, more than 255",
            ),
        ] {
            assert_eq!(fault.as_deref(), Some(expected));
        }
    }

    #[test]
    fn labels_are_optional_in_stored_catalogues() {
        let old = r#"{"name":"winner","unit":"side","kind":"code","scale":1}"#;
        let mut outcome: Outcome = serde_json::from_str(old).unwrap();
        assert_eq!(serde_json::to_string(&outcome).unwrap(), old);
        assert_eq!(outcome.label(0.0), None);
        assert_eq!(outcome.find_label("home").unwrap_err().to_string(), "winner has no label \"home\"");
        outcome.labels = ["", "home", "away"].map(str::to_owned).to_vec();
        let again: Outcome = serde_json::from_str(&serde_json::to_string(&outcome).unwrap()).unwrap();
        assert_eq!(again, outcome);
        let labels = [-1.0, 0.0, 1.0, 1.5, 2.0, 3.0].map(|code| outcome.label(code));
        assert_eq!(labels, [None, None, Some("home"), None, Some("away"), None]);
        assert_eq!(outcome.find_label("away"), Ok(2));
        let unknown = outcome.find_label("hoem").unwrap_err().to_string();
        assert_eq!(unknown, "winner has no label \"hoem\"; did you mean home?");
        assert!(outcome.find_label("").is_err());
    }

    #[test]
    fn events_are_compared_without_texts_for_people() {
        let column = |name: &str, doc: &str| EventColumn {
            doc: doc.into(),
            nullable: true,
            ..EventColumn::new(name, EventKind::I8)
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
