//! Adds one play to a game's counts.

use super::{BoxScore, Drive, Score, Scored, Stat, leader};
use crate::play::{Kind, NOBODY, Outcome, Play};

const RACES: [i8; 5] = [10, 15, 20, 25, 30];
const TOUCHDOWN_DRIVE: usize = 0;
const FIELD_GOAL_DRIVE: usize = 1;
const PUNT_DRIVE: usize = 2;
const TURNOVER_DRIVE: usize = 3;
const DOWNS_DRIVE: usize = 4;

impl BoxScore {
    pub(super) fn add(&mut self, play: &Play) {
        if play.drive != self.drive.number {
            self.end_drive();
            self.drive = Drive { number: play.drive, ..Drive::default() };
        }
        let quarter = (play.quarter - 1) as usize;
        self.overtime |= quarter == 4;
        let side = usize::from(play.offence);
        let counts = &mut self.sides[side].quarters[quarter];
        counts[Stat::Possession as usize] += i16::from(play.run_off);
        counts[Stat::FirstDowns as usize] += i16::from(play.first_down);
        if play.foul != NOBODY {
            let fouled = &mut self.sides[usize::from(play.foul_side)].quarters[quarter];
            fouled[Stat::Penalties as usize] += 1;
            fouled[Stat::PenaltyYards as usize] += i16::from(play.foul_yards);
        }
        if play.down > 0 {
            self.add_to_drive(play, side);
        }
        match play.kind {
            Kind::Run | Kind::Scramble | Kind::Kneel => self.add_run(play, side, quarter),
            Kind::Pass => self.add_pass(play, side, quarter),
            Kind::Sack => self.add_sack(play, side, quarter),
            Kind::Punt => self.add_punt(play, side),
            Kind::FieldGoal => self.add_field_goal(play, side, quarter),
            Kind::Kickoff | Kind::OnsideKick => self.add_kickoff(play, side),
            Kind::ExtraPoint => self.add_extra_point(play, side, quarter),
            Kind::TwoPointPass | Kind::TwoPointRun => {
                self.sides[side].two_points[0] += 1;
                self.sides[side].two_points[1] += i16::from(play.points == 2);
            }
            Kind::Penalty => {}
        }
        if play.points != 0 {
            self.add_points(play, side, quarter);
        }
    }

    fn add_to_drive(&mut self, play: &Play, side: usize) {
        let drive = &mut self.drive;
        drive.side = side;
        drive.in_red_zone |= play.yard_line <= 20;
        drive.first_downs += i16::from(play.first_down);
        if play.kind == Kind::Penalty {
            drive.end = None;
            return;
        }
        let scrimmage = !matches!(play.kind, Kind::Punt | Kind::FieldGoal);
        let converted = play.first_down;
        if scrimmage {
            drive.plays += 1;
            drive.yards += i16::from(play.yards);
            if self.first_play == 0 {
                self.first_play = 1 + i16::from(play.kind as u8);
            }
            if play.down == 3 {
                self.sides[side].third_downs[0] += 1;
                self.sides[side].third_downs[1] += i16::from(converted);
            } else if play.down == 4 {
                self.sides[side].fourth_downs[0] += 1;
                self.sides[side].fourth_downs[1] += i16::from(converted);
            }
        }
        drive.end = match (play.kind, play.outcome) {
            (_, Outcome::Touchdown) => Some(TOUCHDOWN_DRIVE),
            (Kind::FieldGoal, Outcome::Good) => Some(FIELD_GOAL_DRIVE),
            (Kind::Punt, _) => Some(PUNT_DRIVE),
            (_, Outcome::Intercepted | Outcome::FumbleLost) => Some(TURNOVER_DRIVE),
            _ if scrimmage && play.down == 4 && converted == 0 => Some(DOWNS_DRIVE),
            _ => None,
        };
    }

    /// Counts the current possession as finished.
    pub(super) fn end_drive(&mut self) {
        let drive = self.drive;
        if drive.plays == 0 && drive.end.is_none() {
            return;
        }
        let side = &mut self.sides[drive.side];
        side.drives += 1;
        side.longest_drive_plays = side.longest_drive_plays.max(drive.plays);
        side.longest_drive_yards = side.longest_drive_yards.max(drive.yards);
        side.red_zone[0] += i16::from(drive.in_red_zone);
        if let Some(end) = drive.end {
            side.drive_ends[end] += 1;
            side.red_zone[1] += i16::from(drive.in_red_zone && end == TOUCHDOWN_DRIVE);
            side.three_and_outs += i16::from(end == PUNT_DRIVE && drive.plays <= 3 && drive.first_downs == 0);
        }
    }

    /// Credits the defenders who brought the carrier down.
    fn add_tackle(&mut self, play: &Play, side: usize) {
        let defence = &mut self.sides[1 - side].players;
        let shared = play.assist != NOBODY;
        if let Some(tackler) = defence.get_mut(usize::from(play.tackler)) {
            if shared {
                tackler.assisted += 1;
            } else {
                tackler.solo += 1;
            }
            tackler.for_loss += i16::from(play.yards < 0);
            if play.kind == Kind::Sack {
                tackler.half_sacks += if shared { 1 } else { 2 };
            }
        }
        if let Some(second) = defence.get_mut(usize::from(play.assist)) {
            second.assisted += 1;
            second.half_sacks += i16::from(play.kind == Kind::Sack);
        }
    }

