//! When players who do nothing are looked at again.

use crate::definition::{Day, Event, Player, StrategyKey};

use super::support::*;

fn from(name: &str, at: &str, minutes: u32) -> Player {
    Player { sessions: vec![session(Day::Monday, at, minutes)], ..player(name) }
}

const QUIET: &[&str] = &["idle_until_quiet"];

/// Ann works all the time for the team `busy`; the others are another team.
fn beside_a_busy_team(others: &[Player]) -> Event {
    let players: Vec<Player> = [player("ann")].into_iter().chain(others.iter().cloned()).collect();
    let names: Vec<&str> = others.iter().map(|p| p.name.as_str()).collect();
    let mut event = digging(solo("dig", 100, "ore"), 1000, &players);
    event.teams = vec![team("team", StrategyKey::Greedy, &names), team("busy", StrategyKey::Greedy, &["ann"])];
    event
}

#[test]
fn players_wake_when_their_session_starts_whatever_another_team_does() {
    let event = beside_a_busy_team(&[from("bob", "00:10", 5)]);
    assert_eq!(told(&event).wins(), ["700 bob", "800 bob"]);
    assert_eq!(told_with(&event, QUIET).wins(), [""; 0], "the other team is never quiet");
    let mut alone = event;
    alone.teams.pop();
    assert_eq!(told_with(&alone, QUIET).wins(), ["700 bob", "800 bob"]);
}

#[test]
fn players_wake_when_their_session_starts_whatever_their_own_team_does() {
    let event = digging(solo("dig", 1000, "ore"), 1000, &[player("ann"), from("bob", "00:10", 30)]);
    assert_eq!(told(&event).wins(), ["1000 ann", "1600 bob", "2000 ann", "3000 ann"]);
    assert_eq!(told_with(&event, QUIET).wins(), ["1000 ann", "2000 ann", "3000 ann"]);
}

/// At the same second attempts end before sessions start: bob finds a4 completed.
#[test]
fn players_who_wake_find_what_was_completed_at_that_second() {
    let (activities, row) = own("a", [60, 60, 60, 600]);
    let event = event(&activities, &[row], &[player("ann"), from("bob", "00:10", 30)]);
    assert_eq!(told(&event).wins()[..3], ["600 ann", "660 ann", "660 bob"]);
}

#[test]
fn players_wake_at_every_session() {
    let mut bob = from("bob", "00:10", 2);
    bob.sessions.push(session(Day::Monday, "00:30", 2));
    let event = digging(solo("dig", 100, "ore"), 1000, &[bob]);
    assert_eq!(told(&event).wins(), ["700 bob", "1900 bob"]);
    assert_eq!(told_with(&event, QUIET).wins(), ["700 bob", "1900 bob"]);
}

/// Bob can do nothing in row a, and everything in row b, which ann opens at 200 seconds.
fn bob_waits_for_row_b() -> Event {
    let (mut activities, mut a) = own("a", [100, 100, 100, 100]);
    let (more, b) = own("b", [1000, 1000, 1000, 1000]);
    activities.extend(more);
    for tile in &mut a.tiles {
        tile.rules[0].needs = vec!["rope".to_owned()];
    }
    event(&activities, &[a, b], &[with("ann", &["rope"]), player("bob")])
}

#[test]
fn players_wake_when_a_row_opens() {
    let event = bob_waits_for_row_b();
    assert_eq!(told(&event).completions()[..4], ["a4 100", "a3 200", "b4 1200", "b3 2200"]);
    assert_eq!(told(&event).wins()[2..4], ["1200 ann", "1200 bob"], "both work for b4 from 200 on");
    let reference = told_with(&event, QUIET);
    assert!(reference.wins().iter().all(|win| win.ends_with("ann")), "{:?}", reference.wins());
}

