//! The 850 outcomes of a game: 58 of the game, 127 of each team, 269 of each team's players.
//!
//! One function walks them in order. It writes the names into a list or the values into a row, so names and values
//! always match.

use model::{Outcome, OutcomeKind};
use strum::VariantNames as _;

use crate::box_score::{BoxScore, Player, Score, Side, Stat, Window, leader};
use crate::play::Kind;
use crate::roster::{PLAYERS, ROSTER};

pub const GAME_OUTCOMES: usize = 850;

/// Fantasy points are stored in hundredths where they are counted.
const FANTASY_SCALE: i32 = 100;

/// Receives outcomes one by one, in order.
pub(crate) trait Emit {
    fn put(&mut self, describe: impl FnOnce() -> Outcome, value: i16);
}

/// Fills a row with the values. All that emit are inlined, so that the place in the row stays in a register.
pub(crate) struct Fill<'a> {
    row: &'a mut [i16],
    filled: usize,
}

impl<'a> Fill<'a> {
    pub(crate) fn new(row: &'a mut [i16]) -> Self {
        Self { row, filled: 0 }
    }
}

impl Emit for Fill<'_> {
    #[inline(always)]
    fn put(&mut self, _: impl FnOnce() -> Outcome, value: i16) {
        self.row[self.filled] = value;
        self.filled += 1;
    }
}

impl Emit for Vec<Outcome> {
    fn put(&mut self, describe: impl FnOnce() -> Outcome, _: i16) {
        self.push(describe());
    }
}

pub(crate) fn number(name: impl Into<String>, unit: &str) -> Outcome {
    Outcome { name: name.into(), unit: unit.to_owned(), kind: OutcomeKind::Number, scale: 1, labels: Vec::new() }
}

fn decimal(name: impl Into<String>, unit: &str, scale: i32) -> Outcome {
    Outcome { scale, ..number(name, unit) }
}

pub(crate) fn flag(name: impl Into<String>) -> Outcome {
    Outcome { kind: OutcomeKind::Flag, ..number(name, "0 or 1") }
}

fn code(name: impl Into<String>, meaning: &str) -> Outcome {
    Outcome { kind: OutcomeKind::Code, ..number(name, meaning) }
}

/// A code with a label for each value from 0.
fn labelled(name: impl Into<String>, meaning: &str, labels: impl IntoIterator<Item = impl Into<String>>) -> Outcome {
    Outcome { labels: labels.into_iter().map(Into::into).collect(), ..code(name, meaning) }
}

const SIDES: [&str; 3] = ["neither", "home", "away"];

/// The side that did something.
fn side(name: impl Into<String>) -> Outcome {
    labelled(name, "0 neither, 1 home, 2 away", SIDES)
}

const SCORER_CODE: &str =
    "0 none; 1-23 home player by roster place; 24-46 away player; 47, 48 home or away defence or special teams";

/// The scorer of a touchdown, with a label for each of [`SCORER_CODE`].
fn scorer(name: &str) -> Outcome {
    let of = |side: &'static str| ROSTER[..PLAYERS].iter().map(move |place| format!("{side}_{place}"));
    let others = ["home_defence", "away_defence"].map(str::to_owned);
    labelled(name, SCORER_CODE, ["none".to_owned()].into_iter().chain(of("home")).chain(of("away")).chain(others))
}

/// The names of all outcomes of a game, in order.
pub(crate) fn game_outcomes() -> Vec<Outcome> {
    let mut list = Vec::with_capacity(GAME_OUTCOMES);
    emit(&BoxScore::default(), &mut list);
    list
}

/// All outcomes of a game, in order.
#[inline(always)]
pub(crate) fn emit(game: &BoxScore, e: &mut impl Emit) {
    let points = Points::of(game);
    emit_game(game, &points, e);
    for (side, name) in ["home", "away"].into_iter().enumerate() {
        emit_team(game, &points, side, name, e);
    }
    for (side, name) in ["home", "away"].into_iter().enumerate() {
        emit_players(game, side, name, e);
    }
}

fn suffix(window: Window) -> String {
    match window {
        Window::Game => String::new(),
        Window::Half(h) => format!("_h{}", h + 1),
        Window::Quarter(q) => format!("_q{}", q + 1),
    }
}

