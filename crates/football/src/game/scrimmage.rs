//! Plays from scrimmage: what is called, what comes of it, and how the clock runs.

use super::lineup::{defender, position};
use super::{Game, Phase};
use crate::play::{Kind, Outcome, Play};
use crate::tables::{
    COMPLETION_BY_DOWN, COMPLETION_BY_POSITION, INTERCEPTION_BY_DOWN, SACK_BY_DOWN, completion_by_field,
    dropback_share, fourth_down_shares, zone,
};

const SCRAMBLE_SHARE: f32 = 0.037;
const RUN_FUMBLE: f32 = 0.0072;
const CATCH_FUMBLE: f32 = 0.0061;
const SACK_FUMBLE: f32 = 0.074;
const FUMBLE_RETURN_TOUCHDOWN: f32 = 0.10;
const ASSIST_SHARE: f32 = 0.295;
const HALF_SACK_SHARE: f32 = 0.15;
const PASS_DEFENDED_SHARE: f32 = 0.36;

/// Effect of one (scaled) point of edge: on the completion rate, on yards a catch, on yards a run, on the sack rate,
/// and, relatively, on interceptions.
const COMPLETION_EDGE: f32 = 0.0045;
const CATCH_EDGE: f32 = 0.075;
const RUN_EDGE: f32 = 0.045;
const SACK_EDGE: f32 = -0.0012;
const INTERCEPTION_EDGE: f32 = -0.02;

/// Corrections that bring rates which emerge from the tables to the measured ones.
const COMPLETION_LEVEL: f32 = 0.0;
const RUN_LEVEL: f32 = 0.0;
const CATCH_LEVEL: f32 = 0.0;

