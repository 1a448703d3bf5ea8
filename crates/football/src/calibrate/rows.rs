//! The figures, in order: name, the real league's figure, and how to count it.

use super::Figure;
use super::count::{Count, is_caught, is_run};
use super::ledger::Ledger;
use crate::box_score::{BoxScore, Player, Stat, Window, leader};
use crate::play::{Foul, Kind, NOBODY, Outcome, Play};

const RB1: usize = 2;
const WR1: usize = 6;

/// Adds a game of the model's own league.
pub(super) fn game(l: &mut Ledger, count: Count<'_>) {
    let score = count.score;
    l.observe();
    for part in [rows, penalties, passing, running, kicking, drives] {
        part(l, count);
    }
    let points = [0, 1].map(|side| f64::from(score.count(side, Stat::Points, Window::Game)));
    scoring(l, count, points);
    margins(l, score, points[0] - points[1]);
    players(l, score);
    in_game_shares(l, score);
    correlations(l, score, points);
}

/// Adds a team's season: its mean margin and its wins.
pub(super) fn season(l: &mut Ledger, margin: f64, wins: f64) {
    l.observe();
    l.group("season");
    l.deviation("mean margin of a team over 16 games, SD", 6.0, &[margin]);
    l.deviation("wins of a team in 16 games, SD", 3.1, &[wins]);
}

/// Adds a game of two teams that are `difference` rating points apart.
pub(super) fn strength(l: &mut Ledger, difference: f64, margin: f64) {
    l.observe();
    l.group("strength");
    l.slope("points of margin a rating point", 1.0, difference, margin).within(0.05);
}

fn rows(l: &mut Ledger, c: Count<'_>) {
    l.group("rows a game");
    l.mean("all, with penalties that wipe a play out", 164.8, &[c.plays.len() as f64]);
    l.mean("passes", 69.7, &[c.rows(Kind::Pass)]);
    l.mean("runs, scrambles and kneels included", 52.4, &[c.runs()]);
    l.mean("scrambles", 2.86, &[c.rows(Kind::Scramble)]);
    l.mean("kneels", 1.6, &[c.rows(Kind::Kneel)]);
    l.mean("sacks", 4.73, &[c.rows(Kind::Sack)]);
    l.mean("plays from scrimmage", 126.8, &[c.rows(Kind::Pass) + c.runs() + c.rows(Kind::Sack)]);
    l.mean("kicks-off", 9.96, &[c.rows(Kind::Kickoff)]);
    l.mean("onside kicks", 0.23, &[c.rows(Kind::OnsideKick)]);
    l.mean("punts", 9.06, &[c.rows(Kind::Punt)]);
    l.mean("field goals tried", 3.87, &[c.rows(Kind::FieldGoal)]);
    l.mean("extra points tried", 4.44, &[c.rows(Kind::ExtraPoint)]);
    l.mean("two-point tries", 0.38, &[c.rows(Kind::TwoPointPass) + c.rows(Kind::TwoPointRun)]);
    l.mean("penalties that wipe a play out", 9.9, &[c.rows(Kind::Penalty)]);
}

fn penalties(l: &mut Ledger, c: Count<'_>) {
    l.group("penalties a game");
    let all = c.plays(|p| p.foul != NOBODY);
    let foul = |foul: Foul| [c.plays(|p| p.foul == foul as u8)];
    let earned = |p: &Play| p.kind != Kind::Penalty && p.yards >= p.distance;
    let first_downs = c.plays(|p| p.foul != NOBODY && p.first_down == 1 && !earned(p));
    l.mean("accepted", 13.48, &[all]);
    l.ratio("yards each", 8.56, c.sum(|p| p.foul_yards), all);
    l.ratio("share that wipes a play out", 0.72, c.rows(Kind::Penalty), all);
    l.mean("first downs", 3.92, &[first_downs]);
    l.mean("offensive holding", 2.7, &foul(Foul::OffensiveHolding));
    l.mean("false start", 2.15, &foul(Foul::FalseStart));
    l.mean("defensive pass interference", 0.98, &foul(Foul::DefensivePassInterference));
    l.mean("unnecessary roughness", 0.76, &foul(Foul::UnnecessaryRoughness));
    l.mean("roughing the passer", 0.42, &foul(Foul::RoughingThePasser));
}

