//! Plays from scrimmage: the call, the result, and the clock.

use super::clock::{After, Tempo};
use super::lineup::{defender, defender_at, position};
use super::{Game, Half, Phase, low_half};
use crate::play::{Kind, NOBODY, Outcome, Play};
use crate::tables::{
    COMPLETION_BY_DOWN, COMPLETION_BY_POSITION, INTERCEPTION_BY_DOWN, SACK_BY_DOWN, completion_by_field, zone,
};

/// Scrambles per drop-back.
const SCRAMBLE_SHARE: f32 = 0.037;
/// Fumbles lost per run, catch and sack without a touchdown. With touchdowns included, the rates are the measured
/// 0.0072, 0.0061 and 0.074.
const RUN_FUMBLE: f32 = 0.0076;
const CATCH_FUMBLE: f32 = 0.0066;
const SACK_FUMBLE: f32 = 0.078;
/// Share of lost fumbles returned for a touchdown: 0.13 a game.
const FUMBLE_RETURN_TOUCHDOWN: f32 = 0.13;
/// Share of losses into the own end zone that end in a safety: 0.060 safeties a game.
const SAFETY_SHARE: f32 = 0.42;
/// Factor on how often a side in a hurry runs out of bounds.
const HURRIED_OUT_OF_BOUNDS: f32 = 1.7;
/// Shares of gains that fall short of the first down by at most so many yards on third and on fourth down, and still
/// reach it. They bring conversions by distance to the measured ones.
const STICKS_SHARE: [f32; 2] = [0.29, 0.65];
const STICKS_REACH: [i32; 2] = [4, 5];
/// Share of runs this close to the goal line that the quarterback keeps.
const SNEAK_SHARE: f32 = 0.20;
const SNEAK_YARDS: i32 = 3;
/// Completion rate that a defence concedes when it guards against the long pass at the end of a half.
const HURRIED_COMPLETION: f32 = 0.04;
/// Leads at which, late in the game, the first back rests and the backup quarterback plays.
const STARTERS_REST_LEAD: i32 = 12;
const BACKUP_PLAYS_LEAD: i32 = 20;
const DECIDED_SECONDS: i32 = 600;
/// Roster places of the first two backs.
const FIRST_BACK: u8 = 2;
const SECOND_BACK: u8 = 3;
/// Share of interceptions without a defender ahead. The measured returns end at the goal line and so hide them.
const CLEAR_RETURN_SHARE: f32 = 0.022;
/// Shares of tackles and of sacks that two defenders may share. 23% of tackles are shared: some draw the same player
/// twice.
const ASSIST_SHARE: f32 = 0.295;
const HALF_SACK_SHARE: f32 = 0.15;
/// Share of incomplete passes without a target: 63.3% of all attempts are caught, and 66% of those with a target.
const THROWN_AWAY_SHARE: f32 = 0.11;
/// Share of incomplete passes that a defender broke up.
const PASS_DEFENDED_SHARE: f32 = 0.36;

/// Effects of one (scaled) point of edge: on the completion rate, on yards per catch, on yards per run, on the sack
/// rate, and (relative) on interceptions.
const COMPLETION_EDGE: f32 = 0.0045;
const CATCH_EDGE: f32 = 0.04;
const RUN_EDGE: f32 = 0.045;
const SACK_EDGE: f32 = -0.0020;
const INTERCEPTION_EDGE: f32 = -0.04;

/// Corrections that bring rates derived from the tables to the measured ones: the completion rate, yards per run and
/// yards per catch. The effects of field position, down and target on completions are each relative to the mean, so
/// they overlap.
const COMPLETION_LEVEL: f32 = -0.030;
const RUN_LEVEL: f32 = -0.04;
const CATCH_LEVEL: f32 = -0.13;

