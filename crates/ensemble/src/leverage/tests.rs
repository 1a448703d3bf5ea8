use model::{Entity, EntityKind, Outcome};

use super::joint::Count;
use super::*;

fn outcome(name: &str, kind: OutcomeKind) -> Outcome {
    Outcome::new(name, "", kind)
}

/// Two games with a result, a flag, two numbers and an unlabelled code, and a team with a flag and a number.
fn catalogue() -> Catalogue {
    let labels = ["home", "it's a draw", ""].map(str::to_owned).to_vec();
    let game = vec![
        Outcome { labels, ..outcome("result", OutcomeKind::Code) },
        outcome("home_won", OutcomeKind::Flag),
        outcome("margin", OutcomeKind::Number),
        outcome("2nd half", OutcomeKind::Real),
        outcome("scorer", OutcomeKind::Code),
    ];
    let team = vec![outcome("wins", OutcomeKind::Number), outcome("beta", OutcomeKind::Flag)];
    let kind = |name: &str, outcomes| EntityKind { name: name.to_owned(), outcomes };
    Catalogue {
        kinds: vec![kind("game", game), kind("team", team)],
        entities: vec![Entity::new("game-1", 0), Entity::new("game-2", 0), Entity::new("team-1", 1)],
        events: Vec::new(),
    }
}

fn joint(counts: &[(f64, usize, usize)]) -> Joint {
    Joint { counts: counts.iter().map(|&(value, worlds, hits)| Count { value, worlds, hits }).collect() }
}

/// The texts and legs of a quantity's events with their worlds and hits.
fn events(text: &str, entity: Option<usize>, counts: &[(f64, usize, usize)]) -> Vec<(String, String, usize, usize)> {
    let catalogue = catalogue();
    let quantity = Quantity::parse(text, &catalogue, entity).unwrap();
    let name = quantity.entity.map(|entity| catalogue.entities[entity].name.as_str());
    let found = events_of(&quantity, &joint(counts)).into_iter();
    found.map(|(event, worlds, hits)| (event.text(), event.leg(name).unwrap_or_default(), worlds, hits)).collect()
}

#[test]
fn flags_labels_and_halves_are_events() {
    let one = |event: &str, leg: &str, worlds, hits| (event.to_owned(), leg.to_owned(), worlds, hits);
    let flag = events("home_won", Some(0), &[(0.0, 60, 10), (1.0, 40, 30)]);
    assert_eq!(flag, [one("home_won", "game-1:home_won", 40, 30)]);
    let draw = "result = 'it''s a draw'";
    let labels = events("result", Some(1), &[(0.0, 60, 10), (1.0, 30, 30), (2.0, 9, 0), (7.0, 1, 0)]);
    let expected =
        [one("result = 'home'", "game-2:result = 'home'", 60, 10), one(draw, &format!("game-2:{draw}"), 30, 30)];
    assert_eq!(labels, expected);
    // Half of the worlds is between -3 and 4.
    let number = events("margin", Some(0), &[(-3.0, 10, 1), (2.5, 35, 2), (4.0, 50, 3), (9.0, 5, 4)]);
    assert_eq!(number, [one("margin > 2.5", "game-1:margin > 2.5", 55, 7)]);
    let quoted = events("\"2nd half\"", Some(0), &[(0.0, 1, 0), (1.0, 1, 1)]);
    assert_eq!(quoted, [one("\"2nd half\" > 0", "\"game-1:2nd half\" > 0", 1, 1)]);
    // Expressions.
    let condition = events("game-1:margin > 3 and team-1:beta", None, &[(0.0, 3, 1), (1.0, 2, 2)]);
    assert_eq!(condition, [one("game-1:margin > 3 and team-1:beta", "game-1:margin > 3 and team-1:beta", 2, 2)]);
    assert_eq!(events("abs(margin)", Some(0), &[(1.0, 3, 1), (2.0, 2, 2)]), [one("abs(margin) > 1", "", 2, 2)]);
}

