//! The line that asks a program for a range of worlds.

use serde::Serialize;
use serde_json::value::RawValue;
use world::{Seed, Stream, World, WorldRange};

use crate::layout::Layout;

#[derive(Serialize)]
struct Request<'a> {
    seed: u64,
    first: u32,
    worlds: usize,
    seeds: Vec<u64>,
    entities: Vec<&'a str>,
    parameters: &'a RawValue,
    /// Whether the answer has events; absent if the program declares none.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<bool>,
}

/// The request for all entities in a range, and for their events if the program declares any; `parameters` are a JSON
/// object. Ends with a line feed.
pub(crate) fn request(
    layout: &Layout,
    parameters: &RawValue,
    seed: Seed,
    range: WorldRange,
    events: bool,
) -> serde_json::Result<Vec<u8>> {
    let request = Request {
        seed: seed.0,
        first: range.first().0,
        worlds: range.count(),
        seeds: range.worlds().map(|world| seed_of(seed, world)).collect(),
        entities: layout.catalogue.entities.iter().map(|entity| &*entity.name).collect(),
        parameters,
        events: (!layout.catalogue.events.is_empty()).then_some(events),
    };
    let mut line = serde_json::to_vec(&request)?;
    line.push(b'\n');
    Ok(line)
}

/// The seed of one world: 53 bits, which every language's numbers hold exactly.
fn seed_of(seed: Seed, world: World) -> u64 {
    let mut stream = Stream::new(seed, world, 0, 0);
    let high = u64::from(stream.next_u32());
    (high << 32 | u64::from(stream.next_u32())) >> 11
}

#[cfg(test)]
mod tests {
    use model::{Catalogue, Entity, EntityKind, Outcome, OutcomeKind};

    use super::*;

    /// Worlds stay the same in later versions, and programs of users agree with the document.
    #[test]
    fn the_request_of_the_document_is_sent() {
        let page = include_str!("../../../docs/program.md");
        let line = page.lines().find(|line| line.starts_with("{\"seed\":")).unwrap();
        let outcomes = vec![Outcome::new("sum", "", OutcomeKind::Number)];
        let entities = ["table-1", "table-2"].map(|name| Entity::new(name, 0)).to_vec();
        let kinds = vec![EntityKind { name: "table".to_owned(), outcomes }];
        let layout = Layout::new(Catalogue { kinds, entities, events: Vec::new() });
        let parameters = RawValue::from_string("{\"rolls\":10.0}".to_owned()).unwrap();
        let range = WorldRange::new(World(5000), 2).unwrap();
        let sent = request(&layout, &parameters, Seed(1), range, true).unwrap();
        assert_eq!(String::from_utf8(sent).unwrap(), format!("{line}\n"));
    }

    #[test]
    fn seeds_do_not_depend_on_the_range() {
        let seeds = |first: u32, count: u32| -> Vec<u64> {
            let range = WorldRange::new(World(first), count).unwrap();
            range.worlds().map(|world| seed_of(Seed(7), world)).collect()
        };
        assert_eq!(seeds(0, 100)[40..60], seeds(40, 20));
        assert!(seeds(0, 1000).iter().all(|seed| *seed < 1 << 53));
        assert_ne!(seed_of(Seed(7), World(1)), seed_of(Seed(8), World(1)));
    }
}
