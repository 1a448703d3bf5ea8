//! Events as users write them.

use crate::PLUGIN;
use crate::definition::{BIG, Event, GroupSize, Roll, SMALL, StrategyKey, Units, advise, parse};

use super::support::*;

fn read(text: &str) -> Result<String, String> {
    (PLUGIN.definition.as_ref().unwrap().read)(text).map_err(|e| e.to_string())
}

#[test]
fn the_shipped_events_are_valid_and_nothing_in_them_is_odd() {
    for text in [SMALL, BIG] {
        let event = parse(text).unwrap();
        assert_eq!(advise(&event), []);
    }
    let small = parse(SMALL).unwrap();
    let sizes = |e: &Event| (e.rows.len(), e.activities.len(), e.players.len(), e.teams.len());
    assert_eq!((sizes(&small), small.duration.as_str()), ((20, 6, 8, 2), "24h"));
    assert!(small.teams.iter().all(|t| t.players.len() == 4));
    let big = parse(BIG).unwrap();
    assert_eq!((sizes(&big), big.duration.as_str()), ((21, 72, 60, 3), "9days"));
    assert!(big.teams.iter().all(|t| t.players.len() == 20));
    let strategies: Vec<StrategyKey> = big.teams.iter().map(|t| t.strategy).collect();
    assert_eq!(strategies, [StrategyKey::Greedy, StrategyKey::RowUnlocking, StrategyKey::ComboUnlocking]);
    // As section 11 of the reference's description says: 92 rules, attempts of 5 seconds to 2 hours, most of 36 to 100.
    let rules: usize = big.rows.iter().flat_map(|r| &r.tiles).map(|t| t.rules.len()).sum();
    let seconds: Vec<u32> = big.activities.iter().flat_map(|a| &a.lines).map(|l| l.seconds).collect();
    assert_eq!((rules, seconds.iter().min(), seconds.iter().max()), (92, Some(&5), Some(&7200)));
    assert!(seconds.iter().filter(|s| (36..=100).contains(*s)).count() * 2 > seconds.len());
}

const MINIMAL: &str = r#"
name = "Board"
duration = "1h"
start = "2026-01-10T08:00"

[[activities]]
key = "dig"
name = "Dig"
solo = true
lines = [{ key = "main", roll = "player", seconds = 60, outcomes = [{ key = "ore", chance = "1/2", grants = [{ drop = "ore" }] }] }]

[[players]]
name = "Ann"

[[rows]]
tiles = [
    { key = "a", name = "A", points = 1, rules = [{ activity = "dig", drops = ["ore"] }] },
    { key = "b", name = "B", points = 4, rules = [{ activity = "dig", drops = ["ore"] }] },
    { key = "c", name = "C", points = 3, rules = [{ activity = "dig", drops = ["ore"] }] },
    { key = "d", name = "D", points = 2, rules = [{ activity = "dig", drops = ["ore"] }] },
]

[[teams]]
name = "Team"
strategy = "greedy"
players = ["Ann"]
"#;

#[test]
fn what_is_left_out_has_its_default() {
    let event = parse(MINIMAL).unwrap();
    assert_eq!((event.zone.as_str(), event.opening_points), ("America/New_York", 5));
    let dig = &event.activities[0];
    assert_eq!((dig.group, dig.bands.len(), dig.lines[0].spread, dig.lines[0].roll), (None, 0, 0, Roll::Player));
    assert_eq!(dig.lines[0].outcomes[0].grants[0].units, Units::Fixed(1));
    let ann = &event.players[0];
    assert_eq!((ann.skill, ann.capabilities.len(), ann.sessions.len()), (1.0, 0, 0));
    let tile = &event.rows[0].tiles[0];
    assert_eq!((tile.count, tile.rules[0].needs.len(), tile.rules[0].modifiers.len()), (1, 0, 0));
    assert_eq!(event.teams[0].parameters, crate::definition::StrategyParameters::default());
    let group = parse(&MINIMAL.replace("solo = true", "group = {}")).unwrap();
    assert_eq!(group.activities[0].group, Some(GroupSize { min: None, max: None }));
    let banded = MINIMAL.replace("solo = true", "solo = true\nbands = [{ min = 1, max = 2 }]");
    assert_eq!(parse(&banded).unwrap().activities[0].bands[0], band(1, 2, 1.0, 1.0));
}

