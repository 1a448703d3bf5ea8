//! Checks that a model keeps its promise: a world depends on the parameters, the seed and its number alone.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ensemble::check_outcomes;
use model::{Catalogue, EventBlock, Model, OutcomeBlock, Sink, Stop, Values, Wanted};
use serde::Serialize;
use world::{Seed, World, WorldRange};

use crate::error::RunError;
use crate::player::panic_message;

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Promise {
    /// Whether no check failed.
    pub ok: bool,
    pub checks: Vec<PromiseCheck>,
}

/// One way to play the same worlds again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PromiseCheck {
    pub name: &'static str,
    /// `None` if it cannot be judged, because the same worlds differ each time.
    pub ok: Option<bool>,
    /// What differs and why, in plain words; empty if the check holds.
    pub detail: String,
}

/// Plays the same worlds again in several ways, and compares every outcome. Stores nothing. `make` makes the model with
/// the same parameters, anew each time.
///
/// # Errors
/// If `make` fails, or the model cannot play a range.
pub fn check<E: From<RunError>>(
    name: &str,
    make: impl Fn() -> Result<Arc<dyn Model>, E>,
    seed: Seed,
    worlds: WorldRange,
) -> Result<Promise, E> {
    let model = make()?;
    let played = |model: &dyn Model, seed, ranges: &[WorldRange]| played(name, model, seed, ranges);
    let whole = played(&*model, seed, &[worlds])?;
    let compare = |check: &'static str, again: &Outcomes, reason: &str| {
        let difference = whole.difference(again, model.catalogue(), worlds.first());
        let detail = difference.map_or_else(String::new, |difference| format!("{difference}: {reason}"));
        PromiseCheck { name: check, ok: Some(detail.is_empty()), detail }
    };
    let again = compare("played again", &played(&*model, seed, &[worlds])?, AGAIN);
    let is_steady = again.ok == Some(true);
    let others = [
        compare("started anew", &played(&*make()?, seed, &[worlds])?, ANEW),
        compare("cut into other ranges", &played(&*model, seed, &cut(worlds))?, CUT),
        compare("one entity alone", &alone(name, &*model, seed, worlds, &whole)?, ALONE),
    ];
    let judged = others
        .map(|check| if is_steady { check } else { PromiseCheck { ok: None, detail: UNJUDGED.to_owned(), ..check } });
    let other = played(&*model, Seed(seed.0.wrapping_add(1)), &[worlds])?;
    let is_other = whole.difference(&other, model.catalogue(), worlds.first()).is_some();
    let detail = if is_other { String::new() } else { SEED.to_owned() };
    let seed = PromiseCheck { name: "another seed", ok: Some(is_other), detail };
    let checks: Vec<PromiseCheck> = [again].into_iter().chain(judged).chain([seed]).collect();
    Ok(Promise { ok: checks.iter().all(|check| check.ok != Some(false)), checks })
}

const UNJUDGED: &str = "not judged: the same worlds differ each time";

const AGAIN: &str = "the model keeps state between ranges, reads a clock, or draws from a generator that the seed does \
                     not determine. Compute each range anew, from its seed and the numbers of its worlds";
const ANEW: &str = "a value depends on the process that computes it, for example on the time of its start, its number, \
                    the order of a hash table, or a generator that is seeded once. Seed every generator for each world";
const CUT: &str = "a value depends on other worlds of its range, for example by a generator that they share, a mean over \
                   the worlds, or state that one range leaves to the next. Compute each world from its own seed";
const ALONE: &str = "an entity has other values when it is played alone: its draws depend on those of other entities. \
                     Give each entity draws of its own";
const SEED: &str = "another seed gives the same worlds: the model draws nothing from the seed";

/// Other ranges of the same worlds, in another order.
fn cut(worlds: WorldRange) -> Vec<WorldRange> {
    let mut ranges = worlds.split((worlds.count() as u32).div_ceil(3));
    ranges.rotate_right(1);
    ranges
}