fn passing(l: &mut Ledger, c: Count<'_>) {
    l.group("passing");
    let passes = c.rows(Kind::Pass);
    let completions = c.plays(is_caught);
    let yards = c.stat(Stat::PassYards);
    l.ratio("completion rate", 0.633, completions, passes);
    l.ratio("yards an attempt", 7.19, yards, passes);
    l.ratio("yards a catch", 11.4, yards, completions);
    l.ratio("catches of 20 yards or more", 0.143, c.plays(|p| is_caught(p) && p.yards >= 20), completions);
    l.ratio("interceptions an attempt", 0.0236, c.stat(Stat::Interceptions), passes);
    l.ratio("touchdowns an attempt", 0.045, c.sides(|side| side.touchdowns_by[0]), passes).within(0.05 * 0.045);
    let sacks = c.rows(Kind::Sack);
    l.ratio("sacks an attempt or sack", 0.063, sacks, passes + sacks);
    l.ratio("yards a sack", -6.6, c.sum(|p| if p.kind == Kind::Sack { p.yards } else { 0 }), sacks);
    let dropbacks = passes + sacks + c.rows(Kind::Scramble);
    l.ratio("share of drop-backs", 0.616, dropbacks, dropbacks + c.rows(Kind::Run));
}

fn running(l: &mut Ledger, c: Count<'_>) {
    l.group("running");
    let runs = c.runs();
    l.ratio("yards a run, kneels included", 4.23, c.stat(Stat::RushYards), runs);
    l.ratio("touchdowns a run", 0.031, c.sides(|side| side.touchdowns_by[1]), runs).within(0.05 * 0.031);
    l.ratio("runs of 20 yards or more", 0.026, c.plays(|p| is_run(p) && p.yards >= 20), runs);
    let [third, converted] = [0, 1].map(|part| c.sides(|side| side.third_downs[part]));
    l.ratio("third downs converted", 0.390, converted, third);
    l.mean("third downs a game", 26.2, &[third]);
    let [fourth, converted] = [0, 1].map(|part| c.sides(|side| side.fourth_downs[part]));
    l.ratio("fourth downs converted", 0.500, converted, fourth);
    l.mean("fourth downs gone for a game", 1.98, &[fourth]);
}

fn kicking(l: &mut Ledger, c: Count<'_>) {
    l.group("kicking");
    l.ratio("field goals made", 0.839, c.stat(Stat::FieldGoals), c.rows(Kind::FieldGoal));
    l.ratio("extra points made", 0.941, c.sides(|side| side.extra_points[1]), c.rows(Kind::ExtraPoint));
    let tries = c.rows(Kind::TwoPointPass) + c.rows(Kind::TwoPointRun);
    l.ratio("two-point tries made", 0.48, c.sides(|side| side.two_points[1]), tries);
    let (punts, gross) = (c.rows(Kind::Punt), c.sides(|side| side.punt_yards));
    let lost = c.sum(|p| match (p.kind, p.outcome) {
        (Kind::Punt, Outcome::Touchback) => 20,
        (Kind::Punt, _) => p.return_yards.max(0),
        _ => 0,
    });
    l.ratio("gross yards a punt", 45.4, gross, punts);
    l.ratio("net yards a punt", 40.6, gross - lost, punts);
    l.ratio("touchbacks a kick-off", 0.60, c.sides(|side| side.touchbacks), c.rows(Kind::Kickoff));
}

/// How possessions end, in percent.
const DRIVE_ENDS: [Figure; 9] = figures!("% ", "";
    "ending in a punt" 39.3, "ending in a touchdown" 20.9, "ending in a field goal" 14.2,
    "ending in an interception" 7.2, "ending in a lost fumble" 4.4, "ending on downs" 3.9,
    "ended by the half or game" 6.9, "ending in a missed field goal" 2.6, "ending in a safety" 0.2);