/// Points of both sides in the seven windows.
struct Points([[i16; 2]; 7]);

impl Points {
    fn of(game: &BoxScore) -> Self {
        Self(Window::SEVEN.map(|w| [0, 1].map(|side| game.count(side, Stat::Points, w))))
    }

    fn total(&self, window: usize) -> i16 {
        self.0[window][0] + self.0[window][1]
    }

    fn margin(&self, window: usize) -> i16 {
        self.0[window][0] - self.0[window][1]
    }

    fn winner(&self, window: usize) -> i16 {
        leader(self.0[window][0], self.0[window][1])
    }

    /// The window (1-based, of a range) with the most points; on a tie, the first.
    fn best(&self, windows: std::ops::Range<usize>) -> i16 {
        let first = windows.start;
        let best = windows.fold(first, |best, w| if self.total(w) > self.total(best) { w } else { best });
        (best - first + 1) as i16
    }
}

fn sum(game: &BoxScore, stat: Stat) -> i16 {
    game.count(0, stat, Window::Game) + game.count(1, stat, Window::Game)
}

#[inline(always)]
fn emit_game(game: &BoxScore, points: &Points, e: &mut impl Emit) {
    for (i, w) in Window::SEVEN.into_iter().enumerate() {
        e.put(|| number(format!("total_points{}", suffix(w)), "points"), points.total(i));
    }
    for (i, w) in Window::SEVEN.into_iter().enumerate() {
        e.put(|| number(format!("home_margin{}", suffix(w)), "points, home less away"), points.margin(i));
    }
    for (i, w) in Window::THREE.into_iter().enumerate() {
        e.put(|| flag(format!("odd_total{}", suffix(w))), points.total(i) & 1);
    }
    e.put(|| flag("overtime"), i16::from(game.overtime));
    e.put(|| side("winner"), points.winner(0));
    e.put(
        || {
            let labels = SIDES.iter().flat_map(|half| SIDES.map(|full| format!("{half}/{full}")));
            labelled("half_full_result", "3 x leader at half-time + winner, each 0 neither, 1 home, 2 away", labels)
        },
        3 * points.winner(1) + points.winner(0),
    );
    e.put(|| number("lead_changes", "times"), game.lead_changes);
    e.put(|| number("times_tied", "times tied by a score"), game.ties);
    e.put(|| code("best_quarter", "quarter of the most points, 1 to 4"), points.best(3..7));
    e.put(|| code("best_half", "half of the most points, 1 or 2"), points.best(1..3));
    let score = |name| {
        let labels = ["none", "touchdown", "field goal", "safety"];
        labelled(name, "0 none, 1 touchdown, 2 field goal, 3 safety", labels)
    };
    e.put(|| score("first_score_type"), game.first_score.score as i16);
    e.put(|| score("last_score_type"), game.last_score.score as i16);
    e.put(|| side("first_to_score"), game.first_score.side);
    e.put(|| side("last_to_score"), game.last_score.side);
    e.put(|| scorer("first_touchdown_scorer"), game.first_touchdown_by);
    e.put(|| scorer("last_touchdown_scorer"), game.last_touchdown_by);
    e.put(
        || {
            let labels = std::iter::once("none").chain(Kind::VARIANTS.iter().copied());
            labelled("first_play_type", "0 none, else 1 + place in the play types", labels)
        },
        game.first_play,
    );
    e.put(|| number("first_score_time", "game seconds; 0 none"), game.first_score.at);
    e.put(|| number("first_touchdown_time", "game seconds; 0 none"), game.first_touchdown.at);
    let [home, away] = &game.sides;
    e.put(|| number("longest_touchdown", "yards; 0 none"), home.longest_touchdown.max(away.longest_touchdown));
    let shortest = match (home.shortest_touchdown, away.shortest_touchdown) {
        (0, other) | (other, 0) => other,
        (a, b) => a.min(b),
    };
    e.put(|| number("shortest_touchdown", "yards; 0 none"), shortest);
    e.put(|| number("total_touchdowns", "touchdowns"), sum(game, Stat::Touchdowns));
    e.put(|| number("total_field_goals", "field goals"), sum(game, Stat::FieldGoals));
    e.put(|| number("total_sacks", "sacks"), sum(game, Stat::SacksAllowed));
    e.put(|| number("total_turnovers", "turnovers"), sum(game, Stat::Turnovers));
    e.put(|| number("total_penalties", "penalties"), sum(game, Stat::Penalties));
    e.put(|| number("total_punts", "punts"), home.punts + away.punts);
    e.put(|| number("total_plays", "plays from scrimmage"), sum(game, Stat::Plays));
    e.put(|| number("total_drives", "drives"), home.drives + away.drives);
    e.put(|| flag("any_safety"), i16::from(home.safeties + away.safeties > 0));
    e.put(|| flag("any_two_point"), i16::from(home.two_points[1] + away.two_points[1] > 0));
    let returned = home.touchdowns_by[2] + away.touchdowns_by[2];
    e.put(|| flag("any_defensive_or_return_touchdown"), i16::from(returned > 0));
    let [home_points, away_points] = points.0[0];
    let lower = home_points.min(away_points);
    e.put(|| flag("shut_out"), i16::from(lower == 0));
    for least in [10, 20, 30] {
        e.put(|| flag(format!("both_score_{least}")), i16::from(lower >= least));
    }
    for (i, target) in [10, 15, 20, 25, 30].into_iter().enumerate() {
        e.put(|| side(format!("race_to_{target}")), game.races[i]);
    }
    e.put(|| number("total_yards", "yards"), sum(game, Stat::Yards));
    e.put(|| flag("score_in_last_2_minutes_of_half"), i16::from(game.late_score[0]));
    e.put(|| flag("score_in_last_2_minutes_of_game"), i16::from(game.late_score[1]));
}

