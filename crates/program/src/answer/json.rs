//! Answers as lines of JSON: an object for each record or event, and an empty line at the end.

use std::fmt;

use model::{EventColumn, EventKind, Misfit, Number, OutcomeKind};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use world::World;

use super::Refused;
use crate::error::ProgramError;
use crate::grid::{Fault, Grid};
use crate::layout::{ENTITY, EVENT, Layout, WORLD};
use crate::numbers::{Column, Slots, store_integers, store_reals};
use crate::process::{LINE_BYTES_MAX, Reading, shown};

/// The first byte of such an answer.
pub(super) const FIRST: u8 = b'{';

pub(super) fn read(reading: &mut Reading<'_>, grid: &mut Grid) -> Result<(), Refused> {
    let layout = grid.layout().clone();
    let mut line = Vec::new();
    loop {
        reading.line(&mut line, LINE_BYTES_MAX)?;
        if line.is_empty() {
            return Ok(());
        }
        let mut json = serde_json::Deserializer::from_slice(&line);
        let record = RecordOf(&layout).deserialize(&mut json).and_then(|record| json.end().map(|()| record));
        let record = record
            .map_err(|error| ProgramError::Protocol(format!("{}: {}{}", shown(&line), cause(&error), hint(&line))))?;
        store(&record, &layout, grid)?;
    }
}

/// The cause of an error within a line, whose number says nothing.
fn cause(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// The way to write what JSON has no word for. Python's `json.dumps`, for one, prints `NaN`.
fn hint(line: &[u8]) -> &'static str {
    let has = |word: &str| line.windows(word.len()).any(|part| part == word.as_bytes());
    if has(": NaN") || has(":NaN") || has("Infinity") {
        "; JSON has no NaN and no infinity: print the texts \"NaN\", \"inf\" and \"-inf\""
    } else {
        ""
    }
}

/// A line. Values stay text: `parse` reads every number to the bit; `serde_json` does not.
struct Record<'a> {
    world: Option<&'a RawValue>,
    entity: Option<&'a RawValue>,
    /// An object, if the line is an event.
    event: Option<&'a RawValue>,
    /// By the number of the outcome's name.
    values: Vec<Option<&'a RawValue>>,
}

fn store(record: &Record<'_>, layout: &Layout, grid: &mut Grid) -> Result<(), Fault> {
    let entity = match record.entity {
        Some(entity) => entity_of(entity.get(), layout)?,
        None if layout.entities() == 1 => 0,
        None => return Err(Fault::new("a record has no entity")),
    };
    let at_entity = |reason: String| Fault { reason, entity: Some(entity), world: None };
    let world = record.world.ok_or_else(|| at_entity("a record has no world".to_owned()))?.get();
    let world: i64 = world.parse().map_err(|_| at_entity(format!("a record has world {world}: give its number")))?;
    if let Some(event) = record.event {
        if record.values.iter().any(Option::is_some) {
            return Err(at_entity("a line has an event and outcomes: print two lines".to_owned()));
        }
        return if grid.events.are_wanted { store_event(event, entity, world, layout, grid) } else { Ok(()) };
    }
    let (kind, slot) = grid.claim(entity, world)?;
    let at = |reason: String| Fault { reason, entity: Some(entity), world: Some(World(world as u32)) };
    let outcomes = &layout.catalogue.kinds[kind].outcomes;
    let mut given = vec![false; outcomes.len()];
    for (number, value) in record.values.iter().enumerate() {
        let Some(value) = value else { continue };
        let Some(place) = layout.in_kind(number, kind) else {
            let foreign = layout.catalogue.kinds.iter().flat_map(|kind| &kind.outcomes);
            let foreign = foreign.map(|outcome| &*outcome.name).find(|name| layout.outcome(name) == Ok(number));
            let kind = &layout.catalogue.kinds[kind].name;
            return Err(at(format!("entities of kind {kind} have no outcome {:?}", foreign.unwrap_or_default())));
        };
        let outcome = &outcomes[place];
        store_value(value.get(), outcome, slot, grid.column(kind, place)).map_err(at)?;
        given[place] = true;
    }
    match given.iter().position(|given| !given) {
        Some(place) => Err(at(format!("the record has no outcome {:?}", outcomes[place].name))),
        None => Ok(()),
    }
}

fn store_event(event: &RawValue, entity: u32, world: i64, layout: &Layout, grid: &mut Grid) -> Result<(), Fault> {
    let place = grid.offset(entity, world)?;
    let at = |reason: String| Fault { reason, entity: Some(entity), world: Some(World(world as u32)) };
    let columns = &layout.catalogue.events;
    let values: Vec<Option<&RawValue>> = EventOf(columns)
        .deserialize(event)
        .map_err(|error| at(format!("event {}: {error}", shown(event.get().as_bytes()))))?;
    grid.events.add(entity, place);
    for (number, (column, value)) in columns.iter().zip(values).enumerate() {
        let name = &column.name;
        // A column that may be NULL may be left out.
        let missing = || at(format!("an event has no column {name:?}"));
        let value =
            value.map_or_else(|| if column.nullable { Ok("null") } else { Err(missing()) }, |value| Ok(value.get()))?;
        let number_ = event_number(value, column).map_err(|reason| at(format!("event column {name:?} {reason}")))?;
        let refused = |misfit: Misfit| at(format!("event column {name:?} is {}{}", misfit.value, misfit.reason));
        grid.events.push(entity, number, number_).map_err(refused)?;
    }
    Ok(())
}

