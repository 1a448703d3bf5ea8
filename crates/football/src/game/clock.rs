//! The clock: seconds between snaps, hurrying, letting the clock run, and stopping it.
//!
//! Away from the ends of the halves, the seconds follow the measured tables. Near the ends the two sides want opposite
//! things, and the measured seconds of the last two minutes mix both, so the model decides for each side.

use super::{Game, low_half};
use crate::play::{Kind, Outcome, Play};

/// Seconds of a play that stops the clock (out of bounds, a time-out), from the measured tables.
const STOPPED_SECONDS: i32 = 6;
/// Share of plays after which a side calls a time-out for reasons other than the clock. It covers the remainder of the
/// measured 7.4 a game, after the time-outs near the end of the halves.
const IDLE_TIME_OUT_SHARE: f32 = 0.034;

/// Seconds on the clock, by quarter, from which on the end of a half matters; -1 for never.
const LATE_SECONDS: [i32; 8] = [-1, -1, 120, -1, 600, 600, -1, -1];

/// The kind of play before the clock ran, in the order of the tables of seconds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Run,
    Catch,
    Sack,
    Miss,
}

/// What the offence wants of the clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tempo {
    /// No preference.
    Normal,
    /// Time is short: line up at once.
    Hurry,
    /// Let the clock run: the side leads, or is about to kick the winning field goal.
    Bleed,
}

impl Game<'_> {
    /// Whether any rule for the end of a half may apply. None of them looks further ahead.
    pub(super) fn half_ends_soon(&self) -> bool {
        self.clock <= LATE_SECONDS[self.quarter as usize % LATE_SECONDS.len()]
    }

    /// What the offence wants of the clock now.
    pub(super) fn tempo_now(&self) -> Tempo {
        let lead = self.lead();
        match self.quarter {
            2 if self.clock <= 120 && (self.clock >= 30 || self.yard_line <= 60) => Tempo::Hurry,
            4 if lead > 0 && self.clock <= 300 => Tempo::Bleed,
            4 if lead < 0 => {
                // A side that needs several scores hurries earlier.
                let scores = (7 - lead) / 8;
                if self.clock <= 150 * scores.min(3) { Tempo::Hurry } else { Tempo::Normal }
            }
            4 | 5 if self.clock <= 300 && self.can_win_by_kick() => Tempo::Bleed,
            4 | 5 if self.clock <= 120 => Tempo::Hurry,
            _ => Tempo::Normal,
        }
    }

    /// Whether a field goal from here wins, or decides overtime: the offence then waits for the last seconds.
    pub(super) fn can_win_by_kick(&self) -> bool {
        self.quarter >= 4 && (-2..=0).contains(&self.lead()) && self.yard_line <= 33
    }

    pub(super) fn clock_stops_out_of_bounds(&self) -> bool {
        self.late && (self.quarter == 2 || self.clock <= 300)
    }

    /// Seconds from the snap of a play to the next snap. May call a time-out.
    pub(super) fn seconds_after(&mut self, play: &mut Play, after: After) -> i32 {
        if play.outcome == Outcome::OutOfBounds && self.clock_stops_out_of_bounds() {
            return STOPPED_SECONDS;
        }
        if let Some(side) = self.who_stops_the_clock() {
            self.take_time_out(play, side);
            return STOPPED_SECONDS;
        }
        match self.tempo {
            Tempo::Normal => self.measured_seconds(play, after),
            Tempo::Hurry if self.clock <= 35 => 10 + self.random.below(5) as i32,
            Tempo::Hurry => 11 + self.random.below(13) as i32,
            Tempo::Bleed => {
                let seconds = 38 + self.random.below(8) as i32;
                // The winning kick needs a few seconds on the clock.
                if self.can_win_by_kick() { seconds.min((self.clock - 4).max(4)) } else { seconds }
            }
        }
    }

    /// Seconds after an incomplete pass, which stops the clock.
    pub(super) fn seconds_after_miss(&mut self, play: &mut Play) -> i32 {
        self.measured_seconds(play, After::Miss)
    }

    fn measured_seconds(&mut self, play: &mut Play, after: After) -> i32 {
        let word = self.random.next_u32();
        let low = low_half(word);
        if low.is_below(IDLE_TIME_OUT_SHARE) {
            let side = usize::from(!low.is_below(IDLE_TIME_OUT_SHARE / 2.0));
            if self.time_outs[side] > 1 {
                self.take_time_out(play, side);
            }
        }
        // The clock stands still after a miss: the pace plays no part.
        let pace = if after == After::Miss { 1.0 } else { self.pace };
        // A cast to few bits takes fewer instructions.
        i32::from((self.tables.run_off[after as usize].at(word) as f32 * pace + 0.5) as u8)
    }

    /// The side that calls a time-out late in a half, if any: the defence against a leader who lets the clock run, or
    /// an offence short of time.
    fn who_stops_the_clock(&mut self) -> Option<usize> {
        let (side, wanted) = match self.tempo {
            Tempo::Bleed if self.lead() <= 16 => (1 - self.offence, self.clock <= 180),
            Tempo::Hurry => (self.offence, self.clock <= 100 && self.yard_line <= 75),
            _ => return None,
        };
        let share = if self.clock <= 35 { 1.0 } else { 0.6 };
        (wanted && self.time_outs[side] > 0 && self.chance(share)).then_some(side)
    }

    fn take_time_out(&mut self, play: &mut Play, side: usize) {
        self.time_outs[side] -= 1;
        play.time_out = side as u8;
    }

    /// Whether the leading side can run out the clock by kneeling, despite the other side's time-outs.
    pub(super) fn can_kneel_it_out(&self) -> bool {
        if self.quarter == 4 && self.lead() > 0 {
            let waits = 4 - self.down;
            let stopped = self.time_outs[1 - self.offence].min(waits);
            self.clock <= 40 * (waits - stopped) + 3 * (waits + 1)
        } else {
            self.quarter == 2 && self.clock <= 25 && self.yard_line > 65
        }
    }

    pub(super) fn kneel(&mut self, play: &mut Play) {
        self.row(play, Kind::Kneel);
        play.player = self.lineups[self.offence].quarterback;
        play.outcome = Outcome::Tackled;
        let yards = if self.yard_line < 98 { -1 } else { 0 };
        let other = 1 - self.offence;
        let seconds = if self.quarter == 4 && self.time_outs[other] > 0 && self.lead() <= 8 {
            self.take_time_out(play, other);
            3
        } else {
            42
        };
        self.advance(play, yards);
        self.finish_down(play, seconds);
    }
}
