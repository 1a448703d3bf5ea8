//! What holds of every event that can be.

use model::{EventBlock, Model as _, OutcomeBlock, Sink, Stop, Values, Wanted};
use proptest::prelude::*;
use world::{Seed, World, WorldRange};

use crate::definition::{
    Activity, Day, Event, GroupSize, Modifier, Outcome, Player, Roll, Row, Rule, StrategyKey, StrategyParameters, Tile,
    Units, parse,
};
use crate::{Bingo, PLUGIN};

use super::support::*;

const DROPS: [&str; 4] = ["ore", "gold", "dust", "gem"];
const CAPABILITIES: [&str; 3] = ["rope", "lamp", "pick"];

fn factor() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), (0.05..4.0f64).prop_map(|f| (f * 1e6).round() / 1e6)]
}

fn capabilities() -> impl Strategy<Value = Vec<String>> {
    prop::sample::subsequence(CAPABILITIES.to_vec(), 0..=3).prop_map(|c| c.into_iter().map(str::to_owned).collect())
}

/// Up to three outcomes whose chances sum to 1 at most.
fn outcomes() -> impl Strategy<Value = Vec<Outcome>> {
    let one = (1..=8u32, 0..4usize, 1..=3u32, 0..=3u32).prop_map(|(upper, drop, least, more)| {
        let units = if more == 0 { Units::Fixed(least) } else { Units::Between([least, least + more]) };
        maybe(&format!("{upper}/24"), DROPS[drop], units)
    });
    prop::collection::vec(one, 1..=3).prop_map(|mut outcomes| {
        outcomes.iter_mut().enumerate().for_each(|(i, o)| o.key = format!("o{i}"));
        outcomes
    })
}

fn activity(key: &'static str) -> impl Strategy<Value = Activity> {
    let group = prop::option::of((prop::option::of(1..=3u32), prop::option::of(3..=5u32)));
    let line = (any::<bool>(), 20..400u32, 0..500u32, outcomes()).prop_map(|(group, seconds, spread, outcomes)| {
        let roll = if group { Roll::Group } else { Roll::Player };
        crate::definition::Line { spread, ..line(roll, seconds, &outcomes) }
    });
    let bands = prop::collection::vec((factor(), factor()), 0..=3);
    (any::<bool>(), group, prop::collection::vec(line, 1..=2), bands).prop_map(
        move |(solo_too, group, mut lines, bands)| {
            lines.iter_mut().enumerate().for_each(|(i, l)| l.key = format!("l{i}"));
            let bands = bands.iter().enumerate().map(|(i, (t, c))| band(i as u32 + 1, i as u32 + 1, *t, *c)).collect();
            let group = group.map(|(min, max)| GroupSize { min, max });
            Activity { solo: solo_too || group.is_none(), group, lines, bands, ..solo(key, 1, "ore") }
        },
    )
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let modifier = (0..3usize, factor(), prop::option::of(factor())).prop_map(|(c, time, chance)| Modifier {
        capability: CAPABILITIES[c].to_owned(),
        time: Some(time),
        chance,
    });
    let rule = (
        0..3usize,
        prop::sample::subsequence(vec![0, 1, 2, 3], 1..=3),
        capabilities(),
        prop::collection::vec(modifier, 0..=2),
    );
    let rule = rule.prop_map(|(activity, drops, needs, modifiers)| (activity, drops, needs, modifiers));
    prop::collection::vec(rule, 1..=2).prop_map(|rules| {
        let rule = |(activity, drops, needs, modifiers): (usize, Vec<usize>, Vec<String>, Vec<Modifier>)| Rule {
            activity: ["x", "y", "z"][activity].to_owned(),
            drops: drops.into_iter().map(|d| DROPS[d].to_owned()).collect(),
            needs: if needs.len() > 1 { Vec::new() } else { needs },
            modifiers,
        };
        rules.into_iter().map(rule).collect()
    })
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let tiles = prop::collection::vec((1..=6u32, rules()), 4);
    prop::collection::vec(tiles, 1..=3).prop_map(|rows| {
        let tile = |row: usize, (i, (count, rules)): (usize, (u32, Vec<Rule>))| {
            let key = format!("r{row}t{}", i + 1);
            Tile { name: key.clone(), key, points: i as u32 + 1, count, rules }
        };
        let row =
            |(n, tiles): (usize, Vec<_>)| Row { tiles: tiles.into_iter().enumerate().map(|t| tile(n, t)).collect() };
        rows.into_iter().enumerate().map(row).collect()
    })
}

