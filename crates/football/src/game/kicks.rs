//! Kicks: kick-offs, free kicks, punts, field goals, and tries after a touchdown.

use super::lineup::defender;
use super::{Game, KICKOFF_YARD_LINE, Phase};
use crate::play::{Kind, Outcome, Play};
use crate::tables::field_goal_share;

/// Share of touchdowns followed by a try for two points before the score suggests one.
const EARLY_TWO_POINT_SHARE: f32 = 0.03;
/// Share of missed field goals that were blocked.
const FIELD_GOAL_BLOCKED_SHARE: f32 = 0.12;
/// Share of punts from up to 45 yards out that end in a touchback; shares returned of those and of longer ones.
const SHORT_PUNT_TOUCHBACK: f32 = 0.10;
const SHORT_PUNT_RETURNED: f32 = 0.12;
const LONG_PUNT_RETURNED: f32 = 0.49;
/// Share of returned punts with a block in the back.
const BLOCK_SHARE: f32 = 0.10;
/// A field goal is 17 yards longer than the distance to the goal line: 7 behind the line and 10 of end zone.
const FIELD_GOAL_EXTRA_YARDS: i32 = 17;
const EXTRA_POINT_MADE: f32 = 0.941;
const TWO_POINT_MADE: f32 = 0.48;
const TWO_POINT_PASS: f32 = 0.65;
const ONSIDE_RECOVERED: f32 = 0.10;
const KICK_RETURN_TOUCHDOWN: f32 = 0.0025 / 0.40;
const PUNT_BLOCKED: f32 = 0.005;
const PUNT_RETURN_TOUCHDOWN: f32 = 0.0085;

