//! Counts that are not outcomes but have a measured figure in the real league.

use crate::play::{Foul, Kind, NOBODY, Outcome, Play};

/// How a possession ended, in the order of [`Count::drive_ends`].
#[derive(Clone, Copy)]
enum End {
    Punt,
    Touchdown,
    FieldGoal,
    Interception,
    Fumble,
    Downs,
    Period,
    MissedFieldGoal,
    Safety,
}

/// Counts over both sides of a game.
#[derive(Default)]
pub(super) struct Count {
    /// Rows by kind of play.
    pub(super) kinds: [f64; Kind::WORDS.len()],
    /// Accepted fouls, by foul.
    pub(super) fouls: [f64; Foul::WORDS.len()],
    pub(super) foul_yards: f64,
    pub(super) foul_first_downs: f64,
    pub(super) completions: f64,
    pub(super) pass_yards: f64,
    pub(super) long_catches: f64,
    pub(super) interceptions: f64,
    pub(super) pass_touchdowns: f64,
    pub(super) run_yards: f64,
    pub(super) long_runs: f64,
    pub(super) run_touchdowns: f64,
    pub(super) sack_yards: f64,
    pub(super) field_goals_made: f64,
    pub(super) extra_points_made: f64,
    pub(super) two_points_made: f64,
    pub(super) punt_yards: f64,
    pub(super) punt_net_yards: f64,
    pub(super) touchbacks: f64,
    pub(super) returned_touchdowns: f64,
    pub(super) third_downs: [f64; 2],
    pub(super) fourth_downs: [f64; 2],
    pub(super) time_outs: f64,
    pub(super) drives: f64,
    pub(super) drive_start: f64,
    pub(super) drive_ends: [f64; 9],
    /// Whether each side scored in each quarter.
    pub(super) scored: [[bool; 2]; 5],
}

impl Count {
    pub(super) fn of(plays: &[Play]) -> Self {
        let mut count = Self::default();
        for play in plays {
            count.add(play);
        }
        for drive in plays.chunk_by(|a, b| a.drive == b.drive) {
            count.add_drive(drive);
        }
        count
    }

    fn add(&mut self, play: &Play) {
        let yards = f64::from(play.yards);
        self.kinds[play.kind as usize] += 1.0;
        self.time_outs += f64::from(u8::from(play.time_out != NOBODY));
        if play.foul != NOBODY {
            self.fouls[usize::from(play.foul)] += 1.0;
            self.foul_yards += f64::from(play.foul_yards);
            let earned = play.kind != Kind::Penalty && play.yards >= play.distance;
            self.foul_first_downs += one(play.first_down == 1 && !earned);
        }
        if play.points != 0 {
            let scorer = if play.points > 0 { play.offence } else { 1 - play.offence };
            self.scored[(play.quarter - 1) as usize][usize::from(scorer)] = true;
        }
        self.returned_touchdowns += one(play.points == -6);
        let scored = one(play.points > 0);
        match play.kind {
            Kind::Pass => {
                let caught = !matches!(play.outcome, Outcome::Incomplete | Outcome::Intercepted);
                self.completions += one(caught);
                self.interceptions += one(play.outcome == Outcome::Intercepted);
                self.pass_yards += yards;
                self.long_catches += one(caught && play.yards >= 20);
                self.pass_touchdowns += scored;
            }
            Kind::Run | Kind::Scramble | Kind::Kneel => {
                self.run_yards += yards;
                self.long_runs += one(play.yards >= 20);
                self.run_touchdowns += scored;
            }
            Kind::Sack => self.sack_yards += yards,
            Kind::FieldGoal => self.field_goals_made += scored,
            Kind::ExtraPoint => self.extra_points_made += scored,
            Kind::TwoPointPass | Kind::TwoPointRun => self.two_points_made += scored,
            Kind::Kickoff => self.touchbacks += one(play.outcome == Outcome::Touchback),
            Kind::Punt => {
                self.punt_yards += yards;
                let returned = f64::from(play.return_yards.max(0));
                let touchback = if play.outcome == Outcome::Touchback { 20.0 } else { 0.0 };
                self.punt_net_yards += yards - returned - touchback;
            }
            Kind::OnsideKick | Kind::Penalty => {}
        }
        let scrimmage = matches!(play.kind, Kind::Run | Kind::Pass | Kind::Sack | Kind::Scramble | Kind::Kneel);
        if scrimmage && play.down >= 3 {
            let downs = if play.down == 3 { &mut self.third_downs } else { &mut self.fourth_downs };
            downs[0] += 1.0;
            downs[1] += f64::from(play.first_down);
        }
    }

    fn add_drive(&mut self, plays: &[Play]) {
        let mut snaps = plays.iter().filter(|p| p.down > 0);
        let Some(first) = snaps.next() else { return };
        let last = plays.iter().rfind(|p| p.down > 0 && p.kind != Kind::Penalty).unwrap_or(first);
        self.drives += 1.0;
        self.drive_start += f64::from(first.yard_line);
        let end = match (last.kind, last.outcome) {
            (_, Outcome::Touchdown) => End::Touchdown,
            (Kind::FieldGoal, Outcome::Good) => End::FieldGoal,
            (Kind::FieldGoal, _) => End::MissedFieldGoal,
            (Kind::Punt, _) => End::Punt,
            (_, Outcome::Intercepted) => End::Interception,
            (_, Outcome::FumbleLost) => End::Fumble,
            (_, Outcome::Safety) => End::Safety,
            _ if last.down == 4 && last.first_down == 0 => End::Downs,
            _ => End::Period,
        };
        self.drive_ends[end as usize] += 1.0;
    }

    pub(super) fn rows(&self, kind: Kind) -> f64 {
        self.kinds[kind as usize]
    }

    /// Runs as the real league counts them: with scrambles and kneels.
    pub(super) fn runs(&self) -> f64 {
        self.rows(Kind::Run) + self.rows(Kind::Scramble) + self.rows(Kind::Kneel)
    }
}

fn one(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}
