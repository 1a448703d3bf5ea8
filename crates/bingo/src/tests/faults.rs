//! Events that cannot be played: every fault with its place.

use crate::definition::{
    Band, Day, Event, Grant, GroupSize, Line, Modifier, Player, Rule, StrategyKey, Units, advise, parse,
};

use super::support::*;

/// A sound event of one row, two players and one team.
fn sound() -> Event {
    let (activities, row) = own("a", [60; 4]);
    let mut event = event(&activities, &[row], &[with("ann", &["rope"]), player("bob")]);
    event.players[1].sessions = vec![session(Day::Monday, "00:10", 30)];
    event
}

/// What is told of the sound event after a change.
fn told_of(change: impl FnOnce(&mut Event)) -> String {
    let mut event = sound();
    change(&mut event);
    parse(&toml::to_string(&event).unwrap()).unwrap_err().to_string()
}

macro_rules! faults {
    ($($name:ident { $($event:ident => $change:expr, $said:expr;)+ })+) => {$(
        #[test]
        fn $name() {
            $(assert_eq!(told_of(|$event: &mut Event| { $change; }), $said);)+
        }
    )+};
}

fn dig(event: &mut Event) -> &mut Line {
    &mut event.activities[0].lines[0]
}

fn rule_of(event: &mut Event) -> &mut Rule {
    &mut event.rows[0].tiles[2].rules[0]
}

fn long(n: usize) -> String {
    "x".repeat(n)
}

fn modifier(time: Option<f64>, chance: Option<f64>) -> Modifier {
    Modifier { capability: "rope".to_owned(), time, chance }
}

