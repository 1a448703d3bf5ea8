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
        e => e.name = String::new(), "name: has 0 letters: 1 to 200 may be";
        e => e.name = long(201), "name: has 201 letters: 1 to 200 may be";
        e => e.duration = "soon".to_owned(), "duration: \"soon\" is no duration: write 24h, or 9days";
        e => e.duration = "0s".to_owned(), "duration: an event lasts whole seconds, one at least and 366 days at most, and not 0s";
        e => e.duration = "500ms".to_owned(), "duration: an event lasts whole seconds, one at least and 366 days at most, and not 500ms";
        e => e.duration = "367days".to_owned(), "duration: an event lasts whole seconds, one at least and 366 days at most, and not 367days";
        e => e.start = "noon".to_owned(), "start: \"noon\" is no time: write 2026-01-10T08:00";
        e => (e.zone, e.start) = ("America/New_York".to_owned(), "2026-03-08T02:30".to_owned()),
            "start: the clocks of America/New_York never show 2026-03-08T02:30: they are put forward past it";
        e => e.zone = "New York".to_owned(), "zone: there is no time zone \"New York\": name one as America/New_York";
        e => e.opening_points = 11, "opening_points: is 11: a row has 10 points";
        e => e.capabilities.insert("pick".to_owned(), String::new()), "capabilities.\"pick\": has 0 letters: 1 to 200 may be";
        e => e.capabilities.insert(long(101), "x".to_owned()),
            format!("capabilities.\"{}\": has 101 letters: 1 to 100 may be", long(101));
    }
    numbers_of_things {
        e => e.teams.clear(), "teams: there are 0: 1 to 20 may be";
        e => for i in 0..20 { e.teams.push(team(&format!("t{i}"), StrategyKey::Greedy, &["ann"])) }, "teams: there are 21: 1 to 20 may be";
        e => for i in 0..253 { e.players.push(player(&format!("p{i}"))) }, "players: there are 255: 1 to 254 may be";
        e => for i in 0..251 { e.activities.push(solo(&format!("d{i}"), 1, "a1")) }, "activities: there are 255: 1 to 254 may be";
        e => for i in 0..251 { e.activities[0].lines[0].outcomes[0].grants.push(Grant { drop: format!("d{i}"), units: Units::Fixed(1) }) },
            "activities: they grant 255 different drops: 254 at most may be";
        e => for i in 0..63 { e.rows.push(own(&format!("a{i}x"), [1; 4]).1) ; e.rows[i + 1].tiles.iter_mut().for_each(|t| t.rules = vec![rule("a1", "a1")]) },
            "rows: there are 64: 1 to 63 may be";
        e => e.rows.clear(), "rows: there are 0: 1 to 63 may be";
    }
    activities {
        e => e.activities[0].key = long(101), format!("activities[0].key: has 101 letters: 1 to 100 may be\nrows[0].tiles[0].rules[0].activity: no activity \"a1\"; there are: a2, a3, a4, {}", long(101));
        e => e.activities[0].name = String::new(), "activities[0].name: has 0 letters: 1 to 200 may be";
        e => e.activities.push(solo("a2", 1, "a1")), "activities[4].key: is \"a2\", as activities[1].key is: they must differ";
        e => e.activities[0].solo = false,
            "activities[0]: nobody can do it: say solo = true, or which groups can, as group = { min = 2, max = 5 }";
        e => e.activities[0].group = Some(GroupSize { min: Some(0), max: None }),
            "activities[0].group: the smallest group has one player at least, and is not above the largest";
        e => e.activities[0].group = Some(GroupSize { min: Some(3), max: Some(2) }),
            "activities[0].group: the smallest group has one player at least, and is not above the largest";
        e => e.activities[0].group = Some(GroupSize { min: None, max: Some(0) }),
            "activities[0].group: the smallest group has one player at least, and is not above the largest";
        e => e.activities[0].lines.clear(), "activities[0].lines: there are none: an attempt rolls one line at least\n\
             rows[0].tiles[0].rules[0].drops[0]: no activity grants \"a1\"; there are: a2, a3, a4";
    }
    bands {
        e => e.activities[0].bands = vec![band(3, 2, 1.0, 1.0)], "activities[0].bands[0]: is for groups of 3 to 2 players: nobody is in it";
        e => e.activities[0].bands = vec![band(0, 2, 1.0, 1.0)], "activities[0].bands[0]: is for groups of 0 to 2 players: nobody is in it";
        e => e.activities[0].bands = vec![band(1, 2, 1.0, 1.0), band(4, 4, 1.0, 1.0), band(2, 3, 1.0, 1.0)],
            "activities[0].bands[2]: shares sizes with bands[0]: which one is it?";
        e => e.activities[0].bands = vec![Band { time: 0.0, ..band(1, 2, 1.0, 1.0) }], "activities[0].bands[0].time: is 0: above 0 and 1000 at most may be";
        e => e.activities[0].bands = vec![band(1, 2, 1.0, f64::NAN)], "activities[0].bands[0].chance: is NaN: above 0 and 1000 at most may be";
    }
    lines {
        e => dig(e).key = String::new(), "activities[0].lines[0].key: has 0 letters: 1 to 100 may be";
        e => { let line = dig(e).clone(); e.activities[0].lines.push(line) },
            "activities[0].lines[1].key: is \"Player 60\", as activities[0].lines[0].key is: they must differ";
        e => dig(e).seconds = 0, "activities[0].lines[0]: takes 0 seconds, 0 less or more: 1 to 16777216 may be";
        e => dig(e).spread = 1 << 25, "activities[0].lines[0]: takes 60 seconds, 33554432 less or more: 1 to 16777216 may be";
        e => dig(e).outcomes.clear(), "activities[0].lines[0].outcomes: there are none: a roll gives one at least\n\
             rows[0].tiles[0].rules[0].drops[0]: no activity grants \"a1\"; there are: a2, a3, a4";
    }
    outcomes {
        e => dig(e).outcomes[0].key = long(101), "activities[0].lines[0].outcomes[0].key: has 101 letters: 1 to 100 may be";
        e => { let outcome = maybe("1/9", "a1", Units::Fixed(1)); dig(e).outcomes = vec![outcome.clone(), outcome] },
            "activities[0].lines[0].outcomes[1].key: is \"a1 1/9\", as activities[0].lines[0].outcomes[0].key is: they must differ";
        e => dig(e).outcomes[0].chance = "0.5".to_owned(), "activities[0].lines[0].outcomes[0].chance: \"0.5\" is no chance: write a fraction above 0 that is 1 at most, as 1/128";
        e => dig(e).outcomes[0].chance = "0/5".to_owned(), "activities[0].lines[0].outcomes[0].chance: \"0/5\" is no chance: write a fraction above 0 that is 1 at most, as 1/128";
        e => dig(e).outcomes[0].chance = "6/5".to_owned(), "activities[0].lines[0].outcomes[0].chance: \"6/5\" is no chance: write a fraction above 0 that is 1 at most, as 1/128";
        e => dig(e).outcomes.push(maybe("1/2", "a1", Units::Fixed(1))), "activities[0].lines[0].outcomes: their chances sum to 1.5000: 1 at most may be";
        e => dig(e).outcomes[0].grants[0].units = Units::Fixed(0), "activities[0].lines[0].outcomes[0].grants[0].units: are 0 to 0: 1 to 16777216 may be, the least first";
        e => dig(e).outcomes[0].grants[0].units = Units::Between([3, 2]), "activities[0].lines[0].outcomes[0].grants[0].units: are 3 to 2: 1 to 16777216 may be, the least first";
        e => dig(e).outcomes[0].grants.push(Grant { drop: long(201), units: Units::Fixed(1) }),
            "activities[0].lines[0].outcomes[0].grants[1].drop: has 201 letters: 1 to 200 may be";
    }
    players {
        e => e.players[1].name = long(101), format!("players[1].name: has 101 letters: 1 to 100 may be\nteams[0].players[1]: no player \"bob\"; there are: ann, {}", long(101));
        e => e.players.push(player("ann")), "players[2].name: is \"ann\", as players[0].name is: they must differ";
        e => e.players[1].skill = 0.0, "players[1].skill: is 0: above 0 and 10 at most may be";
        e => e.players[1].skill = 10.5, "players[1].skill: is 10.5: above 0 and 10 at most may be";
        e => e.players[1].skill = f64::NAN, "players[1].skill: is NaN: above 0 and 10 at most may be";
        e => e.players[1].capabilities = vec!["rop".to_owned()], "players[1].capabilities[0]: no capability \"rop\"; did you mean rope?";
        e => e.players[0].capabilities.push("rope".to_owned()), "players[0].capabilities[1]: is \"rope\", as players[0].capabilities[0] is: they must differ";
        e => e.players[1].sessions[0].at = "6 pm".to_owned(), "players[1].sessions[0].at: \"6 pm\" is no time: write 18:30";
        e => e.players[1].sessions[0].at = "24:00".to_owned(), "players[1].sessions[0].at: \"24:00\" is no time: write 18:30";
        e => e.players[1].sessions[0].minutes = 0, "players[1].sessions[0].minutes: is 0: a session has 1 to 1440 minutes";
        e => e.players[1].sessions[0].minutes = 1441, "players[1].sessions[0].minutes: is 1441: a session has 1 to 1440 minutes";
    }
    rows {
        e => e.rows[0].tiles.truncate(3), "rows[0].tiles: are worth [1, 2, 3] points: a row has 4 tiles, worth 1, 2, 3 and 4 points";
        e => e.rows[0].tiles[0].points = 2, "rows[0].tiles: are worth [2, 2, 3, 4] points: a row has 4 tiles, worth 1, 2, 3 and 4 points";
    }
    tiles {
        e => e.rows[0].tiles[1].key = "a1".to_owned(),
            "rows[0].tiles[1].key: \"a1\" is \"a1\" in tables, as rows[0].tiles[0].key is: they must differ there";
        e => e.rows[0].tiles[1].key = "A1!".to_owned(),
            "rows[0].tiles[1].key: \"A1!\" is \"a1\" in tables, as rows[0].tiles[0].key is: they must differ there";
        e => e.rows[0].tiles[1].key = "?".to_owned(), "rows[0].tiles[1].key: \"?\" has no letter from a to z and no digit";
        e => e.rows[0].tiles[1].name = String::new(), "rows[0].tiles[1].name: has 0 letters: 1 to 200 may be";
        e => e.rows[0].tiles[1].count = 0, "rows[0].tiles[1].count: is 0: 1 to 16777216 units may complete a tile";
        e => e.rows[0].tiles[1].rules.clear(), "rows[0].tiles[1].rules: there are none: a tile is completed by one activity at least";
        e => e.rows[0].tiles[1].rules = vec![rule("a2", "a2"); 101], "rows[0].tiles[1].rules: there are 101: 100 at most may be";
    }
    rules {
        e => rule_of(e).activity = "b3".to_owned(), "rows[0].tiles[2].rules[0].activity: no activity \"b3\"; there are: a1, a2, a3, a4";
        e => rule_of(e).drops.clear(), "rows[0].tiles[2].rules[0].drops: there are none: no drop counts";
        e => rule_of(e).drops[0] = "b3".to_owned(), "rows[0].tiles[2].rules[0].drops[0]: no activity grants \"b3\"; there are: a1, a2, a3, a4";
        e => rule_of(e).needs = vec!["rope".to_owned(), "ripe".to_owned()], "rows[0].tiles[2].rules[0].needs[1]: no capability \"ripe\"; did you mean rope?";
        e => rule_of(e).modifiers = vec![modifier(Some(2.0), None); 7], "rows[0].tiles[2].rules[0].modifiers: there are 7: 6 at most may be";
        e => rule_of(e).modifiers = vec![modifier(None, None)], "rows[0].tiles[2].rules[0].modifiers[0]: changes nothing: give it a time, a chance or both";
        e => rule_of(e).modifiers = vec![modifier(Some(0.0), Some(1001.0))],
            "rows[0].tiles[2].rules[0].modifiers[0].time: is 0: above 0 and 1000 at most may be\n\
             rows[0].tiles[2].rules[0].modifiers[0].chance: is 1001: above 0 and 1000 at most may be";
        e => rule_of(e).modifiers = vec![Modifier { capability: "ripe".to_owned(), ..modifier(Some(2.0), None) }],
            "rows[0].tiles[2].rules[0].modifiers[0].capability: no capability \"ripe\"; did you mean rope?";
    }
    teams {
        e => e.teams[0].name = "!".to_owned(), "teams[0].name: \"!\" has no letter from a to z and no digit";
        e => { let same = e.teams[0].clone(); e.teams.push(same) },
            "teams[1].name: \"team\" is \"team\" in tables, as teams[0].name is: they must differ there";
        e => e.teams[0].players.clear(), "teams[0].players: there are none";
        e => e.teams[0].players.push("ann".to_owned()), "teams[0].players[2]: is \"ann\", as teams[0].players[0] is: they must differ";
        e => e.teams[0].players[0] = "anna".to_owned(), "teams[0].players[0]: no player \"anna\"; did you mean ann?";
    }
    parameters_of_strategies {
        e => e.teams[0].parameters.aim_points = Some(5), "teams[0].parameters.aim_points: greedy aims at no row";
        e => (e.teams[0].strategy, e.teams[0].parameters.aim_points) = (StrategyKey::RowUnlocking, Some(11)),
            "teams[0].parameters.aim_points: is 11: a row has 10 points";
        e => (e.teams[0].strategy, e.teams[0].parameters.sharing_weight) = (StrategyKey::RowUnlocking, Some(1.0)),
            "teams[0].parameters.sharing_weight: only combo_unlocking looks at what activities share";
        e => (e.teams[0].strategy, e.teams[0].parameters.sharing_weight) = (StrategyKey::ComboUnlocking, Some(-1.0)),
            "teams[0].parameters.sharing_weight: is -1: 0 to 1000 may be";
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
        ["players[1]: bob is never there during the event"]
    );
    assert_eq!(
        advice(|e| e.players[1].sessions.push(session(Day::Monday, "00:20", 30))),
        ["players[1]: sessions of bob overlap: together they count once"]
    );
    assert_eq!(advice(|e| e.players[1] = Player { skill: 2.0, ..player("bob") }), [""; 0]);
}

