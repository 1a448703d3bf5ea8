//! What teams decide.

use crate::board::Board;
use crate::definition::{Event, Roll, Row, StrategyKey, StrategyParameters, Units};
use crate::switches::Switches;

use super::support::*;

const GREEDY: StrategyKey = StrategyKey::Greedy;
const ROW: StrategyKey = StrategyKey::RowUnlocking;
const COMBO: StrategyKey = StrategyKey::ComboUnlocking;

/// An event of rows of which every tile has an activity of its own.
fn own_rows(strategy: StrategyKey, seconds: &[[u32; 4]]) -> Event {
    let rows: Vec<_> = ["a", "b", "c"].into_iter().zip(seconds).map(|(name, s)| own(name, *s)).collect();
    let activities: Vec<_> = rows.iter().flat_map(|(activities, _)| activities.clone()).collect();
    let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    let mut event = event(&activities, &rows, &[player("ann")]);
    event.teams[0].strategy = strategy;
    event
}

/// In which order one player completes what is there.
fn order(event: &Event) -> String {
    let tiles = told(event).completions();
    tiles.iter().map(|c| c.split(' ').next().unwrap()).collect::<Vec<_>>().join(" ")
}

fn with_parameters(event: &Event, aim_points: Option<u32>, sharing_weight: Option<f64>) -> Event {
    let mut event = event.clone();
    event.teams[0].parameters = StrategyParameters { aim_points, sharing_weight };
    event
}

fn estimates(event: &Event) -> Vec<f64> {
    let board = Board::new(event, Switches::default());
    (0..board.tiles.len()).map(|tile| board.estimate_s(tile)).collect()
}

#[test]
fn an_estimate_is_the_time_of_as_many_attempts_as_are_expected() {
    let mut dig = solo("dig", 100, "ore");
    dig.lines = vec![
        line(Roll::Player, 30, &[maybe("1/4", "ore", Units::Fixed(1)), maybe("1/2", "gold", Units::Fixed(9))]),
        line(Roll::Group, 70, &[maybe("1/2", "ore", Units::Between([1, 2]))]),
    ];
    dig.lines[0].spread = 29;
    let mut event = digging(dig, 1, &[player("ann")]);
    event.players[0].skill = 3.0;
    event.activities[0].bands = vec![band(1, 1, 9.0, 9.0)];
    let counts = [1, 2, 5, 100];
    event.rows[0].tiles.iter_mut().zip(counts).for_each(|(tile, count)| tile.count = count);
    // A unit an attempt: a quarter, and a half of one and a half.
    assert_eq!(estimates(&event), [70.0, 140.0, 350.0, 7000.0], "no skill, band or spread");
    event.activities[0].lines[1].outcomes[0].chance = "1/4".to_owned();
    assert_eq!(estimates(&event), [140.0, 280.0, 560.0, 11_200.0], "5/8: 2, 4, 8 and 160 attempts");
}

#[test]
fn an_estimate_is_that_of_the_soonest_rule_and_infinite_where_none_gives_anything() {
    let activities = [solo("slow", 500, "ore"), solo("quick", 20, "ore"), solo("other", 1, "gold")];
    let mut tiles = row("a", std::array::from_fn(|_| (2, rule("slow", "ore"))));
    tiles.tiles[1].rules.push(rule("quick", "ore"));
    tiles.tiles[2].rules = vec![rule("other", "ore")];
    assert_eq!(estimates(&event(&activities, &[tiles], &[player("ann")])), [1000.0, 40.0, f64::INFINITY, 1000.0]);
}

/// 2/3 + 3 x 1/3 are 5/3 units, of which 5 are 3 attempts and not 4.
#[test]
fn estimates_do_not_suffer_from_binary_fractions() {
    let mut dig = solo("dig", 100, "ore");
    dig.lines =
        vec![line(Roll::Player, 100, &[maybe("2/3", "ore", Units::Fixed(1)), maybe("1/3", "ore", Units::Fixed(3))])];
    assert_eq!(estimates(&digging(dig, 5, &[player("ann")]))[0], 300.0);
    for upper in 1..=50u32 {
        for lower in upper..=50 {
            let mut dig = solo("dig", 1, "ore");
            dig.lines[0].outcomes[0].chance = format!("{upper}/{lower}");
            let attempts = (7 * lower).div_ceil(upper);
            assert_eq!(estimates(&digging(dig, 7, &[player("ann")]))[0], f64::from(attempts), "{upper}/{lower}");
        }
    }
}

#[test]
fn greedy_takes_the_most_points_then_the_soonest_then_the_first_key() {
    assert_eq!(order(&own_rows(GREEDY, &[[10; 4]])), "a4 a3 a2 a1");
    // From a3 on both rows are open.
    assert_eq!(order(&own_rows(GREEDY, &[[10, 30, 10, 10], [10, 20, 10, 10]])), "a4 a3 b4 b3 b2 a2 a1 b1");
    assert_eq!(order(&own_rows(GREEDY, &[[10, 20, 10, 10], [10, 30, 10, 10]])), "a4 a3 b4 b3 a2 b2 a1 b1");
}