faults! {
    the_event_itself {
        e => e.name = String::new(), "name: has 0 characters: 1 to 200 allowed";
        e => e.name = long(201), "name: has 201 characters: 1 to 200 allowed";
        e => e.duration = "soon".to_owned(), "duration: invalid duration \"soon\": write 24h or 9days";
        e => e.duration = "0s".to_owned(), "duration: is 0s: must be whole seconds, from 1s to 366days";
        e => e.duration = "500ms".to_owned(), "duration: is 500ms: must be whole seconds, from 1s to 366days";
        e => e.duration = "367days".to_owned(), "duration: is 367days: must be whole seconds, from 1s to 366days";
        e => e.start = "noon".to_owned(), "start: invalid time \"noon\": write 2026-01-10T08:00";
        e => (e.zone, e.start) = ("America/New_York".to_owned(), "2026-03-08T02:30".to_owned()),
            "start: the clocks of America/New_York skip 2026-03-08T02:30: choose another time";
        e => e.zone = "New York".to_owned(), "zone: unknown time zone \"New York\": write a name such as America/New_York";
        e => e.opening_points = 11, "opening_points: is 11: a row has 10 points";
        e => e.capabilities.insert("pick".to_owned(), String::new()), "capabilities.\"pick\": has 0 characters: 1 to 200 allowed";
        e => e.capabilities.insert(long(101), "x".to_owned()),
            format!("capabilities.\"{}\": has 101 characters: 1 to 100 allowed", long(101));
    }
    numbers_of_things {
        e => e.teams.clear(), "teams: has 0 entries: 1 to 20 allowed";
        e => for i in 0..20 { e.teams.push(team(&format!("t{i}"), StrategyKey::Greedy, &["ann"])) }, "teams: has 21 entries: 1 to 20 allowed";
        e => for i in 0..253 { e.players.push(player(&format!("p{i}"))) }, "players: has 255 entries: 1 to 254 allowed";
        e => for i in 0..251 { e.activities.push(solo(&format!("d{i}"), 1, "a1")) }, "activities: has 255 entries: 1 to 254 allowed";
        e => for i in 0..251 { e.activities[0].lines[0].outcomes[0].grants.push(Grant { drop: format!("d{i}"), units: Units::Fixed(1) }) },
            "activities: grant 255 different drops: at most 254 allowed";
        e => for i in 0..63 { e.rows.push(own(&format!("a{i}x"), [1; 4]).1) ; e.rows[i + 1].tiles.iter_mut().for_each(|t| t.rules = vec![rule("a1", "a1")]) },
            "rows: has 64 entries: 1 to 63 allowed";
        e => e.rows.clear(), "rows: has 0 entries: 1 to 63 allowed";
    }
    activities {
        e => e.activities[0].key = long(101), format!("activities[0].key: has 101 characters: 1 to 100 allowed\nrows[0].tiles[0].rules[0].activity: no activity \"a1\"; there are: a2, a3, a4, {}", long(101));
        e => e.activities[0].name = String::new(), "activities[0].name: has 0 characters: 1 to 200 allowed";
        e => e.activities.push(solo("a2", 1, "a1")), "activities[4].key: duplicates activities[1].key (\"a2\")";
        e => e.activities[0].solo = false,
            "activities[0]: no player or group can do it: set solo = true or group = { min = 2, max = 5 }";
        e => e.activities[0].group = Some(GroupSize { min: Some(0), max: None }),
            "activities[0].group: min must be at least 1 and not above max";
        e => e.activities[0].group = Some(GroupSize { min: Some(3), max: Some(2) }),
            "activities[0].group: min must be at least 1 and not above max";
        e => e.activities[0].group = Some(GroupSize { min: None, max: Some(0) }),
            "activities[0].group: min must be at least 1 and not above max";
        e => e.activities[0].lines.clear(), "activities[0].lines: is empty: an attempt needs at least one line\n\
             rows[0].tiles[0].rules[0].drops[0]: no activity grants \"a1\"; there are: a2, a3, a4";
    }
    bands {
        e => e.activities[0].bands = vec![band(3, 2, 1.0, 1.0)], "activities[0].bands[0]: covers groups of 3 to 2 players: min must be at least 1 and not above max";
        e => e.activities[0].bands = vec![band(0, 2, 1.0, 1.0)], "activities[0].bands[0]: covers groups of 0 to 2 players: min must be at least 1 and not above max";
        e => e.activities[0].bands = vec![band(1, 2, 1.0, 1.0), band(4, 4, 1.0, 1.0), band(2, 3, 1.0, 1.0)],
            "activities[0].bands[2]: overlaps bands[0]: a group size may have only one band";
        e => e.activities[0].bands = vec![Band { time: 0.0, ..band(1, 2, 1.0, 1.0) }], "activities[0].bands[0].time: is 0: must be above 0 and at most 1000";
        e => e.activities[0].bands = vec![band(1, 2, 1.0, f64::NAN)], "activities[0].bands[0].chance: is NaN: must be above 0 and at most 1000";
    }
    lines {
        e => dig(e).key = String::new(), "activities[0].lines[0].key: has 0 characters: 1 to 100 allowed";
        e => { let line = dig(e).clone(); e.activities[0].lines.push(line) },
            "activities[0].lines[1].key: duplicates activities[0].lines[0].key (\"Player 60\")";
        e => dig(e).seconds = 0, "activities[0].lines[0]: takes 0 seconds with a spread of 0: use 1 to 16777216 seconds and a spread of at most 16777216";
        e => dig(e).spread = 1 << 25, "activities[0].lines[0]: takes 60 seconds with a spread of 33554432: use 1 to 16777216 seconds and a spread of at most 16777216";
        e => dig(e).outcomes.clear(), "activities[0].lines[0].outcomes: is empty: a line needs at least one outcome\n\
             rows[0].tiles[0].rules[0].drops[0]: no activity grants \"a1\"; there are: a2, a3, a4";
    }
    outcomes {
        e => dig(e).outcomes[0].key = long(101), "activities[0].lines[0].outcomes[0].key: has 101 characters: 1 to 100 allowed";
        e => { let outcome = maybe("1/9", "a1", Units::Fixed(1)); dig(e).outcomes = vec![outcome.clone(), outcome] },
            "activities[0].lines[0].outcomes[1].key: duplicates activities[0].lines[0].outcomes[0].key (\"a1 1/9\")";
        e => dig(e).outcomes[0].chance = "0.5".to_owned(), "activities[0].lines[0].outcomes[0].chance: invalid chance \"0.5\": write a fraction above 0 and at most 1, such as 1/128";
        e => dig(e).outcomes[0].chance = "0/5".to_owned(), "activities[0].lines[0].outcomes[0].chance: invalid chance \"0/5\": write a fraction above 0 and at most 1, such as 1/128";
        e => dig(e).outcomes[0].chance = "6/5".to_owned(), "activities[0].lines[0].outcomes[0].chance: invalid chance \"6/5\": write a fraction above 0 and at most 1, such as 1/128";
        e => dig(e).outcomes.push(maybe("1/2", "a1", Units::Fixed(1))), "activities[0].lines[0].outcomes: chances sum to 1.5000: must sum to at most 1";
        e => dig(e).outcomes[0].grants[0].units = Units::Fixed(0), "activities[0].lines[0].outcomes[0].grants[0].units: are 0 to 0: must be from 1 to 16777216, the smaller first";
        e => dig(e).outcomes[0].grants[0].units = Units::Between([3, 2]), "activities[0].lines[0].outcomes[0].grants[0].units: are 3 to 2: must be from 1 to 16777216, the smaller first";
        e => dig(e).outcomes[0].grants.push(Grant { drop: long(201), units: Units::Fixed(1) }),
            "activities[0].lines[0].outcomes[0].grants[1].drop: has 201 characters: 1 to 200 allowed";
    }
    players {
        e => e.players[1].name = long(101), format!("players[1].name: has 101 characters: 1 to 100 allowed\nteams[0].players[1]: no player \"bob\"; there are: ann, {}", long(101));
        e => e.players.push(player("ann")), "players[2].name: duplicates players[0].name (\"ann\")";
        e => e.players[1].skill = 0.0, "players[1].skill: is 0: must be above 0 and at most 10";
        e => e.players[1].skill = 10.5, "players[1].skill: is 10.5: must be above 0 and at most 10";
        e => e.players[1].skill = f64::NAN, "players[1].skill: is NaN: must be above 0 and at most 10";
        e => e.players[1].capabilities = vec!["rop".to_owned()], "players[1].capabilities[0]: no capability \"rop\"; did you mean rope?";
        e => e.players[0].capabilities.push("rope".to_owned()), "players[0].capabilities[1]: duplicates players[0].capabilities[0] (\"rope\")";
        e => e.players[1].sessions[0].at = "6 pm".to_owned(), "players[1].sessions[0].at: invalid time \"6 pm\": write 18:30";
        e => e.players[1].sessions[0].at = "24:00".to_owned(), "players[1].sessions[0].at: invalid time \"24:00\": write 18:30";
        e => e.players[1].sessions[0].minutes = 0, "players[1].sessions[0].minutes: is 0: a session has 1 to 1440 minutes";
        e => e.players[1].sessions[0].minutes = 1441, "players[1].sessions[0].minutes: is 1441: a session has 1 to 1440 minutes";
    }
    rows {
        e => e.rows[0].tiles.truncate(3), "rows[0].tiles: are worth [1, 2, 3] points: a row has 4 tiles, worth 1, 2, 3 and 4 points";
        e => e.rows[0].tiles[0].points = 2, "rows[0].tiles: are worth [2, 2, 3, 4] points: a row has 4 tiles, worth 1, 2, 3 and 4 points";
    }
    tiles {
        e => e.rows[0].tiles[1].key = "a1".to_owned(),
            "rows[0].tiles[1].key: \"a1\" becomes \"a1\" in tables, as does rows[0].tiles[0].key: choose another";
        e => e.rows[0].tiles[1].key = "A1!".to_owned(),
            "rows[0].tiles[1].key: \"A1!\" becomes \"a1\" in tables, as does rows[0].tiles[0].key: choose another";
        e => e.rows[0].tiles[1].key = "?".to_owned(), "rows[0].tiles[1].key: \"?\" needs a letter from a to z or a digit";
        e => e.rows[0].tiles[1].name = String::new(), "rows[0].tiles[1].name: has 0 characters: 1 to 200 allowed";
        e => e.rows[0].tiles[1].count = 0, "rows[0].tiles[1].count: is 0: must be from 1 to 16777216";
        e => e.rows[0].tiles[1].rules.clear(), "rows[0].tiles[1].rules: is empty: a tile needs at least one rule";
        e => e.rows[0].tiles[1].rules = vec![rule("a2", "a2"); 101], "rows[0].tiles[1].rules: has 101 entries: at most 100 allowed";
    }
    rules {
        e => rule_of(e).activity = "b3".to_owned(), "rows[0].tiles[2].rules[0].activity: no activity \"b3\"; there are: a1, a2, a3, a4";
        e => rule_of(e).drops.clear(), "rows[0].tiles[2].rules[0].drops: is empty: a rule needs at least one drop";
        e => rule_of(e).drops[0] = "b3".to_owned(), "rows[0].tiles[2].rules[0].drops[0]: no activity grants \"b3\"; there are: a1, a2, a3, a4";
        e => rule_of(e).needs = vec!["rope".to_owned(), "ripe".to_owned()], "rows[0].tiles[2].rules[0].needs[1]: no capability \"ripe\"; did you mean rope?";
        e => rule_of(e).modifiers = vec![modifier(Some(2.0), None); 7], "rows[0].tiles[2].rules[0].modifiers: has 7 entries: at most 6 allowed";
        e => rule_of(e).modifiers = vec![modifier(None, None)], "rows[0].tiles[2].rules[0].modifiers[0]: has no effect: set time, chance or both";
        e => rule_of(e).modifiers = vec![modifier(Some(0.0), Some(1001.0))],
            "rows[0].tiles[2].rules[0].modifiers[0].time: is 0: must be above 0 and at most 1000\n\
             rows[0].tiles[2].rules[0].modifiers[0].chance: is 1001: must be above 0 and at most 1000";
        e => rule_of(e).modifiers = vec![Modifier { capability: "ripe".to_owned(), ..modifier(Some(2.0), None) }],
            "rows[0].tiles[2].rules[0].modifiers[0].capability: no capability \"ripe\"; did you mean rope?";
    }
    teams {
        e => e.teams[0].name = "!".to_owned(), "teams[0].name: \"!\" needs a letter from a to z or a digit";
        e => { let same = e.teams[0].clone(); e.teams.push(same) },
            "teams[1].name: \"team\" becomes \"team\" in tables, as does teams[0].name: choose another";
        e => e.teams[0].players.clear(), "teams[0].players: is empty: a team needs at least one player";
        e => e.teams[0].players.push("ann".to_owned()), "teams[0].players[2]: duplicates teams[0].players[0] (\"ann\")";
        e => e.teams[0].players[0] = "anna".to_owned(), "teams[0].players[0]: no player \"anna\"; did you mean ann?";
    }
    parameters_of_strategies {
        e => e.teams[0].parameters.aim_points = Some(5), "teams[0].parameters.aim_points: strategy greedy does not have this parameter";
        e => (e.teams[0].strategy, e.teams[0].parameters.aim_points) = (StrategyKey::RowUnlocking, Some(11)),
            "teams[0].parameters.aim_points: is 11: a row has 10 points";
        e => (e.teams[0].strategy, e.teams[0].parameters.sharing_weight) = (StrategyKey::RowUnlocking, Some(1.0)),
            "teams[0].parameters.sharing_weight: only strategy combo_unlocking has this parameter";
        e => (e.teams[0].strategy, e.teams[0].parameters.sharing_weight) = (StrategyKey::ComboUnlocking, Some(-1.0)),
            "teams[0].parameters.sharing_weight: is -1: must be from 0 to 1000";
    }
}

