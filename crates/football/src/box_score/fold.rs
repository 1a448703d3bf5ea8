//! Adds one play to a game's counts.

use super::{BoxScore, Drive, Score, Scored, Side, Snap, Stat, leader};
use crate::play::{Kind, NOBODY, Outcome, Play};
use crate::roster::{KICKER, PUNTER};

const RACES: [i8; 5] = [10, 15, 20, 25, 30];
const TOUCHDOWN_DRIVE: usize = 0;
const FIELD_GOAL_DRIVE: usize = 1;
const PUNT_DRIVE: usize = 2;
const TURNOVER_DRIVE: usize = 3;
const DOWNS_DRIVE: usize = 4;

impl BoxScore {
    /// Counts the next play.
    pub(crate) fn add(&mut self, play: &Play) {
        if play.drive != self.drive.number {
            self.end_drive();
            self.drive = Drive { number: play.drive, ..Drive::default() };
            self.overtime |= play.quarter == 5;
        }
        if play.down > 0 {
            self.drive.add(play);
            if self.first_play == 0 && play.kind.is_from_scrimmage() {
                self.first_play = 1 + i16::from(play.kind as u8);
            }
        }
        let quarter = (play.quarter - 1) as usize;
        let side = usize::from(play.offence);
        let [us, them] = self.both(side);
        let counts = &mut us.quarters[quarter];
        counts[Stat::Possession as usize] += i16::from(play.run_off);
        counts[Stat::FirstDowns as usize] += i16::from(play.first_down);
        match play.kind {
            Kind::Run | Kind::Scramble | Kind::Kneel => us.add_run(them, play, quarter),
            Kind::Pass => us.add_pass(them, play, quarter),
            Kind::Sack => us.add_sack(them, play, quarter),
            Kind::Punt => us.add_punt(them, play),
            Kind::FieldGoal => us.add_field_goal(play, quarter),
            Kind::Kickoff | Kind::OnsideKick => us.add_kickoff(them, play),
            Kind::ExtraPoint => us.add_extra_point(play, quarter),
            Kind::TwoPointPass | Kind::TwoPointRun => {
                us.two_points[0] += 1;
                us.two_points[1] += i16::from(play.points == 2);
            }
            Kind::Penalty => {}
        }
        if play.foul != NOBODY {
            let fouled = &mut self.sides[usize::from(play.foul_side)].quarters[quarter];
            fouled[Stat::Penalties as usize] += 1;
            fouled[Stat::PenaltyYards as usize] += i16::from(play.foul_yards);
        }
        if play.points != 0 {
            self.add_points(play, side, quarter);
        }
    }

    /// A side and its opponent.
    fn both(&mut self, side: usize) -> [&mut Side; 2] {
        let side = side % 2;
        self.sides.get_disjoint_mut([side, 1 - side]).expect("a game has two sides")
    }

