//! Plays from scrimmage: what is called, what comes of it, and how the clock runs.

use super::clock::{After, Tempo};
use super::lineup::{defender, position};
use super::{Game, Phase};
use crate::play::{Kind, NOBODY, Outcome, Play};
use crate::tables::{
    COMPLETION_BY_DOWN, COMPLETION_BY_POSITION, INTERCEPTION_BY_DOWN, SACK_BY_DOWN, completion_by_field, zone,
};

const SCRAMBLE_SHARE: f32 = 0.037;
const RUN_FUMBLE: f32 = 0.0076;
const CATCH_FUMBLE: f32 = 0.0066;
const SACK_FUMBLE: f32 = 0.078;
const FUMBLE_RETURN_TOUCHDOWN: f32 = 0.13;
/// Share of losses reaching the own end zone that end in it: .060 safeties a game.
const SAFETY_SHARE: f32 = 0.33;
/// A side in a hurry makes for the side line this much more often.
const HURRIED_OUT_OF_BOUNDS: f32 = 1.7;
/// Share of gains up to so many yards short, on third and on fourth down, that reach the first down: what brings third
/// downs to their 39.0% of conversions and fourth downs near their 50.0%.
const STICKS_SHARE: [f32; 2] = [0.34, 0.80];
const STICKS_REACH: i32 = 4;
/// Share of runs this close to the goal line that the quarterback keeps.
const SNEAK_SHARE: f32 = 0.20;
const SNEAK_YARDS: i32 = 3;
/// A defence that guards against the long pass at the end of a half concedes this much completion rate.
const HURRIED_COMPLETION: f32 = 0.04;
const ASSIST_SHARE: f32 = 0.295;
const HALF_SACK_SHARE: f32 = 0.15;
/// Share of incomplete passes thrown to nobody: 63.3% of attempts are caught, and 66% of those that have a target.
const THROWN_AWAY_SHARE: f32 = 0.11;
const PASS_DEFENDED_SHARE: f32 = 0.36;

/// Effect of one (scaled) point of edge: on the completion rate, on yards a catch, on yards a run, on the sack rate,
/// and, relatively, on interceptions.
const COMPLETION_EDGE: f32 = 0.0045;
const CATCH_EDGE: f32 = 0.04;
const RUN_EDGE: f32 = 0.045;
const SACK_EDGE: f32 = -0.0020;
const INTERCEPTION_EDGE: f32 = -0.04;

/// Corrections that bring rates which emerge from the tables to the measured ones.
const COMPLETION_LEVEL: f32 = -0.030;
const RUN_LEVEL: f32 = -0.04;
const CATCH_LEVEL: f32 = -0.13;