/// How the clock behaves after a play.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    Run,
    Catch,
    Sack,
    Miss,
}

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

    /// The leading side can run the rest of the clock out, the other side's time-outs counted.
    fn can_kneel_it_out(&self) -> bool {
        let downs_left = 5 - self.down;
        if self.quarter == 4 && self.lead() > 0 {
            let stopped = self.time_outs[1 - self.offence].min(downs_left);
            self.clock <= 40 * (downs_left - stopped) + 4 * stopped
        } else {
            self.quarter == 2 && self.clock <= 25 && self.yard_line > 65
        }
    }

    fn kneel(&mut self) {
        let mut play = self.row(Kind::Kneel);
        play.player = self.lineups[self.offence].quarterback;
        play.outcome = Outcome::Tackled;
        let yards = if self.yard_line < 98 { -1 } else { 0 };
        let seconds = if self.quarter == 4 && self.time_outs[1 - self.offence] > 0 {
            self.take_time_out(&mut play, 1 - self.offence);
            4
        } else {
            40
        };
        self.advance(&mut play, yards);
        self.finish_down(play, seconds);
    }

    /// The half ends before another play: a field goal is worth trying from here, on any down.
    fn must_kick_now(&self) -> bool {
        let ends_half = self.quarter == 2 || (self.quarter >= 4 && (-3..=0).contains(&self.lead()));
        let in_range = self.yard_line <= 40;
        let winning_kick = self.quarter >= 4
            && (-2..=0).contains(&self.lead())
            && self.clock <= 25
            && self.yard_line <= 28
            && self.down >= 2;
        ends_half && in_range && (self.clock <= 8 || winning_kick)
    }

    fn fourth_down_choice(&mut self) -> Kind {
        let lead = self.lead();
        let y = self.yard_line;
        let late = self.quarter == 4 && self.clock <= 300;
        if late && lead < 0 {
            let desperate = self.clock <= 120 || (lead < -8 && self.clock <= 300);
            if lead >= -3 {
                if y <= 38 {
                    return Kind::FieldGoal;
                }
                if desperate || y <= 50 {
                    return Kind::Run;
                }
            } else if desperate || (y <= 60 && self.clock <= 240) {
                return Kind::Run;
            }
        }
        if self.quarter >= 4 && y <= 36 && (0..=3).contains(&lead) && self.clock <= 300 && self.distance > 1 {
            return Kind::FieldGoal;
        }
        let (go, kick) = fourth_down_shares(y, self.distance);
        let go = (go * self.settings.aggression).min(1.0);
        let x = self.uniform();
        if x < go {
            Kind::Run
        } else if x < go + kick * (1.0 - go) / (1.0 - go).max(kick) || y <= 35 {
            Kind::FieldGoal
        } else {
            Kind::Punt
        }
    }

    /// The measured share by down and distance, shifted on the log-odds scale by score and clock.
    fn dropback_probability(&self) -> f32 {
        let base = dropback_share(self.down, self.distance);
        let lead = self.lead();
        let mut shift = self.settings.pass_bias;
        if lead < 0 && self.clock <= 300 && (self.quarter == 2 || self.quarter == 4) {
            shift += 0.9;
        }
        if self.quarter == 2 && self.clock <= 120 {
            shift += 0.8;
        }
        if lead > 0 && self.quarter == 4 && self.clock <= 600 {
            shift -= 0.9;
        }
        if self.quarter >= 3 {
            shift -= 0.03 * lead.clamp(-14, 14) as f32;
        }
        if shift == 0.0 {
            return base;
        }
        // p e^s / (1 - p + p e^s); e^s by its rational approximation, exact enough for |s| <= 4 and the same everywhere.
        let odds = exp(shift) * base;
        odds / (1.0 - base + odds)
    }

    fn run_play(&mut self) {
        let runner = self.lineups[self.offence].runner(&mut self.random);
        let mut play = self.row(Kind::Run);
        play.player = runner;
        let word = self.random.next_u32();
        let measured = self.tables.run[zone(self.yard_line)].at(word);
        let yards = measured + self.whole_yards(RUN_EDGE * self.edge[self.offence] + RUN_LEVEL);
        self.carry(play, yards, RUN_FUMBLE, 0.10, Clock::Run);
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
            return self.carry(play, yards, SACK_FUMBLE, 0.0, Clock::Sack);
        }
        if x < sack + SCRAMBLE_SHARE {
            let mut play = self.row(Kind::Scramble);
            play.player = quarterback;
            let word = self.random.next_u32();
            let yards = self.tables.scramble.at(word);
            return self.carry(play, yards, RUN_FUMBLE, 0.35, Clock::Run);
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
            + COMPLETION_LEVEL;
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
        let word = self.random.next_u32();
        let gained = yards.min(self.yard_line);
        play.air_yards = self.tables.air_complete.at(word).min(gained.max(0)) as i8;
        self.carry(play, yards, CATCH_FUMBLE, 0.17, Clock::Catch);
    }

    fn incomplete(&mut self, mut play: Play) {
        play.outcome = Outcome::Incomplete;
        play.air_yards = self.thrown_to() as i8;
        if self.chance(PASS_DEFENDED_SHARE) {
            play.defender = defender(&mut self.random);
        }
        self.advance(&mut play, 0);
        let seconds = self.run_off(Clock::Miss);
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
    fn carry(&mut self, mut play: Play, yards: i32, fumble: f32, out_of_bounds: f32, clock: Clock) {
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
        if self.yard_line - yards >= 100 {
            play.yards = (self.yard_line - 100) as i8;
            play.outcome = Outcome::Safety;
            play.points = -2;
            play.tackler = defender(&mut self.random);
            self.record(play, 6);
            self.phase = Phase::FreeKick(side);
            return;
        }
        if x > 1.0 - out_of_bounds {
            play.outcome = Outcome::OutOfBounds;
        } else {
            play.outcome = Outcome::Tackled;
            play.tackler = defender(&mut self.random);
            let shared = if clock == Clock::Sack { HALF_SACK_SHARE } else { ASSIST_SHARE };
            if self.chance(shared) {
                let second = defender(&mut self.random);
                if second != play.tackler {
                    play.assist = second;
                }
            }
        }
        self.advance(&mut play, yards);
        let seconds = if play.outcome == Outcome::OutOfBounds && self.clock_stops_out_of_bounds() {
            6
        } else {
            self.seconds_after_tackle(&mut play, clock)
        };
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
    fn advance(&mut self, play: &mut Play, yards: i32) {
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

    fn finish_down(&mut self, play: Play, seconds: i32) {
        self.record(play, seconds);
        if self.down > 4 {
            self.start_drive(1 - self.offence, 100 - self.yard_line);
        }
    }

    /// Yards as a whole number whose mean is `yards`.
    fn whole_yards(&mut self, yards: f32) -> i32 {
        (yards + self.uniform()).floor() as i32
    }

    fn clock_stops_out_of_bounds(&self) -> bool {
        (self.quarter == 2 && self.clock <= 120) || (self.quarter >= 4 && self.clock <= 300)
    }

    fn seconds_after_tackle(&mut self, play: &mut Play, clock: Clock) -> i32 {
        if self.quarter == 2 || self.quarter >= 4 {
            if let Some(side) = self.who_stops_the_clock() {
                self.take_time_out(play, side);
                return 6;
            }
        }
        self.run_off(clock)
    }

    /// Whether a side spends a time-out late in a half: the trailing defence, or an offence that runs out of time.
    fn who_stops_the_clock(&mut self) -> Option<usize> {
        if self.clock > 160 {
            return None;
        }
        let (lead, offence) = (self.lead(), self.offence);
        let last = self.quarter >= 4;
        let defence_needs_it = last && (1..=16).contains(&lead);
        let offence_needs_it =
            if last { (-16..=0).contains(&lead) && self.clock <= 70 } else { self.clock <= 75 && self.yard_line <= 70 };
        if defence_needs_it && self.time_outs[1 - offence] > 0 && self.chance(0.85) {
            Some(1 - offence)
        } else if offence_needs_it && self.time_outs[offence] > 0 && self.chance(0.5) {
            Some(offence)
        } else {
            None
        }
    }

    fn take_time_out(&mut self, play: &mut Play, side: usize) {
        self.time_outs[side] -= 1;
        play.time_out = side as u8;
    }

    /// Seconds to the next snap, drawn from the measured run-off; a side that hurries does as in a half's last two
    /// minutes, a side that protects a lead does not even then.
    fn run_off(&mut self, clock: Clock) -> i32 {
        let lead = self.lead();
        let closing = self.quarter == 4 && self.clock <= 300;
        let hurried = if closing && lead > 0 { false } else { self.is_last_two_minutes() || (closing && lead < 0) };
        let tables = match clock {
            Clock::Run => &self.tables.run_off_run,
            Clock::Catch => &self.tables.run_off_catch,
            Clock::Sack => &self.tables.run_off_sack,
            Clock::Miss => &self.tables.run_off_miss,
        };
        let word = self.random.next_u32();
        let seconds = tables[usize::from(hurried)].at(word);
        if clock == Clock::Miss || hurried { seconds } else { (seconds as f32 * self.pace + 0.5) as i32 }
    }
}

/// The exponential function for |x| up to about 4, within 0.1%, in plain arithmetic: (1 + x/64)^64 with the
/// second-order term.
fn exp(x: f32) -> f32 {
    let mut y = 1.0 + x * (1.0 / 64.0) + x * x * (1.0 / 8192.0);
    for _ in 0..6 {
        y *= y;
    }
    y
}
