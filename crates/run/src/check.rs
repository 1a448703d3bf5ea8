//! Checks that a model keeps its promise: a world depends on the parameters, the seed and its number alone.

mod played;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use model::{Model, Wanted};
use serde::Serialize;
use world::{Seed, WorldRange};

use self::played::{Keep, Played};
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

/// Plays the same worlds again in several ways, and compares every outcome and event. Stores nothing. `make` makes the
/// model with the same parameters, anew each time.
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
    let compare = |check: &'static str, again: &Played, reason: &str| {
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
const ANEW: &str = "a value depends on the process that computes it, for example on the time of its start, its number \
                    (pid), the order of a hash table, or a generator that is seeded once. Seed every generator for each \
                    world";
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

/// The values of `whole`, but for the first and the last entity those of a range with this entity alone.
fn alone(name: &str, model: &dyn Model, seed: Seed, worlds: WorldRange, whole: &Played) -> Result<Played, RunError> {
    let mut played = whole.clone();
    let entities = model.catalogue().entities.len();
    for entity in (0..entities).step_by(entities.saturating_sub(1).max(1)) {
        played.replace(entity, play(name, model, seed, worlds, Some(entity))?);
    }
    Ok(played)
}

fn played(name: &str, model: &dyn Model, seed: Seed, ranges: &[WorldRange]) -> Result<Played, RunError> {
    let mut parts = Vec::new();
    for range in ranges {
        parts.push((*range, play(name, model, seed, *range, None)?));
    }
    parts.sort_unstable_by_key(|(range, _)| *range);
    let mut parts = parts.into_iter().map(|(_, played)| played);
    let first = parts.next().unwrap_or_default();
    Ok(parts.fold(first, Played::followed_by))
}

/// Plays all entities of a range, or one.
fn play(
    name: &str,
    model: &dyn Model,
    seed: Seed,
    range: WorldRange,
    entity: Option<usize>,
) -> Result<Played, RunError> {
    let catalogue = model.catalogue();
    let mut keep = Keep::new(catalogue);
    let wanted = Wanted { events: !catalogue.events.is_empty(), entity };
    let played = catch_unwind(AssertUnwindSafe(|| model.simulate(seed, range, wanted, &mut keep)));
    let failed = |reason: String| RunError::Model { range, reason };
    let played = played.map_err(|panic| failed(format!("the model panicked: {}", panic_message(&*panic))))?;
    if let Some(reason) = keep.refused {
        return Err(failed(reason));
    }
    played.map_err(|stop| failed(stop.reason(name)))?;
    let mut wanted = (0..catalogue.entities.len()).filter(|place| entity.is_none_or(|entity| entity == *place));
    match wanted.find(|entity| keep.played.lacks(*entity)) {
        Some(entity) => Err(failed(format!("the model gave no outcomes of {}", catalogue.entities[entity].name))),
        None => Ok(keep.played),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use model::{
        Catalogue, Entity, EntityKind, EventBlock, EventColumn, EventKind, EventValues, Outcome, OutcomeBlock,
        OutcomeKind, Parameters, Sink, Stop, Values,
    };
    use world::{Stream, World};

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
        EventsRangeShared,
        SignShared,
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
                kind: if matches!(way, Way::SignShared) { OutcomeKind::Real } else { OutcomeKind::Number },
                scale: 1,
                labels: Vec::new(),
            };
            let entity = |name: &str| Entity { name: name.into(), kind: 0, title: String::new(), members: Vec::new() };
            let catalogue = Catalogue {
                kinds: vec![EntityKind { name: "urn".into(), outcomes: vec![outcome] }],
                entities: vec![entity("urn-1"), entity("urn-2")],
                events: vec![EventColumn::new("tickets", EventKind::I32)],
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
                        Way::Not | Way::SeedIgnored | Way::EventsRangeShared | Way::SignShared => 0,
                    }
                };
                let lots: Vec<i32> = range.worlds().map(lot).collect();
                if wanted.events {
                    let shared = if matches!(self.way, Way::EventsRangeShared) { range.first().0 as i32 } else { 0 };
                    let tickets: Vec<i32> = lots.iter().map(|lot| lot + shared).collect();
                    let rows = vec![1; tickets.len()];
                    let columns = vec![EventValues::I32(&tickets)];
                    sink.events(EventBlock { entity, range, rows: &rows, columns })?;
                }
                let sign = if range.first().0 > 0 { -1.0 } else { 1.0 };
                let signed: Vec<f64> = lots.iter().map(|lot| f64::from(*lot / 900) * sign).collect();
                let values =
                    if matches!(self.way, Way::SignShared) { Values::F64(&signed) } else { Values::I32(&lots) };
                sink.outcomes(OutcomeBlock { entity, range, columns: vec![values] })?;
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
        assert_eq!(failed(Way::EventsRangeShared), ["cut into other ranges"]);
        assert_eq!(failed(Way::SignShared), ["cut into other ranges"]);
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
