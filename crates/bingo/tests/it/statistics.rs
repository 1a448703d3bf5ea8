//! The model gives what the naive simulator gives, within four standard errors.

use bingo::definition::{Event, GroupSize, StrategyKey, parse};

use crate::naive::{Dice, Side, ours, theirs};
use crate::support::{EVENT, first, mean, model, variance};

const WORLDS: usize = 4000;
const DURATION: u32 = 36_000;

/// Every outcome of a team in one world of the naive simulator, by name.
fn outcomes(event: &Event, side: &Side<'_>, win: f64) -> Vec<(String, f64)> {
    let never = |second: Option<u32>| f64::from(second.unwrap_or(DURATION + 1));
    let done = || side.done.iter().flatten();
    let mut all = vec![
        ("points".to_owned(), f64::from(side.points())),
        ("tiles".to_owned(), done().filter(|d| d.is_some()).count() as f64),
        ("row".to_owned(), side.opened.len() as f64 - 1.0),
        ("attempts".to_owned(), f64::from(side.attempts)),
        ("win_share".to_owned(), win),
    ];
    all.extend((0..event.rows.len()).map(|row| (format!("row_{row}_opened"), never(side.opened.get(row).copied()))));
    let tiles = event.rows.iter().flat_map(|row| &row.tiles);
    all.extend(tiles.zip(done()).map(|(tile, second)| (format!("tile_{}_completed", tile.key), never(*second))));
    all
}

/// What each team wins of a world.
fn wins(sides: &[Side<'_>], shared: bool) -> Vec<f64> {
    let most = sides.iter().map(Side::points).max().unwrap();
    let winners: Vec<usize> = (0..sides.len()).filter(|n| sides[*n].points() == most).collect();
    let win = |n: usize| match shared {
        true if winners.contains(&n) => 1.0 / winners.len() as f64,
        false if winners[0] == n => 1.0,
        _ => 0.0,
    };
    (0..sides.len()).map(win).collect()
}

/// Plays an event by both and compares the means of every outcome of every team.
fn compare(event: &Event, switches: &[&str]) {
    let model = model(&toml::to_string(event).unwrap(), switches);
    let worlds = first(&model, 11, WORLDS as u32);
    let is_theirs = !switches.is_empty();
    let mut dice = Dice(77);
    let mut naive = vec![Vec::new(); event.teams.len()];
    for _ in 0..WORLDS {
        let sides = if is_theirs { theirs(event, &mut dice, DURATION) } else { ours(event, &mut dice, DURATION) };
        for ((side, win), all) in sides.iter().zip(wins(&sides, !is_theirs)).zip(&mut naive) {
            all.push(outcomes(event, side, win));
        }
    }
    let mut compared = 0;
    for (team, told) in naive.iter().enumerate() {
        for (n, (name, _)) in told[0].iter().enumerate() {
            let naive: Vec<f64> = told.iter().map(|outcomes| outcomes[n].1).collect();
            let scale = if name == "win_share" { 2.0 } else { 1.0 };
            let ours: Vec<f64> = worlds.outcome(&model, team, name).iter().map(|v| v / scale).collect();
            let error = ((variance(&naive) + variance(&ours)) / WORLDS as f64).sqrt();
            let (a, b) = (mean(&naive), mean(&ours));
            assert!((a - b).abs() <= 4.0 * error, "team {team}, {name}: {b}, not {a} (standard error {error})");
            compared += usize::from(error > 0.0);
        }
    }
    assert!(compared > 30, "only {compared} outcomes differ from world to world");
}

const THEIRS: [&str; 5] =
    ["idle_until_quiet", "first_team_wins", "rounded_weights", "undersized_groups", "closed_at_start"];

#[test]
fn greedy_and_row_unlocking_are_what_a_naive_simulator_says() {
    compare(&parse(EVENT).unwrap(), &[]);
}

#[test]
fn the_references_rules_are_what_a_naive_simulator_of_them_says() {
    let mut event = parse(EVENT).unwrap();
    // So that weights and undersized groups matter.
    event.activities[0].group = Some(GroupSize { min: Some(4), max: Some(5) });
    compare(&event, &THEIRS);
}

/// Everybody alone, all the time: nothing but rolls, times and tiles.
#[test]
fn solo_play_is_what_a_naive_simulator_says() {
    let mut event = parse(EVENT).unwrap();
    for activity in &mut event.activities {
        (activity.solo, activity.group) = (true, None);
    }
    event.players.iter_mut().for_each(|player| player.sessions.clear());
    event.teams.iter_mut().for_each(|team| team.players.truncate(2));
    event.teams[1].strategy = StrategyKey::Greedy;
    event.teams[1].players = vec!["Cid".to_owned(), "Dan".to_owned()];
    compare(&event, &[]);
}