#[test]
fn players_wake_when_a_partner_is_free() {
    // Ann alone can do a4, and begins with it; bob wants to raid for a3.
    let (mut activities, mut a) = own("a", [100, 100, 100, 300]);
    activities.push(raid("raid", [2, 2], 50, "loot"));
    a.tiles[3].rules[0].needs = vec!["rope".to_owned()];
    for tile in &mut a.tiles[..3] {
        tile.rules = vec![rule("raid", "loot")];
    }
    let event = event(&activities, &[a], &[with("ann", &["rope"]), player("bob")]);
    // A raid gives both a unit: a3 and a2, then a1 and nothing.
    assert_eq!(told(&event).completions(), ["a4 300", "a3 350", "a2 350", "a1 400"]);
    assert_eq!(told_with(&event, QUIET).completions(), ["a4 300"], "all is quiet, and no session starts");
}

#[test]
fn who_lacks_a_partner_goes_with_the_next_who_is_free_though_others_are_busy() {
    // Cid never stops; ann is free at 300 and wants the raid that bob waits for.
    let (mut activities, mut a) = own("a", [100, 100, 100, 300]);
    activities.extend([raid("raid", [2, 2], 50, "loot"), solo("long", 3000, "dust")]);
    a.tiles[3].rules[0].needs = vec!["rope".to_owned()];
    for tile in &mut a.tiles[..3] {
        tile.rules = vec![rule("raid", "loot")];
    }
    a.tiles[2].rules.insert(0, crate::definition::Rule { needs: vec!["pick".to_owned()], ..rule("long", "dust") });
    let players = [with("ann", &["rope"]), player("bob"), with("cid", &["pick"])];
    let event = event(&activities, &[a], &players);
    assert_eq!(told(&event).completions(), ["a4 300", "a3 350", "a2 350", "a1 400"]);
    assert_eq!(told_with(&event, QUIET).completions()[..1], ["a4 300"]);
    assert_eq!(told_with(&event, QUIET).wins()[1..], ["3000 cid"]);
}

#[test]
fn who_lacks_a_partner_goes_with_one_whose_session_starts() {
    let event = digging(raid("raid", [2, 2], 100, "ore"), 1000, &[player("ann"), from("bob", "00:10", 5)]);
    assert_eq!(told(&event).wins(), ["700 ann", "700 bob", "800 ann", "800 bob"]);
    assert_eq!(told_with(&event, QUIET).wins(), told(&event).wins());
}

/// Ann and bob cannot raid from 800 to 900, since bob leaves; when he, or cid, is there again, she is.
#[test]
fn who_lost_a_partner_that_had_to_leave_is_not_frozen() {
    let mut bob = from("bob", "00:10", 5);
    bob.sessions.push(session(Day::Monday, "00:30", 3));
    let event = digging(raid("raid", [2, 2], 100, "ore"), 1000, &[player("ann"), bob.clone()]);
    assert_eq!(told(&event).wins(), ["700 ann", "700 bob", "800 ann", "800 bob", "1900 ann", "1900 bob"]);
    bob.sessions.pop();
    let event = digging(raid("raid", [2, 2], 100, "ore"), 1000, &[player("ann"), bob, from("cid", "00:20", 4)]);
    assert_eq!(told(&event).wins()[4..], ["1300 ann", "1300 cid", "1400 ann", "1400 cid"]);
}

/// Bob leaves at the very second at which ann opens row b: he is not there any more, and she goes alone.
#[test]
fn nobody_is_there_at_the_second_at_which_a_session_ends() {
    let (mut activities, mut a) = own("a", [90; 4]);
    a.tiles.iter_mut().for_each(|tile| tile.rules[0].needs = vec!["rope".to_owned()]);
    let group = crate::definition::GroupSize { min: None, max: None };
    activities.push(crate::definition::Activity { group: Some(group), ..solo("dig", 100, "ore") });
    let b = row("b", std::array::from_fn(|_| (1, rule("dig", "ore"))));
    let event = event(&activities, &[a, b], &[with("ann", &["rope"]), from("bob", "00:00", 3)]);
    assert_eq!(told(&event).completions()[..3], ["a4 90", "a3 180", "b4 280"]);
}

#[test]
fn a_finished_board_gives_no_more_work() {
    let (activities, row) = own("a", [100; 4]);
    let told = told(&event(&activities, &[row], &[player("ann"), from("bob", "00:30", 20)]));
    assert_eq!(told.completions(), ["a4 100", "a3 200", "a2 300", "a1 400"]);
    assert_eq!(told.outcomes["attempts"], 4);
}
