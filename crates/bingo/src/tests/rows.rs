//! Which rows are open.

use crate::definition::{Event, StrategyKey, StrategyParameters};

use super::support::*;

/// Three rows of the same tiles: each takes 100 seconds.
pub(super) fn three_rows(opening_points: u32) -> Event {
    let rows: Vec<_> = ["a", "b", "c"].map(|name| own(name, [100; 4])).into_iter().collect();
    let activities: Vec<_> = rows.iter().flat_map(|(activities, _)| activities.clone()).collect();
    let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
    Event { opening_points, ..event(&activities, &rows, &[player("ann")]) }
}

fn opened(event: &Event, switches: &[&str]) -> [i32; 3] {
    let told = told_with(event, switches);
    ["row_0_opened", "row_1_opened", "row_2_opened"].map(|name| told.outcomes[name])
}

#[test]
fn the_first_row_is_open_from_the_start() {
    assert_eq!(opened(&three_rows(10), &[])[0], 0);
}

#[test]
fn a_row_opens_once_the_one_before_has_the_points() {
    // Greedy takes 4 and 3 points of a, then 4 of b, then what is worth 3.
    assert_eq!(opened(&three_rows(5), &[]), [0, 200, 400]);
    assert_eq!(opened(&three_rows(7), &[]), [0, 200, 400]);
    assert_eq!(opened(&three_rows(8), &[]), [0, 300, 600], "4 + 3 + 2");
    assert_eq!(opened(&three_rows(10), &[]), [0, 400, 800]);
    assert_eq!(opened(&three_rows(1), &[]), [0, 100, 200]);
}

#[test]
fn points_of_other_rows_open_nothing() {
    // From 200 on b is open; it has 4 points at 300, when the team has 11.
    let told = told(&three_rows(5));
    assert_eq!(told.completions()[..4], ["a4 100", "a3 200", "b4 300", "b3 400"]);
    assert_eq!(told.outcomes["row_2_opened"], 400);
}

#[test]
fn rows_that_never_open_are_one_second_past_the_end() {
    let mut event = three_rows(5);
    event.duration = "399s".to_owned();
    assert_eq!(opened(&event, &[]), [0, 200, 400]);
    assert_eq!(told(&event).outcomes["row"], 1);
    event.duration = "400s".to_owned();
    assert_eq!(opened(&event, &[]), [0, 200, 400]);
    assert_eq!(told(&event).outcomes["row"], 2);
}

#[test]
fn with_no_points_to_reach_all_rows_are_open_from_the_start() {
    assert_eq!(opened(&three_rows(0), &[]), [0, 0, 0]);
    assert_eq!(told(&three_rows(0)).completions()[..4], ["a4 100", "b4 200", "c4 300", "a3 400"]);
}

#[test]
fn by_the_references_rule_they_wait_for_a_first_tile() {
    assert_eq!(opened(&three_rows(0), &["closed_at_start"]), [0, 100, 100]);
    assert_eq!(opened(&three_rows(5), &["closed_at_start"]), opened(&three_rows(5), &[]), "and else it is no other");
}

/// Points of a row may exceed what opens the next: the row after that needs its own.
#[test]
fn a_row_opens_the_next_one_only() {
    let mut event = three_rows(5);
    event.teams[0].strategy = StrategyKey::RowUnlocking;
    event.teams[0].parameters = StrategyParameters { aim_points: Some(10), sharing_weight: None };
    assert_eq!(opened(&event, &[]), [0, 200, 400]);
}