impl Game<'_> {
    pub(super) fn snap(&mut self, play: &mut Play) {
        self.late = self.half_ends_soon();
        self.tempo = if self.late { self.tempo_now() } else { Tempo::Normal };
        if self.late && self.can_kneel_it_out() {
            return self.kneel(play);
        }
        let (foul, pass) = self.two_uniforms();
        if self.foul_wipes_out_snap(play, foul) {
            return;
        }
        if self.late && self.must_kick_now() {
            return self.field_goal(play);
        }
        if self.down == 4 {
            match self.fourth_down_choice() {
                Kind::FieldGoal => return self.field_goal(play),
                Kind::Punt => return self.punt(play),
                _ => {}
            }
        }
        if pass.number() < self.dropback_probability() { self.dropback(play) } else { self.run_play(play) }
    }

    fn run_play(&mut self, play: &mut Play) {
        let rests = self.leads_safely_by(STARTERS_REST_LEAD);
        let lineup = &self.lineups[self.offence];
        let sneak = self.yard_line <= SNEAK_YARDS && self.random.chance(SNEAK_SHARE);
        let runner = if sneak { lineup.quarterback } else { lineup.runner(&mut self.random) };
        let runner = if rests && runner == FIRST_BACK { SECOND_BACK } else { runner };
        self.row(play, Kind::Run);
        play.player = runner;
        let word = self.random.next_u32();
        let measured = self.tables.run.get(zone(self.yard_line)).unwrap_or(&self.tables.run_open).at(word);
        let yards = measured + whole_yards(RUN_EDGE * self.edge[self.offence] + RUN_LEVEL, low_half(word));
        let yards = self.reach_for_the_sticks(yards);
        self.carry(play, yards, RUN_FUMBLE, 0.10, After::Run);
    }

    /// Whether the offence leads by `points` or more and runs out the fourth quarter.
    fn leads_safely_by(&self, points: i32) -> bool {
        self.late && self.quarter == 4 && self.lead() >= points && self.clock <= DECIDED_SECONDS
    }

    fn dropback(&mut self, play: &mut Play) {
        let edge = self.edge[self.offence];
        let down = (self.down - 1) as usize;
        let starter = self.lineups[self.offence].quarterback;
        let quarterback = if self.leads_safely_by(BACKUP_PLAYS_LEAD) { 1 - starter } else { starter };
        let x = self.uniform();
        let sack = SACK_BY_DOWN[down] + SACK_EDGE * edge;
        if x < sack {
            self.row(play, Kind::Sack);
            play.passer = quarterback;
            let word = self.random.next_u32();
            let yards = self.tables.sack.at(word).min(0);
            return self.carry(play, yards, SACK_FUMBLE, 0.0, After::Sack);
        }
        let no_throw = sack + SCRAMBLE_SHARE;
        if x < no_throw {
            self.row(play, Kind::Scramble);
            play.player = quarterback;
            let word = self.random.next_u32();
            let yards = self.tables.scramble.at(word);
            return self.carry(play, yards, RUN_FUMBLE, 0.35, After::Run);
        }
        let receiver = self.lineups[self.offence].receiver(&mut self.random);
        self.row(play, Kind::Pass);
        play.passer = quarterback;
        play.player = receiver;
        let interception = INTERCEPTION_BY_DOWN[down] * (1.0 + INTERCEPTION_EDGE * edge);
        let complete = completion_by_field(self.yard_line)
            + COMPLETION_BY_DOWN[down]
            + COMPLETION_BY_POSITION[position(receiver)]
            + COMPLETION_EDGE * edge
            + COMPLETION_LEVEL
            + if self.tempo == Tempo::Hurry { HURRIED_COMPLETION } else { 0.0 };
        // Reuses the draw, rescaled to throws.
        let x = (x - no_throw) / (1.0 - no_throw);
        if x < interception {
            self.intercepted(play);
        } else if x < interception + complete {
            self.caught(play, position(receiver));
        } else {
            self.incomplete(play);
        }
    }

    fn caught(&mut self, play: &mut Play, position: usize) {
        let word = self.random.next_u32();
        let zone = zone(self.yard_line);
        let measured =
            if zone < 5 { self.tables.catch[zone].at(word) } else { self.tables.catch_open[position].at(word) };
        let edge = self.edge[self.offence];
        let yards = measured + whole_yards(CATCH_EDGE * edge + CATCH_LEVEL, low_half(word));
        let yards = self.reach_for_the_sticks(yards);
        let word = self.random.next_u32();
        let gained = yards.min(self.yard_line);
        play.air_yards = self.tables.air_complete.at(word).min(gained.max(0)) as i8;
        self.carry(play, yards, CATCH_FUMBLE, 0.17, After::Catch);
    }

    /// On third and fourth down plays aim at the first down: some gains just short of it reach it.
    fn reach_for_the_sticks(&mut self, yards: i32) -> i32 {
        let fourth = usize::from(self.down == 4);
        let short = self.down >= 3 && yards > 0 && (1..=STICKS_REACH[fourth]).contains(&(self.distance - yards));
        let share = STICKS_SHARE[fourth];
        if short && self.chance(share) { self.distance } else { yards }
    }

    fn incomplete(&mut self, play: &mut Play) {
        play.outcome = Outcome::Incomplete;
        let (air, x) = self.thrown_to();
        play.air_yards = air as i8;
        if x.is_below(THROWN_AWAY_SHARE) {
            play.player = NOBODY;
        } else if x.is_above(1.0 - PASS_DEFENDED_SHARE) {
            play.defender = defender(&mut self.random);
        }
        self.advance(play, 0);
        let seconds = self.seconds_after_miss(play);
        self.finish_down(play, seconds);
    }

    /// Yards past the line that an uncaught pass was thrown, at most through the end zone; and a uniform draw.
    fn thrown_to(&mut self) -> (i32, Half) {
        let word = self.random.next_u32();
        (self.tables.air_incomplete.at(word).clamp(-9, self.yard_line + 9), low_half(word))
    }

    fn intercepted(&mut self, play: &mut Play) {
        let side = self.offence;
        let (air, _) = self.thrown_to();
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
        if gained >= to_go || self.chance(CLEAR_RETURN_SHARE) {
            play.return_yards = to_go as i8;
            self.add_points(play, -6);
            self.record(play, 12);
            return self.after_touchdown(1 - side);
        }
        play.return_yards = gained as i8;
        self.record(play, 7);
        self.start_drive(1 - side, to_go - gained);
    }

    /// A runner, receiver or sacked passer with the ball `yards` past the line scores, loses it, or is brought down.
    #[inline(always)]
    fn carry(&mut self, play: &mut Play, yards: i32, fumble: f32, out_of_bounds: f32, after: After) {
        let side = self.offence;
        if yards >= self.yard_line {
            play.yards = self.yard_line as i8;
            play.outcome = Outcome::Touchdown;
            self.add_points(play, 6);
            play.first_down = 1;
            self.record(play, 6);
            return self.after_touchdown(side);
        }
        let (x, foul) = self.two_uniforms();
        if x.is_below(fumble) {
            return self.fumble_lost(play, yards);
        }
        // A carrier caught in his own end zone usually gets out of it.
        let yards =
            if self.yard_line - yards >= 100 && !self.chance(SAFETY_SHARE) { self.yard_line - 99 } else { yards };
        if self.yard_line - yards >= 100 {
            play.yards = (self.yard_line - 100) as i8;
            play.outcome = Outcome::Safety;
            self.add_points(play, -2);
            play.tackler = defender(&mut self.random);
            self.record(play, 6);
            self.phase = Phase::FreeKick(side);
            return;
        }
        let out_of_bounds =
            if self.tempo == Tempo::Hurry { out_of_bounds * HURRIED_OUT_OF_BOUNDS } else { out_of_bounds };
        if x.is_above(1.0 - out_of_bounds) {
            play.outcome = Outcome::OutOfBounds;
        } else {
            play.outcome = Outcome::Tackled;
            self.tackle(play, if after == After::Sack { HALF_SACK_SHARE } else { ASSIST_SHARE });
        }
        self.advance(play, yards);
        let seconds = self.seconds_after(play, after);
        self.add_personal_foul(play, foul);
        self.finish_down(play, seconds);
    }

    /// Draws the tackler and, for a `shared` part of the tackles, a second defender.
    #[inline(always)]
    fn tackle(&mut self, play: &mut Play, shared: f32) {
        let (x, second) = self.two_uniforms();
        let (tackler, other) = (defender_at(x.number()), defender_at(second.number() / shared));
        #[expect(clippy::needless_bitwise_bool, reason = "no processor can predict a branch here")]
        let helped = second.is_below(shared) & (other != tackler);
        play.tackler = tackler;
        play.assist = if helped { other } else { NOBODY };
    }

    fn fumble_lost(&mut self, play: &mut Play, yards: i32) {
        let side = self.offence;
        let yards = yards.max(self.yard_line - 99);
        play.yards = yards as i8;
        play.outcome = Outcome::FumbleLost;
        play.defender = defender(&mut self.random);
        let to_go = 100 - (self.yard_line - yards);
        if self.chance(FUMBLE_RETURN_TOUCHDOWN) {
            play.return_yards = to_go as i8;
            self.add_points(play, -6);
            self.record(play, 11);
            return self.after_touchdown(1 - side);
        }
        play.return_yards = 0;
        self.record(play, 7);
        self.start_drive(1 - side, to_go);
    }

    /// Sets the next snap of the offence; [`Self::finish_down`] handles a failed fourth down.
    pub(super) fn advance(&mut self, play: &mut Play, yards: i32) {
        self.yard_line -= yards;
        let left = self.distance - yards;
        let reached = left <= 0;
        // Choices of values, not a branch, which no processor can predict.
        self.down = if reached { 1 } else { self.down + 1 };
        self.distance = if reached { self.yard_line.min(10) } else { left };
        play.yards = yards as i8;
        play.first_down = i8::from(reached);
    }

    pub(super) fn finish_down(&mut self, play: &mut Play, seconds: i32) {
        self.record(play, seconds);
        if self.down > 4 {
            self.start_drive(1 - self.offence, 100 - self.yard_line);
        }
    }
}

/// Yards as an integer with mean `yards`, from a uniform draw.
fn whole_yards(yards: f32, uniform: Half) -> i32 {
    // Casts truncate towards zero; the offset makes them round down. A cast to few bits takes fewer instructions.
    i32::from((yards + uniform.number() + 64.0) as u8) - 64
}
