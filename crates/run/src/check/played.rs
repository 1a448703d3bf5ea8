//! What a model plays, in a form that can be compared.

use std::fmt;

use ensemble::{check_events, check_outcomes};
use model::{Catalogue, EventBlock, OutcomeBlock, Sink, Stop, Values};
use world::World;

/// The values of every outcome and event of every entity.
#[derive(Debug, Clone, Default)]
pub(super) struct Played(Vec<OfEntity>);

#[derive(Debug, Clone, Default)]
struct OfEntity {
    /// By outcome, one value for each world.
    outcomes: Vec<Vec<f64>>,
    /// Events of each world; empty if the entity has none.
    rows: Vec<u32>,
    /// By event column, one value for each event; `None` for NULL.
    events: Vec<Vec<Option<f64>>>,
}

impl Played {
    /// Whether the model gave no outcomes of an entity.
    pub(super) fn lacks(&self, entity: usize) -> bool {
        self.0[entity].outcomes.is_empty()
    }

    /// Takes an entity from another play of the same worlds.
    pub(super) fn replace(&mut self, entity: usize, mut other: Self) {
        self.0[entity] = std::mem::take(&mut other.0[entity]);
    }

    pub(super) fn followed_by(mut self, next: Self) -> Self {
        for (entity, next) in self.0.iter_mut().zip(next.0) {
            let worlds = entity.outcomes.first().map_or(0, Vec::len);
            entity.outcomes.iter_mut().zip(next.outcomes).for_each(|(values, next)| values.extend(next));
            if next.rows.is_empty() {
                continue;
            }
            // Earlier ranges may have had no events.
            entity.rows.resize(worlds, 0);
            entity.rows.extend(next.rows);
            entity.events.resize(next.events.len(), Vec::new());
            entity.events.iter_mut().zip(next.events).for_each(|(values, next)| values.extend(next));
        }
        self
    }

    /// The first value that differs; `first` is the first world.
    pub(super) fn difference(&self, other: &Self, catalogue: &Catalogue, first: World) -> Option<Difference> {
        let pairs = || self.0.iter().zip(&other.0).enumerate();
        let found = pairs().find_map(|(entity, (of, of_other))| {
            let columns = of.outcomes.iter().zip(&of_other.outcomes).enumerate();
            columns.into_iter().find_map(|(outcome, (values, others))| {
                let place = values.iter().zip(others).position(|(a, b)| differ(Some(*a), Some(*b)))?;
                let what = catalogue.kind_of(entity).outcomes[outcome].name.clone();
                Some((entity, place, what, [shown(Some(values[place])), shown(Some(others[place]))]))
            })
        });
        let found = found.or_else(|| {
            pairs().find_map(|(entity, (of, other))| {
                let (place, what, values) = of.different_event(other, catalogue)?;
                Some((entity, place, what, values))
            })
        });
        let (entity, place, what, values) = found?;
        let entity = catalogue.entities[entity].name.clone();
        Some(Difference { what, entity, world: World(first.0 + place as u32), values })
    }
}

impl OfEntity {
    /// The place of the first world whose events differ, what differs, and both values.
    fn different_event(&self, other: &Self, catalogue: &Catalogue) -> Option<(usize, String, [String; 2])> {
        let (mut event, rows) = (0, |of: &Self, place: usize| of.rows.get(place).copied().unwrap_or(0));
        for place in 0..self.rows.len().max(other.rows.len()) {
            let counts = [rows(self, place), rows(other, place)];
            if counts[0] != counts[1] {
                return Some((place, "the number of events".to_owned(), counts.map(|count| count.to_string())));
            }
            for event in event..event + counts[0] as usize {
                for (column, (values, others)) in self.events.iter().zip(&other.events).enumerate() {
                    if differ(values[event], others[event]) {
                        let what = format!("event column {}", catalogue.events[column].name);
                        return Some((place, what, [shown(values[event]), shown(others[event])]));
                    }
                }
            }
            event += counts[0] as usize;
        }
        None
    }
}

/// Whether two values are stored differently: the sign of 0 counts.
fn differ(a: Option<f64>, b: Option<f64>) -> bool {
    a.map(f64::to_bits) != b.map(f64::to_bits) && !(a.is_some_and(f64::is_nan) && b.is_some_and(f64::is_nan))
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "NULL".to_owned(), |value| value.to_string())
}

pub(super) struct Difference {
    what: String,
    entity: String,
    world: World,
    values: [String; 2],
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, entity, world, values: [one, other] } = self;
        write!(f, "{what} of {entity} in world {world} is {one} or {other}")
    }
}

/// Keeps the outcomes and events of a range.
pub(super) struct Keep<'a> {
    catalogue: &'a Catalogue,
    pub(super) played: Played,
    /// Why a block differs from the catalogue.
    pub(super) refused: Option<String>,
}

impl<'a> Keep<'a> {
    pub(super) fn new(catalogue: &'a Catalogue) -> Self {
        let played = Played(vec![OfEntity::default(); catalogue.entities.len()]);
        Self { catalogue, played, refused: None }
    }

    /// Refuses a block that breaks its declaration.
    fn checked(&mut self, checked: Result<(), String>) -> Result<(), Stop> {
        checked.map_err(|reason| {
            self.refused = Some(reason);
            Stop::Sink
        })
    }
}

impl Sink for Keep<'_> {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        self.checked(check_outcomes(self.catalogue, &block))?;
        let kind = self.catalogue.kind_of(block.entity);
        let column = |(values, scale): (&Values<'_>, i32)| -> Vec<f64> {
            let scale = f64::from(scale);
            match *values {
                Values::I16(values) => values.iter().map(|value| f64::from(*value) / scale).collect(),
                Values::I32(values) => values.iter().map(|value| f64::from(*value) / scale).collect(),
                Values::F64(values) => values.to_vec(),
            }
        };
        let columns = block.columns.iter().zip(kind.outcomes.iter().map(|outcome| outcome.scale));
        self.played.0[block.entity].outcomes = columns.map(column).collect();
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        self.checked(check_events(self.catalogue, &block))?;
        let kept = &mut self.played.0[block.entity];
        kept.rows = block.rows.to_vec();
        let column = |values: &model::EventValues<'_>| (0..values.len()).map(|row| values.value(row)).collect();
        kept.events = block.columns.iter().map(column).collect();
        Ok(())
    }
}