#[test]
fn greedy_gives_what_is_won_to_tiles_in_the_same_order() {
    // Both rows are open from the start; ore serves b1, b2 and a2, of which a2 is seemingly done the soonest.
    let activities = [solo("dig", 50, "ore"), solo("mine", 70, "ore"), solo("far", 5000, "dust")];
    let far = || (1, rule("far", "dust"));
    let a = row("a", [far(), (2, rule("dig", "ore")), far(), far()]);
    let b = row("b", [(1, rule("dig", "ore")), (1, rule("mine", "ore")), far(), far()]);
    let mut event = event(&activities, &[a, b], &[player("ann")]);
    event.opening_points = 0;
    for tile in event.rows.iter_mut().flat_map(|r| &mut r.tiles).filter(|t| t.points > 2) {
        tile.rules[0].needs = vec!["rope".to_owned()];
    }
    event.capabilities.insert("rope".to_owned(), "rope".to_owned());
    // b2 takes 70 seconds, a2 twice 50.
    assert_eq!(told(&event).events[..3], ["70 ann ore 1 b2", "70 b2 done", "120 ann ore 1 a2"]);
}

#[test]
fn players_do_what_they_can_of_what_the_team_wants_by_the_first_rule_open_to_them() {
    let mut event = own_rows(GREEDY, &[[10, 20, 30, 40]]);
    let mut can = |tile: usize, needs: &[&str]| {
        event.rows[0].tiles[tile].rules[0].needs = needs.iter().map(|n| (*n).to_owned()).collect();
    };
    can(3, &["rope", "lamp"]);
    can(2, &["rope"]);
    event.capabilities = ["rope", "lamp"].map(|c| (c.to_owned(), c.to_owned())).into();
    event.players = vec![with("ann", &["rope"])];
    assert_eq!(order(&event), "a3 a2 a1", "all that is needed, not some");
    event.rows[0].tiles[3].rules.push(rule("a1", "a4"));
    event.rows[0].tiles[3].rules.push(rule("a4", "a4"));
    // The first rule that is open to her never gives what counts: she tries on.
    assert_eq!(told(&event).outcomes["attempts"], 360);
    event.rows[0].tiles[3].rules.swap(1, 2);
    assert_eq!(order(&event), "a4 a3 a2 a1");
}

#[test]
fn row_unlocking_aims_at_the_subset_that_seems_done_soonest() {
    let of = |seconds| order(&own_rows(ROW, &[seconds, [1000; 4]]))[..5].to_owned();
    assert_eq!(of([10, 20, 30, 100]), "a3 a2", "50 seconds, and not 110 or 130");
    assert_eq!(of([10, 200, 200, 30]), "a4 a1");
    assert_eq!(of([100, 90, 30, 30]), "a4 a3");
    assert_eq!(of([100, 100, 100, 100]), "a4 a1", "of equal ones the first by keys: a1,a4");
}

#[test]
fn row_unlocking_goes_on_where_the_next_row_is_and_then_back() {
    // a3 and a2 open b; b4 and b1 are aimed at and open nothing more; then the rest of b, then of a.
    let event = own_rows(ROW, &[[10, 20, 30, 100], [10, 300, 300, 20]]);
    assert_eq!(order(&event), "a3 a2 b4 b1 b3 b2 a4 a1");
}

#[test]
fn row_unlocking_prefers_further_rows_among_others_of_the_same_points() {
    let mut event = own_rows(ROW, &[[10, 20, 30, 100], [10, 20, 30, 100], [10; 4]]);
    for tile in &mut event.rows[2].tiles {
        tile.rules[0].needs = vec!["rope".to_owned()];
    }
    event.capabilities.insert("rope".to_owned(), "rope".to_owned());
    assert_eq!(order(&event), "a3 a2 b3 b2 b4 a4 b1 a1", "in c ann can do nothing");
}

#[test]
fn row_unlocking_gives_to_the_furthest_row_then_to_the_lowest() {
    // Ore serves a1 (twice), b1 (once); gold serves a2 and b2, and comes when c is the furthest.
    let mut event = own_rows(ROW, &[[1000, 1000, 10, 20], [1000, 1000, 10, 20], [10, 10, 10, 10]]);
    event.activities.push(solo("dig", 5, "ore"));
    let ore = || rule("dig", "ore");
    for row in 0..2 {
        event.rows[row].tiles[0].rules[0] = ore();
        event.rows[row].tiles[1].rules[0] = ore();
        event.rows[row].tiles[0].count = 100;
        event.rows[row].tiles[1].count = 100;
    }
    let told = told(&event);
    let gets = |tile: &str| told.events.iter().position(|e| e.ends_with(&format!("ore 1 {tile}")));
    // In a row the most points first; with c furthest, a before b for the same points.
    let order = [gets("a2"), gets("b2"), gets("a1"), gets("b1")];
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{order:?}");
}

