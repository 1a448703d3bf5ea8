//! Small events in code, and what happens in them.

use std::collections::BTreeMap;

use model::{EventBlock, EventKind, EventValues, Model as _, OutcomeBlock, Parameters, Sink, Stop, Values, Wanted};
use world::{Seed, World, WorldRange};

use crate::definition::{
    Activity, Band, Day, Event, Grant, GroupSize, Line, Outcome, Player, Roll, Row, Rule, Session, StrategyKey, Team,
    Tile, Units,
};
use crate::{Bingo, PARAMETERS, PLUGIN};

/// What is certain to be won: a unit of `drop`.
pub(super) fn sure(drop: &str) -> Outcome {
    maybe("1", drop, Units::Fixed(1))
}

pub(super) fn maybe(chance: &str, drop: &str, units: Units) -> Outcome {
    let grants = vec![Grant { drop: drop.to_owned(), units }];
    Outcome { key: format!("{drop} {chance}"), chance: chance.to_owned(), grants }
}

pub(super) fn line(roll: Roll, seconds: u32, outcomes: &[Outcome]) -> Line {
    Line { key: format!("{roll:?} {seconds}"), roll, seconds, spread: 0, outcomes: outcomes.to_vec() }
}

/// What one player does alone: a unit of `drop` after so many seconds, for sure.
pub(super) fn solo(key: &str, seconds: u32, drop: &str) -> Activity {
    let lines = vec![line(Roll::Player, seconds, &[sure(drop)])];
    Activity { key: key.to_owned(), name: key.to_owned(), solo: true, group: None, lines, bands: Vec::new() }
}

/// What groups of `min` to `max` do, and nobody alone.
pub(super) fn raid(key: &str, [min, max]: [u32; 2], seconds: u32, drop: &str) -> Activity {
    Activity { solo: false, group: Some(GroupSize { min: Some(min), max: Some(max) }), ..solo(key, seconds, drop) }
}

pub(super) fn band(min: u32, max: u32, time: f64, chance: f64) -> Band {
    Band { min, max, time, chance }
}

pub(super) fn rule(activity: &str, drop: &str) -> Rule {
    let (drops, needs) = (vec![drop.to_owned()], Vec::new());
    Rule { activity: activity.to_owned(), drops, needs, modifiers: Vec::new() }
}

/// A row whose tiles are called after it and their points, each with a rule and the units that it asks for.
pub(super) fn row(name: &str, tiles: [(u32, Rule); 4]) -> Row {
    let tile = |(i, (count, rule)): (usize, (u32, Rule))| {
        let (key, points) = (format!("{name}{}", i + 1), i as u32 + 1);
        Tile { name: key.clone(), key, points, count, rules: vec![rule] }
    };
    Row { tiles: tiles.into_iter().enumerate().map(tile).collect() }
}

/// A row whose every tile is completed by an attempt at an activity of its own name, which takes so many seconds.
pub(super) fn own(name: &str, seconds: [u32; 4]) -> (Vec<Activity>, Row) {
    let key = |i: usize| format!("{name}{}", i + 1);
    let activities = seconds.iter().enumerate().map(|(i, s)| solo(&key(i), *s, &key(i))).collect();
    (activities, row(name, std::array::from_fn(|i| (1, rule(&key(i), &key(i))))))
}

pub(super) fn player(name: &str) -> Player {
    Player { name: name.to_owned(), skill: 1.0, capabilities: Vec::new(), sessions: Vec::new() }
}

pub(super) fn with(name: &str, capabilities: &[&str]) -> Player {
    Player { capabilities: capabilities.iter().map(|c| (*c).to_owned()).collect(), ..player(name) }
}

pub(super) fn session(day: Day, at: &str, minutes: u32) -> Session {
    Session { day, at: at.to_owned(), minutes }
}

pub(super) fn team(name: &str, strategy: StrategyKey, players: &[&str]) -> Team {
    let players = players.iter().map(|p| (*p).to_owned()).collect();
    Team { name: name.to_owned(), strategy, parameters: crate::definition::StrategyParameters::default(), players }
}

/// An hour from Monday midnight on, in which one greedy team of all players plays.
pub(super) fn event(activities: &[Activity], rows: &[Row], players: &[Player]) -> Event {
    let capabilities = players.iter().flat_map(|p| &p.capabilities).chain(
        rows.iter()
            .flat_map(|r| &r.tiles)
            .flat_map(|t| &t.rules)
            .flat_map(|r| r.modifiers.iter().map(|m| &m.capability)),
    );
    let names: Vec<&str> = players.iter().map(|p| p.name.as_str()).collect();
    Event {
        name: "event".to_owned(),
        duration: "1h".to_owned(),
        start: "2026-01-05T00:00".to_owned(),
        zone: "UTC".to_owned(),
        opening_points: 5,
        capabilities: capabilities.map(|key| (key.clone(), key.clone())).collect(),
        activities: activities.to_vec(),
        players: players.to_vec(),
        rows: rows.to_vec(),
        teams: vec![team("team", StrategyKey::Greedy, &names)],
    }
}

