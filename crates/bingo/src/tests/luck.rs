//! Whose luck depends on what.

use crate::definition::{Event, StrategyKey, Units};

use super::support::*;

/// Two teams of two who win ore one time in three, a and b.
fn two_teams() -> Event {
    let mut dig = solo("dig", 50, "ore");
    dig.lines[0].spread = 20;
    dig.lines[0].outcomes = vec![maybe("1/3", "ore", Units::Between([1, 4]))];
    let players = ["ann", "bob", "cid", "dan"].map(player);
    let mut event = digging(dig, 9, &players);
    event.teams =
        vec![team("a", StrategyKey::Greedy, &["ann", "bob"]), team("b", StrategyKey::RowUnlocking, &["cid", "dan"])];
    event
}

/// What a team did, by name.
fn of(event: &Event, name: &str, world: u32) -> Vec<String> {
    let place = event.teams.iter().position(|t| t.name == name).unwrap();
    played(event, &[], world).swap_remove(place).events
}

#[test]
fn a_team_has_the_same_luck_whatever_other_teams_do_and_whoever_they_are() {
    let event = two_teams();
    let changes: [fn(&mut Event); 7] = [
        |e| e.teams[0].strategy = StrategyKey::ComboUnlocking,
        |e| e.players[0].skill = 0.5,
        |e| e.teams[0].players.truncate(1),
        |e| e.teams[0].players.push("cid".to_owned()),
        |e| {
            e.teams[0].players.truncate(1);
            e.players.remove(1);
        },
        |e| {
            e.players.insert(0, player("eve"));
            e.teams[0].players.push("eve".to_owned());
            e.teams.swap(0, 1);
        },
        |e| drop(e.teams.remove(0)),
    ];
    for (n, change) in changes.into_iter().enumerate() {
        let mut changed = two_teams();
        change(&mut changed);
        for world in 0..5 {
            assert_eq!(of(&changed, "b", world), of(&event, "b", world), "change {n}, world {world}");
        }
    }
}

#[test]
fn a_player_has_the_same_luck_whoever_else_is_in_the_team() {
    let event = two_teams();
    let mut alone = two_teams();
    alone.teams[0].players = vec!["bob".to_owned()];
    alone.players.remove(0);
    let seconds = |event: &Event| {
        let wins = of(event, "a", 3);
        let of_bob = wins.iter().filter(|e| e.contains(" bob ")).map(|e| e.split(' ').next().unwrap().to_owned());
        of_bob.take(5).collect::<Vec<_>>()
    };
    assert_eq!(seconds(&alone), seconds(&event));
}

#[test]
fn players_and_teams_and_worlds_have_their_own_luck() {
    let mut event = two_teams();
    event.players = vec![player("ann"), player("bob")];
    event.teams[1] = team("b", StrategyKey::Greedy, &["ann", "bob"]);
    let told = |team, world, name: &str| {
        let all = of(&event, team, world);
        all.iter().filter(|e| e.contains(name)).map(|e| e.replace(name, "")).collect::<Vec<_>>()
    };
    assert_ne!(told("a", 0, "ann"), told("a", 0, "bob"));
    assert_ne!(told("a", 0, "ann"), told("b", 0, "ann"));
    assert_ne!(told("a", 0, "ann"), told("a", 1, "ann"));
}

/// Draws for one purpose shift none for another.
#[test]
fn what_is_drawn_for_one_thing_changes_nothing_else() {
    let event = two_teams();
    let mut fixed = two_teams();
    fixed.activities[0].lines[0].outcomes[0].grants[0].units = Units::Fixed(1);
    fixed.rows[0].tiles.iter_mut().for_each(|t| t.count = 1000);
    let mut ranged = event.clone();
    ranged.rows = fixed.rows.clone();
    assert_eq!(played(&fixed, &[], 0)[0].wins(), played(&ranged, &[], 0)[0].wins());
}
