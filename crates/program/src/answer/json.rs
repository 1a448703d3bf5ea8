//! Answers as lines of JSON: an object for each record, and an empty line at the end.

use std::fmt;

use model::OutcomeKind;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use world::World;

use super::{ENTITY, Refused, WORLD};
use crate::error::ProgramError;
use crate::grid::{Fault, Grid};
use crate::layout::Layout;
use crate::numbers::{Column, Misfit, Slots, store_integers, store_reals};
use crate::process::{LINE_BYTES_MAX, Process, shown};

/// The first byte of such an answer.
pub(super) const FIRST: u8 = b'{';

pub(super) fn read(process: &mut Process, grid: &mut Grid) -> Result<(), Refused> {
    let layout = grid.layout().clone();
    let mut line = Vec::new();
    loop {
        process.line(&mut line, LINE_BYTES_MAX)?;
        if line.is_empty() {
            return Ok(());
        }
        let record = RecordOf(&layout).deserialize(&mut serde_json::Deserializer::from_slice(&line));
        let record = record.map_err(|error| ProgramError::Protocol(format!("{}: {error}", shown(&line))))?;
        store(&record, &layout, grid)?;
    }
}

/// A line. Values stay text: `parse` reads every number to the bit; `serde_json` does not.
struct Record<'a> {
    world: Option<&'a RawValue>,
    entity: Option<&'a RawValue>,
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
        let stored = store_value(value.get(), outcome, slot, grid.column(kind, place));
        stored.map_err(|misfit| at(misfit.reason))?;
        given[place] = true;
    }
    match given.iter().position(|given| !given) {
        Some(place) => Err(at(format!("the record has no outcome {:?}", outcomes[place].name))),
        None => Ok(()),
    }
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

fn store_value(text: &str, outcome: &model::Outcome, slot: u32, column: &mut Column) -> Result<(), Misfit> {
    let slots = Slots::Run(slot as usize);
    let integer = match text {
        "true" => Some(1),
        "false" => Some(0),
        text => text.parse::<i64>().ok(),
    };
    if let Some(integer) = integer.filter(|_| text != "-0") {
        return store_integers(&[integer], outcome, slots, column);
    }
    // JSON has no such numbers, but a text may.
    let special = if outcome.kind == OutcomeKind::Real { text.trim_matches('"') } else { text };
    match special.parse::<f64>() {
        Ok(real) => store_reals(&[real], outcome, slots, column),
        Err(_) => Err(Misfit { row: 0, reason: format!("{} is {text}, not a number", outcome.name) }),
    }
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
        let mut record = Record { world: None, entity: None, values: vec![None; self.0.outcomes()] };
        while let Some(key) = map.next_key_seed(KeyOf(self.0))? {
            let value = map.next_value()?;
            let place = match key {
                Key::World => &mut record.world,
                Key::Entity => &mut record.entity,
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
            name => self.0.outcome(name).map(Key::Outcome).map_err(E::custom),
        }
    }
}
