//! The plan of an ensemble: everything that determines its worlds.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use model::{Catalogue, Model, Models, ModelsError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use strum::{EnumString, IntoStaticStr};
use world::{ContentHash, Seed, World, WorldRange};

/// Whether to store events or replay them on demand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum EventMode {
    /// Every event is a row of `sim.events`.
    #[default]
    Store,
    /// As `Store`, but columns with expected values hold the differences from them.
    Compact,
    /// Store nothing; replay any slice from the seed.
    Replay,
}

impl EventMode {
    /// Whether events are rows.
    pub fn is_stored(self) -> bool {
        self != Self::Replay
    }
}

/// One version of an ensemble, as requested.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub name: String,
    pub model: String,
    /// The parameters as a JSON object.
    pub parameters: String,
    pub seed: Seed,
    pub worlds: WorldRange,
    /// Worlds per range (the last may have fewer).
    pub range_worlds: u32,
    pub events: EventMode,
    /// Everything the model emits. That of a stored plan has expectations only if `events` is `Compact`.
    pub catalogue: Catalogue,
}

/// Why a model could not be created: [`MissingModel`] if the program does not have it.
pub type ModelError = Box<dyn Error + Send + Sync>;

/// Creates the model of a stored plan.
pub type MakeModel = Arc<dyn Fn(&Plan) -> Result<Arc<dyn Model>, ModelError> + Send + Sync>;

/// The model of a stored ensemble is not at hand.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}; the ensemble's outcomes and stored events can be read without its model, but playing, replaying, and the model's \
     own conditions and summaries need it"
)]
pub struct MissingModel(pub ModelsError);

/// Creates models from those of a program.
pub fn make_model(models: Arc<Models>) -> MakeModel {
    Arc::new(move |plan| {
        let plugin = models.find(&plan.model).map_err(MissingModel)?;
        let made = plugin.build_from_json(&plan.parameters);
        Ok(made.map_err(|e| format!("cannot use the stored parameters of ensemble {:?}: {e}", plan.name))?)
    })
}

impl Plan {
    /// The ranges, in order.
    pub fn ranges(&self) -> Vec<WorldRange> {
        self.worlds.split(self.range_worlds)
    }

    /// The worlds outside `done`, in ranges as long as planned. An ensemble that was extended begins new ranges where its
    /// old worlds end.
    pub fn ranges_without(&self, done: &[WorldRange]) -> Vec<WorldRange> {
        let mut done: Vec<(u32, u32)> = done.iter().map(|range| (range.first().0, range.end())).collect();
        done.sort_unstable();
        let (mut next, end) = (self.worlds.first().0, self.worlds.end());
        let mut ranges = Vec::new();
        for (first, last) in done.into_iter().chain([(end, end)]) {
            let gap = WorldRange::new(World(next), first.min(end).saturating_sub(next));
            ranges.extend(gap.into_iter().flat_map(|gap| gap.split(self.range_worlds)));
            next = next.max(last);
        }
        ranges
    }

    /// The parameters without the definition, and what identifies the definition, for lists: it may be long.
    pub(crate) fn inputs(&self) -> (Map<String, Value>, Value) {
        const DEFINITION: &str = "definition";
        // Skips the definition instead of reading it.
        let mut all: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&self.parameters).unwrap_or_default();
        let definition = all.remove(DEFINITION).map(|text| {
            let (words, rest) = text.get().as_bytes().as_chunks::<8>();
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
            json!({"hash": ContentHash::of_row(text.get().len() as u64, words).to_string()})
        });
        let read = |text: &RawValue| serde_json::from_str(text.get()).unwrap_or_default();
        (all.iter().map(|(name, value)| (name.clone(), read(value))).collect(), definition.into())
    }

    /// Describes a difference from another plan that would change the worlds; `None` if there is none.
    pub fn difference(&self, other: &Self) -> Option<String> {
        const SHOWN_MAX: usize = 1000;
        // A model without events has none to store.
        let events =
            |plan: &Self| if self.catalogue.events.is_empty() { "" } else { plan.events.into_str() }.to_owned();
        let pairs = [
            ("model", self.model.clone(), other.model.clone()),
            ("parameters", self.parameters.clone(), other.parameters.clone()),
            ("seed", self.seed.0.to_string(), other.seed.0.to_string()),
            ("worlds", self.worlds.count().to_string(), other.worlds.count().to_string()),
            ("events", events(self), events(other)),
        ];
        let differs = |(what, a, b): &(&str, String, String)| a != b && !(*what == "parameters" && is_same_json(a, b));
        let (what, a, b) = pairs.into_iter().find(differs)?;
        Some(text_that_differs(what, &a, &b).unwrap_or_else(|| match a.len() + b.len() {
            // A model's definition may be thousands of words long.
            SHOWN_MAX.. => format!("other {what}"),
            _ => format!("{what} {a}, not {b}"),
        }))
    }
}

/// Whether two texts are the same JSON. Python and Rust write spaces and the order of keys differently.
fn is_same_json(a: &str, b: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    read(a).is_some_and(|a| read(b) == Some(a))
}

/// The first of two plans' parameters that differs, or the name of the first difference inside an object of both, such
/// as the definition of a model.
fn text_that_differs(what: &str, a: &str, b: &str) -> Option<String> {
    fn find(path: &str, a: &Map<String, Value>, b: &Map<String, Value>) -> Option<String> {
        let key = a.keys().chain(b.keys()).find(|key| a.get(*key) != b.get(*key))?;
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (a.get(key), b.get(key)) {
            (Some(Value::Object(one)), Some(Value::Object(other))) => find(&path, one, other),
            // Hashes say nothing to a reader, and words of a program may be long.
            _ if path.contains('.') => Some(format!("another {} differs", path.replacen('.', " of its model: ", 1))),
            (Some(Value::Object(_)), None) => Some(format!("a {path} of its model: give its file again")),
            (Some(Value::Object(_)), _) | (_, Some(Value::Object(_))) => Some(format!("another {path} of its model")),
            (one, other) => Some(format!("parameter {path} {}, not {}", one?, other?)),
        }
    }
    const SHOWN_MAX: usize = 200;
    let read = |text: &str| serde_json::from_str(text).ok();
    let found = if what == "parameters" { find("", &read(a)?, &read(b)?) } else { None };
    found.filter(|found| found.len() <= SHOWN_MAX)
}