#[inline(always)]
fn emit_team(game: &BoxScore, points: &Points, side: usize, name: &str, e: &mut impl Emit) {
    for (i, w) in Window::SEVEN.into_iter().enumerate() {
        e.put(|| number(format!("{name}_points{}", suffix(w)), "points"), points.0[i][side]);
    }
    let seven = [
        ("touchdowns", "touchdowns", Stat::Touchdowns),
        ("field_goals", "field goals", Stat::FieldGoals),
        ("yards", "yards", Stat::Yards),
        ("pass_yards", "yards", Stat::PassYards),
        ("rush_yards", "yards", Stat::RushYards),
        ("first_downs", "first downs", Stat::FirstDowns),
    ];
    for (name_of_stat, unit, stat) in seven {
        for w in Window::SEVEN {
            e.put(|| number(format!("{name}_{name_of_stat}{}", suffix(w)), unit), game.count(side, stat, w));
        }
    }
    let three = [
        ("plays", "plays from scrimmage", Stat::Plays),
        ("interceptions_thrown", "interceptions", Stat::Interceptions),
        ("fumbles_lost", "fumbles", Stat::FumblesLost),
        ("sacks_allowed", "sacks", Stat::SacksAllowed),
        ("penalties", "penalties", Stat::Penalties),
        ("penalty_yards", "yards", Stat::PenaltyYards),
        ("possession", "seconds", Stat::Possession),
        ("turnovers", "turnovers", Stat::Turnovers),
    ];
    for (name_of_stat, unit, stat) in three {
        for w in Window::THREE {
            e.put(|| number(format!("{name}_{name_of_stat}{}", suffix(w)), unit), game.count(side, stat, w));
        }
    }
    emit_team_totals(&game.sides[side], name, e);
    emit_team_marks(game, points, side, name, e);
}