#[test]
fn all_faults_are_told_at_once() {
    let said = told_of(|e| {
        e.players[0].skill = -1.0;
        e.rows[0].tiles[3].count = 0;
        e.teams[0].players[1] = "cid".to_owned();
    });
    let places: Vec<&str> = said.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(places, ["players[0].skill", "rows[0].tiles[3].count", "teams[0].players[1]"]);
}

#[test]
fn limits_themselves_are_within() {
    let mut event = sound();
    event.name = long(200);
    event.opening_points = 10;
    event.players[0].skill = 10.0;
    event.players[1].sessions[0].minutes = 1440;
    event.duration = "366days".to_owned();
    event.activities[0].lines[0].seconds = 1 << 24;
    event.activities[0].lines[0].spread = 1 << 24;
    event.rows[0].tiles[0].count = 1 << 24;
    event.activities[0].lines[0].outcomes =
        ["1/3", "1/3 ", " 1/3"].map(|chance| maybe(chance, "a1", Units::Fixed(1 << 24))).to_vec();
    told(&event);
}

/// What is odd in the sound event after a change.
fn advice(change: impl FnOnce(&mut Event)) -> Vec<String> {
    let mut event = sound();
    change(&mut event);
    advise(&event).into_iter().map(|a| format!("{}: {}", a.place, a.reason)).collect()
}

