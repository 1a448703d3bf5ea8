//! What a program says about itself in its first line: a JSON object.

use std::fmt;
use std::marker::PhantomData;

use model::{
    Catalogue, Entity, EntityKind, EventColumn, EventKind, Outcome, OutcomeKind, ParameterItem, ParameterSpec,
    ParameterValue, UnknownName,
};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::layout::{ENTITY, EVENT, WORLD};
use crate::process::shown;

/// A program as it describes itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) summary: String,
    pub(crate) parameters: Vec<ParameterSpec>,
    pub(crate) catalogue: Catalogue,
}

impl Description {
    /// Reads the first line of a program.
    ///
    /// # Errors
    /// The reason for people, if the line is not such an object or its catalogue cannot be stored.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        // Some systems begin every text with a byte order mark.
        let line = line.trim_start_matches('\u{feff}');
        let given: Given = serde_json::from_str(line).map_err(|error| {
            // Other values are read as far as they could be an object's.
            if error.is_data() && line.trim_start().starts_with('{') {
                return error.to_string();
            }
            format!("its first line is {}: {error}", shown(line.as_bytes()))
        })?;
        if given.protocol != PROTOCOL {
            return Err(format!("it asks for protocol {}: this program knows protocol {PROTOCOL}", given.protocol));
        }
        if given.name.is_empty() || given.name.contains(|c: char| c.is_whitespace() || c.is_control() || c == ':') {
            return Err(format!("its name is {:?}: give a name without spaces and colons", given.name));
        }
        let Given { name, version, summary, kinds, entities, titles, events, parameters, .. } = given;
        let mut catalogue = catalogue(kinds, entities, &titles)?;
        let event_column = |(name, column): (String, GivenOutcome)| column.event_column(name);
        catalogue.events = events.0.into_iter().map(event_column).collect::<Result<_, _>>()?;
        if let Some(name) = reserved(&catalogue) {
            return Err(format!("an outcome is named {name:?}, which records use themselves: choose another name"));
        }
        if let Some(fault) = catalogue.fault() {
            return Err(fault);
        }
        let parameters = parameters.0.into_iter().map(|(name, given)| given.spec(name)).collect();
        Ok(Self { name, version, summary, parameters, catalogue })
    }
}

/// The version of the protocol.
const PROTOCOL: u32 = 1;
/// Upper limit of scales, so that a value of 1 fits a column.
const SCALE_MAX: i32 = 1_000_000_000;
/// Items that a list may have unless the program says otherwise.
const ITEMS_MAX: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    #[serde(default = "protocol")]
    protocol: u32,
    name: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    summary: String,
    kinds: Ordered<Ordered<GivenOutcome>>,
    entities: GivenEntities,
    #[serde(default)]
    titles: Ordered<String>,
    #[serde(default)]
    events: Ordered<GivenOutcome>,
    #[serde(default)]
    parameters: Ordered<GivenParameter>,
}

fn protocol() -> u32 {
    PROTOCOL
}

/// A JSON object in the order of its keys, repeated ones included.
struct Ordered<V>(Vec<(String, V)>);

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Ordered<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Pairs<V> {
            type Value = Vec<(String, V)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_map(Pairs(PhantomData)).map(Self)
    }
}

/// An outcome or an event column: its kind alone, or with more.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "an outcome is \"number\", \"flag\", \"code\" or \"real\", or an object with this kind, \
                               and a unit, scale or labels, or nullable in an event column"
)]
enum GivenOutcome {
    Kind(OutcomeKind),
    Full(FullOutcome),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FullOutcome {
    kind: OutcomeKind,
    #[serde(default)]
    unit: String,
    #[serde(default = "one")]
    scale: i32,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    nullable: bool,
}

fn one() -> i32 {
    1
}

impl GivenOutcome {
    fn full(self) -> FullOutcome {
        match self {
            Self::Kind(kind) => {
                FullOutcome { kind, unit: String::new(), scale: 1, labels: Vec::new(), nullable: false }
            }
            Self::Full(full) => full,
        }
    }