#[inline(always)]
fn emit_team_totals(team: &Side, name: &str, e: &mut impl Emit) {
    let mut put = |stat: &str, unit: &str, value: i16| {
        e.put(|| number(format!("{name}_{stat}"), unit), value);
    };
    put("third_down_attempts", "attempts", team.third_downs[0]);
    put("third_down_conversions", "conversions", team.third_downs[1]);
    put("fourth_down_attempts", "attempts", team.fourth_downs[0]);
    put("fourth_down_conversions", "conversions", team.fourth_downs[1]);
    put("red_zone_trips", "drives", team.red_zone[0]);
    put("red_zone_touchdowns", "touchdowns", team.red_zone[1]);
    put("punts", "punts", team.punts);
    put("punt_yards", "yards", team.punt_yards);
    put("kickoffs", "kicks", team.kickoffs);
    put("touchbacks", "kicks", team.touchbacks);
    put("kick_return_yards", "yards", team.kick_return_yards);
    put("punt_return_yards", "yards", team.punt_return_yards);
    put("return_touchdowns", "touchdowns", team.return_touchdowns);
    put("defensive_touchdowns", "touchdowns", team.defensive_touchdowns);
    put("safeties", "safeties", team.safeties);
    put("two_point_attempts", "attempts", team.two_points[0]);
    put("two_points_made", "conversions", team.two_points[1]);
    put("extra_points_made", "kicks", team.extra_points[1]);
    put("extra_point_attempts", "kicks", team.extra_points[0]);
    put("field_goal_attempts", "kicks", team.field_goals);
    put("drives", "drives", team.drives);
    put("scoring_drives", "drives", team.drive_ends[0] + team.drive_ends[1]);
    put("three_and_outs", "drives", team.three_and_outs);
    for (stat, drives) in DRIVES_ENDED.into_iter().zip(team.drive_ends) {
        put(stat, "drives", drives);
    }
    put("longest_rush", "yards", team.longest_rush);
    put("longest_catch", "yards", team.longest_catch);
    put("longest_field_goal", "yards", team.longest_field_goal);
    put("longest_punt", "yards", team.longest_punt);
    put("longest_touchdown", "yards; 0 none", team.longest_touchdown);
    put("shortest_touchdown", "yards; 0 none", team.shortest_touchdown);
    put("longest_drive_plays", "plays", team.longest_drive_plays);
    put("longest_drive_yards", "yards", team.longest_drive_yards);
}

#[inline(always)]
fn emit_team_marks(game: &BoxScore, points: &Points, side: usize, name: &str, e: &mut impl Emit) {
    let me = side as i16 + 1;
    let mut mark = |what: &str, holds: bool| e.put(|| flag(format!("{name}_{what}")), i16::from(holds));
    mark("scored_first", game.first_score.side == me);
    mark("scored_last", game.last_score.side == me);
    mark("led_after_q1", points.winner(3) == me);
    mark("led_after_h1", points.winner(1) == me);
    let margin = points.margin(1) + points.margin(5);
    mark("led_after_q3", if side == 0 { margin > 0 } else { margin < 0 });
    for (q, won) in QUARTER_WON.into_iter().enumerate() {
        mark(won, points.winner(3 + q) == me);
    }
    mark("won_h1", points.winner(1) == me);
    mark("won_h2", points.winner(2) == me);
    mark("won", points.winner(0) == me);
    let team = &game.sides[side];
    let every_quarter = team.quarters[..4].iter().all(|q| q[Stat::Points as usize] > 0);
    let runs = team.longest_scoring_run;
    let first_touchdown = game.first_touchdown.side == me;
    let first_field_goal = game.first_field_goal == me;
    e.put(|| number(format!("{name}_max_lead"), "points"), team.max_lead);
    e.put(|| number(format!("{name}_max_deficit"), "points"), game.sides[1 - side].max_lead);
    e.put(|| flag(format!("{name}_scored_every_quarter")), i16::from(every_quarter));
    e.put(|| number(format!("{name}_longest_run_of_scores"), "scores in a row"), runs);
    e.put(|| flag(format!("{name}_first_touchdown")), i16::from(first_touchdown));
    e.put(|| flag(format!("{name}_first_field_goal")), i16::from(first_field_goal));
}

const DRIVES_ENDED: [&str; 5] = [
    "drives_ended_by_touchdown",
    "drives_ended_by_field_goal",
    "drives_ended_by_punt",
    "drives_ended_by_turnover",
    "drives_ended_by_downs",
];
const QUARTER_WON: [&str; 4] = ["won_q1", "won_q2", "won_q3", "won_q4"];