    /// Counts the current possession as finished.
    pub(super) fn end_drive(&mut self) {
        let Drive { yards, first_downs, in_red_zone, by_down, converted, last, .. } = self.drive;
        let Some(last) = last else { return };
        let plays = by_down.iter().sum();
        let end = last.end_of_drive();
        if plays == 0 && end.is_none() {
            return;
        }
        let side = &mut self.sides[usize::from(last.offence)];
        side.drives += 1;
        for (counts, down) in [(&mut side.third_downs, 3), (&mut side.fourth_downs, 4)] {
            counts[0] += by_down[down];
            counts[1] += converted[down];
        }
        side.longest_drive_plays = side.longest_drive_plays.max(plays);
        side.longest_drive_yards = side.longest_drive_yards.max(yards);
        side.red_zone[0] += i16::from(in_red_zone);
        if let Some(end) = end {
            side.drive_ends[end] += 1;
            side.red_zone[1] += i16::from(in_red_zone && end == TOUCHDOWN_DRIVE);
            side.three_and_outs += i16::from(end == PUNT_DRIVE && plays <= 3 && first_downs == 0);
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

impl Side {
    /// Credits the defenders who brought the carrier down.
    fn add_tackle(&mut self, play: &Play) {
        let shared = i16::from(play.assist != NOBODY);
        let sacks = i16::from(play.kind == Kind::Sack);
        let tackler = self.player(play.tackler);
        tackler.assisted += shared;
        tackler.solo += 1 - shared;
        tackler.for_loss += i16::from(play.yards < 0);
        tackler.half_sacks += sacks * (2 - shared);
        let second = self.player(play.assist);
        second.assisted += 1;
        second.half_sacks += sacks;
    }

    fn add_fumble(&mut self, them: &mut Self, play: &Play, quarter: usize, carrier: u8) {
        if play.outcome != Outcome::FumbleLost {
            return;
        }
        self.quarters[quarter][Stat::FumblesLost as usize] += 1;
        self.player(carrier).fumbles_lost += 1;
        them.player(play.defender).forced += 1;
    }

    fn add_run(&mut self, them: &mut Self, play: &Play, quarter: usize) {
        let yards = i16::from(play.yards);
        self.quarters[quarter][Stat::Plays as usize] += 1;
        self.quarters[quarter][Stat::RushYards as usize] += yards;
        self.longest_rush = self.longest_rush.max(yards);
        let runner = self.player(play.player);
        runner.rushes += 1;
        runner.rush_yards += yards;
        runner.rush_long = runner.rush_long.max(yards);
        if quarter < 2 {
            runner.half_rush_yards += yards;
        }
        if play.points == 6 {
            runner.rush_touchdowns += 1;
            self.touchdowns_by[1] += 1;
        }
        self.add_fumble(them, play, quarter, play.player);
        them.add_tackle(play);
    }

    fn add_pass(&mut self, them: &mut Self, play: &Play, quarter: usize) {
        self.quarters[quarter][Stat::Plays as usize] += 1;
        self.player(play.passer).attempts += 1;
        self.player(play.player).targets += 1;
        match play.outcome {
            Outcome::Incomplete => {
                them.player(play.defender).defended += 1;
                return;
            }
            Outcome::Intercepted => {
                self.quarters[quarter][Stat::Interceptions as usize] += 1;
                self.player(play.passer).interceptions += 1;
                let taker = them.player(play.defender);
                taker.taken += 1;
                taker.defended += 1;
                return;
            }
            _ => {}
        }
        let yards = i16::from(play.yards);
        let touchdown = i16::from(play.points == 6);
        self.quarters[quarter][Stat::PassYards as usize] += yards;
        self.longest_catch = self.longest_catch.max(yards);
        self.touchdowns_by[0] += touchdown;
        let passer = self.player(play.passer);
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
        let receiver = self.player(play.player);
        receiver.catches += 1;
        receiver.catch_yards += yards;
        receiver.catch_long = receiver.catch_long.max(yards);
        receiver.catch_touchdowns += touchdown;
        receiver.yards_after_catch += yards - i16::from(play.air_yards);
        if quarter < 2 {
            receiver.half_catch_yards += yards;
        }
        self.add_fumble(them, play, quarter, play.player);
        them.add_tackle(play);
    }

    fn add_sack(&mut self, them: &mut Self, play: &Play, quarter: usize) {
        self.quarters[quarter][Stat::Plays as usize] += 1;
        self.quarters[quarter][Stat::SacksAllowed as usize] += 1;
        self.player(play.passer).sacked += 1;
        self.add_fumble(them, play, quarter, play.passer);
        them.add_tackle(play);
    }

    fn add_punt(&mut self, them: &mut Self, play: &Play) {
        let yards = i16::from(play.yards);
        self.punts += 1;
        self.punt_yards += yards;
        self.longest_punt = self.longest_punt.max(yards);
        let returned = if play.outcome == Outcome::Returned { i16::from(play.return_yards) } else { 0 };
        let left = i16::from(play.yard_line) - yards + returned;
        let short = !matches!(play.outcome, Outcome::Touchback | Outcome::Blocked) && left < 20;
        self.player(PUNTER).inside_twenty += i16::from(short);
        them.punt_return_yards += returned;
        if play.points == -6 {
            them.return_touchdowns += 1;
        }
    }

    fn add_field_goal(&mut self, play: &Play, quarter: usize) {
        let yards = i16::from(play.yards);
        self.field_goals += 1;
        if play.points == 3 {
            self.quarters[quarter][Stat::FieldGoals as usize] += 1;
            self.longest_field_goal = self.longest_field_goal.max(yards);
            let kicker = self.player(KICKER);
            kicker.kicks_made[((yards / 10 - 2).clamp(0, 3)) as usize] += 1;
            if quarter < 2 {
                kicker.half_kick_points += 3;
            }
        }
    }

    fn add_kickoff(&mut self, them: &mut Self, play: &Play) {
        self.kickoffs += 1;
        self.touchbacks += i16::from(play.outcome == Outcome::Touchback);
        if play.return_yards > 0 {
            them.kick_return_yards += i16::from(play.return_yards);
        }
        if play.points == -6 {
            them.return_touchdowns += 1;
        }
    }

    fn add_extra_point(&mut self, play: &Play, quarter: usize) {
        self.extra_points[0] += 1;
        self.extra_points[1] += i16::from(play.points);
        if quarter < 2 {
            self.player(KICKER).half_kick_points += i16::from(play.points);
        }
    }
}

impl Drive {
    fn add(&mut self, play: &Play) {
        let Play { offence, kind, outcome, down, first_down, .. } = *play;
        self.last = Some(Snap { offence, kind, outcome, down, first_down });
        self.in_red_zone |= play.yard_line <= 20;
        self.first_downs += i16::from(first_down);
        if kind.is_from_scrimmage() {
            let down = down as usize % self.by_down.len();
            self.by_down[down] += 1;
            self.converted[down] += i16::from(first_down);
            self.yards += i16::from(play.yards);
        }
    }
}

impl Snap {
    /// How a drive with this last snap ended, as a place in [`Side::drive_ends`].
    fn end_of_drive(self) -> Option<usize> {
        match (self.kind, self.outcome) {
            (Kind::Penalty, _) => None,
            (_, Outcome::Touchdown) => Some(TOUCHDOWN_DRIVE),
            (Kind::FieldGoal, Outcome::Good) => Some(FIELD_GOAL_DRIVE),
            (Kind::Punt, _) => Some(PUNT_DRIVE),
            (_, Outcome::Intercepted | Outcome::FumbleLost) => Some(TURNOVER_DRIVE),
            (kind, _) if kind.is_from_scrimmage() && self.down == 4 && self.first_down == 0 => Some(DOWNS_DRIVE),
            _ => None,
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
