//! What attempts win.

use std::collections::BTreeMap;

use crate::definition::{Activity, Modifier, Player, Roll, Units};

use super::support::*;

/// How often the first attempt won what, over many worlds.
fn shares(event: &crate::definition::Event, switches: &[&str]) -> BTreeMap<String, f64> {
    const WORLDS: u32 = 4000;
    let mut wins = BTreeMap::new();
    for told in worlds(event, switches, WORLDS) {
        let first = told.events.first().and_then(|e| e.split(' ').nth(2)).unwrap_or("nothing");
        *wins.entry(first.to_owned()).or_insert(0.0) += 1.0 / f64::from(WORLDS);
    }
    wins
}

/// Whether a share of 4,000 worlds is `expected`, within four standard errors.
#[track_caller]
fn assert_share(shares: &BTreeMap<String, f64>, name: &str, expected: f64) {
    let share = shares.get(name).copied().unwrap_or(0.0);
    let error = (expected * (1.0 - expected) / 4000.0).sqrt();
    assert!((share - expected).abs() <= 4.0 * error + 1e-9, "{name}: {share}, not {expected}: {shares:?}");
}

fn one_attempt(activity: Activity, players: &[Player]) -> crate::definition::Event {
    let mut event = digging(activity, 1, players);
    event.duration = "100s".to_owned();
    event
}

fn dig(outcomes: &[crate::definition::Outcome]) -> Activity {
    Activity { lines: vec![line(Roll::Player, 100, outcomes)], ..solo("dig", 100, "gold") }
}

fn gold_and_ore(gold: &str, ore: &str) -> Activity {
    dig(&[maybe(gold, "gold", Units::Fixed(1)), maybe(ore, "ore", Units::Fixed(1))])
}

#[test]
fn chances_are_fractions_and_the_rest_gives_nothing() {
    let event = one_attempt(gold_and_ore("1/8", "1/2"), &[player("ann")]);
    let ours = shares(&event, &[]);
    assert_share(&ours, "gold", 0.125);
    assert_share(&ours, "ore", 0.5);
    assert_share(&ours, "nothing", 0.375);
    let theirs = shares(&event, &["rounded_weights"]);
    assert_share(&theirs, "gold", 0.5);
    assert_share(&theirs, "ore", 0.5);
}

/// An attempt with a band and a modifier that change the chance of gold.
fn changed(activity: Activity, band_chance: f64, modifier_chance: f64) -> crate::definition::Event {
    let activity = Activity { bands: vec![band(1, 1, 1.0, band_chance)], ..activity };
    let mut event = one_attempt(activity, &[with("ann", &["lance"])]);
    for tile in &mut event.rows[0].tiles {
        let chance = Some(modifier_chance);
        tile.rules[0].modifiers = vec![Modifier { capability: "lance".to_owned(), time: None, chance }];
    }
    event
}

#[test]
fn bands_and_modifiers_multiply_the_chance_of_what_the_rule_accepts() {
    let ours = shares(&changed(gold_and_ore("1/8", "1/2"), 1.5, 2.0), &[]);
    assert_share(&ours, "gold", 0.375);
    // What remains is shared as before: 1/2 to 3/8.
    assert_share(&ours, "ore", 0.625 * 4.0 / 7.0);
    let certain = shares(&changed(gold_and_ore("1/8", "1/2"), 4.0, 4.0), &[]);
    assert_share(&certain, "gold", 1.0);
    let less = shares(&changed(gold_and_ore("1/2", "1/2"), 0.5, 0.5), &[]);
    assert_share(&less, "gold", 0.125);
    assert_share(&less, "ore", 0.875);
}

#[test]
fn the_references_weights_are_multiplied_and_rounded_to_even() {
    let theirs =
        |gold: &str, ore: &str, factor| shares(&changed(gold_and_ore(gold, ore), factor, 1.0), &["rounded_weights"]);
    assert_share(&theirs("1/4", "3/4", 1.2), "gold", 0.25);
    assert_share(&theirs("1/4", "3/4", 2.5), "gold", 0.4);
    assert_share(&theirs("1/4", "3/4", 0.4), "gold", 0.0);
    assert_share(&shares(&changed(gold_and_ore("1/4", "3/4"), 1.2, 1.0), &[]), "gold", 0.3);
}