/// The place in [`DRIVE_ENDS`] of a possession. Its last play decides, but for fouls that wiped out a play.
fn drive_end(drive: &[Play]) -> usize {
    let last = drive.iter().rfind(|p| p.down > 0 && p.kind != Kind::Penalty);
    let Some(last) = last.or_else(|| drive.iter().find(|p| p.down > 0)) else { return 6 };
    match (last.kind, last.outcome) {
        (_, Outcome::Touchdown) => 1,
        (Kind::FieldGoal, Outcome::Good) => 2,
        (Kind::FieldGoal, _) => 7,
        (Kind::Punt, _) => 0,
        (_, Outcome::Intercepted) => 3,
        (_, Outcome::FumbleLost) => 4,
        (_, Outcome::Safety) => 8,
        _ if last.down == 4 && last.first_down == 0 => 5,
        _ => 6,
    }
}

fn drives(l: &mut Ledger, c: Count<'_>) {
    l.group("drives");
    let mut drives = 0.0;
    let mut start = 0.0;
    let mut ends = [0.0; DRIVE_ENDS.len()];
    for drive in c.drives() {
        drives += 1.0;
        start += drive.iter().find(|p| p.down > 0).map_or(0.0, |p| f64::from(p.yard_line));
        ends[drive_end(drive)] += 100.0;
    }
    l.mean("a team and game", 11.46, &[drives / 2.0]);
    l.ratio("yards to goal at the start", 71.8, start, drives);
    for ((what, spec), ended) in DRIVE_ENDS.into_iter().zip(ends) {
        l.ratio(what, spec, ended, drives);
    }
}

const QUARTERS: [Figure; 5] = figures!("points in ", "";
    "quarter 1" 8.9, "quarter 2" 13.9, "quarter 3" 9.5, "quarter 4" 12.9, "overtime" 0.25);
const SCORELESS: [Figure; 4] = figures!("team scoreless in quarter ", ""; "1" 0.37, "2" 0.19, "3" 0.35, "4" 0.23);
const SCORES: [Figure; 6] = figures!("% of teams with ", " points";
    "20" 7.0, "24" 6.8, "17" 6.4, "27" 6.1, "23" 5.0, "10" 4.9);

fn scoring(l: &mut Ledger, c: Count<'_>, [home, away]: [f64; 2]) {
    let score = c.score;
    l.group("scoring");
    l.mean("total points", 45.4, &[home + away]);
    l.deviation("total points, SD", 14.0, &[home + away]).within(0.7);
    l.deviation("points of a team, SD", 10.0, &[home, away]);
    l.mean("touchdowns", 5.12, &[c.stat(Stat::Touchdowns)]);
    l.mean("touchdowns by defence or return", 0.343, &[c.plays(|p| p.points == -6)]);
    let points = |quarter: usize| [0, 1].map(|side| score.sides[side].quarters[quarter][Stat::Points as usize]);
    for (quarter, (what, spec)) in QUARTERS.into_iter().enumerate() {
        l.mean(what, spec, &[f64::from(points(quarter).iter().sum::<i16>())]);
    }
    for (quarter, (what, spec)) in SCORELESS.into_iter().enumerate() {
        l.mean(what, spec, &points(quarter).map(|points| f64::from(u8::from(points == 0))));
    }
    for ((what, spec), points) in SCORES.into_iter().zip([20.0, 24.0, 17.0, 27.0, 23.0, 10.0]) {
        l.mean(what, spec, &[home, away].map(|p| if p == points { 100.0 } else { 0.0 }));
    }
    let first = score.first_score;
    l.percent("% of first scores a touchdown", 61.6, first.score as i16 == 1);
    let winner = leader(home, away);
    l.percent("% of games won by the first to score", 65.0, winner == first.side);
    let half = [0, 1].map(|side| score.count(side, Stat::Points, Window::Half(0)));
    let half_time = leader(half[0], half[1]);
    let led = f64::from(u8::from(half_time != 0));
    l.ratio("share of half-time leaders who win", 0.79, f64::from(u8::from(half_time == winner)) * led, led);
    l.mean("turnovers", 2.76, &[c.stat(Stat::Interceptions) + c.stat(Stat::FumblesLost)]);
    l.mean("time-outs called", 7.4, &[c.plays(|p| p.time_out != NOBODY)]);
}

