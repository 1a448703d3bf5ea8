//! The content on disk is a function of model, parameters, seed and worlds.

use std::sync::Arc;

use model::Wanted;
use world::{Seed, World, WorldRange};

use crate::support::{model, plan, play_fresh};

#[tokio::test(flavor = "multi_thread")]
async fn threads_and_range_sizes_do_not_change_a_season() {
    let base = play_fresh(&football::PLUGIN, plan(&football::PLUGIN, 1, 12, 12), 1).await;
    assert!(base.complete);
    assert_eq!(base.outcomes.values, (288 * 850 + 32 * 54) * 12);
    for (threads, range_worlds) in [(1, 5), (2, 4), (3, 1)] {
        let other = play_fresh(&football::PLUGIN, plan(&football::PLUGIN, 1, 12, range_worlds), threads).await;
        assert_eq!((&other.hash, &other.events.hash), (&base.hash, &base.events.hash), "{threads} threads");
        assert_eq!(other.events.rows, base.events.rows);
    }
    let another = play_fresh(&football::PLUGIN, plan(&football::PLUGIN, 2, 12, 4), 2).await;
    assert_ne!(another.hash, base.hash);
    assert_ne!(another.events.hash, base.events.hash);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_in_python_gives_the_same_worlds() {
    let played = play_fresh(&league::PLUGIN, plan(&league::PLUGIN, 1, 100, 33), 2).await;
    // The hash of `python/bench/league.py`, which `python/tests/test_emit.py` checks, too.
    assert_eq!(played.hash, "0d7338bc0e9ecee4");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_are_not_stored_leave_the_outcomes_as_they_are() {
    let stored = plan(&dice::PLUGIN, 7, 100, 30);
    let mut replayed = stored.clone();
    replayed.events = ensemble::EventMode::Replay;
    let (stored, replayed) = (play_fresh(&dice::PLUGIN, stored, 2).await, play_fresh(&dice::PLUGIN, replayed, 2).await);
    assert_eq!(stored.hash, replayed.hash);
    assert_eq!((replayed.events.rows, replayed.events.hash), (0, None));
    assert_eq!(stored.events.rows, 100 * 3 * 20);
}

/// Collects every number a model emits.
#[derive(Default)]
struct Everything(Vec<String>);

impl model::Sink for Everything {
    fn outcomes(&mut self, block: model::OutcomeBlock<'_>) -> Result<(), model::Stop> {
        self.0.push(format!("{:?} {:?}", block.entity, block.columns));
        Ok(())
    }

    fn events(&mut self, block: model::EventBlock<'_>) -> Result<(), model::Stop> {
        self.0.push(format!("{:?} {:?} {:?}", block.entity, block.rows, block.columns));
        Ok(())
    }
}

#[test]
fn one_world_and_one_entity_alone_are_as_in_a_full_run() {
    let football = model(&football::PLUGIN);
    let collect = |range: WorldRange, wanted: Wanted| {
        let mut all = Everything::default();
        football.simulate(Seed(3), range, wanted, &mut all).unwrap();
        all.0
    };
    let one = WorldRange::new(World(5), 1).unwrap();
    let whole = collect(one, Wanted { events: true, entity: None });
    for entity in [0, 40, 287] {
        let alone = collect(one, Wanted { events: true, entity: Some(entity) });
        assert_eq!(alone, whole[2 * entity..2 * entity + 2], "game {entity}");
    }
    let team = collect(one, Wanted { events: false, entity: Some(290) });
    assert_eq!(team, whole[2 * 288 + 2..2 * 288 + 3]);
}

#[test]
fn a_model_is_shared_between_threads() {
    let dice = model(&dice::PLUGIN);
    let play = |model: Arc<dyn model::Model>| {
        let mut all = Everything::default();
        let range = WorldRange::new(World(0), 50).unwrap();
        model.simulate(Seed(1), range, Wanted { events: true, entity: None }, &mut all).unwrap();
        all.0
    };
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn({
                let dice = dice.clone();
                move || play(dice)
            })
        })
        .collect();
    let results: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert!(results.windows(2).all(|w| w[0] == w[1]));
}
