//! Who goes with whom.

use crate::definition::{Activity, GroupSize, Player};

use super::support::*;

fn players<const N: usize>(names: [&str; N]) -> Vec<Player> {
    names.map(player).to_vec()
}

/// What so many players win with one attempt each, by an activity that is slower by 10 seconds for each of a group.
fn groups(activity: Activity, players: &[Player], switches: &[&str]) -> Vec<String> {
    let bands = (1..=9).map(|n| band(n, n, (100.0 + 10.0 * f64::from(n)) / 100.0, 1.0)).collect();
    let mut event = digging(Activity { bands, ..activity }, 1000, players);
    event.duration = "200s".to_owned();
    told_with(&event, switches).wins()
}

fn both(min: Option<u32>, max: Option<u32>) -> Activity {
    Activity { group: Some(GroupSize { min, max }), ..solo("dig", 100, "ore") }
}

const FIVE: [&str; 5] = ["ann", "bob", "cid", "dan", "eve"];

#[test]
fn what_is_done_alone_makes_no_groups() {
    assert_eq!(groups(solo("dig", 100, "ore"), &players(["ann", "bob"]), &[]), ["110 ann", "110 bob"]);
}

#[test]
fn those_who_want_the_same_go_together_up_to_the_largest_group() {
    let of = |max| groups(both(None, max), &players(FIVE), &[]);
    assert_eq!(of(None), ["150 ann", "150 bob", "150 cid", "150 dan", "150 eve"]);
    assert_eq!(of(Some(3)), ["120 dan", "120 eve", "130 ann", "130 bob", "130 cid"], "in their order; several groups");
    assert_eq!(of(Some(4)), ["110 eve", "140 ann", "140 bob", "140 cid", "140 dan"]);
    assert_eq!(of(Some(1)), ["110 ann", "110 bob", "110 cid", "110 dan", "110 eve"]);
}

#[test]
fn players_are_taken_in_the_order_of_the_event_and_not_of_the_team() {
    let mut event = digging(raid("dig", [2, 2], 100, "ore"), 9, &players(["ann", "bob", "cid"]));
    event.duration = "150s".to_owned();
    event.teams[0].players.reverse();
    assert_eq!(told(&event).wins(), ["100 ann", "100 bob"]);
}

#[test]
fn too_few_for_a_group_go_alone_or_not_at_all() {
    assert_eq!(groups(both(Some(3), None), &players(["ann", "bob"]), &[]), ["110 ann", "110 bob"]);
    assert_eq!(groups(raid("dig", [3, 9], 100, "ore"), &players(["ann", "bob"]), &[]), [""; 0]);
    assert_eq!(groups(raid("dig", [2, 9], 100, "ore"), &players(["ann"]), &[]), [""; 0]);
    let rest = groups(raid("dig", [2, 3], 100, "ore"), &players(["ann", "bob", "cid", "dan"]), &[]);
    assert_eq!(rest, ["130 ann", "130 bob", "130 cid"], "one is left over");
    let rest = groups(both(Some(2), Some(3)), &players(["ann", "bob", "cid", "dan"]), &[]);
    assert_eq!(rest, ["110 dan", "130 ann", "130 bob", "130 cid"], "and goes alone where one can");
}

#[test]
fn undersized_groups_go_ahead_by_the_references_rule() {
    let switched = |activity| groups(activity, &players(["ann", "bob"]), &["undersized_groups"]);
    assert_eq!(switched(both(Some(3), None)), ["120 ann", "120 bob"]);
    assert_eq!(switched(raid("dig", [3, 9], 100, "ore")), [""; 0], "where one could alone, only");
}

#[test]
fn a_group_may_be_of_one_where_its_least_size_is() {
    for min in [None, Some(1)] {
        let raid = Activity { solo: false, ..both(min, None) };
        assert_eq!(groups(raid, &players(["ann"]), &[]), ["110 ann"]);
    }
}

#[test]
fn the_same_activity_under_two_rules_makes_two_groups() {
    let two = [with("ann", &["rope"]), player("bob"), with("cid", &["rope"]), player("dan")];
    let mut event = digging(raid("dig", [2, 4], 100, "ore"), 9, &two);
    for tile in &mut event.rows[0].tiles {
        let plain = tile.rules[0].clone();
        tile.rules.insert(0, crate::definition::Rule { needs: vec!["rope".to_owned()], ..plain });
    }
    event.activities[0].bands = vec![band(2, 2, 0.5, 1.0)];
    event.duration = "99s".to_owned();
    // A group of four would take 100 seconds.
    assert_eq!(told(&event).wins(), ["50 ann", "50 cid", "50 bob", "50 dan"]);
}

#[test]
fn only_those_who_are_free_are_grouped_when_an_attempt_ends() {
    // Whoever is slow goes alone at once; the quick one does not wait for the slow one.
    let two = [Player { skill: 0.5, ..player("ann") }, player("bob")];
    let (mut activities, mut row) = own("a", [100, 100, 100, 100]);
    activities[3] = both(Some(2), None);
    row.tiles[3].rules = vec![rule("dig", "ore")];
    row.tiles[3].count = 100;
    activities[2].solo = true;
    let mut event = event(&activities, &[row], &two);
    event.duration = "100s".to_owned();
    // Both want a4 at once: together, as slow as bob.
    assert_eq!(told(&event).wins(), ["100 ann", "100 bob"]);
    event.players[1].sessions = vec![session(crate::definition::Day::Monday, "00:01", 60)];
    event.duration = "200s".to_owned();
    assert_eq!(told(&event).wins(), ["50 ann", "100 ann", "150 ann", "160 bob", "200 ann"], "each alone, out of step");
}