#[test]
fn certain_and_impossible_events_are_none() {
    assert_eq!(events("home_won", Some(0), &[(1.0, 60, 10)]), []);
    assert_eq!(events("home_won", Some(0), &[(0.0, 60, 10)]), []);
    assert_eq!(events("result", Some(0), &[(0.0, 60, 10)]), []);
    assert_eq!(events("margin", Some(0), &[(4.0, 60, 10)]), []);
    assert_eq!(events("margin", Some(0), &[]), []);
    assert_eq!(events("margin", Some(0), &[(f64::NEG_INFINITY, 1, 1), (f64::NAN, 1, 0)]), []);
}

#[test]
fn every_event_parses_to_its_own_condition() {
    let catalogue = catalogue();
    for (text, entity) in [("result", 0), ("home_won", 0), ("margin", 1), ("\"2nd half\"", 0), ("wins * 0.1", 2)] {
        let name = &catalogue.entities[entity].name;
        for (event, leg, ..) in events(text, Some(entity), &[(0.0, 5, 1), (1.0, 5, 2)]) {
            let of_entity = Expression::parse(&event, &catalogue, Some(entity)).unwrap();
            if !leg.is_empty() {
                let alone = Expression::parse(&leg, &catalogue, None).unwrap();
                assert_eq!(alone.columns(), of_entity.columns(), "{name} {leg}");
            }
        }
    }
}

#[test]
fn numbers_take_turns_until_values_run_out() {
    // Flags and labelled codes of 2 games and a team are 5 columns, whatever the number of worlds.
    assert_eq!(Kinds::of(&catalogue(), 1_000_000_000).0, [vec![0, 1], vec![1]]);
    assert_eq!(Kinds::of(&catalogue(), VALUES_MAX / 7).0, [vec![0, 1, 2], vec![1]]);
    assert_eq!(Kinds::of(&catalogue(), VALUES_MAX / 8).0, [vec![0, 1, 2], vec![0, 1]]);
    assert_eq!(Kinds::of(&catalogue(), VALUES_MAX / 10).0, [vec![0, 1, 2, 3], vec![0, 1]]);
}

#[test]
fn chance_shrinks_with_worlds_and_grows_with_events() {
    assert_eq!((chance(0, 0.5, 100), chance(10, 0.0, 100)), (0.0, 0.0));
    // One event, and the normal quantile of 97.5% instead of its bound of 2.45.
    assert!((0.0098..0.0123).contains(&chance(1, 0.5, 10_000)));
    assert!(chance(1000, 0.5, 10_000) < 2.0 * chance(1, 0.5, 10_000));
    assert!((chance(10, 0.5, 10_000) - chance(10, 0.5, 100) / 10.0).abs() < 1e-15);
}

#[test]
fn the_best_do_not_depend_on_the_order_of_arrival() {
    let catalogue = catalogue();
    let quantity = Quantity::parse("result", &catalogue, Some(0)).unwrap();
    let counts = [(0.0, 5, 1), (1.0, 5, 4)];
    let events: Vec<Event> = events_of(&quantity, &joint(&counts)).into_iter().map(|(event, ..)| event).collect();
    let mut all = Vec::new();
    for (place, entity) in (0..200).zip([0, 1].into_iter().cycle()) {
        let movement = f64::from(place / 4 % 7) / 10.0;
        let event = events[place as usize % 3 % 2].clone();
        all.push(Found { entity: Some(entity), event, worlds: place as usize, hits: 0, movement });
    }
    let best = |all: &[Found]| {
        let mut best = Best::default();
        all.iter().cloned().for_each(|found| best.add(found, 5));
        best.trim(5);
        best.best.into_iter().map(|f| (f.entity, f.event.text(), f.movement)).collect::<Vec<_>>()
    };
    let forward = best(&all);
    all.reverse();
    assert_eq!(forward, best(&all));
    assert!(forward.iter().all(|(_, _, movement)| *movement == 0.6), "{forward:?}");
}
