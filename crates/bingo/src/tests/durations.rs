//! How long attempts take.

use std::collections::BTreeSet;

use crate::definition::{Activity, Event, Modifier, Player, Roll};

use super::support::*;

/// When the first attempt of such an event ends.
fn first_end(event: &Event) -> u32 {
    told(event).events[0].split(' ').next().unwrap().parse().unwrap()
}

fn alone(activity: Activity, skill: f64) -> u32 {
    first_end(&digging(activity, 1, &[Player { skill, ..player("ann") }]))
}

#[test]
fn an_attempt_takes_as_long_as_its_longest_line() {
    let lines = |seconds: [u32; 2]| seconds.map(|s| line(Roll::Player, s, &[sure("ore")])).to_vec();
    for seconds in [[30, 90], [90, 30]] {
        assert_eq!(alone(Activity { lines: lines(seconds), ..solo("dig", 1, "ore") }, 1.0), 90);
    }
}

/// Ends of the first attempt over many worlds.
fn ends(activity: Activity, skill: f64) -> BTreeSet<u32> {
    let event = digging(activity, 1, &[Player { skill, ..player("ann") }]);
    worlds(&event, &[], 400).iter().map(|told| told.events[0].split(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn the_largest_spread_is_drawn_from_evenly_with_both_ends() {
    let mut dig = solo("dig", 100, "ore");
    dig.lines[0].spread = 3;
    assert_eq!(ends(dig.clone(), 1.0), (97..=103).collect());
    let mut short = line(Roll::Player, 5, &[sure("ore")]);
    short.spread = 6;
    dig.lines.push(short);
    assert_eq!(ends(dig.clone(), 1.0), (94..=106).collect(), "of another line than the longest");
    assert_eq!(ends(dig, 0.5), (47..=53).collect(), "skill multiplies what was drawn");
    let mut quick = solo("dig", 2, "ore");
    quick.lines[0].spread = 5;
    assert_eq!(ends(quick.clone(), 1.0), (1..=7).collect(), "a second at least");
    assert_eq!(ends(quick, 10.0), (1..=7).map(|s| s * 10).collect(), "before anything multiplies it");
}

#[test]
fn times_are_rounded_down_to_a_second_at_least() {
    assert_eq!(alone(solo("dig", 100, "ore"), 0.999), 99);
    assert_eq!(alone(solo("dig", 3, "ore"), 1.5), 4);
    assert_eq!(alone(solo("dig", 90, "ore"), 0.7), 63, "and not 62.99, as binary fractions have it");
    assert_eq!(alone(solo("dig", 1, "ore"), 0.01), 1);
}

#[test]
fn a_group_is_as_slow_as_its_slowest() {
    for skills in [[0.5, 2.0, 1.0], [2.0, 1.0, 0.5]] {
        let players: Vec<Player> =
            ["ann", "bob", "cid"].into_iter().zip(skills).map(|(n, skill)| Player { skill, ..player(n) }).collect();
        assert_eq!(first_end(&digging(raid("raid", [3, 3], 100, "ore"), 1, &players)), 200);
    }
}

#[test]
fn the_band_of_a_groups_size_changes_its_time() {
    let players: Vec<Player> = ["ann", "bob", "cid", "dan"].map(player).to_vec();
    let bands = vec![band(1, 1, 3.0, 1.0), band(2, 2, 0.8, 1.0), band(3, 3, 0.5, 1.0)];
    let of = |n: usize| {
        first_end(&digging(Activity { bands: bands.clone(), ..raid("raid", [1, 9], 100, "ore") }, 1, &players[..n]))
    };
    assert_eq!([of(1), of(2), of(3), of(4)], [300, 80, 50, 100], "no band: as it is");
}

#[test]
fn modifiers_that_anybody_has_change_the_time_together() {
    let time = |capability: &str, time| Modifier { capability: capability.to_owned(), time: Some(time), chance: None };
    let of = |capabilities: [&[&str]; 2]| {
        let players = [with("ann", capabilities[0]), with("bob", capabilities[1]), with("out", &["lance", "rope"])];
        let mut event = digging(raid("raid", [2, 2], 100, "ore"), 1, &players);
        event.teams[0].players.truncate(2);
        for tile in &mut event.rows[0].tiles {
            tile.rules[0].modifiers = vec![time("lance", 0.5), time("rope", 0.6)];
        }
        first_end(&event)
    };
    assert_eq!(of([&[], &[]]), 100);
    assert_eq!(of([&["lance"], &[]]), 50);
    assert_eq!(of([&["lance"], &["rope"]]), 30);
    assert_eq!(of([&["lance"], &["lance"]]), 50, "once for all who have it");
}

#[test]
fn an_end_with_the_event_counts_and_one_past_it_does_not() {
    let at = |seconds| told(&digging(solo("dig", seconds, "ore"), 1, &[player("ann")])).wins();
    assert_eq!(at(3600), ["3600 ann"]);
    assert_eq!(at(3601), [""; 0]);
}