    fn outcome(self, name: String) -> Result<Outcome, String> {
        let FullOutcome { kind, unit, scale, labels, nullable } = self.full();
        let scale_max = if kind == OutcomeKind::Number { SCALE_MAX } else { 1 };
        if !(1..=scale_max).contains(&scale) {
            return Err(format!("outcome {name:?} has scale {scale}: give a whole number from 1 to {scale_max}"));
        }
        if kind != OutcomeKind::Code && !labels.is_empty() {
            return Err(format!("outcome {name:?} has labels, but only codes have them"));
        }
        if nullable {
            return Err(format!("outcome {name:?} is nullable: only event columns may be NULL"));
        }
        Ok(Outcome { name, unit, kind, scale, labels })
    }

    fn event_column(self, name: String) -> Result<EventColumn, String> {
        let FullOutcome { kind, unit, scale, labels, nullable } = self.full();
        if scale != 1 {
            return Err(format!("event column {name:?} has a scale, which events lack: declare it real"));
        }
        let kind = match kind {
            OutcomeKind::Code if labels.is_empty() => {
                return Err(format!("event column {name:?} is a code without labels: name them"));
            }
            OutcomeKind::Code => EventKind::Label(labels),
            _ if !labels.is_empty() => {
                return Err(format!("event column {name:?} has labels, but only codes have them"));
            }
            OutcomeKind::Number => EventKind::I32,
            OutcomeKind::Flag => EventKind::I8,
            OutcomeKind::Real => EventKind::F64,
        };
        Ok(EventColumn { doc: unit, nullable, ..EventColumn::new(name, kind) })
    }
}

/// An outcome with a name that a record has for itself.
fn reserved(catalogue: &Catalogue) -> Option<&str> {
    let names: &[&str] = if catalogue.events.is_empty() { &[WORLD, ENTITY] } else { &[WORLD, ENTITY, EVENT] };
    let mut outcomes = catalogue.kinds.iter().flat_map(|kind| &kind.outcomes);
    outcomes.find(|outcome| names.contains(&&*outcome.name)).map(|outcome| &*outcome.name)
}

/// The entities: names if they have one kind, else the kind of each.
#[derive(Deserialize)]
#[serde(untagged, expecting = "entities are a list of names, or an object with the kind of each")]
enum GivenEntities {
    Names(Vec<String>),
    Kinds(Ordered<String>),
}

fn catalogue(
    kinds: Ordered<Ordered<GivenOutcome>>,
    entities: GivenEntities,
    titles: &Ordered<String>,
) -> Result<Catalogue, String> {
    let kind = |(name, outcomes): (String, Ordered<GivenOutcome>)| {
        let outcomes = outcomes.0.into_iter().map(|(name, outcome)| outcome.outcome(name)).collect::<Result<_, _>>()?;
        Ok(EntityKind { name, outcomes })
    };
    let kinds: Vec<EntityKind> = kinds.0.into_iter().map(kind).collect::<Result<_, String>>()?;
    let entities: Vec<(String, usize)> = match entities {
        GivenEntities::Names(names) if kinds.len() == 1 => names.into_iter().map(|name| (name, 0)).collect(),
        GivenEntities::Names(_) => return Err("it has several kinds: give the kind of each entity".to_owned()),
        GivenEntities::Kinds(pairs) => {
            let kind_of = |(name, kind): (String, String)| {
                let found = kinds.iter().position(|known| known.name == kind);
                let unknown = || UnknownName::new("no kind", &kind, kinds.iter().map(|known| &*known.name)).to_string();
                Ok((name, found.ok_or_else(unknown)?))
            };
            pairs.0.into_iter().map(kind_of).collect::<Result<_, String>>()?
        }
    };
    if entities.is_empty() || kinds.iter().any(|kind| kind.outcomes.is_empty()) {
        return Err("it has no entity, or a kind without outcomes: name at least one of each".to_owned());
    }
    let entity = |(name, kind): (String, usize)| {
        let title = titles.0.iter().find(|(entity, _)| *entity == name).map_or(&name, |(_, title)| title).clone();
        Entity { name, kind, title, members: Vec::new() }
    };
    Ok(Catalogue { kinds, entities: entities.into_iter().map(entity).collect(), events: Vec::new() })
}

/// A parameter: its default alone, or with more.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a parameter is its default (a number, a text or a list of either), or an object with \
                               this default, and a doc, min, max, words or items_max"
)]
enum GivenParameter {
    Full(FullParameter),
    Default(GivenDefault),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FullParameter {
    default: GivenDefault,
    #[serde(default)]
    doc: String,
    min: Option<f64>,
    max: Option<f64>,
    #[serde(default)]
    words: Vec<String>,
    items_max: Option<usize>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum GivenDefault {
    Number(f64),
    Text(String),
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

impl GivenParameter {
    fn spec(self, name: String) -> ParameterSpec {
        let FullParameter { default, doc, min, max, words, items_max } = match self {
            Self::Full(full) => full,
            Self::Default(default) => {
                FullParameter { default, doc: String::new(), min: None, max: None, words: Vec::new(), items_max: None }
            }
        };
        let number = ParameterItem::Number { min: min.unwrap_or(f64::NEG_INFINITY), max: max.unwrap_or(f64::INFINITY) };
        let text = ParameterItem::Text { words };
        let items = Some(items_max.unwrap_or(ITEMS_MAX));
        let (default, item, items_max) = match default {
            GivenDefault::Number(number_) => (ParameterValue::Number(number_), number, None),
            GivenDefault::Text(text_) => (ParameterValue::Text(text_), text, None),
            GivenDefault::Numbers(numbers) => (ParameterValue::Numbers(numbers), number, items),
            GivenDefault::Texts(texts) => (ParameterValue::Texts(texts), text, items),
        };
        ParameterSpec { name: name.into(), doc: doc.into(), default, item, items_max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_have_short_and_full_forms() {
        let line = r#"{"name": "dice", "kinds": {"table": {"sum": "number", "high": "flag"}}, "entities": ["b", "a"]}"#;
        let short = Description::parse(line).unwrap();
        assert_eq!((&*short.name, short.parameters.len()), ("dice", 0));
        let names: Vec<&str> = short.catalogue.entities.iter().map(|entity| &*entity.name).collect();
        assert_eq!(names, ["b", "a"]);
        let full = Description::parse(
            r#"{"protocol": 1, "name": "league", "version": "2", "summary": "Games.",
                "kinds": {"team": {"wins": {"kind": "number", "unit": "games", "scale": 10}},
                          "game": {"winner": {"kind": "code", "labels": ["home", "away"]}}},
                "entities": {"game-1": "game", "team-1": "team"}, "titles": {"game-1": "The game"},
                "parameters": {"edge": {"default": 2.5, "min": 0, "doc": "points"}, "mode": {"default": "a",
                               "words": ["a", "b"]}, "shares": [0.5, 0.5], "names": {"default": ["x"], "items_max": 3}}}"#,
        )
        .unwrap();
        let game = &full.catalogue.entities[0];
        assert_eq!((game.kind, &*game.title, &*full.catalogue.entities[1].title), (1, "The game", "team-1"));
        assert_eq!(full.catalogue.kinds[0].outcomes[0].scale, 10);
        let accepted: Vec<String> = full.parameters.iter().map(ParameterSpec::accepted).collect();
        assert_eq!(accepted[..2], ["a number of at least 0", "one of a, b"]);
        assert_eq!(accepted[2], "a comma-separated list of up to 100 finite numbers");
        assert_eq!(accepted[3], "a comma-separated list of up to 3 texts");
    }

    #[test]
    fn events_have_columns_of_every_kind() {
        let described = |events: &str| {
            let line = format!(
                r#"{{"name": "x", "kinds": {{"k": {{"o": "number"}}}}, "entities": ["a"], "events": {{{events}}}}}"#
            );
            Description::parse(&line).map(|description| description.catalogue.events)
        };
        let columns = described(
            r#""minute": {"kind": "number", "unit": "minutes"}, "own": "flag", "xg": "real",
               "scorer": {"kind": "code", "labels": ["home", "away"], "nullable": true}"#,
        )
        .unwrap();
        let words = ["home", "away"].map(str::to_owned).to_vec();
        let kinds = [EventKind::I32, EventKind::I8, EventKind::F64, EventKind::Label(words)];
        assert_eq!(columns.iter().map(|column| column.kind.clone()).collect::<Vec<_>>(), kinds);
        assert_eq!(columns.iter().map(|column| column.nullable).collect::<Vec<_>>(), [false, false, false, true]);
        assert_eq!(columns[0].doc, "minutes");
        for (events, expected) in [
            (r#""x": "code""#, "event column \"x\" is a code without labels"),
            (r#""x": {"kind": "flag", "labels": ["a"]}"#, "event column \"x\" has labels, but only codes have them"),
            (r#""x": {"kind": "number", "scale": 10}"#, "event column \"x\" has a scale, which events lack"),
            (r#""world": "number""#, "event column \"world\" is repeated"),
        ] {
            let reason = described(events).unwrap_err();
            assert!(reason.starts_with(expected), "{reason}");
        }
    }

    #[test]
    fn byte_order_marks_are_skipped() {
        let line = r#"{"name": "dice", "kinds": {"k": {"o": "number"}}, "entities": ["a"]}"#;
        assert_eq!(Description::parse(&format!("\u{feff}{line}")), Description::parse(line));
    }

    #[test]
    fn invalid_descriptions_are_refused_with_the_reason() {
        let with = |kinds: &str, entities: &str| {
            let line = format!(r#"{{"name": "x", "kinds": {kinds}, "entities": {entities}}}"#);
            Description::parse(&line).map(|_| ()).unwrap_err()
        };
        let one = r#"{"k": {"o": "number"}}"#;
        for (reason, expected) in [
            (with(one, r#"["a", "a"]"#), "entity \"a\" is repeated"),
            (with(one, "[]"), "it has no entity, or a kind without outcomes"),
            (with(r#"{"k": {}}"#, r#"["a"]"#), "it has no entity, or a kind without outcomes"),
            (with(r#"{"k": {"o": "integer"}}"#, r#"["a"]"#), "an outcome is \"number\", \"flag\""),
            (with(r#"{"k": {"o": {"kind": "flag", "scale": 2}}}"#, r#"["a"]"#), "outcome \"o\" has scale 2"),
            (with(r#"{"k": {"o": {"kind": "flag", "labels": ["x"]}}}"#, r#"["a"]"#), "outcome \"o\" has labels"),
            (with(r#"{"k": {"world": "flag"}}"#, r#"["a"]"#), "an outcome is named \"world\", which records use"),
            (with(r#"{"k": {"o": {"kind": "flag", "nullable": true}}}"#, r#"["a"]"#), "outcome \"o\" is nullable"),
            (with(r#"{"k": {"o": "flag", "o": "flag"}}"#, r#"["a"]"#), "outcome of kind \"k\" \"o\" is repeated"),
            (with(r#"{"k": {"o": "flag"}, "l": {"o": "flag"}}"#, r#"["a"]"#), "it has several kinds"),
            (with(one, r#"{"a": "kk"}"#), "no kind \"kk\"; did you mean k?"),
            (
                Description::parse("hello").map(|_| ()).unwrap_err(),
                "its first line is \"hello\": expected value at line 1",
            ),
            (Description::parse(r#"{"nam": "x"}"#).map(|_| ()).unwrap_err(), "unknown field `nam`"),
            (
                Description::parse(r#"{"name": "a b", "kinds": {}, "entities": []}"#).map(|_| ()).unwrap_err(),
                "its name is \"a b\"",
            ),
            (
                Description::parse(r#"{"protocol": 2, "name": "a", "kinds": {}, "entities": []}"#)
                    .map(|_| ())
                    .unwrap_err(),
                "it asks for protocol 2",
            ),
        ] {
            assert!(reason.starts_with(expected), "{reason}");
        }
    }
}
