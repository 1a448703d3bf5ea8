//! A world's numbers are the same whatever is played beside it, and they agree with each other.

use std::collections::HashMap;

use bingo::Bingo;
use bingo::definition::{BIG, SMALL};
use model::{EventBlock, Model as _, OutcomeBlock, Sink, Stop, Values, Wanted};
use world::Seed;

use crate::support::{EVENT, Worlds, model, play, range};

const ALL: Wanted = Wanted { events: true, entity: None };

/// Events with how many worlds of each are played.
const EVENTS: [(&str, u32); 3] = [(EVENT, 60), (SMALL, 60), (BIG, 3)];

#[test]
fn any_cutting_into_ranges_gives_the_same_worlds() {
    for (event, worlds) in EVENTS {
        let model = model(event, &[]);
        let whole = play(&model, 5, &[range(0, worlds)], ALL);
        for size in [1, 2, 17] {
            assert_eq!(play(&model, 5, &range(0, worlds).split(size), ALL), whole, "ranges of {size}");
        }
    }
}

#[test]
fn outcomes_are_the_same_without_events() {
    for (event, worlds) in EVENTS {
        let model = model(event, &[]);
        let quiet = play(&model, 5, &[range(0, worlds)], Wanted::default());
        assert_eq!(quiet.outcomes, play(&model, 5, &[range(0, worlds)], ALL).outcomes);
        assert!(quiet.events.iter().all(Vec::is_empty));
    }
}

#[test]
fn one_team_of_one_world_can_be_played_again() {
    for (event, worlds) in EVENTS {
        for switches in [&[][..], &["idle_until_quiet"]] {
            let model = model(event, switches);
            let whole = play(&model, 5, &[range(0, worlds)], ALL);
            for (team, world) in [(0, 0), (1, worlds - 1)] {
                let wanted = Wanted { events: true, entity: Some(team) };
                let again = play(&model, 5, &[range(world, 1)], wanted);
                for other in (0..whole.events.len()).filter(|other| *other != team) {
                    assert!(again.events[other].is_empty() && again.outcomes[other].iter().all(Vec::is_empty));
                }
                assert_eq!(again.events[team], [whole.events[team][world as usize].clone()]);
                let outcomes: Vec<Vec<i32>> =
                    whole.outcomes[team].iter().map(|values| vec![values[world as usize]]).collect();
                assert_eq!(again.outcomes[team], outcomes);
            }
        }
    }
}

#[test]
fn shares_of_every_world_sum_to_one_win() {
    for (event, worlds) in [(EVENT, 2000), (SMALL, 500), (BIG, 20)] {
        for switches in [&[][..], &["first_team_wins"]] {
            let model = model(event, switches);
            let told = play(&model, 5, &[range(0, worlds)], Wanted::default());
            let whole = model.catalogue().kinds[0].outcomes[3].scale;
            let mut ties = 0;
            for world in 0..worlds as usize {
                let shares: Vec<i32> = told.outcomes.iter().map(|team| team[3][world]).collect();
                assert_eq!(shares.iter().sum::<i32>(), whole, "world {world}: {shares:?}");
                ties += usize::from(!shares.contains(&whole));
            }
            assert!(event != EVENT || !switches.is_empty() || ties > 0, "no tie in {worlds} worlds: nothing is shown");
            assert!(switches.is_empty() || ties == 0, "a shared win though the first has it");
        }
    }
}

/// Counts the outcomes of every block of events again.
struct Recount<'a>(&'a Bingo, HashMap<usize, Vec<Option<Vec<i32>>>>);

impl Sink for Recount<'_> {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        let column = |column: &Values<'_>| match column {
            Values::I32([]) => None,
            Values::I32(values) => Some(values.to_vec()),
            Values::I16(_) | Values::F64(_) => panic!("an outcome that is no I32"),
        };
        self.1.insert(block.entity, block.columns.iter().map(column).collect());
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        let mut counted = Recount(self.0, HashMap::new());
        self.0.recount(&block, &mut counted)?;
        self.1.extend(counted.1);
        Ok(())
    }
}

/// Only takes events, as one who checks what is stored does.
struct Stored<'a>(Recount<'a>, Worlds);

impl Sink for Stored<'_> {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        self.1.outcomes(block)
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        self.0.events(block)
    }
}

#[test]
fn events_alone_give_the_outcomes_again() {
    for (event, worlds) in EVENTS {
        let model = model(event, &[]);
        let names: Vec<&str> = model.catalogue().kinds[0].outcomes.iter().map(|o| o.name.as_str()).collect();
        let mut stored = Stored(Recount(&model, HashMap::new()), Worlds::of(&model));
        model.simulate(Seed(5), range(0, worlds), ALL, &mut stored).unwrap();
        for (team, played) in stored.1.outcomes.iter().enumerate() {
            for ((name, counted), played) in names.iter().zip(&stored.0.1[&team]).zip(played) {
                match counted {
                    Some(counted) => assert_eq!(counted, played, "{name}"),
                    None => assert!(["win_share", "attempts"].contains(name), "{name} is not counted"),
                }
            }
        }
    }
}

/// Whether a condition as `a >= b and c < 3 or d = 1` holds; `of` gives the value of a name.
fn holds(condition: &str, of: impl Fn(&str) -> f64) -> bool {
    let value = |word: &str| word.parse().unwrap_or_else(|_| of(word));
    let compare = |comparison: &str| {
        let [left, operator, right] = comparison.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("no comparison: {comparison}")
        };
        let (left, right) = (value(left), value(right));
        match operator {
            "=" => left == right,
            "<" => left < right,
            "<=" => left <= right,
            ">" => left > right,
            ">=" => left >= right,
            _ => panic!("no operator: {operator}"),
        }
    };
    condition.split(" or ").any(|all| all.split(" and ").all(compare))
}

#[test]
fn identities_hold_in_every_world() {
    for (event, worlds) in EVENTS {
        for switches in [&[][..], &["idle_until_quiet", "rounded_weights", "undersized_groups"]] {
            let model = model(event, switches);
            let told = play(&model, 6, &[range(0, worlds)], Wanted::default());
            let kind = &model.catalogue().kinds[0];
            for identity in model.identities() {
                for (team, world) in (0..told.outcomes.len()).flat_map(|t| (0..worlds as usize).map(move |w| (t, w))) {
                    let of = |name: &str| {
                        let place = kind.outcome(name).unwrap();
                        f64::from(told.outcomes[team][place][world]) / f64::from(kind.outcomes[place].scale)
                    };
                    assert!(holds(&identity.condition, of), "{} in world {world} of {team}", identity.condition);
                }
            }
        }
    }
}