/// The outcomes of `whole`, but for the first and the last entity those of a range with this entity alone.
fn alone(
    name: &str,
    model: &dyn Model,
    seed: Seed,
    worlds: WorldRange,
    whole: &Outcomes,
) -> Result<Outcomes, RunError> {
    let mut outcomes = whole.clone();
    let entities = model.catalogue().entities.len();
    for entity in (0..entities).step_by(entities.saturating_sub(1).max(1)) {
        let wanted = Wanted { events: false, entity: Some(entity) };
        outcomes.0[entity] = std::mem::take(&mut play(name, model, seed, worlds, wanted)?.0[entity]);
    }
    Ok(outcomes)
}

fn played(name: &str, model: &dyn Model, seed: Seed, ranges: &[WorldRange]) -> Result<Outcomes, RunError> {
    let mut parts = Vec::new();
    for range in ranges {
        parts.push((*range, play(name, model, seed, *range, Wanted::default())?));
    }
    parts.sort_unstable_by_key(|(range, _)| *range);
    let mut parts = parts.into_iter().map(|(_, outcomes)| outcomes);
    let first = parts.next().unwrap_or_default();
    Ok(parts.fold(first, Outcomes::followed_by))
}

fn play(name: &str, model: &dyn Model, seed: Seed, range: WorldRange, wanted: Wanted) -> Result<Outcomes, RunError> {
    let catalogue = model.catalogue();
    let mut kept = Keep { catalogue, outcomes: vec![Vec::new(); catalogue.entities.len()], refused: None };
    let played = catch_unwind(AssertUnwindSafe(|| model.simulate(seed, range, wanted, &mut kept)));
    let failed = |reason: String| RunError::Model { range, reason };
    let played = played.map_err(|panic| failed(format!("the model panicked: {}", panic_message(&*panic))))?;
    if let Some(reason) = kept.refused {
        return Err(failed(reason));
    }
    played.map_err(|stop| failed(stop.reason(name)))?;
    let is_missing = |(entity, columns): (usize, &Vec<Vec<f64>>)| {
        columns.is_empty() && wanted.entity.is_none_or(|wanted| wanted == entity)
    };
    match kept.outcomes.iter().enumerate().position(is_missing) {
        Some(entity) => Err(failed(format!("the model gave no outcomes of {}", catalogue.entities[entity].name))),
        None => Ok(Outcomes(kept.outcomes)),
    }
}

/// The values of every outcome of every entity, one for each world.
#[derive(Debug, Clone, Default)]
struct Outcomes(Vec<Vec<Vec<f64>>>);

impl Outcomes {
    fn followed_by(mut self, next: Self) -> Self {
        for (entity, next) in self.0.iter_mut().zip(next.0) {
            entity.iter_mut().zip(next).for_each(|(values, next)| values.extend(next));
        }
        self
    }

    /// The first value that differs; `first` is the first world.
    fn difference(&self, other: &Self, catalogue: &Catalogue, first: World) -> Option<Difference> {
        let differ = |(a, b): (&f64, &f64)| a != b && !(a.is_nan() && b.is_nan());
        for (entity, (of, of_other)) in self.0.iter().zip(&other.0).enumerate() {
            for (outcome, (values, others)) in of.iter().zip(of_other).enumerate() {
                if let Some(place) = values.iter().zip(others).position(differ) {
                    return Some(Difference {
                        outcome: catalogue.kind_of(entity).outcomes[outcome].name.clone(),
                        entity: catalogue.entities[entity].name.clone(),
                        world: World(first.0 + place as u32),
                        values: [values[place], others[place]],
                    });
                }
            }
        }
        None
    }
}

struct Difference {
    outcome: String,
    entity: String,
    world: World,
    values: [f64; 2],
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { outcome, entity, world, values: [one, other] } = self;
        write!(f, "{outcome} of {entity} in world {world} is {one} or {other}")
    }
}

/// Keeps the outcomes of a range.
struct Keep<'a> {
    catalogue: &'a Catalogue,
    outcomes: Vec<Vec<Vec<f64>>>,
    /// Why a block differs from the catalogue.
    refused: Option<String>,
}