#[test]
fn what_nobody_uses_is_told() {
    assert_eq!(advice(|e| e.activities.push(solo("b", 1, "a1"))), ["activities[4]: no tile is completed by \"b\""]);
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
        ["capabilities.\"lamp\": no player has it", "rows[0].tiles[2]: nobody of team team has what tile \"a3\" needs"]
            .map(String::from)
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
    );
    assert_eq!(advice(|e| rule_of(e).needs = vec!["rope".to_owned()]), [""; 0], "ann has it");
    // A raid of three in a team of two.
    assert_eq!(
        advice(|e| e.activities[2] = raid("a3", [3, 5], 60, "a3")),
        ["rows[0].tiles[2]: team team has too few players for what completes tile \"a3\""]
    );
    assert_eq!(
        advice(|e| {
            e.activities[2] = raid("a3", [2, 5], 60, "a3");
            rule_of(e).needs = vec!["rope".to_owned()];
        }),
        ["rows[0].tiles[2]: team team has too few players for what completes tile \"a3\""],
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
        [
            "rows[0].tiles[2].rules[0]: \"a3\" grants none of the drops: whoever does it for this tile wins nothing for it"
        ]
    );
    assert_eq!(
        advice(|e| rule_of(e).drops.push("a1".to_owned())),
        [
            "rows[0].tiles[2].rules[0].drops[1]: \"a3\" never grants \"a1\": it counts only where another activity wins it"
        ]
    );
}