    fn add_fumble(&mut self, play: &Play, side: usize, quarter: usize, carrier: u8) {
        if play.outcome != Outcome::FumbleLost {
            return;
        }
        self.sides[side].quarters[quarter][Stat::FumblesLost as usize] += 1;
        self.sides[side].players[usize::from(carrier)].fumbles_lost += 1;
        if let Some(forcer) = self.sides[1 - side].players.get_mut(usize::from(play.defender)) {
            forcer.forced += 1;
        }
    }

    fn add_run(&mut self, play: &Play, side: usize, quarter: usize) {
        let yards = i16::from(play.yards);
        let team = &mut self.sides[side];
        team.quarters[quarter][Stat::Plays as usize] += 1;
        team.quarters[quarter][Stat::RushYards as usize] += yards;
        team.longest_rush = team.longest_rush.max(yards);
        let runner = &mut team.players[usize::from(play.player)];
        runner.rushes += 1;
        runner.rush_yards += yards;
        runner.rush_long = runner.rush_long.max(yards);
        if quarter < 2 {
            runner.half_rush_yards += yards;
        }
        if play.points == 6 {
            runner.rush_touchdowns += 1;
            team.touchdowns_by[1] += 1;
        }
        self.add_fumble(play, side, quarter, play.player);
        self.add_tackle(play, side);
    }

    fn add_pass(&mut self, play: &Play, side: usize, quarter: usize) {
        let team = &mut self.sides[side];
        team.quarters[quarter][Stat::Plays as usize] += 1;
        let thrower = usize::from(play.passer);
        team.players[thrower].attempts += 1;
        if let Some(target) = team.players.get_mut(usize::from(play.player)) {
            target.targets += 1;
        }
        match play.outcome {
            Outcome::Incomplete => {
                if let Some(d) = self.sides[1 - side].players.get_mut(usize::from(play.defender)) {
                    d.defended += 1;
                }
                return;
            }
            Outcome::Intercepted => {
                team.quarters[quarter][Stat::Interceptions as usize] += 1;
                team.players[thrower].interceptions += 1;
                if let Some(d) = self.sides[1 - side].players.get_mut(usize::from(play.defender)) {
                    d.taken += 1;
                    d.defended += 1;
                }
                return;
            }
            _ => {}
        }
        let yards = i16::from(play.yards);
        let touchdown = i16::from(play.points == 6);
        team.quarters[quarter][Stat::PassYards as usize] += yards;
        team.longest_catch = team.longest_catch.max(yards);
        team.touchdowns_by[0] += touchdown;
        let passer = &mut team.players[thrower];
        passer.completions += 1;
        passer.pass_yards += yards;
        passer.pass_long = passer.pass_long.max(yards);
        passer.pass_touchdowns += touchdown;
        if quarter < 2 {
            passer.half_pass_yards += yards;
        }
        if quarter == 0 {
            passer.quarter_pass_yards += yards;
        }
        let receiver = &mut team.players[usize::from(play.player)];
        receiver.catches += 1;
        receiver.catch_yards += yards;
        receiver.catch_long = receiver.catch_long.max(yards);
        receiver.catch_touchdowns += touchdown;
        receiver.yards_after_catch += yards - i16::from(play.air_yards);
        if quarter < 2 {
            receiver.half_catch_yards += yards;
        }
        self.add_fumble(play, side, quarter, play.player);
        self.add_tackle(play, side);
    }

    fn add_sack(&mut self, play: &Play, side: usize, quarter: usize) {
        let team = &mut self.sides[side];
        team.quarters[quarter][Stat::Plays as usize] += 1;
        team.quarters[quarter][Stat::SacksAllowed as usize] += 1;
        team.players[usize::from(play.passer)].sacked += 1;
        self.add_fumble(play, side, quarter, play.passer);
        self.add_tackle(play, side);
    }

    fn add_punt(&mut self, play: &Play, side: usize) {
        const PUNTER: usize = 16;
        let yards = i16::from(play.yards);
        let team = &mut self.sides[side];
        team.punts += 1;
        team.punt_yards += yards;
        team.longest_punt = team.longest_punt.max(yards);
        let returned = if play.outcome == Outcome::Returned { i16::from(play.return_yards) } else { 0 };
        let left = i16::from(play.yard_line) - yards + returned;
        let short = !matches!(play.outcome, Outcome::Touchback | Outcome::Blocked) && left < 20;
        team.players[PUNTER].inside_twenty += i16::from(short);
        self.sides[1 - side].punt_return_yards += returned;
        if play.points == -6 {
            self.sides[1 - side].return_touchdowns += 1;
        }
    }

