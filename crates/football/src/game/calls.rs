//! Play calls: run or pass, and what to do on fourth down. They follow the measured shares and, late in a game, the
//! score.

use super::Game;
use super::clock::Tempo;
use crate::play::Kind;
use crate::tables::{LEAD_MAX, dropback_odds, fourth_down_shares};

/// Yards to the goal line from which a side still tries a field goal: with time left, and on the half's last play.
const KICK_RANGE: i32 = 36;
const LAST_KICK_RANGE: i32 = 44;
/// Share of fourth downs gone for, without those late in a game. The measured shares include the late ones, but the
/// model decides these separately.
const EARLY_GO_SHARE: f32 = 0.7;
/// Factors on the odds of a pass: for a side in a hurry, for a side that lets the clock run, and for a side that leads
/// in the last ten minutes.
const PASS_IN_A_HURRY: f32 = 3.67;
const PASS_WITH_THE_LEAD: f32 = 0.5;
const PASS_BEFORE_THE_LEAD_IS_SAFE: f32 = 0.6;
/// With this many seconds left, a play from scrimmage leaves no time for a kick.
const LAST_PLAY_SECONDS: i32 = 8;

impl Game<'_> {
    /// Whether a side must kick for goal now, on any down: the half or the game may end before the next play.
    pub(super) fn must_kick_now(&self) -> bool {
        if self.quarter == 2 {
            let no_time = self.clock <= LAST_PLAY_SECONDS
                || (self.clock <= 16 && self.time_outs[self.offence] == 0 && self.down > 1);
            return no_time && self.yard_line <= LAST_KICK_RANGE;
        }
        if self.quarter < 4 || !(-3..=0).contains(&self.lead()) {
            return false;
        }
        let no_time = self.clock <= LAST_PLAY_SECONDS || (self.clock <= 20 && self.time_outs[self.offence] == 0);
        let sure = self.can_win_by_kick() && self.clock <= 25 && self.down >= 2;
        (no_time && self.yard_line <= LAST_KICK_RANGE) || sure
    }

    pub(super) fn fourth_down_choice(&mut self) -> Kind {
        if let Some(kind) = self.late_fourth_down() {
            return kind;
        }
        let y = self.yard_line;
        let (go, kick) = fourth_down_shares(y, self.distance);
        // Close to the goal line the clock matters little.
        let early = if y <= 10 { 1.0 } else { EARLY_GO_SHARE };
        let go = (go * early * self.settings.aggression).min(1.0);
        let x = self.uniform();
        if x < go {
            Kind::Run
        } else if y <= 35 || x < go + kick {
            Kind::FieldGoal
        } else {
            Kind::Punt
        }
    }

    /// The call on fourth down that the score forces late in a game and in overtime. A side that needs a touchdown goes
    /// for it; a side that needs a field goal kicks.
    fn late_fourth_down(&self) -> Option<Kind> {
        if !self.late || self.quarter < 4 {
            return None;
        }
        let y = self.yard_line;
        let late = self.quarter == 5 || self.clock <= 300;
        let kick = |range: i32| (late && y <= range).then_some(Kind::FieldGoal);
        let go_within = |seconds: i32| (self.clock <= seconds).then_some(Kind::Run);
        match self.lead() {
            0..=5 if self.distance > 1 || self.clock <= 60 => kick(KICK_RANGE),
            -3..=-1 => kick(if self.clock <= 120 { LAST_KICK_RANGE } else { KICK_RANGE }).or(go_within(110)),
            -8..=-4 => go_within(if y <= 50 { 400 } else { 120 }),
            // Two scores behind: one of them may be a field goal.
            -11..=-9 if self.distance > 3 && self.clock > 45 => kick(KICK_RANGE).or(go_within(150)),
            ..=-9 => go_within(if y <= 50 { 450 } else { 150 }),
            _ => None,
        }
    }

    /// The measured share by down and distance; game plan, score and clock multiply its odds.
    pub(super) fn dropback_probability(&self) -> f32 {
        let mut odds = dropback_odds(self.down, self.distance) * self.pass_plan[self.offence];
        if self.late {
            odds *= match self.tempo {
                Tempo::Hurry => PASS_IN_A_HURRY,
                Tempo::Bleed => PASS_WITH_THE_LEAD,
                Tempo::Normal if self.quarter == 4 && self.lead() > 0 => PASS_BEFORE_THE_LEAD_IS_SAFE,
                Tempo::Normal => 1.0,
            };
        }
        if self.quarter >= 3 {
            let lead = self.lead();
            odds *= self.tables.pass_odds_by_lead[(lead.clamp(-LEAD_MAX, LEAD_MAX) + LEAD_MAX) as usize];
        }
        odds / (1.0 + odds)
    }
}
