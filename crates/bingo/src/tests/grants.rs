//! Which tile gets what was won.

use crate::definition::{Activity, Event, Outcome, Roll, Units};

use super::support::*;

#[test]
fn units_add_up_to_what_a_tile_asks_for_and_the_rest_is_lost() {
    let mut dig = solo("dig", 100, "ore");
    dig.lines[0].outcomes = vec![maybe("1", "ore", Units::Fixed(3))];
    let told = told(&digging(dig, 5, &[player("ann")]));
    let expected =
        ["100 ann ore 3 a4", "200 ann ore 3 a4", "200 a4 done", "300 ann ore 3 a3", "400 ann ore 3 a3", "400 a3 done"];
    assert_eq!(told.events[..6], expected);
}

/// A row whose tiles want different things, all from one activity that grants these together.
fn together(grants: &[(&str, Units)], wants: [&str; 4], counts: [u32; 4]) -> Event {
    let outcome = |drop: &str, units| maybe("1", drop, units).grants.remove(0);
    let grants = grants.iter().map(|(drop, units)| outcome(drop, *units)).collect();
    let lines = vec![line(Roll::Player, 100, &[Outcome { grants, ..sure("all") }])];
    let activity = Activity { lines, ..solo("dig", 100, "ore") };
    let tiles = std::array::from_fn(|i| (counts[i], rule("dig", wants[i])));
    let mut event = event(&[activity], &[row("a", tiles)], &[player("ann")]);
    event.duration = "100s".to_owned();
    event
}

#[test]
fn grants_are_placed_one_after_the_other_each_seeing_what_the_one_before_did() {
    let ore = ("ore", Units::Fixed(1));
    let told = told(&together(&[ore, ore, ore], ["ore"; 4], [1, 1, 1, 1]));
    let expected =
        ["100 ann ore 1 a4", "100 a4 done", "100 ann ore 1 a3", "100 a3 done", "100 ann ore 1 a2", "100 a2 done"];
    assert_eq!(told.events, expected);
}

#[test]
fn what_no_open_tile_wants_is_lost() {
    let told = told(&together(&[("gold", Units::Fixed(1)), ("ore", Units::Fixed(1))], ["ore"; 4], [1; 4]));
    assert_eq!(told.events, ["100 ann gold -", "100 ann ore 1 a4", "100 a4 done"]);
}

/// A grant that nobody wants draws no units: the next one draws what the first would have drawn.
#[test]
fn a_lost_grant_takes_no_draw() {
    let some = Units::Between([1, 1_000_000]);
    let drawn = |grants: &[(&str, Units)]| {
        let told = told(&together(grants, ["ore"; 4], [1; 4]));
        told.events.iter().find(|e| e.contains("ore")).unwrap().clone()
    };
    assert_eq!(drawn(&[("gold", some), ("ore", some)]), drawn(&[("ore", some)]));
}

/// Two rows: row b wants gold, which is won in passing.
fn gold_in_passing() -> Event {
    let lines = vec![line(Roll::Player, 100, &[sure("ore")]), line(Roll::Player, 99, &[sure("gold")])];
    let dig = Activity { lines, ..solo("dig", 100, "ore") };
    let pan = solo("pan", 5000, "gold");
    let a = row("a", std::array::from_fn(|_| (1, rule("dig", "ore"))));
    let b = row("b", std::array::from_fn(|_| (1, rule("pan", "gold"))));
    event(&[dig, pan], &[a, b], &[player("ann")])
}

#[test]
fn tiles_take_what_any_of_their_rules_accepts_whatever_it_was_won_by() {
    let told = told(&gold_in_passing());
    // Row b opens as a3 is completed, in the middle of the roll: gold of the same attempt finds it open.
    let expected = [
        "100 ann ore 1 a4",
        "100 a4 done",
        "100 ann gold -",
        "200 ann ore 1 a3",
        "200 a3 done",
        "200 ann gold 1 b4",
        "200 b4 done",
    ];
    assert_eq!(told.events, expected, "then ann pans for b3, past the end");
}

#[test]
fn whoever_wins_it_needs_none_of_a_tiles_capabilities() {
    let mut event = gold_in_passing();
    for tile in &mut event.rows[1].tiles {
        tile.rules[0].needs = vec!["rope".to_owned()];
    }
    event.capabilities.insert("rope".to_owned(), "rope".to_owned());
    let told = told(&event);
    assert_eq!(told.completions(), ["a4 100", "a3 200", "b4 200", "a2 300", "b3 300", "a1 400", "b2 400"]);
}

#[test]
fn what_a_tile_accepts_is_what_any_rule_of_it_says() {
    let mut event = gold_in_passing();
    event.rows[0].tiles[0].rules.push(rule("pan", "gold"));
    event.rows.truncate(1);
    assert_eq!(told(&event).events[2..4], ["100 ann gold 1 a1", "100 a1 done"]);
}

#[test]
fn completed_tiles_take_nothing_more() {
    let (activities, row) = own("a", [100; 4]);
    let mut event = event(&activities, &[row], &[player("ann"), player("bob")]);
    event.duration = "100s".to_owned();
    assert_eq!(told(&event).events, ["100 ann a4 1 a4", "100 a4 done", "100 bob a4 -"]);
}