    fn add_field_goal(&mut self, play: &Play, side: usize, quarter: usize) {
        const KICKER: usize = 15;
        let yards = i16::from(play.yards);
        let team = &mut self.sides[side];
        team.field_goals += 1;
        if play.points == 3 {
            team.quarters[quarter][Stat::FieldGoals as usize] += 1;
            team.longest_field_goal = team.longest_field_goal.max(yards);
            let kicker = &mut team.players[KICKER];
            kicker.kicks_made[((yards / 10 - 2).clamp(0, 3)) as usize] += 1;
            if quarter < 2 {
                kicker.half_kick_points += 3;
            }
        }
    }

    fn add_kickoff(&mut self, play: &Play, side: usize) {
        self.sides[side].kickoffs += 1;
        self.sides[side].touchbacks += i16::from(play.outcome == Outcome::Touchback);
        if play.return_yards > 0 {
            self.sides[1 - side].kick_return_yards += i16::from(play.return_yards);
        }
        if play.points == -6 {
            self.sides[1 - side].return_touchdowns += 1;
        }
    }

    fn add_extra_point(&mut self, play: &Play, side: usize, quarter: usize) {
        const KICKER: usize = 15;
        let team = &mut self.sides[side];
        team.extra_points[0] += 1;
        team.extra_points[1] += i16::from(play.points);
        if quarter < 2 {
            team.players[KICKER].half_kick_points += i16::from(play.points);
        }
    }

    fn add_points(&mut self, play: &Play, offence: usize, quarter: usize) {
        let scorer = if play.points > 0 { offence } else { 1 - offence };
        let points = i16::from(play.points.abs());
        self.sides[scorer].quarters[quarter][Stat::Points as usize] += points;
        let elapsed = elapsed(play);
        let score = match play.points {
            6 | -6 => Score::Touchdown,
            3 => Score::FieldGoal,
            -2 => Score::Safety,
            _ => Score::None,
        };
        if score != Score::None {
            let scored = Scored { score, side: scorer as i16 + 1, at: elapsed };
            self.add_score(play, scored, scorer, quarter);
        }
        let late = play.clock <= 120;
        self.late_score[0] |= late && quarter == 1;
        self.late_score[1] |= (late && quarter == 3) || quarter == 4;
        self.follow_lead(play);
    }

    fn add_score(&mut self, play: &Play, scored: Scored, scorer: usize, quarter: usize) {
        if self.first_score.score == Score::None {
            self.first_score = scored;
        }
        self.last_score = scored;
        self.run_length = if self.run_side == scored.side { self.run_length + 1 } else { 1 };
        self.run_side = scored.side;
        let side = &mut self.sides[scorer];
        side.longest_scoring_run = side.longest_scoring_run.max(self.run_length);
        match scored.score {
            Score::Touchdown => {
                side.quarters[quarter][Stat::Touchdowns as usize] += 1;
                let length = if play.points > 0 { play.yards } else { play.return_yards.max(0) };
                let length = i16::from(length);
                side.longest_touchdown = side.longest_touchdown.max(length);
                if side.shortest_touchdown == 0 || length < side.shortest_touchdown {
                    side.shortest_touchdown = length.max(1);
                }
                if play.points < 0 {
                    side.touchdowns_by[2] += 1;
                    if play.down > 0 && play.kind != Kind::Punt {
                        side.defensive_touchdowns += 1;
                    }
                }
                let by = touchdown_scorer(play, scorer);
                if self.first_touchdown.score == Score::None {
                    self.first_touchdown = scored;
                    self.first_touchdown_by = by;
                }
                self.last_touchdown = scored;
                self.last_touchdown_by = by;
            }
            Score::FieldGoal if self.first_field_goal == 0 => self.first_field_goal = scored.side,
            Score::Safety => side.safeties += 1,
            _ => {}
        }
    }

    fn follow_lead(&mut self, play: &Play) {
        let (home, away) = (play.home_score, play.away_score);
        let leader = leader(home, away);
        if leader == 0 {
            self.ties += 1;
        } else if self.leader != 0 && leader != self.leader {
            self.lead_changes += 1;
        }
        if leader != 0 {
            self.leader = leader;
        }
        let margin = i16::from(home) - i16::from(away);
        self.sides[0].max_lead = self.sides[0].max_lead.max(margin);
        self.sides[1].max_lead = self.sides[1].max_lead.max(-margin);
        for (race, target) in self.races.iter_mut().zip(RACES) {
            if *race == 0 {
                *race = i16::from(home >= target) + 2 * i16::from(away >= target && home < target);
            }
        }
    }
}

/// Game seconds elapsed when the play's points were scored.
fn elapsed(play: &Play) -> i16 {
    let before = match play.quarter {
        5 => 3600 + 600,
        quarter => 900 * i16::from(quarter),
    };
    before - play.clock + i16::from(play.run_off)
}

fn touchdown_scorer(play: &Play, scorer: usize) -> i16 {
    if play.points < 0 { 47 + scorer as i16 } else { 1 + i16::from(play.player) + 23 * scorer as i16 }
}
