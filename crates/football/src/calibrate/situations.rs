//! Figures by situation: the distance of a kick, the down, the field position, the start of a drive, the end of a punt,
//! the kind of a touchdown.

use super::Figure;
use super::count::{Count, is_caught};
use super::ledger::Ledger;
use crate::play::{Foul, Kind, NOBODY, Outcome, Play};
use crate::tables::{distance_band, zone};

const FIELD_GOALS: [Figure; 9] = figures!("field goals made from ", "";
    "under 25" 0.99, "25-29" 0.97, "30-34" 0.93, "35-39" 0.89, "40-44" 0.82, "45-49" 0.71, "50-54" 0.66, "55-59" 0.55,
    "60 or more" 0.31);
const THIRD_DOWNS: [Figure; 9] = figures!("third and ", " converted";
    "1" 0.69, "2" 0.56, "3" 0.52, "4-5" 0.46, "6-7" 0.39, "8-9" 0.33, "10" 0.27, "11-14" 0.23, "15 or more" 0.09);
const FOURTH_DOWNS: [Figure; 9] = figures!("fourth and ", " converted";
    "1" 0.66, "2" 0.56, "3" 0.50, "4-5" 0.44, "6-7" 0.43, "8-9" 0.35, "10" 0.28, "11-14" 0.29, "15 or more" 0.18);
const SACKS: [Figure; 4] = figures!("sacks an attempt or sack, ", " down";
    "first" 0.049, "second" 0.051, "third" 0.090, "fourth" 0.062);
const COMPLETIONS: [Figure; 7] = figures!("completion rate, ", " yards to goal";
    "1-2" 0.56, "3-5" 0.50, "6-10" 0.53, "11-20" 0.58, "21-40" 0.62, "41-60" 0.64, "61-99" 0.66);
const TARGETS: [Figure; 3] = figures!("completion rate to ", "";
    "backs" 0.76, "receivers" 0.62, "tight ends" 0.67);
const DRIVES_TO_TOUCHDOWN: [Figure; 6] = figures!("touchdown share of drives from ", "";
    "1-20" 0.56, "21-40" 0.35, "51-60" 0.25, "71-75" 0.21, "76-80" 0.17, "91-99" 0.13);
const DRIVES_TO_FIELD_GOAL: [Figure; 6] = figures!("field-goal share of drives from ", "";
    "1-20" 0.30, "21-40" 0.31, "51-60" 0.18, "71-75" 0.13, "76-80" 0.12, "91-99" 0.08);
const PUNTS: [(Figure, Outcome); 6] = [
    (("punts returned", 0.43), Outcome::Returned),
    (("punts caught fair", 0.27), Outcome::FairCatch),
    (("punts downed", 0.14), Outcome::Downed),
    (("punts out of bounds", 0.10), Outcome::OutOfBounds),
    (("punts into the end zone", 0.06), Outcome::Touchback),
    (("punts blocked", 0.005), Outcome::Blocked),
];
const TOUCHDOWNS: [Figure; 6] = figures!("touchdowns a game by ", "";
    "passes" 3.1, "runs" 1.66, "interceptions" 0.16, "fumbles" 0.13, "kick-off returns" 0.026, "punt returns" 0.037);
const FOULS: [(Figure, Foul); 7] = [
    (("defensive holding a game", 0.88), Foul::DefensiveHolding),
    (("defensive off-side a game", 0.62), Foul::DefensiveOffside),
    (("illegal blocks a game", 0.59), Foul::IllegalBlock),
    (("neutral-zone infractions a game", 0.54), Foul::NeutralZoneInfraction),
    (("delays of game a game", 0.50), Foul::DelayOfGame),
    (("offensive pass interference a game", 0.38), Foul::OffensivePassInterference),
    (("illegal use of hands a game", 0.37), Foul::IllegalUseOfHands),
];

/// Adds a game.
pub(super) fn enter(l: &mut Ledger, count: Count<'_>) {
    let plays = count.plays;
    l.group("by situation");
    let of = |kind: Kind| plays.iter().filter(move |p| p.kind == kind);
    let band = |p: &Play| ((p.yards - 20) / 5).clamp(0, 8) as usize;
    shares(l, &FIELD_GOALS, of(Kind::FieldGoal), |p| Some(band(p)), |p| p.points == 3);
    let gone_for = |down: i8| plays.iter().filter(move |p| p.down == down && is_scrimmage(p.kind));
    shares(l, &THIRD_DOWNS, gone_for(3), |p| Some(distance_band(p.distance.into())), |p| p.first_down == 1);
    shares(l, &FOURTH_DOWNS, gone_for(4), |p| Some(distance_band(p.distance.into())), |p| p.first_down == 1);
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
    let touchdown = |drive: &[Play]| drive.iter().any(|p| p.outcome == Outcome::Touchdown);
    shares(l, &DRIVES_TO_TOUCHDOWN, count.drives(), drive_start, touchdown);
    shares(l, &DRIVES_TO_FIELD_GOAL, count.drives(), drive_start, |drive| drive.iter().any(|p| p.points == 3));
    let punts = count.rows(Kind::Punt);
    for ((what, spec), end) in PUNTS {
        l.ratio(what, spec, count.plays(|p| p.kind == Kind::Punt && p.outcome == end), punts);
    }
    let scored = |holds: fn(&Play) -> bool| count.plays(|p| p.points.abs() == 6 && holds(p));
    let touchdowns = [
        scored(|p| p.kind == Kind::Pass && p.points == 6),
        scored(|p| matches!(p.kind, Kind::Run | Kind::Scramble) && p.points == 6),
        scored(|p| p.outcome == Outcome::Intercepted),
        scored(|p| p.outcome == Outcome::FumbleLost),
        scored(|p| p.kind == Kind::Kickoff),
        scored(|p| p.kind == Kind::Punt),
    ];
    for ((what, spec), touchdowns) in TOUCHDOWNS.into_iter().zip(touchdowns) {
        l.mean(what, spec, &[touchdowns]);
    }
    l.mean("safeties a game", 0.060, &[count.plays(|p| p.points == -2)]);
    for ((what, spec), foul) in FOULS {
        l.mean(what, spec, &[count.plays(|p| p.foul == foul as u8)]);
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

fn field(play: &Play) -> usize {
    match play.yard_line {
        61.. => 6,
        near => zone(near.into()),
    }
}

/// The class of a possession's start among the measured bands.
fn drive_start(drive: &[Play]) -> Option<usize> {
    match drive.iter().find(|p| p.down > 0)?.yard_line {
        ..=20 => Some(0),
        21..=40 => Some(1),
        51..=60 => Some(2),
        71..=75 => Some(3),
        76..=80 => Some(4),
        91.. => Some(5),
        _ => None,
    }
}
