//! What a program says about itself in its first line: a JSON object.

use std::fmt;
use std::marker::PhantomData;

use model::{
    Catalogue, Entity, EntityKind, Outcome, OutcomeKind, ParameterItem, ParameterSpec, ParameterValue, UnknownName,
};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

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
        let given: Given = serde_json::from_str(line).map_err(|error| {
            if error.is_data() {
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
        let Given { name, version, summary, kinds, entities, titles, parameters, .. } = given;
        let catalogue = catalogue(kinds, entities, &titles)?;
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

/// An outcome: its kind alone, or with more.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "an outcome is \"number\", \"flag\", \"code\" or \"real\", or an object with this kind, \
                               and a unit, scale or labels"
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
}

fn one() -> i32 {
    1
}

impl GivenOutcome {
    fn outcome(self, name: String) -> Result<Outcome, String> {
        let (kind, unit, scale, labels) = match self {
            Self::Kind(kind) => (kind, String::new(), 1, Vec::new()),
            Self::Full(FullOutcome { kind, unit, scale, labels }) => (kind, unit, scale, labels),
        };
        let scale_max = if kind == OutcomeKind::Number { SCALE_MAX } else { 1 };
        if !(1..=scale_max).contains(&scale) {
            return Err(format!("outcome {name:?} has scale {scale}: give a whole number from 1 to {scale_max}"));
        }
        if kind != OutcomeKind::Code && !labels.is_empty() {
            return Err(format!("outcome {name:?} has labels, and is no code"));
        }
        Ok(Outcome { name, unit, kind, scale, labels })
    }
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
