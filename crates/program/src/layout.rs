//! Where the values of a program's catalogue go.

use std::collections::HashMap;

use model::{Catalogue, UnknownName};

/// Names of a record beside those of outcomes.
pub(crate) const WORLD: &str = "world";
pub(crate) const ENTITY: &str = "entity";
/// What a line that is an event has in place of outcomes.
pub(crate) const EVENT: &str = "event";

/// A catalogue with places by name.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) catalogue: Catalogue,
    entities: HashMap<String, u32>,
    /// The kind of each entity, and its place among those of the kind.
    places: Vec<(usize, usize)>,
    /// The number of entities of each kind.
    counts: Vec<usize>,
    outcomes: HashMap<String, usize>,
    /// For each name of an outcome, its place in each kind that has it.
    in_kinds: Vec<Vec<Option<usize>>>,
}

impl Layout {
    pub(crate) fn new(catalogue: Catalogue) -> Self {
        let mut counts = vec![0; catalogue.kinds.len()];
        let place = |kind: usize| {
            counts[kind] += 1;
            (kind, counts[kind] - 1)
        };
        let places = catalogue.entities.iter().map(|entity| entity.kind).map(place).collect();
        let numbered = catalogue.entities.iter().zip(0..).map(|(entity, number)| (entity.name.clone(), number));
        let entities = numbered.collect();
        let (mut outcomes, mut in_kinds) = (HashMap::new(), Vec::new());
        for (kind, of_kind) in catalogue.kinds.iter().enumerate() {
            for (place, outcome) in of_kind.outcomes.iter().enumerate() {
                let number = *outcomes.entry(outcome.name.clone()).or_insert_with(|| {
                    in_kinds.push(vec![None; catalogue.kinds.len()]);
                    in_kinds.len() - 1
                });
                in_kinds[number][kind] = Some(place);
            }
        }
        Self { catalogue, entities, places, counts, outcomes, in_kinds }
    }

    /// The number of entities.
    pub(crate) fn entities(&self) -> usize {
        self.places.len()
    }

    /// The number of entities of a kind.
    pub(crate) fn entities_of(&self, kind: usize) -> usize {
        self.counts[kind]
    }

    /// The kind of an entity, and its place among those of the kind.
    pub(crate) fn place(&self, entity: usize) -> (usize, usize) {
        self.places[entity]
    }

    pub(crate) fn name(&self, entity: usize) -> &str {
        &self.catalogue.entities[entity].name
    }

    pub(crate) fn entity(&self, name: &str) -> Result<u32, UnknownName> {
        let names = || self.catalogue.entities.iter().map(|entity| &*entity.name);
        self.entities.get(name).copied().ok_or_else(|| UnknownName::new("no entity", name, names()))
    }

    /// The number of an outcome's name, for [`Self::in_kind`].
    pub(crate) fn outcome(&self, name: &str) -> Result<usize, UnknownName> {
        let names = || self.catalogue.kinds.iter().flat_map(|kind| &kind.outcomes).map(|outcome| &*outcome.name);
        self.outcomes.get(name).copied().ok_or_else(|| UnknownName::new("no outcome", name, names()))
    }

    /// Bytes of all texts that a record may hold: the longest name of an entity, and the names of outcomes with their
    /// longest labels.
    pub(crate) fn record_letters(&self) -> usize {
        let longest = |texts: &mut dyn Iterator<Item = &String>| texts.map(String::len).max().unwrap_or(0);
        let entity = longest(&mut self.catalogue.entities.iter().map(|entity| &entity.name));
        let outcomes = self.catalogue.kinds.iter().flat_map(|kind| &kind.outcomes);
        entity + outcomes.map(|outcome| outcome.name.len() + longest(&mut outcome.labels.iter())).sum::<usize>()
    }

    /// Number of different names of outcomes.
    pub(crate) fn outcomes(&self) -> usize {
        self.in_kinds.len()
    }

    /// The place of an outcome in a kind that has it.
    pub(crate) fn in_kind(&self, outcome: usize, kind: usize) -> Option<usize> {
        self.in_kinds[outcome][kind]
    }
}