#[test]
fn the_points_aimed_at_can_be_told() {
    let event = own_rows(ROW, &[[10, 20, 30, 100], [10, 10, 10, 10]]);
    assert_eq!(order(&event)[..5].to_owned(), "a3 a2");
    assert_eq!(
        order(&with_parameters(&event, Some(4), None))[..8].to_owned(),
        "a3 a1 a4",
        "aims at 4 points, then at what is left of the row"
    );
    assert_eq!(order(&with_parameters(&event, Some(0), None))[..5].to_owned(), "a4 a3", "aims at nothing");
}

/// Two rows; what serves a2 and a3 also serves tiles of b.
fn shared() -> Event {
    let mut event = own_rows(COMBO, &[[10, 20, 30, 60], [10; 4]]);
    event.rows[1].tiles[0].rules[0] = rule("a3", "a3");
    event.rows[1].tiles[1].rules[0] = rule("a3", "a3");
    event
}

#[test]
fn combo_unlocking_keeps_what_serves_closed_rows_for_later() {
    let mut event = shared();
    // a2 and a3 take 20 + 30 x (1 + 2) = 110; a1 and a4 take 70.
    assert_eq!(order(&event)[..5].to_owned(), "a4 a1");
    assert_eq!(order(&with_parameters(&event, None, Some(0.0)))[..5].to_owned(), "a3 a2", "as row_unlocking");
    assert_eq!(order(&with_parameters(&event, None, Some(0.3)))[..5].to_owned(), "a3 a2", "20 + 30 x 1.6 is 68");
    assert_eq!(order(&with_parameters(&event, None, Some(0.4)))[..5].to_owned(), "a4 a1", "20 + 30 x 1.8 is 74");
    assert_eq!(order(&with_parameters(&event, Some(3), Some(1.0)))[..5].to_owned(), "a2 a1", "30 of 3 points");
    event.teams[0].strategy = ROW;
    assert_eq!(order(&event)[..5].to_owned(), "a3 a2");
}

#[test]
fn combo_unlocking_counts_tiles_of_closed_rows_only() {
    // a3 shares with tiles of its own row: that does not count.
    let mut event = own_rows(COMBO, &[[10, 20, 30, 60], [1000; 4]]);
    event.activities.push(solo("x", 1, "x"));
    for tile in [0, 3] {
        event.rows[0].tiles[tile].rules.push(rule("a3", "x"));
    }
    assert_eq!(order(&event)[..5].to_owned(), "a3 a2");
}

#[test]
fn combo_unlocking_with_all_rows_open_takes_what_serves_most() {
    // One row: all are open. a1 and a2 share dig with each other and with b..: points and sharers.
    let mut event = own_rows(COMBO, &[[10, 20, 30, 40]]);
    event.activities.push(solo("dig", 10, "ore"));
    for tile in 0..3 {
        event.rows[0].tiles[tile].rules[0] = rule("dig", "ore");
    }
    // a3 is worth 3 and shares with two; a4 is worth 4; a2 2 + 2; a1 1 + 2.
    assert_eq!(order(&event), "a3 a4 a2 a1", "a2 is worth 3 once a3 is done");
    event.rows[0].tiles[1].count = 2;
    assert_eq!(order(&event), "a3 a4 a2 a1");
}

#[test]
fn combo_unlocking_late_breaks_ties_by_time_then_key() {
    let two = |a: u32, b: u32| {
        let mut event = own_rows(COMBO, &[[10, 10, 10, a], [10, 10, 10, b]]);
        event.opening_points = 0;
        order(&event)[..2].to_owned()
    };
    assert_eq!([two(20, 30), two(30, 20), two(20, 20)], ["a4", "b4", "a4"]);
}

#[test]
fn combo_unlocking_gives_as_row_unlocking_and_late_by_points_then_time() {
    // Ore serves a2 and b2, c stays closed: b, the furthest row, gets it; with all rows open, what is done sooner.
    let event = |rows: usize, counts: [u32; 2]| {
        let mut event = own_rows(COMBO, &[[10; 4]; 3]);
        // What she can do: a3, a2 and b2.
        for (row, tile) in [(0, 0), (0, 3), (1, 0), (1, 2), (1, 3)] {
            event.rows[row].tiles[tile].rules[0].needs = vec!["rope".to_owned()];
        }
        event.capabilities.insert("rope".to_owned(), "rope".to_owned());
        event.activities.push(solo("dig", 10, "ore"));
        event.rows[0].tiles[1].rules[0] = rule("dig", "ore");
        event.rows[1].tiles[1].rules[0] = rule("dig", "ore");
        event.rows[0].tiles[1].count = counts[0];
        event.rows[1].tiles[1].count = counts[1];
        event.rows.truncate(rows);
        event.opening_points = if rows == 3 { 3 } else { 0 };
        event
    };
    let first = |event: &Event| {
        let told = told(event);
        let get = told.events.iter().find(|e| e.contains("ore 1")).cloned();
        get.map(|e| e[e.len() - 2..].to_owned())
    };
    assert_eq!(first(&event(2, [3, 1])).as_deref(), Some("b2"));
    assert_eq!(first(&event(2, [1, 3])).as_deref(), Some("a2"));
    assert_eq!(first(&event(3, [1, 3])).as_deref(), Some("b2"), "the furthest row that is open");
}