/// The number of an event column, or the code of a word; `None` for NULL.
fn event_number(text: &str, column: &EventColumn) -> Result<Option<Number>, String> {
    if let (EventKind::Label(words), true) = (&column.kind, text.starts_with('"')) {
        let word: String = serde_json::from_str(text).map_err(|error| error.to_string())?;
        return code_of(&word, words).map(|code| Some(Number::Integer(code)));
    }
    if text == "null" {
        return Ok(None);
    }
    let is_real = column.kind == EventKind::F64;
    number(text, is_real).map(Some).ok_or_else(|| format!("is {text}, not a number"))
}

/// The code of a word.
pub(super) fn code_of(word: &str, words: &[String]) -> Result<i64, String> {
    // A code without a label has an empty text.
    let code = words.iter().position(|known| known == word && !word.is_empty());
    let words = words.iter().map(String::as_str).filter(|word| !word.is_empty());
    let unknown = || model::UnknownName::new("has no label", word, words).to_string();
    code.map(|code| code as i64).ok_or_else(unknown)
}

/// A number, or a truth value; `None` for another text.
fn number(text: &str, is_real: bool) -> Option<Number> {
    let integer = match text {
        "true" => Some(1),
        "false" => Some(0),
        // An integer has no negative zero.
        "-0" => None,
        text => text.parse::<i64>().ok(),
    };
    if is_real && integer.is_none() && is_beyond_doubles(text) {
        return None;
    }
    let real = || match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        // A text is one of the numbers that JSON lacks, such as NaN.
        Some(word) if is_real && !word.contains(|c: char| c.is_ascii_digit()) => word.parse().ok(),
        Some(_) => None,
        None => text.parse().ok().filter(|real: &f64| real.is_finite()),
    };
    integer.map(Number::Integer).or_else(|| real().map(Number::Real))
}

/// Whether a text is a whole number of more than 64 bits, which a double would round, or one beyond all doubles.
fn is_beyond_doubles(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_wide = digits.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<i64>().is_err();
    is_wide || text.parse::<f64>().is_ok_and(f64::is_infinite)
}

fn entity_of(value: &str, layout: &Layout) -> Result<u32, Fault> {
    if let Ok(place) = value.parse::<u32>() {
        let beyond = || Fault::new(format!("a record has entity {place}: there are {}", layout.entities()));
        return if (place as usize) < layout.entities() { Ok(place) } else { Err(beyond()) };
    }
    let name: String = serde_json::from_str(value)
        .map_err(|_| Fault::new(format!("a record has entity {value}: give its name, or its place from 0")))?;
    layout.entity(&name).map_err(|error| Fault::new(error.to_string()))
}

fn store_value(text: &str, outcome: &model::Outcome, slot: u32, column: &mut Column) -> Result<(), String> {
    let slots = Slots::Run(slot as usize);
    let is_real = outcome.kind == OutcomeKind::Real;
    if !outcome.labels.is_empty() && text.starts_with('"') {
        let word: String = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let code = code_of(&word, &outcome.labels).map_err(|reason| format!("{} {reason}", outcome.name))?;
        let stored = store_integers(&[code], outcome, slots, column);
        return stored.map_err(|misfit| format!("{} is {}{}", outcome.name, misfit.value, misfit.reason));
    }
    let stored = match number(text, is_real) {
        Some(Number::Integer(integer)) => store_integers(&[integer], outcome, slots, column),
        Some(Number::Real(real)) => store_reals(&[real], outcome, slots, column),
        None => {
            let hint = match text {
                "null" if is_real => ": print NaN as the text \"NaN\"",
                _ if is_beyond_doubles(text) => " that a double holds",
                _ => "",
            };
            return Err(format!("{} is {text}, not a number{hint}", outcome.name));
        }
    };
    stored.map_err(|misfit| format!("{} is {}{}", outcome.name, misfit.value, misfit.reason))
}

struct RecordOf<'a>(&'a Layout);

impl<'de> DeserializeSeed<'de> for RecordOf<'_> {
    type Value = Record<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RecordOf<'_> {
    type Value = Record<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record: an object with a world, an entity and outcomes")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut record = Record { world: None, entity: None, event: None, values: vec![None; self.0.outcomes()] };
        while let Some(key) = map.next_key_seed(KeyOf(self.0))? {
            let value = map.next_value()?;
            let place = match key {
                Key::World => &mut record.world,
                Key::Entity => &mut record.entity,
                Key::Event => &mut record.event,
                Key::Outcome(number) => &mut record.values[number],
            };
            if place.replace(value).is_some() {
                return Err(A::Error::custom("a name is repeated"));
            }
        }
        Ok(record)
    }
}

enum Key {
    World,
    Entity,
    Event,
    Outcome(usize),
}

struct KeyOf<'a>(&'a Layout);

impl<'de> DeserializeSeed<'de> for KeyOf<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyOf<'_> {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an outcome")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Key, E> {
        match name {
            WORLD => Ok(Key::World),
            ENTITY => Ok(Key::Entity),
            EVENT if !self.0.catalogue.events.is_empty() => Ok(Key::Event),
            name => self.0.outcome(name).map(Key::Outcome).map_err(E::custom),
        }
    }
}

/// The values of an event, by the places of their columns.
struct EventOf<'a>(&'a [EventColumn]);

impl<'de> DeserializeSeed<'de> for EventOf<'_> {
    type Value = Vec<Option<&'de RawValue>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EventOf<'_> {
    type Value = Vec<Option<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the columns of an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = vec![None; self.0.len()];
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value()?;
            let Some(place) = self.0.iter().position(|column| column.name == name) else {
                let names = self.0.iter().map(|column| &*column.name);
                return Err(A::Error::custom(model::UnknownName::new("no event column", &name, names)));
            };
            if values[place].replace(value).is_some() {
                return Err(A::Error::custom(format!("{name:?} is repeated")));
            }
        }
        Ok(values)
    }
}