#[test]
fn a_sound_event_needs_no_advice() {
    assert_eq!(advice(|_| ()), [""; 0]);
}

#[test]
fn odd_players_are_told() {
    assert_eq!(advice(|e| e.players.push(player("cid"))), ["players[2]: cid is in no team"]);
    assert_eq!(
        advice(|e| e.players[1].sessions[0].day = Day::Friday),
        ["players[1]: bob is offline during the whole event"]
    );
    assert_eq!(
        advice(|e| e.players[1].sessions.push(session(Day::Monday, "00:20", 30))),
        ["players[1]: sessions of bob overlap: overlapping time counts once"]
    );
    assert_eq!(advice(|e| e.players[1] = Player { skill: 2.0, ..player("bob") }), [""; 0]);
}

#[test]
fn what_nobody_uses_is_told() {
    assert_eq!(advice(|e| e.activities.push(solo("b", 1, "a1"))), ["activities[4]: no tile uses \"b\""]);
    assert_eq!(
        advice(|e| {
            e.capabilities.insert("lamp".to_owned(), "Lamp".to_owned());
        }),
        ["capabilities.\"lamp\": no player has it"]
    );
}

#[test]
fn tiles_that_a_team_cannot_complete_are_told() {
    let lacks = |e: &mut Event| {
        e.capabilities.insert("lamp".to_owned(), "Lamp".to_owned());
        rule_of(e).needs = vec!["lamp".to_owned()];
    };
    assert_eq!(
        advice(lacks),
        [
            "capabilities.\"lamp\": no player has it",
            "rows[0].tiles[2]: no player of team team has the capabilities that tile \"a3\" needs"
        ]
        .map(String::from)
        .into_iter()
        .rev()
        .collect::<Vec<_>>()
    );
    assert_eq!(advice(|e| rule_of(e).needs = vec!["rope".to_owned()]), [""; 0], "ann has it");
    // A raid of three in a team of two.
    assert_eq!(
        advice(|e| e.activities[2] = raid("a3", [3, 5], 60, "a3")),
        ["rows[0].tiles[2]: team team has too few players to complete tile \"a3\""]
    );
    assert_eq!(
        advice(|e| {
            e.activities[2] = raid("a3", [2, 5], 60, "a3");
            rule_of(e).needs = vec!["rope".to_owned()];
        }),
        ["rows[0].tiles[2]: team team has too few players to complete tile \"a3\""],
        "one has the rope"
    );
    assert_eq!(
        advice(|e| {
            e.activities[2] = raid("a3", [3, 5], 60, "a3");
            e.rows[0].tiles[2].rules.push(rule("a1", "a1"));
        }),
        [""; 0],
        "another rule will do"
    );
}

#[test]
fn rules_whose_activity_grants_nothing_of_what_counts_are_told() {
    assert_eq!(
        advice(|e| rule_of(e).drops = vec!["a1".to_owned()]),
        ["rows[0].tiles[2].rules[0]: \"a3\" grants none of the drops: an attempt for this tile cannot win its units"]
    );
    assert_eq!(
        advice(|e| rule_of(e).drops.push("a1".to_owned())),
        [
            "rows[0].tiles[2].rules[0].drops[1]: \"a3\" never grants \"a1\": it counts only if another activity grants it"
        ]
    );
}