/// Skill, capabilities, and sessions as hour, minute and length.
type Person = (f64, Vec<String>, Vec<(u32, u32, u32)>);

fn people() -> impl Strategy<Value = Vec<Player>> {
    let sessions = prop::collection::vec((0..22u32, 0..60u32, 10..200u32), 0..=2);
    prop::collection::vec((factor(), capabilities(), sessions), 2..=5).prop_map(|people| {
        let one = |(i, (skill, capabilities, sessions)): (usize, Person)| {
            let at =
                |(hour, minute, long): (u32, u32, u32)| session(Day::Monday, &format!("{hour:02}:{minute:02}"), long);
            let sessions = sessions.into_iter().map(at).collect();
            Player { name: format!("p{i}"), skill, capabilities, sessions }
        };
        people.into_iter().enumerate().map(one).collect()
    })
}

fn strategy() -> impl Strategy<Value = (StrategyKey, StrategyParameters)> {
    (0..3usize, prop::option::of(0..=10u32), prop::option::of(factor())).prop_map(
        |(key, aim_points, sharing_weight)| match [
            StrategyKey::Greedy,
            StrategyKey::RowUnlocking,
            StrategyKey::ComboUnlocking,
        ][key]
        {
            StrategyKey::Greedy => (StrategyKey::Greedy, StrategyParameters::default()),
            key @ StrategyKey::RowUnlocking => (key, StrategyParameters { aim_points, sharing_weight: None }),
            key @ StrategyKey::ComboUnlocking => (key, StrategyParameters { aim_points, sharing_weight }),
        },
    )
}

/// Any event that can be played, of some hours, by one to three teams.
fn events() -> impl Strategy<Value = Event> {
    let teams = prop::collection::vec(strategy(), 1..=3);
    (activity("x"), activity("y"), activity("z"), rows(), people(), teams, 0..=10u32).prop_map(
        |(x, y, mut z, rows, people, teams, opening_points)| {
            // All drops are granted by somebody.
            z.lines.push(line(Roll::Player, 30, &DROPS.map(|drop| maybe("1/8", drop, Units::Fixed(1)))));
            let mut event = event(&[x, y, z], &rows, &people);
            event.capabilities = CAPABILITIES.map(|c| (c.to_owned(), c.to_owned())).into();
            let names: Vec<&str> = people.iter().map(|p| p.name.as_str()).collect();
            let team = |(i, (key, parameters)): (usize, (StrategyKey, StrategyParameters))| {
                let members: Vec<&str> = names.iter().copied().skip(i.min(1)).collect();
                crate::definition::Team { parameters, ..team(&format!("team {i}"), key, &members) }
            };
            event.teams = teams.into_iter().enumerate().map(team).collect();
            Event { opening_points, duration: "6h".to_owned(), ..event }
        },
    )
}

/// Every number of every world of every team: outcomes, then events.
#[derive(Debug, Default, PartialEq)]
struct Numbers(Vec<(usize, u32, Vec<i32>)>, Vec<(usize, u32, Vec<i64>)>);

impl Sink for Numbers {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        for (i, world) in block.range.worlds().enumerate() {
            let value = |v: &Values<'_>| match v {
                Values::I32(v) => v.get(i).copied().unwrap_or(i32::MIN),
                other => panic!("{other:?}"),
            };
            self.0.push((block.entity, world.0, block.columns.iter().map(value).collect()));
        }
        self.0.sort_unstable();
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        let mut at = 0;
        for (world, rows) in block.range.worlds().zip(block.rows) {
            let rows = at..at + *rows as usize;
            at = rows.end;
            let cells = rows.flat_map(|row| {
                block.columns.iter().map(move |c| match c {
                    model::EventValues::Label(v) => i64::from(v[row]),
                    model::EventValues::I32(v) => i64::from(v[row]),
                    other => panic!("{other:?}"),
                })
            });
            self.1.push((block.entity, world.0, cells.collect()));
        }
        self.1.sort_unstable();
        Ok(())
    }
}

fn numbers(model: &Bingo, ranges: &[[u32; 2]], wanted: Wanted) -> Numbers {
    let mut numbers = Numbers::default();
    for [first, count] in ranges {
        let range = WorldRange::new(World(*first), *count).unwrap();
        model.simulate(Seed(7), range, wanted, &mut numbers).unwrap();
    }
    numbers
}