const MARGINS: [Figure; 11] = figures!("% by ", "";
    "1" 4.2, "2" 4.1, "3" 14.7, "4" 4.2, "5" 4.1, "6" 7.1, "7" 10.0, "8" 4.1, "10" 4.7, "14" 5.8, "17" 2.9);

fn margins(l: &mut Ledger, score: &BoxScore, margin: f64) {
    l.group("margin");
    l.mean("home edge", 1.74, &[margin]).within(0.2);
    l.percent("% won at home", 55.9, margin > 0.0);
    l.deviation("SD", 14.2, &[margin]);
    let by = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 14.0, 17.0];
    for ((what, spec), points) in MARGINS.into_iter().zip(by) {
        let line = l.percent(what, spec, margin.abs() == points);
        if matches!(points, 3.0 | 7.0) {
            line.within(1.5);
        }
    }
    l.percent("% with overtime", 5.6, score.overtime);
    l.percent("% tied", 0.4, margin == 0.0);
}

/// The quarterback with the most attempts.
fn passer(score: &BoxScore, side: usize) -> &Player {
    let players = score.sides[side].players();
    if players[1].attempts > players[0].attempts { &players[1] } else { &players[0] }
}

/// Mean and standard deviation of a number of each side.
fn spread(l: &mut Ledger, names: [&'static str; 2], spec: [f64; 2], values: [i16; 2]) {
    let values = values.map(f64::from);
    l.mean(names[0], spec[0], &values);
    l.deviation(names[1], spec[1], &values);
}

fn players(l: &mut Ledger, score: &BoxScore) {
    l.group("players");
    let each = |value: &dyn Fn(&Player) -> i16| [0, 1].map(|side| value(passer(score, side)));
    spread(l, ["QB attempts", "QB attempts, SD"], [34.1, 8.7], each(&|p| p.attempts));
    spread(l, ["QB completions", "QB completions, SD"], [21.6, 6.1], each(&|p| p.completions));
    spread(l, ["QB yards", "QB yards, SD"], [246.0, 77.0], each(&|p| p.pass_yards));
    spread(l, ["QB touchdowns", "QB touchdowns, SD"], [1.53, 1.17], each(&|p| p.pass_touchdowns));
    let of =
        |place: usize, value: &dyn Fn(&Player) -> i16| [0, 1].map(|side| value(&score.sides[side].players()[place]));
    spread(l, ["RB1 carries", "RB1 carries, SD"], [14.6, 6.4], of(RB1, &|p| p.rushes));
    spread(l, ["RB1 rush yards", "RB1 rush yards, SD"], [62.0, 40.0], of(RB1, &|p| p.rush_yards));
    l.mean("RB1 P(rush TD)", 0.31, &of(RB1, &|p| i16::from(p.rush_touchdowns > 0)).map(f64::from));
    spread(l, ["WR1 targets", "WR1 targets, SD"], [8.2, 3.4], of(WR1, &|p| p.targets));
    spread(l, ["WR1 catches", "WR1 catches, SD"], [5.3, 2.6], of(WR1, &|p| p.catches));
    spread(l, ["WR1 yards", "WR1 yards, SD"], [67.0, 40.0], of(WR1, &|p| p.catch_yards));
    l.mean("WR1 P(TD)", 0.34, &of(WR1, &|p| i16::from(p.catch_touchdowns > 0)).map(f64::from));
    let team = |stat: Stat| [0, 1].map(|side| score.count(side, stat, Window::Game));
    spread(l, ["team rush yards", "team rush yards, SD"], [112.0, 50.0], team(Stat::RushYards));
    spread(l, ["team plays", "team plays, SD"], [63.5, 8.4], team(Stat::Plays));
    spread(l, ["sacks allowed", "sacks allowed, SD"], [2.4, 1.7], team(Stat::SacksAllowed));
    l.mean("fumbles lost", 0.56, &team(Stat::FumblesLost).map(f64::from));
    l.mean("interceptions", 0.82, &team(Stat::Interceptions).map(f64::from));
    l.mean("first downs", 19.8, &team(Stat::FirstDowns).map(f64::from));
    l.mean("longest catch", 39.6, &[0, 1].map(|side| f64::from(score.sides[side].longest_catch)));
    l.mean("longest rush", 22.9, &[0, 1].map(|side| f64::from(score.sides[side].longest_rush)));
    let with_touch = |side: usize, value: &dyn Fn(&Player) -> i16| {
        score.sides[side].players().iter().filter(|p| value(p) > 0).count() as f64
    };
    l.mean("rushers a team", 3.9, &[0, 1].map(|side| with_touch(side, &|p| p.rushes)));
    l.mean("players thrown to a team", 8.1, &[0, 1].map(|side| with_touch(side, &|p| p.targets)));
}

/// The largest share of a team's runs, and of its targets, that one player had.
fn in_game_shares(l: &mut Ledger, score: &BoxScore) {
    l.group("in-game share");
    let largest = |side: usize, value: fn(&Player) -> i16| {
        let mut values: Vec<i16> = score.sides[side].players().iter().map(value).collect();
        values.sort_unstable_by(|a, b| b.cmp(a));
        let sum = f64::from(values.iter().sum::<i16>().max(1));
        values.into_iter().map(move |v| f64::from(v) / sum)
    };
    let both = |value: fn(&Player) -> i16| largest(0, value).zip(largest(1, value)).map(<[f64; 2]>::from);
    let rushers = [("top rusher", 0.62), ("second rusher", 0.24), ("third rusher", 0.10)];
    for ((what, spec), shares) in rushers.into_iter().zip(both(|p| p.rushes)) {
        l.mean(what, spec, &shares);
    }
    let targets = [("top target", 0.29), ("second target", 0.21), ("third target", 0.16), ("fourth target", 0.12)];
    for ((what, spec), shares) in targets.into_iter().zip(both(|p| p.targets)) {
        l.mean(what, spec, &shares);
    }
}

fn correlations(l: &mut Ledger, score: &BoxScore, points: [f64; 2]) {
    l.group("correlation");
    let place = |side: usize, place: usize| &score.sides[side].players()[place];
    let pairs = |x: &dyn Fn(usize) -> f64, y: &dyn Fn(usize) -> f64| [(x(0), y(0)), (x(1), y(1))];
    let qb_yards = |side: usize| f64::from(passer(score, side).pass_yards);
    let attempts = |side: usize| f64::from(passer(score, side).attempts);
    let margin = |side: usize| points[side] - points[1 - side];
    let wr_yards = |side: usize| f64::from(place(side, WR1).catch_yards);
    l.correlation("QB yards, WR1 yards", 0.48, &pairs(&qb_yards, &wr_yards)).within(0.06);
    l.correlation("points, QB yards", 0.39, &pairs(&|s| points[s], &qb_yards));
    let touchdowns = |side: usize| f64::from(passer(score, side).pass_touchdowns);
    l.correlation("points, QB touchdowns", 0.65, &pairs(&|s| points[s], &touchdowns));
    l.correlation("QB yards, QB attempts", 0.65, &pairs(&qb_yards, &attempts));
    l.correlation("margin, RB1 carries", 0.30, &pairs(&margin, &|s| f64::from(place(s, RB1).rushes)));
    l.correlation("margin, QB attempts", -0.23, &pairs(&margin, &attempts));
    let allowed = |side: usize| points[1 - side];
    l.correlation("RB1 yards, points allowed", -0.15, &pairs(&|s| f64::from(place(s, RB1).rush_yards), &allowed));
    l.correlation("QB yards of both sides", 0.17, &[(qb_yards(0), qb_yards(1)), (qb_yards(1), qb_yards(0))]);
    l.correlation("home points, away points", -0.02, &[(points[0], points[1])]);
}