/// Why a name cannot be an ensemble's.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "{0:?} cannot name an ensemble: use 1 to 64 lower-case letters, digits, '-', '_' and '.', beginning with a letter or digit"
)]
pub struct NameError(pub String);

/// Checks an ensemble's name, which becomes part of file names.
pub fn check_name(name: &str) -> Result<(), NameError> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphanumeric());
    if first && name.len() <= 64 && name.chars().all(good) { Ok(()) } else { Err(NameError(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(worlds: u32) -> Plan {
        Plan {
            name: String::new(),
            model: String::new(),
            parameters: String::new(),
            seed: Seed(1),
            worlds: WorldRange::new(World(0), worlds).unwrap(),
            range_worlds: 10,
            events: EventMode::Replay,
            catalogue: Catalogue { kinds: Vec::new(), entities: Vec::new(), events: Vec::new() },
        }
    }

    #[test]
    fn remaining_ranges_fill_the_gaps() {
        let range = |first, count| WorldRange::new(World(first), count).unwrap();
        assert_eq!(plan(25).ranges_without(&[]), plan(25).ranges());
        assert_eq!(plan(25).ranges_without(&plan(25).ranges()), []);
        assert_eq!(plan(25).ranges_without(&[range(10, 10)]), [range(0, 10), range(20, 5)]);
        assert_eq!(plan(25).ranges_without(&[range(20, 5), range(1_000_000, 1)]), [range(0, 10), range(10, 10)]);
        // 25 worlds were extended to 47, in ranges of 10 that begin at 25.
        let old = plan(25).ranges();
        assert_eq!(plan(47).ranges_without(&old), [range(25, 10), range(35, 10), range(45, 2)]);
        assert_eq!(plan(47).ranges_without(&[old, vec![range(35, 10)]].concat()), [range(25, 10), range(45, 2)]);
    }

    #[test]
    fn differences_name_the_parameter() {
        let of = |parameters: &str| Plan { parameters: parameters.to_owned(), ..plan(1) };
        let long = r#"{"definition":{"source":"0123","uses":{"GAMES":"45"}},"home":3.0,"order":"fifo","speeds":[1.0]}"#;
        for (changed, difference) in [
            (long.replace("3.0", "2.5"), "parameter home 3.0, not 2.5"),
            (long.replace("fifo", "lifo"), "parameter order \"fifo\", not \"lifo\""),
            (long.replace("[1.0]", "[1.0,2.0]"), "parameter speeds [1.0], not [1.0,2.0]"),
            (long.replace("0123", "0124"), "another definition of its model: source differs"),
            (long.replace("\"45\"", "45"), "another definition of its model: uses.GAMES differs"),
            (r#"{"home":3.0}"#.to_owned(), "a definition of its model: give its file again"),
            (long.replace("\"source\"", "\"a\":1,\"source\""), "another definition of its model: a differs"),
        ] {
            assert_eq!(of(long).difference(&of(&changed)).as_deref(), Some(difference));
        }
        let as_python =
            r#"{"definition": {"uses": {"GAMES": "45"}, "source": "0123"},"home":3.0,"order":"fifo","speeds":[1.0]}"#;
        assert_eq!(of(long).difference(&of(as_python)), None);
    }

    #[test]
    fn events_differ_only_in_models_that_have_some() {
        let of = |events, columns| {
            let catalogue = Catalogue { events: columns, ..plan(1).catalogue };
            Plan { events, catalogue, ..plan(1) }
        };
        let some = vec![model::EventColumn::new("minute", model::EventKind::I8)];
        let [store, replay] = [EventMode::Store, EventMode::Replay].map(|mode| of(mode, some.clone()));
        assert_eq!(store.difference(&replay).as_deref(), Some("events store, not replay"));
        assert_eq!(of(EventMode::Store, Vec::new()).difference(&of(EventMode::Replay, Vec::new())), None);
    }

    #[test]
    fn inputs_tell_definitions_apart() {
        let inputs = |parameters: &str| Plan { parameters: parameters.to_owned(), ..plan(1) }.inputs();
        let (parameters, none) = inputs(r#"{"pace": 1.25, "words": ["a"]}"#);
        assert_eq!((Value::Object(parameters), none), (json!({"pace": 1.25, "words": ["a"]}), Value::Null));
        let hashes =
            ["{}", "{ }", r#"{"name": "longer than a word"}"#, r#"{"name": "longer than a work"}"#].map(|text| {
                let (parameters, definition) = inputs(&format!(r#"{{"definition": {text}, "pace": 1}}"#));
                assert_eq!(Value::Object(parameters), json!({"pace": 1}));
                definition["hash"].as_str().unwrap().to_owned()
            });
        assert_eq!(hashes.iter().collect::<std::collections::BTreeSet<_>>().len(), 4, "{hashes:?}");
        assert_eq!(inputs("damaged"), (Map::new(), Value::Null));
    }

    #[test]
    fn names_that_cannot_be_files_are_refused() {
        for good in ["a", "season-1", "2026_w3.v2", &"x".repeat(64)] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        for bad in ["", ".", "..", "-x", "A", "a/b", "a b", "é", &"x".repeat(65)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