/// A sink that counts every block of events again, and keeps that.
struct Recounting<'a>(&'a Bingo, Numbers);

impl Sink for Recounting<'_> {
    fn outcomes(&mut self, _: OutcomeBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        self.0.recount(&block, &mut self.1)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn what_was_read_reads_as_itself(event in events()) {
        let read = &PLUGIN.definition.as_ref().unwrap().read;
        let text = read(&toml::to_string(&event).unwrap()).unwrap_or_else(|e| panic!("{e}"));
        prop_assert_eq!(&parse(&text).unwrap(), &event);
        prop_assert_eq!(read(&text).unwrap(), text);
    }

    /// JSON's reader may lose the last of seventeen digits.
    #[test]
    fn factors_of_any_number_of_digits_read_as_themselves(factors in prop::collection::vec(1e-9..10.0f64, 5)) {
        let mut event = digging(solo("dig", 60, "ore"), 1, &[Player { skill: factors[0], ..with("ann", &["rope"]) }]);
        event.activities[0].bands = vec![band(1, 1, factors[1], factors[2])];
        let modifier = Modifier { capability: "rope".to_owned(), time: Some(factors[3]), chance: None };
        event.rows[0].tiles[0].rules[0].modifiers = vec![modifier];
        event.teams[0].strategy = StrategyKey::ComboUnlocking;
        event.teams[0].parameters.sharing_weight = Some(factors[4]);
        let read = &PLUGIN.definition.as_ref().unwrap().read;
        let text = read(&toml::to_string(&event).unwrap()).unwrap();
        prop_assert_eq!(read(&text).unwrap(), text);
    }

    #[test]
    fn worlds_are_the_same_whatever_is_asked_for(event in events(), switches in prop::collection::vec(any::<bool>(), 5)) {
        let on: Vec<&str> = crate::PARAMETERS.iter().zip(&switches).filter(|(_, on)| **on).map(|(p, _)| &*p.name).collect();
        let model = model(&event, &on);
        let all = Wanted { events: true, entity: None };
        let whole = numbers(&model, &[[0, 7]], all);
        prop_assert_eq!(&numbers(&model, &[[3, 4], [0, 1], [1, 2]], all), &whole);
        prop_assert_eq!(&numbers(&model, &[[0, 7]], Wanted { events: false, entity: None }).0, &whole.0);
        let last = event.teams.len() - 1;
        let one = numbers(&model, &[[5, 1]], Wanted { events: true, entity: Some(last) });
        prop_assert_eq!(one.0, whole.0.iter().filter(|n| n.0 == last && n.1 == 5).cloned().collect::<Vec<_>>());
        prop_assert_eq!(one.1, whole.1.iter().filter(|n| n.0 == last && n.1 == 5).cloned().collect::<Vec<_>>());
    }

    #[test]
    fn outcomes_are_what_events_say_and_wins_sum_to_one(event in events(), switches in prop::collection::vec(any::<bool>(), 5)) {
        let on: Vec<&str> = crate::PARAMETERS.iter().zip(&switches).filter(|(_, on)| **on).map(|(p, _)| &*p.name).collect();
        let model = model(&event, &on);
        let whole = numbers(&model, &[[0, 7]], Wanted { events: true, entity: None });
        let mut recounting = Recounting(&model, Numbers::default());
        model.simulate(Seed(7), WorldRange::new(World(0), 7).unwrap(), Wanted { events: true, entity: None }, &mut recounting).unwrap();
        let outcomes = &model.catalogue().kinds[0].outcomes;
        let told = |numbers: &Numbers| -> Vec<Vec<i32>> {
            let counted = |(n, _): &(usize, &i32)| !["win_share", "attempts"].contains(&outcomes[*n].name.as_str());
            numbers.0.iter().map(|(_, _, v)| v.iter().enumerate().filter(counted).map(|(_, v)| *v).collect()).collect()
        };
        prop_assert_eq!(told(&recounting.1), told(&whole));
        for world in 0..7 {
            let wins: i32 = whole.0.iter().filter(|n| n.1 == world).map(|n| n.2[3]).sum();
            prop_assert_eq!(wins, outcomes[3].scale);
        }
    }
}
