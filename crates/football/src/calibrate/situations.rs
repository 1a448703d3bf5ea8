//! Figures by situation: the distance of a kick, the down, the field position, the start of a drive, the end of a punt,
//! the kind of a touchdown.

use super::ledger::Ledger;
use crate::play::{Foul, Kind, NOBODY, Outcome, Play};

/// A figure: its name and the real league's share.
type Figure = (&'static str, f64);

const FIELD_GOALS: [Figure; 9] = [
    ("field goals made from under 25", 0.99),
    ("field goals made from 25-29", 0.97),
    ("field goals made from 30-34", 0.93),
    ("field goals made from 35-39", 0.89),
    ("field goals made from 40-44", 0.82),
    ("field goals made from 45-49", 0.71),
    ("field goals made from 50-54", 0.66),
    ("field goals made from 55-59", 0.55),
    ("field goals made from 60 or more", 0.31),
];
const THIRD_DOWNS: [Figure; 9] = [
    ("third and 1 converted", 0.69),
    ("third and 2 converted", 0.56),
    ("third and 3 converted", 0.52),
    ("third and 4-5 converted", 0.46),
    ("third and 6-7 converted", 0.39),
    ("third and 8-9 converted", 0.33),
    ("third and 10 converted", 0.27),
    ("third and 11-14 converted", 0.23),
    ("third and 15 or more converted", 0.09),
];
const FOURTH_DOWNS: [Figure; 9] = [
    ("fourth and 1 converted", 0.66),
    ("fourth and 2 converted", 0.56),
    ("fourth and 3 converted", 0.50),
    ("fourth and 4-5 converted", 0.44),
    ("fourth and 6-7 converted", 0.43),
    ("fourth and 8-9 converted", 0.35),
    ("fourth and 10 converted", 0.28),
    ("fourth and 11-14 converted", 0.29),
    ("fourth and 15 or more converted", 0.18),
];
const SACKS: [Figure; 4] = [
    ("sacks an attempt or sack, first down", 0.049),
    ("sacks an attempt or sack, second down", 0.051),
    ("sacks an attempt or sack, third down", 0.090),
    ("sacks an attempt or sack, fourth down", 0.062),
];
const COMPLETIONS: [Figure; 7] = [
    ("completion rate, 1-2 yards to goal", 0.56),
    ("completion rate, 3-5 yards to goal", 0.50),
    ("completion rate, 6-10 yards to goal", 0.53),
    ("completion rate, 11-20 yards to goal", 0.58),
    ("completion rate, 21-40 yards to goal", 0.62),
    ("completion rate, 41-60 yards to goal", 0.64),
    ("completion rate, 61-99 yards to goal", 0.66),
];
const TARGETS: [Figure; 3] = [
    ("completion rate to backs", 0.76),
    ("completion rate to receivers", 0.62),
    ("completion rate to tight ends", 0.67),
];
const DRIVES_TO_TOUCHDOWN: [Figure; 6] = [
    ("touchdown share of drives from 1-20", 0.56),
    ("touchdown share of drives from 21-40", 0.35),
    ("touchdown share of drives from 51-60", 0.25),
    ("touchdown share of drives from 71-75", 0.21),
    ("touchdown share of drives from 76-80", 0.17),
    ("touchdown share of drives from 91-99", 0.13),
];
const DRIVES_TO_FIELD_GOAL: [Figure; 6] = [
    ("field-goal share of drives from 1-20", 0.30),
    ("field-goal share of drives from 21-40", 0.31),
    ("field-goal share of drives from 51-60", 0.18),
    ("field-goal share of drives from 71-75", 0.13),
    ("field-goal share of drives from 76-80", 0.12),
    ("field-goal share of drives from 91-99", 0.08),
];
const PUNTS: [(Figure, Outcome); 6] = [
    (("punts returned", 0.43), Outcome::Returned),
    (("punts caught fair", 0.27), Outcome::FairCatch),
    (("punts downed", 0.14), Outcome::Downed),
    (("punts out of bounds", 0.10), Outcome::OutOfBounds),
    (("punts into the end zone", 0.06), Outcome::Touchback),
    (("punts blocked", 0.005), Outcome::Blocked),
];
const TOUCHDOWNS: [Figure; 6] = [
    ("touchdowns a game by passes", 3.1),
    ("touchdowns a game by runs", 1.66),
    ("touchdowns a game by interceptions", 0.16),
    ("touchdowns a game by fumbles", 0.13),
    ("touchdowns a game by kick-off returns", 0.026),
    ("touchdowns a game by punt returns", 0.037),
];
const FOULS: [(Figure, Foul); 7] = [
    (("defensive holding a game", 0.88), Foul::DefensiveHolding),
    (("defensive off-side a game", 0.62), Foul::Offside),
    (("illegal blocks a game", 0.59), Foul::IllegalBlock),
    (("neutral-zone infractions a game", 0.54), Foul::NeutralZone),
    (("delays of game a game", 0.50), Foul::Delay),
    (("offensive pass interference a game", 0.38), Foul::OffensivePassInterference),
    (("illegal use of hands a game", 0.37), Foul::Hands),
];

/// Adds a game.
pub(super) fn enter(l: &mut Ledger, plays: &[Play]) {
    l.group("by situation");
    let of = |kind: Kind| plays.iter().filter(move |p| p.kind == kind);
    let band = |p: &Play| ((p.yards - 20) / 5).clamp(0, 8) as usize;
    shares(l, &FIELD_GOALS, of(Kind::FieldGoal), |p| Some(band(p)), |p| p.points == 3);
    let gone_for = |down: i8| plays.iter().filter(move |p| p.down == down && is_scrimmage(p.kind));
    shares(l, &THIRD_DOWNS, gone_for(3), |p| Some(distance(p)), |p| p.first_down == 1);
    shares(l, &FOURTH_DOWNS, gone_for(4), |p| Some(distance(p)), |p| p.first_down == 1);
    let dropped = plays.iter().filter(|p| matches!(p.kind, Kind::Pass | Kind::Sack));
    shares(l, &SACKS, dropped, |p| Some((p.down - 1) as usize), |p| p.kind == Kind::Sack);
    shares(l, &COMPLETIONS, of(Kind::Pass), |p| Some(field(p)), is_caught);
    let position = |p: &Play| match p.player {
        NOBODY => None,
        2..=5 => Some(0),
        6..=11 => Some(1),
        _ => Some(2),
    };
    shares(l, &TARGETS, of(Kind::Pass), position, is_caught);
    let drives = || plays.chunk_by(|a, b| a.drive == b.drive).filter_map(Drive::of);
    shares(l, &DRIVES_TO_TOUCHDOWN, drives(), Drive::start, |d| d.touchdown);
    shares(l, &DRIVES_TO_FIELD_GOAL, drives(), Drive::start, |d| d.field_goal);
    let punts = of(Kind::Punt).count() as f64;
    for ((what, spec), outcome) in PUNTS {
        l.ratio(what, spec, of(Kind::Punt).filter(|p| p.outcome == outcome).count() as f64, punts);
    }
    let scored =
        |holds: &dyn Fn(&Play) -> bool| plays.iter().filter(|p| p.points.abs() == 6 && holds(p)).count() as f64;
    let touchdowns = [
        scored(&|p| p.kind == Kind::Pass && p.points == 6),
        scored(&|p| matches!(p.kind, Kind::Run | Kind::Scramble) && p.points == 6),
        scored(&|p| p.outcome == Outcome::Intercepted),
        scored(&|p| p.outcome == Outcome::FumbleLost),
        scored(&|p| p.kind == Kind::Kickoff),
        scored(&|p| p.kind == Kind::Punt),
    ];
    for ((what, spec), count) in TOUCHDOWNS.into_iter().zip(touchdowns) {
        l.mean(what, spec, &[count]);
    }
    l.mean("safeties a game", 0.060, &[plays.iter().filter(|p| p.points == -2).count() as f64]);
    for ((what, spec), foul) in FOULS {
        l.mean(what, spec, &[plays.iter().filter(|p| p.foul == foul as u8).count() as f64]);
    }
}

/// For each figure, the share of its class's items that `hold`.
fn shares<T: Copy>(
    l: &mut Ledger,
    figures: &[Figure],
    items: impl Iterator<Item = T>,
    class: impl Fn(T) -> Option<usize>,
    holds: impl Fn(T) -> bool,
) {
    let mut counts = [[0.0; 2]; 9];
    for item in items {
        if let Some(class) = class(item) {
            counts[class][0] += f64::from(u8::from(holds(item)));
            counts[class][1] += 1.0;
        }
    }
    for (&(what, spec), [held, all]) in figures.iter().zip(counts) {
        l.ratio(what, spec, held, all);
    }
}

fn is_scrimmage(kind: Kind) -> bool {
    matches!(kind, Kind::Run | Kind::Pass | Kind::Sack | Kind::Scramble)
}

fn is_caught(play: &Play) -> bool {
    !matches!(play.outcome, Outcome::Incomplete | Outcome::Intercepted)
}

fn distance(play: &Play) -> usize {
    match play.distance {
        ..=3 => play.distance as usize - 1,
        4..=5 => 3,
        6..=7 => 4,
        8..=9 => 5,
        10 => 6,
        11..=14 => 7,
        _ => 8,
    }
}

fn field(play: &Play) -> usize {
    match play.yard_line {
        ..=2 => 0,
        3..=5 => 1,
        6..=10 => 2,
        11..=20 => 3,
        21..=40 => 4,
        41..=60 => 5,
        _ => 6,
    }
}

/// A possession: its start, and whether it scored.
#[derive(Clone, Copy)]
struct Drive {
    yards_to_goal: i8,
    touchdown: bool,
    field_goal: bool,
}

impl Drive {
    fn of(plays: &[Play]) -> Option<Self> {
        let first = plays.iter().find(|p| p.down > 0)?;
        Some(Self {
            yards_to_goal: first.yard_line,
            touchdown: plays.iter().any(|p| p.outcome == Outcome::Touchdown),
            field_goal: plays.iter().any(|p| p.points == 3),
        })
    }

    /// Its class among the measured bands.
    fn start(self) -> Option<usize> {
        match self.yards_to_goal {
            ..=20 => Some(0),
            21..=40 => Some(1),
            51..=60 => Some(2),
            71..=75 => Some(3),
            76..=80 => Some(4),
            91.. => Some(5),
            _ => None,
        }
    }
}