impl Game<'_> {
    pub(super) fn snap(&mut self) {
        if self.can_kneel_it_out() {
            return self.kneel();
        }
        if self.foul_wipes_out_snap() {
            return;
        }
        if self.must_kick_now() {
            return self.field_goal();
        }
        if self.down == 4 {
            match self.fourth_down_choice() {
                Kind::FieldGoal => return self.field_goal(),
                Kind::Punt => return self.punt(),
                _ => {}
            }
        }
        let dropback = self.dropback_probability();
        if self.chance(dropback) { self.dropback() } else { self.run_play() }
    }

    fn run_play(&mut self) {
        let lineup = &self.lineups[self.offence];
        let sneak = self.yard_line <= SNEAK_YARDS && self.random.chance(SNEAK_SHARE);
        let runner = if sneak { lineup.quarterback } else { lineup.runner(&mut self.random) };
        let mut play = self.row(Kind::Run);
        play.player = runner;
        let word = self.random.next_u32();
        let measured = self.tables.run.get(zone(self.yard_line)).unwrap_or(&self.tables.run_open).at(word);
        let yards = measured + self.whole_yards(RUN_EDGE * self.edge[self.offence] + RUN_LEVEL);
        let yards = self.reach_for_the_sticks(yards);
        self.carry(play, yards, RUN_FUMBLE, 0.10, After::Run);
    }

    fn dropback(&mut self) {
        let edge = self.edge[self.offence];
        let down = (self.down - 1) as usize;
        let quarterback = self.lineups[self.offence].quarterback;
        let x = self.uniform();
        let sack = SACK_BY_DOWN[down] + SACK_EDGE * edge;
        if x < sack {
            let mut play = self.row(Kind::Sack);
            play.passer = quarterback;
            let word = self.random.next_u32();
            let yards = self.tables.sack.at(word).min(0);
            return self.carry(play, yards, SACK_FUMBLE, 0.0, After::Sack);
        }
        if x < sack + SCRAMBLE_SHARE {
            let mut play = self.row(Kind::Scramble);
            play.player = quarterback;
            let word = self.random.next_u32();
            let yards = self.tables.scramble.at(word);
            return self.carry(play, yards, RUN_FUMBLE, 0.35, After::Run);
        }
        let receiver = self.lineups[self.offence].receiver(&mut self.random);
        let mut play = self.row(Kind::Pass);
        play.passer = quarterback;
        play.player = receiver;
        let interception = INTERCEPTION_BY_DOWN[down] * (1.0 + INTERCEPTION_EDGE * edge);
        let complete = completion_by_field(self.yard_line)
            + COMPLETION_BY_DOWN[down]
            + COMPLETION_BY_POSITION[position(receiver)]
            + COMPLETION_EDGE * edge
            + COMPLETION_LEVEL
            + if self.tempo() == Tempo::Hurry { HURRIED_COMPLETION } else { 0.0 };
        let x = self.uniform();
        if x < interception {
            self.intercepted(play);
        } else if x < interception + complete {
            self.caught(play, position(receiver));
        } else {
            self.incomplete(play);
        }
    }

    fn caught(&mut self, mut play: Play, position: usize) {
        let word = self.random.next_u32();
        let zone = zone(self.yard_line);
        let measured =
            if zone < 5 { self.tables.catch[zone].at(word) } else { self.tables.catch_open[position].at(word) };
        let edge = self.edge[self.offence];
        let yards = measured + self.whole_yards(CATCH_EDGE * edge + CATCH_LEVEL);
        let yards = self.reach_for_the_sticks(yards);
        let word = self.random.next_u32();
        let gained = yards.min(self.yard_line);
        play.air_yards = self.tables.air_complete.at(word).min(gained.max(0)) as i8;
        self.carry(play, yards, CATCH_FUMBLE, 0.17, After::Catch);
    }

    /// On third and fourth down a play is drawn up to reach the first down: some gains that fall just short of it
    /// make it.
    fn reach_for_the_sticks(&mut self, yards: i32) -> i32 {
        let short = self.down >= 3 && yards > 0 && (1..=STICKS_REACH).contains(&(self.distance - yards));
        let share = STICKS_SHARE[usize::from(self.down == 4)];
        if short && self.chance(share) { self.distance } else { yards }
    }

    fn incomplete(&mut self, mut play: Play) {
        play.outcome = Outcome::Incomplete;
        play.air_yards = self.thrown_to() as i8;
        let x = self.uniform();
        if x < THROWN_AWAY_SHARE {
            play.player = NOBODY;
        } else if x > 1.0 - PASS_DEFENDED_SHARE {
            play.defender = defender(&mut self.random);
        }
        self.advance(&mut play, 0);
        let seconds = self.seconds_after_miss(&mut play);
        self.finish_down(play, seconds);
    }

    /// How far past the line an uncaught pass was thrown: at most out of the back of the end zone.
    fn thrown_to(&mut self) -> i32 {
        let word = self.random.next_u32();
        self.tables.air_incomplete.at(word).clamp(-9, self.yard_line + 9)
    }

    fn intercepted(&mut self, mut play: Play) {
        let side = self.offence;
        let air = self.thrown_to();
        play.outcome = Outcome::Intercepted;
        play.air_yards = air as i8;
        play.defender = defender(&mut self.random);
        let spot = self.yard_line - air;
        if spot <= 0 {
            play.return_yards = 0;
            self.record(play, 7);
            return self.start_drive(1 - side, 80);
        }
        let word = self.random.next_u32();
        let gained = self.tables.interception_return.at(word).max(0);
        let to_go = (100 - spot).max(1);
        if gained >= to_go {
            play.return_yards = to_go as i8;
            play.points = -6;
            self.record(play, 12);
            return self.after_touchdown(1 - side);
        }
        play.return_yards = gained as i8;
        self.record(play, 7);
        self.start_drive(1 - side, to_go - gained);
    }

    /// A runner, receiver or sacked passer with the ball `yards` past the line: scores, loses it, or is brought down.
    fn carry(&mut self, mut play: Play, yards: i32, fumble: f32, out_of_bounds: f32, after: After) {
        let side = self.offence;
        if yards >= self.yard_line {
            play.yards = self.yard_line as i8;
            play.outcome = Outcome::Touchdown;
            play.points = 6;
            play.first_down = 1;
            self.record(play, 6);
            return self.after_touchdown(side);
        }
        let x = self.uniform();
        if x < fumble {
            return self.fumble_lost(play, yards);
        }
        // A carrier caught in his own end zone gets out of it more often than not.
        let yards = if self.yard_line - yards >= 100 && !self.chance(SAFETY_SHARE) { self.yard_line - 99 } else { yards };
        if self.yard_line - yards >= 100 {
            play.yards = (self.yard_line - 100) as i8;
            play.outcome = Outcome::Safety;
            play.points = -2;
            play.tackler = defender(&mut self.random);
            self.record(play, 6);
            self.phase = Phase::FreeKick(side);
            return;
        }
        let out_of_bounds = if self.tempo() == Tempo::Hurry { out_of_bounds * HURRIED_OUT_OF_BOUNDS } else { out_of_bounds };
        if x > 1.0 - out_of_bounds {
            play.outcome = Outcome::OutOfBounds;
        } else {
            play.outcome = Outcome::Tackled;
            play.tackler = defender(&mut self.random);
            let shared = if after == After::Sack { HALF_SACK_SHARE } else { ASSIST_SHARE };
            if self.chance(shared) {
                let second = defender(&mut self.random);
                if second != play.tackler {
                    play.assist = second;
                }
            }
        }
        self.advance(&mut play, yards);
        let seconds = self.seconds_after(&mut play, after);
        self.add_personal_foul(&mut play);
        self.finish_down(play, seconds);
    }

    fn fumble_lost(&mut self, mut play: Play, yards: i32) {
        let side = self.offence;
        let yards = yards.max(self.yard_line - 99);
        play.yards = yards as i8;
        play.outcome = Outcome::FumbleLost;
        play.defender = defender(&mut self.random);
        let to_go = 100 - (self.yard_line - yards);
        if self.chance(FUMBLE_RETURN_TOUCHDOWN) {
            play.return_yards = to_go as i8;
            play.points = -6;
            self.record(play, 11);
            return self.after_touchdown(1 - side);
        }
        play.return_yards = 0;
        self.record(play, 7);
        self.start_drive(1 - side, to_go);
    }

    /// Sets the next snap of the offence; a fourth down that fell short is settled by [`Self::finish_down`].
    pub(super) fn advance(&mut self, play: &mut Play, yards: i32) {
        play.yards = yards as i8;
        self.yard_line -= yards;
        self.distance -= yards;
        if self.distance <= 0 {
            play.first_down = 1;
            self.first_and_ten();
        } else {
            self.down += 1;
        }
    }

    pub(super) fn finish_down(&mut self, play: Play, seconds: i32) {
        self.record(play, seconds);
        if self.down > 4 {
            self.start_drive(1 - self.offence, 100 - self.yard_line);
        }
    }

    /// Yards as a whole number whose mean is `yards`.
    fn whole_yards(&mut self, yards: f32) -> i32 {
        (yards + self.uniform()).floor() as i32
    }
}