impl Sink for Keep<'_> {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        if let Err(reason) = check_outcomes(self.catalogue, &block) {
            self.refused = Some(reason);
            return Err(Stop::Sink);
        }
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
        self.outcomes[block.entity] = columns.map(column).collect();
        Ok(())
    }

    fn events(&mut self, _: EventBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use model::{Entity, EntityKind, Outcome, OutcomeKind, Parameters};
    use world::Stream;

    use super::*;

    /// How a model breaks its promise.
    #[derive(Clone, Copy)]
    enum Way {
        Not,
        CallsCounted,
        InstancesCounted,
        RangeShared,
        EntitiesShared,
        SeedIgnored,
    }

    struct Lots {
        way: Way,
        catalogue: Catalogue,
        instance: u32,
        calls: AtomicU32,
    }

    impl Lots {
        fn new(way: Way, instance: u32) -> Self {
            let outcome = Outcome {
                name: "lot".into(),
                unit: String::new(),
                kind: OutcomeKind::Number,
                scale: 1,
                labels: Vec::new(),
            };
            let entity = |name: &str| Entity { name: name.into(), kind: 0, title: String::new(), members: Vec::new() };
            let catalogue = Catalogue {
                kinds: vec![EntityKind { name: "urn".into(), outcomes: vec![outcome] }],
                entities: vec![entity("urn-1"), entity("urn-2")],
                events: Vec::new(),
            };
            Self { way, catalogue, instance, calls: AtomicU32::new(0) }
        }
    }

    impl Model for Lots {
        fn catalogue(&self) -> &Catalogue {
            &self.catalogue
        }

        fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
            let calls = self.calls.fetch_add(1, Ordering::Relaxed);
            for entity in (0..2).filter(|entity| wanted.entity.is_none_or(|wanted| wanted == *entity)) {
                let lot = |world: World| {
                    let seed = if matches!(self.way, Way::SeedIgnored) { Seed(0) } else { seed };
                    let lot = Stream::new(seed, world, entity as u32, 0).below(1000) as i32;
                    lot + match self.way {
                        Way::CallsCounted => calls as i32,
                        Way::InstancesCounted => self.instance as i32,
                        Way::RangeShared => (world.0 - range.first().0) as i32,
                        Way::EntitiesShared => i32::from(wanted.entity.is_none()),
                        Way::Not | Way::SeedIgnored => 0,
                    }
                };
                let lots: Vec<i32> = range.worlds().map(lot).collect();
                sink.outcomes(OutcomeBlock { entity, range, columns: vec![Values::I32(&lots)] })?;
            }
            Ok(())
        }
    }

    fn failed(way: Way) -> Vec<String> {
        let instances = AtomicU32::new(0);
        let make = || Ok::<_, RunError>(Arc::new(Lots::new(way, instances.fetch_add(1, Ordering::Relaxed))) as Arc<_>);
        let promise = check("lots", make, Seed(1), WorldRange::new(World(0), 20).unwrap()).unwrap();
        let failed =
            promise.checks.iter().filter(|check| check.ok == Some(false)).map(|check| check.name.to_owned()).collect();
        assert_eq!(promise.ok, matches!(way, Way::Not), "{promise:?}");
        failed
    }

    #[test]
    fn each_broken_promise_is_found() {
        assert!(failed(Way::Not).is_empty());
        assert_eq!(failed(Way::CallsCounted), ["played again"]);
        assert_eq!(failed(Way::InstancesCounted), ["started anew"]);
        assert_eq!(failed(Way::RangeShared), ["cut into other ranges"]);
        assert_eq!(failed(Way::EntitiesShared), ["one entity alone"]);
        assert_eq!(failed(Way::SeedIgnored), ["another seed"]);
    }

    #[test]
    fn rust_models_keep_their_promise() {
        let parameters = Parameters::parse(dice::PARAMETERS, []).unwrap();
        let dice = || Ok::<_, RunError>(Arc::new(dice::Dice::new(&parameters).unwrap()) as Arc<_>);
        let promise = check("dice", dice, Seed(1), WorldRange::new(World(0), 20).unwrap()).unwrap();
        assert!(promise.ok, "{promise:?}");
    }

    #[test]
    fn findings_name_the_first_value() {
        let make = || Ok::<_, RunError>(Arc::new(Lots::new(Way::RangeShared, 0)) as Arc<_>);
        let promise = check("lots", make, Seed(1), WorldRange::new(World(0), 20).unwrap()).unwrap();
        let detail = &promise.checks[2].detail;
        assert!(detail.starts_with("lot of urn-1 in world 7 is ") && detail.contains("other worlds"), "{detail}");
    }
}
