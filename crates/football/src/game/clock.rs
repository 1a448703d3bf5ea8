//! The clock: how many seconds go from one snap to the next, who hurries, who lets it run, who stops it.
//!
//! Away from the ends of the halves the seconds are the measured ones. Near them the two sides want opposite things,
//! so what they do is modelled: the measured seconds of the last two minutes are the mixture of both.

use super::{Game, low_bits};
use crate::play::{Kind, Outcome};
use crate::tables::Lookup;

/// Seconds of a play that stops the clock (out of bounds, a time-out), as the measured tables have them.
const STOPPED_SECONDS: i32 = 6;
/// Share of plays after which a side calls a time-out for reasons other than the clock: what is left of the 7.4 a
/// game once those near the end of the halves are counted.
const IDLE_TIME_OUT_SHARE: f32 = 0.034;

/// What kind of play the clock ran from.
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
    /// Nothing in particular.
    Normal,
    /// Time is short: line up at once.
    Hurry,
    /// The lead, or the kick that wins, is there: let it run.
    Bleed,
}

impl Game<'_> {
    /// What the offence wants of the clock now.
    pub(super) fn tempo_now(&self) -> Tempo {
        let lead = self.lead();
        match self.quarter {
            2 if self.clock <= 120 && (self.clock >= 30 || self.yard_line <= 60) => Tempo::Hurry,
            4 if lead > 0 && self.clock <= 300 => Tempo::Bleed,
            4 if lead < 0 => {
                // A side that needs more scores hurries earlier.
                let scores = (7 - lead) / 8;
                if self.clock <= 150 * scores.min(3) { Tempo::Hurry } else { Tempo::Normal }
            }
            4 | 5 if self.clock <= 300 && self.can_win_by_kick() => Tempo::Bleed,
            4 | 5 if self.clock <= 120 => Tempo::Hurry,
            _ => Tempo::Normal,
        }
    }

    /// A field goal from here wins, or in overtime decides: worth waiting for the last seconds.
    pub(super) fn can_win_by_kick(&self) -> bool {
        self.quarter >= 4 && (-2..=0).contains(&self.lead()) && self.yard_line <= 33
    }

    pub(super) fn clock_stops_out_of_bounds(&self) -> bool {
        (self.quarter == 2 && self.clock <= 120) || (self.quarter >= 4 && self.clock <= 300)
    }

    /// Seconds from the snap of a play that ended in bounds, or out of them, to the next; calls a time-out on it.
    pub(super) fn seconds_after(&mut self, after: After) -> i32 {
        if self.current().outcome == Outcome::OutOfBounds && self.clock_stops_out_of_bounds() {
            return STOPPED_SECONDS;
        }
        if let Some(side) = self.who_stops_the_clock() {
            self.take_time_out(side);
            return STOPPED_SECONDS;
        }
        match self.tempo {
            Tempo::Normal => self.measured_seconds(after),
            Tempo::Hurry if self.clock <= 35 => 10 + self.random.below(5) as i32,
            Tempo::Hurry => 11 + self.random.below(13) as i32,
            Tempo::Bleed => {
                let seconds = 38 + self.random.below(8) as i32;
                // The winning kick is taken with the last seconds, not after them.
                if self.can_win_by_kick() { seconds.min((self.clock - 4).max(4)) } else { seconds }
            }
        }
    }

    /// Seconds after a pass that fell: the clock stands.
    pub(super) fn seconds_after_miss(&mut self) -> i32 {
        self.measured_seconds(After::Miss)
    }

    fn measured_seconds(&mut self, after: After) -> i32 {
        let word = self.random.next_u32();
        let low = low_bits(word);
        if low < IDLE_TIME_OUT_SHARE {
            let side = usize::from(low >= IDLE_TIME_OUT_SHARE / 2.0);
            if self.time_outs[side] > 1 {
                self.take_time_out(side);
            }
        }
        let table: &Lookup = match after {
            After::Run => &self.tables.run_off_run,
            After::Catch => &self.tables.run_off_catch,
            After::Sack => &self.tables.run_off_sack,
            After::Miss => return self.tables.run_off_miss.at(word),
        };
        (table.at(word) as f32 * self.pace + 0.5) as i32
    }

    /// Whether a side spends a time-out late in a half: the defence while the lead runs out, or an offence that runs
    /// out of time.
    fn who_stops_the_clock(&mut self) -> Option<usize> {
        let (side, wanted) = match self.tempo {
            Tempo::Bleed if self.lead() <= 16 => (1 - self.offence, self.clock <= 180),
            Tempo::Hurry => (self.offence, self.clock <= 100 && self.yard_line <= 75),
            _ => return None,
        };
        let share = if self.clock <= 35 { 1.0 } else { 0.6 };
        (wanted && self.time_outs[side] > 0 && self.chance(share)).then_some(side)
    }

    fn take_time_out(&mut self, side: usize) {
        self.time_outs[side] -= 1;
        self.current().time_out = side as u8;
    }

    /// The leading side can run the rest of the clock out by kneeling, the other side's time-outs counted.
    pub(super) fn can_kneel_it_out(&self) -> bool {
        if self.quarter == 4 && self.lead() > 0 {
            let waits = 4 - self.down;
            let stopped = self.time_outs[1 - self.offence].min(waits);
            self.clock <= 40 * (waits - stopped) + 3 * (waits + 1)
        } else {
            self.quarter == 2 && self.clock <= 25 && self.yard_line > 65
        }
    }

    pub(super) fn kneel(&mut self) {
        self.row(Kind::Kneel);
        self.current().player = self.lineups[self.offence].quarterback;
        self.current().outcome = Outcome::Tackled;
        let yards = if self.yard_line < 98 { -1 } else { 0 };
        let other = 1 - self.offence;
        let seconds = if self.quarter == 4 && self.time_outs[other] > 0 && self.lead() <= 8 {
            self.take_time_out(other);
            3
        } else {
            42
        };
        self.advance(yards);
        self.finish_down(seconds);
    }
}