#[test]
fn a_factor_changes_nothing_of_a_line_that_grants_nothing_accepted() {
    let mut event = changed(gold_and_ore("1/8", "1/2"), 2.0, 2.0);
    event.activities[0].lines.push(line(Roll::Player, 1, &[maybe("1/4", "dust", Units::Fixed(1))]));
    event.activities[0].lines.swap(0, 1);
    for switches in [&[][..], &["rounded_weights"]] {
        let dust = shares(&event, switches).get("dust").copied().unwrap_or(0.0);
        let expected = if switches.is_empty() { 0.25 } else { 1.0 };
        assert!((dust - expected).abs() < 0.03, "{switches:?}: {dust}");
    }
}

#[test]
fn every_player_rolls_a_line_of_players_and_a_group_its_line_once() {
    let lines = vec![line(Roll::Player, 100, &[sure("ore")]), line(Roll::Group, 100, &[sure("gold")])];
    let both = Activity { lines, ..raid("raid", [2, 2], 100, "ore") };
    let told = told(&one_attempt(both.clone(), &[player("ann"), player("bob")]));
    let rolls = ["100 ann ore", "100 bob ore", "100 group gold"];
    let wins: Vec<String> = told
        .events
        .iter()
        .filter(|e| !e.ends_with("done"))
        .map(|e| e.split(' ').take(3).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(wins, rolls, "lines in their order");
    let backwards = Activity { lines: both.lines.iter().rev().cloned().collect(), ..both };
    assert_eq!(told_first(&one_attempt(backwards, &[player("ann"), player("bob")])), "100 group gold 1 a4");
}

fn told_first(event: &crate::definition::Event) -> String {
    told(event).events[0].clone()
}

#[test]
fn players_roll_with_what_they_have_and_groups_with_what_anybody_has() {
    let maybe_gold = [maybe("1/8", "gold", Units::Fixed(1))];
    let of = |roll| {
        let raid = Activity { lines: vec![line(roll, 100, &maybe_gold)], ..raid("raid", [2, 2], 100, "gold") };
        let mut event = one_attempt(raid, &[player("ann"), with("bob", &["lance"])]);
        for tile in &mut event.rows[0].tiles {
            let lance = Modifier { capability: "lance".to_owned(), time: None, chance: Some(8.0) };
            tile.rules[0].modifiers = vec![lance];
        }
        let mut winners = BTreeMap::new();
        for told in worlds(&event, &[], 1000) {
            told.wins().iter().for_each(|win| *winners.entry(win[4..].to_owned()).or_insert(0) += 1);
        }
        winners
    };
    let players = of(Roll::Player);
    assert_eq!(players["bob"], 1000);
    assert!((80..170).contains(&players["ann"]), "an eighth: {players:?}");
    assert_eq!(of(Roll::Group), BTreeMap::from([("group".to_owned(), 1000)]));
}

#[test]
fn the_band_of_the_size_decides_the_chance() {
    let bands = vec![band(2, 2, 1.0, 2.0), band(3, 3, 1.0, 4.0)];
    let lines = vec![line(Roll::Group, 100, &[maybe("1/8", "gold", Units::Fixed(1))])];
    for (players, expected) in [(1, 0.125), (2, 0.25), (3, 0.5), (4, 0.125)] {
        let raid = Activity { lines: lines.clone(), bands: bands.clone(), ..raid("raid", [1, 9], 100, "gold") };
        let all = ["ann", "bob", "cid", "dan"].map(player);
        assert_share(&shares(&one_attempt(raid, &all[..players]), &[]), "gold", expected);
    }
}

#[test]
fn a_range_of_units_is_drawn_evenly_with_both_ends() {
    let event = one_attempt(dig(&[maybe("1", "gold", Units::Between([2, 4]))]), &[player("ann")]);
    let mut counts = BTreeMap::new();
    for told in worlds(&event, &[], 900) {
        *counts.entry(told.events[0].clone()).or_insert(0) += 1;
    }
    let all = ["100 ann gold 2 a4", "100 ann gold 3 a4", "100 ann gold 4 a4"];
    assert_eq!(counts.keys().collect::<Vec<_>>(), all);
    assert!(counts.values().all(|n| (240..360).contains(n)), "{counts:?}");
}