#[test]
fn toml_and_json_of_the_same_event_are_read_into_the_same_text() {
    for text in [MINIMAL, SMALL, BIG] {
        let json = read(text).unwrap();
        assert_eq!(read(&json).unwrap(), json);
        assert_eq!(read(&format!("\n  {json}")).unwrap(), json);
        let spaced = serde_json::to_string_pretty(&parse(text).unwrap()).unwrap();
        assert_eq!(read(&spaced).unwrap(), json);
        assert_eq!(read(&toml::to_string(&parse(text).unwrap()).unwrap()).unwrap(), json);
    }
}

/// The page for users shows an event with one tile.
#[test]
fn the_documented_event_has_fields_and_values_that_are() {
    let page = include_str!("../../../../docs/bingo.md");
    let event = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    refused(event, "rows[0].tiles: are worth [1] points: a row has 4 tiles, worth 1, 2, 3 and 4 points");
}

/// Tiles are worth what they say, wherever they stand in their row.
#[test]
fn tiles_may_stand_in_any_order() {
    let mut event = parse(MINIMAL).unwrap();
    event.activities[0].lines[0].outcomes[0].chance = "1".to_owned();
    assert_eq!(told(&event).completions(), ["b 60", "c 120", "d 180", "a 240"]);
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    assert_eq!(read(text).unwrap_err(), expected);
}

/// The minimal event with `what` put as `instead`: refused at `at` in it.
#[track_caller]
fn refused_at(what: &str, instead: &str, at: &str, reason: &str) {
    let text = MINIMAL.replace(what, instead);
    let before = &text[..text.find(at).unwrap()];
    let (line, column) = (before.matches('\n').count() + 1, before.len() - before.rfind('\n').unwrap());
    refused(&text, &format!("line {line}, column {column}: {reason}"));
}

#[test]
fn what_is_no_toml_is_told_with_its_line_and_column() {
    refused("name = \"Board", "line 1, column 14: not valid TOML: invalid basic string, expected `\"`");
    refused("name = \"Board\"\n\nduration 1h", "line 3, column 10: not valid TOML: key with no value, expected `=`");
    refused("", "the event: the text is empty");
    refused_at(
        "points = 4",
        "points = 'four'",
        "'four'",
        "rows[0].tiles[1].points must be a whole number, not the text \"four\"",
    );
    refused_at(
        "points = 4",
        "points = -4",
        "-4",
        "rows[0].tiles[1].points must be a whole number of at least 0, not -4",
    );
    let unknown = "activities[0] has no field \"sole\"; did you mean solo?";
    refused_at("solo = true", "sole = true", "sole", unknown);
    let strategies = "there are: greedy, row_unlocking, combo_unlocking";
    let unknown = format!("teams[0].strategy cannot be \"balanced\"; {strategies}");
    refused_at("\"greedy\"", "\"balanced\"", "\"balanced\"", &unknown);
    refused_at("strategy = \"greedy\"\n", "", "[[teams]]", "teams[0] lacks the field strategy");
    let units =
        "activities[0].lines[0].outcomes[0].grants[0].units: a whole number, or the least and the most as [1, 3]";
    refused_at("drop = \"ore\"", "drop = \"ore\", units = [1, 2, 3]", "[1, 2, 3]", units);
    let parameters = "strategy = \"greedy\"\nparameters = { hurry = 3 }";
    let unknown = "teams[0].parameters has no field \"hurry\"; there are: aim_points, sharing_weight";
    refused_at("strategy = \"greedy\"", parameters, "hurry", unknown);
}

#[test]
fn what_is_no_json_is_told_with_its_line_and_column() {
    refused("{\n  \"name\": }", "line 2, column 11: not valid JSON: expected value");
    refused("{", "line 1, column 1: not valid JSON: EOF while parsing an object");
    refused("{\"name\": \"x\", \"nam\": 1}", "line 1, column 19: the event has no field \"nam\"; did you mean name?");
    let number = "line 1, column 51: duration must be a text, not 5";
    refused("{\"name\": \"seen at line 3 of the log\", \"duration\": 5}", number);
    let words =
        "there are: name, duration, start, zone, opening_points, capabilities, activities, players, rows, teams";
    let unknown = format!("line 1, column 19: the event has no field \"day at line 3\"; {words}");
    refused("{   \"day at line 3\": 1}", &unknown);
}