/// An event of one row that wants so many units of `drop`, won by one activity.
pub(super) fn digging(activity: Activity, count: u32, players: &[Player]) -> Event {
    let drop = activity.drops().next().unwrap().to_owned();
    let rows = [row("a", std::array::from_fn(|_| (count, rule(&activity.key, &drop))))];
    event(&[activity], &rows, players)
}

pub(super) fn model(event: &Event, switches: &[&str]) -> Bingo {
    let json = (PLUGIN.definition.as_ref().unwrap().read)(&serde_json::to_string(event).unwrap());
    let json = json.unwrap_or_else(|e| panic!("{e}"));
    let given = switches.iter().map(|name| (*name, "1"));
    Bingo::new(&Parameters::parse(PARAMETERS, given).unwrap().defining(json)).unwrap()
}

/// What a team did in one world.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) outcomes: BTreeMap<String, i32>,
    /// `60 ann ore 1 a4`: at this second ann won ore, and tile a4 got a unit of it (`-`: none wanted it);
    /// `60 a4 done`.
    pub(super) events: Vec<String>,
}

impl Told {
    /// What was completed when.
    pub(super) fn completions(&self) -> Vec<String> {
        let done = self.events.iter().filter_map(|e| e.strip_suffix(" done"));
        done.map(|e| e.split_once(' ').map(|(second, tile)| format!("{tile} {second}")).unwrap()).collect()
    }

    /// When who won something: the ends of attempts.
    pub(super) fn wins(&self) -> Vec<String> {
        let words = |e: &String| e.split(' ').take(2).collect::<Vec<_>>().join(" ");
        self.events.iter().filter(|e| !e.ends_with(" done")).map(words).collect()
    }
}

struct Teller<'a>(&'a Bingo, Vec<Told>);

impl Sink for Teller<'_> {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        let kind = &self.0.catalogue().kinds[0];
        for (outcome, column) in kind.outcomes.iter().zip(&block.columns) {
            let Values::I32(values) = column else { panic!("{} is no I32", outcome.name) };
            self.1[block.entity].outcomes.insert(outcome.name.clone(), values[0]);
        }
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        let catalogue = self.0.catalogue();
        let cell = |column: &str, row: usize| {
            let place = catalogue.event_column(column).unwrap();
            match (block.columns[place], &catalogue.events[place].kind) {
                (EventValues::Label(codes), EventKind::Label(words)) => words.get(usize::from(codes[row])).cloned(),
                (EventValues::I32(v), _) => (v[row] != model::NULL_I32).then(|| v[row].to_string()),
                other => panic!("{other:?}"),
            }
        };
        for row in 0..block.rows[0] as usize {
            let text = |column: &str| cell(column, row).unwrap_or_else(|| "-".to_owned());
            let words = if text("what") == "completion" {
                vec![text("second"), text("tile"), "done".to_owned()]
            } else {
                let winner = cell("player", row).unwrap_or_else(|| "group".to_owned());
                vec![text("second"), winner, text("drop"), text("units"), text("tile")]
            };
            self.1[block.entity].events.push(words.join(" ").replace(" - -", " -"));
        }
        Ok(())
    }
}

/// What every team did in one world.
pub(super) fn played(event: &Event, switches: &[&str], world: u32) -> Vec<Told> {
    played_by(&model(event, switches), world)
}

fn played_by(model: &Bingo, world: u32) -> Vec<Told> {
    let told = model.catalogue().entities.iter().map(|_| Told::default()).collect();
    let mut teller = Teller(model, told);
    let range = WorldRange::new(World(world), 1).unwrap();
    model.simulate(Seed(1), range, Wanted { events: true, entity: None }, &mut teller).unwrap();
    teller.1
}

/// What the first team did in each of so many worlds.
pub(super) fn worlds(event: &Event, switches: &[&str], worlds: u32) -> Vec<Told> {
    let model = model(event, switches);
    (0..worlds).map(|world| played_by(&model, world).swap_remove(0)).collect()
}

/// What the first team did in the first world, by our rules.
pub(super) fn told(event: &Event) -> Told {
    told_with(event, &[])
}

pub(super) fn told_with(event: &Event, switches: &[&str]) -> Told {
    played(event, switches, 0).swap_remove(0)
}