#[inline(always)]
fn emit_players(game: &BoxScore, side: usize, team: &str, e: &mut impl Emit) {
    let players = game.sides[side].players();
    for (place, player) in players.iter().enumerate() {
        let who = Who { team, place, code: 1 + place as i16 + 23 * side as i16 };
        match place {
            0..=1 => emit_quarterback(game, player, who, e),
            2..=5 => emit_back(game, player, who, e),
            6..=14 => emit_receiver(game, player, who, e),
            15 => emit_kicker(&game.sides[side], player, who, e),
            16 => emit_punter(&game.sides[side], player, who, e),
            _ => emit_defender(player, who, e),
        }
    }
}

/// The owner of the next outcomes.
#[derive(Clone, Copy)]
struct Who<'a> {
    team: &'a str,
    place: usize,
    /// The player's code in [`SCORER_CODE`].
    code: i16,
}

impl Who<'_> {
    fn name(self, stat: &str) -> String {
        format!("{}_{}_{stat}", self.team, ROSTER[self.place])
    }

    #[inline(always)]
    fn put(self, e: &mut impl Emit, stat: &str, unit: &str, value: i16) {
        e.put(|| number(self.name(stat), unit), value);
    }

    #[inline(always)]
    fn mark(self, e: &mut impl Emit, what: &str, holds: bool) {
        e.put(|| flag(self.name(what)), i16::from(holds));
    }

    /// Fantasy points, in hundredths: 1 point for 25 passing yards or 10 other yards, 4 for a passing touchdown and 6
    /// for any other, 1 for a catch, -1 for an interception, -2 for a lost fumble.
    #[inline(always)]
    fn fantasy(self, e: &mut impl Emit, p: &Player) {
        let value = 4 * p.pass_yards + 400 * p.pass_touchdowns - 100 * p.interceptions
            + 10 * (p.rush_yards + p.catch_yards)
            + 600 * (p.rush_touchdowns + p.catch_touchdowns)
            + 100 * p.catches
            - 200 * p.fumbles_lost;
        e.put(|| decimal(self.name("fantasy"), "fantasy points", FANTASY_SCALE), value);
    }
}

#[inline(always)]
fn emit_quarterback(game: &BoxScore, p: &Player, who: Who<'_>, e: &mut impl Emit) {
    who.put(e, "attempts", "passes", p.attempts);
    who.put(e, "completions", "passes", p.completions);
    who.put(e, "pass_yards", "yards", p.pass_yards);
    who.put(e, "pass_touchdowns", "touchdowns", p.pass_touchdowns);
    who.put(e, "interceptions", "interceptions", p.interceptions);
    who.put(e, "sacked", "sacks", p.sacked);
    who.put(e, "longest_pass", "yards", p.pass_long);
    who.put(e, "rushes", "rushes", p.rushes);
    who.put(e, "rush_yards", "yards", p.rush_yards);
    who.put(e, "rush_touchdowns", "touchdowns", p.rush_touchdowns);
    who.put(e, "fumbles_lost", "fumbles", p.fumbles_lost);
    who.put(e, "pass_and_rush_yards", "yards", p.pass_yards + p.rush_yards);
    who.put(e, "pass_yards_h1", "yards", p.half_pass_yards);
    who.put(e, "pass_yards_q1", "yards", p.quarter_pass_yards);
    who.mark(e, "first_touchdown", game.first_touchdown_by == who.code);
    who.mark(e, "anytime_touchdown", p.rush_touchdowns > 0);
    who.fantasy(e, p);
}

#[inline(always)]
fn emit_back(game: &BoxScore, p: &Player, who: Who<'_>, e: &mut impl Emit) {
    who.put(e, "rushes", "rushes", p.rushes);
    who.put(e, "rush_yards", "yards", p.rush_yards);
    who.put(e, "rush_touchdowns", "touchdowns", p.rush_touchdowns);
    who.put(e, "longest_rush", "yards", p.rush_long);
    who.put(e, "targets", "passes", p.targets);
    who.put(e, "catches", "catches", p.catches);
    who.put(e, "catch_yards", "yards", p.catch_yards);
    who.put(e, "catch_touchdowns", "touchdowns", p.catch_touchdowns);
    who.put(e, "longest_catch", "yards", p.catch_long);
    who.put(e, "scrimmage_yards", "yards", p.rush_yards + p.catch_yards);
    who.put(e, "fumbles_lost", "fumbles", p.fumbles_lost);
    emit_scorer(game, p, who, e);
    who.put(e, "rush_yards_h1", "yards", p.half_rush_yards);
    who.fantasy(e, p);
}