impl Game<'_> {
    pub(super) fn kickoff(&mut self, play: &mut Play, side: usize) {
        self.offence = side;
        self.yard_line = KICKOFF_YARD_LINE;
        self.drive += 1;
        let behind = -self.lead();
        let must_recover = self.quarter == 4
            && ((self.clock <= 150 && (1..=16).contains(&behind)) || (self.clock <= 300 && behind >= 12));
        if must_recover {
            return self.onside_kick(play, side);
        }
        self.row(play, Kind::Kickoff);
        play.yards = 65;
        if self.chance(self.settings.touchback_share) {
            play.outcome = Outcome::Touchback;
            self.record(play, 0);
            return self.resume_drive(1 - side, 100 - self.settings.touchback_yard_line);
        }
        self.return_kick(play, side, 0);
    }

    pub(super) fn free_kick(&mut self, play: &mut Play, side: usize) {
        self.offence = side;
        self.yard_line = 80;
        self.drive += 1;
        self.row(play, Kind::Kickoff);
        play.yards = 60;
        self.return_kick(play, side, 20);
    }

    /// The receivers return a kick caught `caught` yards in front of their goal line.
    fn return_kick(&mut self, play: &mut Play, side: usize, caught: i32) {
        self.name_returner(play, side, 0);
        let seconds = 5 + self.random.below(3) as i32;
        if self.chance(KICK_RETURN_TOUCHDOWN) {
            play.outcome = Outcome::Returned;
            play.return_yards = (100 - caught).min(104) as i8;
            self.add_points(play, -6);
            self.record(play, seconds + 6);
            return self.after_touchdown(1 - side);
        }
        let word = self.random.next_u32();
        let gained = self.tables.kick_return.at(word).clamp(0, 75 - caught);
        play.outcome = Outcome::Returned;
        play.return_yards = gained as i8;
        play.tackler = defender(&mut self.random);
        self.record(play, seconds);
        self.resume_drive(1 - side, 100 - (caught + gained).max(1));
    }

    fn onside_kick(&mut self, play: &mut Play, side: usize) {
        self.row(play, Kind::OnsideKick);
        play.yards = 11;
        let recovered = self.chance(ONSIDE_RECOVERED);
        play.outcome = if recovered { Outcome::Recovered } else { Outcome::Returned };
        self.record(play, 3);
        if recovered {
            self.resume_drive(side, 54);
        } else {
            self.resume_drive(1 - side, 46);
        }
    }

    pub(super) fn try_for_points(&mut self, play: &mut Play) {
        let side = self.offence;
        if self.wants_two_points() {
            self.yard_line = 2;
            let pass = self.chance(TWO_POINT_PASS);
            self.row(play, if pass { Kind::TwoPointPass } else { Kind::TwoPointRun });
            if pass {
                play.passer = self.lineups[side].quarterback;
                play.player = self.lineups[side].receiver(&mut self.random);
            } else {
                play.player = self.lineups[side].runner(&mut self.random);
            }
            if self.chance(TWO_POINT_MADE) {
                play.outcome = Outcome::Good;
                self.add_points(play, 2);
            } else {
                play.outcome = Outcome::Missed;
            }
            self.record(play, 0);
        } else {
            self.row(play, Kind::ExtraPoint);
            play.yards = 33;
            if self.chance(EXTRA_POINT_MADE) {
                play.outcome = Outcome::Good;
                self.add_points(play, 1);
            } else {
                play.outcome = Outcome::Missed;
            }
            self.record(play, 0);
        }
        self.phase = Phase::Kickoff(side);
    }

    /// The usual chart: the leads, after the touchdown's six points and late in the game, at which two more points are
    /// worth most.
    fn wants_two_points(&mut self) -> bool {
        let lead = self.lead();
        let late = self.quarter == 4 || (self.quarter == 3 && self.clock < 120);
        if late {
            matches!(lead, -18 | -16 | -13 | -10 | -5 | -2 | 1 | 5 | 12)
        } else {
            self.chance(EARLY_TWO_POINT_SHARE)
        }
    }

    pub(super) fn field_goal(&mut self, play: &mut Play) {
        let side = self.offence;
        self.row(play, Kind::FieldGoal);
        let yards = self.yard_line + FIELD_GOAL_EXTRA_YARDS;
        play.yards = yards as i8;
        let seconds = 4.min(self.clock);
        if self.chance(field_goal_share(yards - self.kick_yards)) {
            play.outcome = Outcome::Good;
            self.add_points(play, 3);
            self.record(play, seconds);
            self.phase = Phase::Kickoff(side);
        } else {
            play.outcome = if self.chance(FIELD_GOAL_BLOCKED_SHARE) { Outcome::Blocked } else { Outcome::Missed };
            self.record(play, seconds);
            self.start_drive(1 - side, (100 - (self.yard_line + 7)).min(80));
        }
    }

    pub(super) fn punt(&mut self, play: &mut Play) {
        let side = self.offence;
        let y = self.yard_line;
        self.row(play, Kind::Punt);
        let seconds = 7 + self.random.below(7) as i32;
        if self.chance(PUNT_BLOCKED) {
            play.outcome = Outcome::Blocked;
            self.record(play, seconds);
            return self.start_drive(1 - side, 100 - (y + 8).min(99));
        }
        let table = match y {
            ..=45 => 0,
            46..=55 => 1,
            56..=65 => 2,
            _ => 3,
        };
        let word = self.random.next_u32();
        let gross = self.tables.punt[table].at(word).min(y);
        let fate = self.uniform();
        let touchback = if y <= 45 { SHORT_PUNT_TOUCHBACK } else { 0.0 };
        if fate < touchback || gross == y {
            play.outcome = Outcome::Touchback;
            play.yards = y as i8;
            self.record(play, seconds);
            return self.start_drive(1 - side, 80);
        }
        play.yards = gross as i8;
        let caught = y - gross;
        let returned = if y <= 45 { SHORT_PUNT_RETURNED } else { LONG_PUNT_RETURNED };
        let fate = self.uniform();
        if fate < returned {
            return self.return_punt(play, side, caught, seconds);
        }
        let rest = (fate - returned) / (1.0 - returned);
        play.outcome = if rest < 0.53 {
            Outcome::FairCatch
        } else if rest < 0.80 {
            Outcome::Downed
        } else {
            Outcome::OutOfBounds
        };
        if play.outcome == Outcome::FairCatch {
            self.name_returner(play, side, 1);
        }
        self.record(play, seconds);
        self.start_drive(1 - side, 100 - caught);
    }

    fn return_punt(&mut self, play: &mut Play, side: usize, caught: i32, seconds: i32) {
        self.name_returner(play, side, 1);
        play.outcome = Outcome::Returned;
        if self.chance(PUNT_RETURN_TOUCHDOWN) {
            play.return_yards = (100 - caught) as i8;
            self.add_points(play, -6);
            self.record(play, seconds + 5);
            return self.after_touchdown(1 - side);
        }
        let word = self.random.next_u32();
        let gained = self.tables.punt_return.at(word).clamp(1 - caught, 99 - caught).min(60);
        play.return_yards = gained as i8;
        play.tackler = defender(&mut self.random);
        let mut start = 100 - caught - gained;
        if self.chance(BLOCK_SHARE) {
            start = self.foul_on_return(play, start);
        }
        self.record(play, seconds);
        self.start_drive(1 - side, start);
    }
}
