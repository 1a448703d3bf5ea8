//! Fouls: those that wipe out a play, and those added to one.

use super::{Game, Half};
use crate::play::{Foul, Kind, Play};

/// Share of snaps wiped out by a foul: 9.9 a game over about 148 snaps.
const NO_PLAY_SHARE: f32 = 0.067;
/// Shares of plays that end with the passer or carrier brought down and that add a foul: roughing the passer, 0.42 a
/// game (passes and sacks only), or another personal foul, of either side or of the defence alone. The latter stand for
/// all 15-yard fouls without a name here, such as grasping a face mask.
const ROUGHING_SHARE: f32 = 0.0095;
const ROUGHNESS_SHARE: f32 = 0.019;
const ROUGHNESS_OF_DEFENCE_SHARE: f32 = 0.012;

/// Fouls that wipe out a play: number per game, cumulative share, side (0 offence, 1 defence), yards, automatic first
/// down. Pass interference is enforced at the spot.
struct Rule {
    foul: Foul,
    cumulative: f32,
    on_defence: bool,
    yards: i32,
    automatic: bool,
}

const fn rule(foul: Foul, cumulative: f32, on_defence: bool, yards: i32, automatic: bool) -> Rule {
    Rule { foul, cumulative: cumulative / 10.11, on_defence, yards, automatic }
}

const RULES: [Rule; 10] = [
    rule(Foul::OffensiveHolding, 2.70, false, 10, false),
    rule(Foul::FalseStart, 4.85, false, 5, false),
    rule(Foul::DefensivePassInterference, 5.83, true, 0, true),
    rule(Foul::DefensiveHolding, 6.71, true, 5, true),
    rule(Foul::DefensiveOffside, 7.33, true, 5, false),
    rule(Foul::IllegalBlock, 7.92, false, 10, false),
    rule(Foul::NeutralZoneInfraction, 8.46, true, 5, false),
    rule(Foul::DelayOfGame, 8.96, false, 5, false),
    rule(Foul::OffensivePassInterference, 9.34, false, 10, false),
    // Includes illegal contact, which has no name of its own here.
    rule(Foul::IllegalUseOfHands, 10.11, true, 5, true),
];

impl Game<'_> {
    /// Calls a foul on its share of snaps, which wipes out the coming play; returns whether it did. `chance` is a
    /// uniform draw.
    pub(super) fn foul_wipes_out_snap(&mut self, play: &mut Play, chance: Half) -> bool {
        if !chance.is_below(NO_PLAY_SHARE) {
            return false;
        }
        let x = self.uniform();
        let rule = RULES.iter().find(|r| x < r.cumulative).unwrap_or(&RULES[9]);
        self.row(play, Kind::Penalty);
        let yards = if rule.foul == Foul::DefensivePassInterference {
            let word = self.random.next_u32();
            (self.tables.air_incomplete.at(word) + 4).max(4)
        } else {
            rule.yards
        };
        let before_snap = matches!(
            rule.foul,
            Foul::FalseStart | Foul::NeutralZoneInfraction | Foul::DelayOfGame | Foul::DefensiveOffside
        );
        let seconds = self.seconds_after_foul(before_snap);
        if rule.on_defence {
            // Interference is enforced at the spot, or at the one-yard line if in the end zone; the other fouls are
            // limited.
            let spot = rule.foul == Foul::DefensivePassInterference;
            let yards = if spot { yards.min(self.yard_line - 1) } else { limit(yards, self.yard_line) };
            self.yard_line -= yards;
            self.distance -= yards;
            charge(play, rule.foul, 1 - self.offence, yards);
            if rule.automatic || self.distance <= 0 {
                play.first_down = 1;
                self.first_and_ten();
            }
        } else {
            let yards = limit(yards, 100 - self.yard_line);
            self.yard_line += yards;
            self.distance += yards;
            charge(play, rule.foul, self.offence, yards);
        }
        self.record(play, seconds);
        true
    }

    /// Seconds from a foul to the next snap. The clock restarts on the referee's signal, except near the ends of the
    /// halves.
    fn seconds_after_foul(&mut self, before_snap: bool) -> i32 {
        let until_whistle = if before_snap { 0 } else { 6 };
        if self.clock_stops_out_of_bounds() { until_whistle } else { until_whistle + 6 + self.random.below(14) as i32 }
    }

    /// Adds a personal foul to its share of plays from scrimmage, once the next snap is set. `x` is a uniform draw.
    pub(super) fn add_personal_foul(&mut self, play: &mut Play, x: Half) {
        let passing = matches!(play.kind, Kind::Pass | Kind::Sack);
        if passing && x.is_below(ROUGHING_SHARE) {
            self.foul_of_defence(play, Foul::RoughingThePasser);
        } else if x.is_above(1.0 - ROUGHNESS_SHARE) {
            if x.is_above(1.0 - ROUGHNESS_OF_DEFENCE_SHARE) {
                self.foul_of_defence(play, Foul::UnnecessaryRoughness);
            } else {
                let yards = limit(15, 100 - self.yard_line);
                self.yard_line += yards;
                self.distance = (self.distance + yards).min(99);
                charge(play, Foul::UnnecessaryRoughness, self.offence, yards);
            }
        }
    }

    fn foul_of_defence(&mut self, play: &mut Play, foul: Foul) {
        let yards = limit(15, self.yard_line);
        self.yard_line -= yards;
        self.first_and_ten();
        play.first_down = 1;
        charge(play, foul, 1 - self.offence, yards);
    }

    /// A block in the back by the returning side; returns the new start of its drive.
    pub(super) fn foul_on_return(&self, play: &mut Play, start: i32) -> i32 {
        let yards = limit(10, 100 - start);
        charge(play, Foul::IllegalBlock, 1 - self.offence, yards);
        start + yards
    }
}

fn charge(play: &mut Play, foul: Foul, side: usize, yards: i32) {
    play.foul = foul as u8;
    play.foul_side = side as u8;
    play.foul_yards = yards as i8;
}

/// A penalty is at most half the distance to the goal line.
fn limit(yards: i32, room: i32) -> i32 {
    yards.min(room / 2)
}