#[inline(always)]
fn emit_receiver(game: &BoxScore, p: &Player, who: Who<'_>, e: &mut impl Emit) {
    who.put(e, "targets", "passes", p.targets);
    who.put(e, "catches", "catches", p.catches);
    who.put(e, "catch_yards", "yards", p.catch_yards);
    who.put(e, "catch_touchdowns", "touchdowns", p.catch_touchdowns);
    who.put(e, "longest_catch", "yards", p.catch_long);
    who.put(e, "yards_after_catch", "yards", p.yards_after_catch);
    who.put(e, "catch_yards_h1", "yards", p.half_catch_yards);
    emit_scorer(game, p, who, e);
    who.put(e, "fumbles_lost", "fumbles", p.fumbles_lost);
    who.fantasy(e, p);
}

#[inline(always)]
fn emit_scorer(game: &BoxScore, p: &Player, who: Who<'_>, e: &mut impl Emit) {
    who.mark(e, "first_touchdown", game.first_touchdown_by == who.code);
    who.mark(e, "last_touchdown", game.last_touchdown_by == who.code);
    who.mark(e, "anytime_touchdown", p.rush_touchdowns + p.catch_touchdowns > 0);
}

#[inline(always)]
fn emit_kicker(team: &Side, p: &Player, who: Who<'_>, e: &mut impl Emit) {
    let made: i16 = p.kicks_made.iter().sum();
    who.put(e, "field_goal_attempts", "kicks", team.field_goals);
    who.put(e, "field_goals", "kicks", made);
    who.put(e, "longest_field_goal", "yards", team.longest_field_goal);
    who.put(e, "extra_point_attempts", "kicks", team.extra_points[0]);
    who.put(e, "extra_points", "kicks", team.extra_points[1]);
    who.put(e, "points", "points", 3 * made + team.extra_points[1]);
    for (i, band) in ["under_30", "30_to_39", "40_to_49", "50_or_more"].into_iter().enumerate() {
        e.put(|| number(who.name(&format!("field_goals_{band}")), "kicks"), p.kicks_made[i]);
    }
    who.put(e, "points_h1", "points", p.half_kick_points);
}

#[inline(always)]
fn emit_punter(team: &Side, p: &Player, who: Who<'_>, e: &mut impl Emit) {
    who.put(e, "punts", "punts", team.punts);
    who.put(e, "punt_yards", "yards", team.punt_yards);
    who.put(e, "longest_punt", "yards", team.longest_punt);
    who.put(e, "punts_inside_20", "punts", p.inside_twenty);
}

#[inline(always)]
fn emit_defender(p: &Player, who: Who<'_>, e: &mut impl Emit) {
    who.put(e, "solo_tackles", "tackles", p.solo);
    who.put(e, "assisted_tackles", "tackles", p.assisted);
    who.put(e, "tackles", "tackles", p.solo + p.assisted);
    e.put(|| decimal(who.name("sacks"), "sacks", 2), p.half_sacks);
    who.put(e, "interceptions", "interceptions", p.taken);
    who.put(e, "passes_defended", "passes", p.defended);
    who.put(e, "forced_fumbles", "fumbles", p.forced);
    who.put(e, "tackles_for_loss", "tackles", p.for_loss);
}

/// The text of the catalogue names the score kinds by number.
const _: () = assert!(Score::Safety as i16 == 3);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_has_850_outcomes_of_different_names() {
        let names: std::collections::BTreeSet<_> = game_outcomes().into_iter().map(|o| o.name).collect();
        assert_eq!(names.len(), GAME_OUTCOMES);
        let count = |prefix: &str| names.iter().filter(|n| n.starts_with(prefix)).count();
        assert_eq!(count("home_") - 7, count("away_"), "home_margin has seven windows, and no twin");
        assert_eq!(count("away_"), 127 + 269);
    }
}
