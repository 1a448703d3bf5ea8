//! What is told of a world.

use model::Model as _;

use crate::definition::{Event, Player, StrategyKey, TEAMS_MAX};

use super::support::*;

/// Teams of one player each, who need so many seconds for each tile of the one row.
fn racing(skills: &[f64]) -> Event {
    let names: Vec<String> = (0..skills.len()).map(|i| format!("p{i}")).collect();
    let players: Vec<Player> = names.iter().zip(skills).map(|(n, s)| Player { skill: *s, ..player(n) }).collect();
    let mut event = digging(solo("dig", 1000, "ore"), 1, &players);
    event.teams = names.iter().map(|n| team(&format!("team {n}"), StrategyKey::Greedy, &[n.as_str()])).collect();
    event
}

fn shares(event: &Event, switches: &[&str]) -> (Vec<i32>, i32) {
    let whole = model(event, switches).catalogue().kinds[0].outcomes[3].scale;
    (played(event, switches, 0).iter().map(|told| told.outcomes["win_share"]).collect(), whole)
}

#[test]
fn the_most_points_win() {
    assert_eq!(shares(&racing(&[1.0, 0.5, 2.0]), &[]), (vec![0, 6, 0], 6));
}

#[test]
fn teams_with_the_same_points_share_the_win() {
    assert_eq!(shares(&racing(&[1.0, 2.0, 1.0]), &[]), (vec![3, 0, 3], 6));
    assert_eq!(shares(&racing(&[1.0; 3]), &[]), (vec![2, 2, 2], 6));
    assert_eq!(shares(&racing(&[9.0; 2]), &[]), (vec![1, 1], 2), "without a point, too");
}

#[test]
fn by_the_references_rule_the_first_of_them_wins() {
    let switched = |skills: &[f64]| shares(&racing(skills), &["first_team_wins"]).0;
    assert_eq!(switched(&[1.0, 2.0, 1.0]), [6, 0, 0]);
    assert_eq!(switched(&[2.0, 1.0, 1.0]), [0, 6, 0]);
    assert_eq!(switched(&[1.0, 0.5, 2.0]), [0, 6, 0], "and else the best");
}

#[test]
fn shares_of_any_number_of_teams_are_whole_parts_of_a_win() {
    let whole = crate::catalogue::whole_win(TEAMS_MAX);
    assert!((1..=TEAMS_MAX as i32).all(|n| whole % n == 0), "{whole}");
    assert_eq!([1, 2, 3, 4, 6].map(crate::catalogue::whole_win), [1, 2, 6, 12, 60]);
}

#[test]
fn outcomes_tell_points_tiles_rows_attempts_and_seconds() {
    let (mut activities, a) = own("a", [100, 200, 300, 400]);
    let (more, b) = own("b.x ", [5000; 4]);
    activities.extend(more);
    let mut event = event(&activities, &[a, b], &[player("ann")]);
    event.duration = "750s".to_owned();
    let told = told(&event);
    let expected = [
        ("points", 7),
        ("tiles", 2),
        ("row", 1),
        ("win_share", 1),
        ("attempts", 2),
        ("row_0_opened", 0),
        ("row_1_opened", 700),
        ("tile_a1_completed", 751),
        ("tile_a4_completed", 400),
        ("tile_b_x_1_completed", 751),
    ];
    for (name, value) in expected {
        assert_eq!(told.outcomes[name], value, "{name}");
    }
    assert_eq!(told.outcomes.len(), 5 + 2 + 8);
}

#[test]
fn attempts_that_win_nothing_count_and_those_under_way_at_the_end_do_not() {
    let mut dig = solo("dig", 100, "ore");
    dig.lines[0].outcomes[0].chance = "1/1000000".to_owned();
    let told = told(&digging(dig, 1, &[player("ann"), player("bob")]));
    assert_eq!(told.outcomes["attempts"], 72);
    let mut group = digging(raid("raid", [2, 2], 700, "ore"), 99, &[player("ann"), player("bob")]);
    group.duration = "1000s".to_owned();
    assert_eq!(super::support::told(&group).outcomes["attempts"], 1, "a group's attempt is one");
}

#[test]
fn entities_are_teams_by_plain_names() {
    let model = model(&racing(&[1.0, 1.0]), &[]);
    let teams: Vec<_> = model.catalogue().entities.iter().map(|e| (e.name.as_str(), e.title.as_str())).collect();
    assert_eq!(teams, [("team-p0", "team p0"), ("team-p1", "team p1")]);
}
