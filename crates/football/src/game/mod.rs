//! Simulates one game, snap by snap.
//!
//! Enters: the measured tables, the settings, each offence's edge, a stream of random draws. Leaves: the plays, in
//! order. `box_score` counts everything else about a game from its plays.

mod calls;
mod clock;
mod kicks;
mod lineup;
mod penalties;
mod scrimmage;

use crate::league::Site;
use crate::parameters::Settings;
use crate::play::{Kind, NOBODY, Play};
use crate::roster::Roster;
use crate::tables::Tables;
use clock::Tempo;
use lineup::{Lineup, chosen};
use world::Stream;

const QUARTER_SECONDS: i32 = 900;
const OVERTIME_SECONDS: i32 = 600;
const KICKOFF_YARD_LINE: i32 = 65;
const TRY_YARD_LINE: i32 = 15;
/// A side with this many points ends the game, and the clock stops. Realistic sides never come near it. It keeps the points, with one more
/// score, within the columns of plays, whatever the parameters.
pub(crate) const MERCY_POINTS: i32 = 120;

/// The next phase of the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// This side kicks off.
    Kickoff(usize),
    /// This side kicks after conceding a safety.
    FreeKick(usize),
    /// The offence tries for one or two extra points.
    Try,
    /// A play from scrimmage.
    Snap,
    Over,
}

/// The sides of a game and its place.
pub(crate) struct Meeting<'a> {
    /// Points by which each side's offence is expected to beat the average.
    pub(crate) edges: [f32; 2],
    pub(crate) rosters: [&'a Roster; 2],
    pub(crate) site: Site,
    /// Draws of the returners; `None` leaves them out of the plays.
    pub(crate) returns: Option<Stream>,
}

/// A game in progress.
pub(crate) struct Game<'a> {
    tables: &'a Tables,
    settings: &'a Settings,
    random: Stream,
    lineups: [Lineup<'a>; 2],
    rosters: [&'a Roster; 2],
    returns: Option<Stream>,
    /// Yards by which the venue shortens field goals.
    kick_yards: i32,
    /// Points by which each side's offence is better than average today, with the home edge.
    edge: [f32; 2],
    /// Factor on the measured seconds between snaps.
    pace: f32,
    /// Factor on each side's odds of a pass today.
    pass_plan: [f32; 2],
    /// Whether the half ends soon enough to change what the sides do on this play.
    late: bool,
    /// How the offence treats the clock on this play.
    tempo: Tempo,
    phase: Phase,
    quarter: i32,
    clock: i32,
    score: [i32; 2],
    /// Whether a side has [`MERCY_POINTS`].
    mercy: bool,
    time_outs: [i32; 2],
    offence: usize,
    yard_line: i32,
    down: i32,
    distance: i32,
    drive: i32,
    first_kicker: usize,
    overtime_first_drive: i32,
}

impl<'a> Game<'a> {
    /// Simulates a whole game into `plays`, which it clears first, and hands each play to `count` once it is complete. If
    /// an ever-growing number does not fit its column, returns the column and the number.
    pub(crate) fn play(
        tables: &'a Tables,
        settings: &'a Settings,
        meeting: Meeting<'a>,
        mut random: Stream,
        plays: &mut Vec<Play>,
        count: impl FnMut(&Play),
    ) -> Result<(), (&'static str, i32)> {
        plays.clear();
        let Meeting { edges, rosters, site, returns } = meeting;
        let lineups = rosters.map(|roster| Lineup::draw(tables, roster, &mut random));
        let form = [(); 2].map(|()| settings.form_spread * normal(tables, &mut random));
        let conditions = normal(tables, &mut random);
        let scoring = normal(tables, &mut random) * SCORING_SPREAD;
        let pass_bias = settings.pass_bias + site.passing;
        let pass_plan =
            [(); 2].map(|()| libm::expf(pass_bias + PASS_LEVEL + PASS_PLAN_SPREAD * normal(tables, &mut random)));
        let first_kicker = random.below(2) as usize;
        let mut game = Game {
            tables,
            settings,
            lineups,
            rosters,
            returns,
            kick_yards: site.kick_yards,
            edge: [0, 1].map(|s| (edges[s] + form[s] + scoring) * STRENGTH_SCALE + SCORING_LEVEL),
            pace: settings.pace * (PACE_LEVEL + PACE_SPREAD * conditions),
            pass_plan,
            late: false,
            tempo: Tempo::Normal,
            phase: Phase::Kickoff(first_kicker),
            quarter: 1,
            clock: QUARTER_SECONDS,
            score: [0; 2],
            mercy: false,
            time_outs: [3; 2],
            offence: first_kicker,
            yard_line: KICKOFF_YARD_LINE,
            down: 0,
            distance: 0,
            drive: 0,
            first_kicker,
            overtime_first_drive: 0,
            random,
        };
        game.run(plays, count);
        let [home, away] = game.score;
        let grown = [("home_score", home), ("away_score", away), ("drive", game.drive)];
        grown.into_iter().find(|(_, number)| i8::try_from(*number).is_err()).map_or(Ok(()), Err)
    }

    fn run(&mut self, plays: &mut Vec<Play>, mut count: impl FnMut(&Play)) {
        loop {
            if self.clock == 0 && self.phase != Phase::Try {
                self.end_period();
            }
            if self.phase == Phase::Over {
                break;
            }
            // Filled in place: moving a row right after writing its bytes stalls the processor.
            let play = plays.push_mut(Play::EMPTY);
            match self.phase {
                Phase::Kickoff(side) => self.kickoff(play, side),
                Phase::FreeKick(side) => self.free_kick(play, side),
                Phase::Try => self.try_for_points(play),
                // A game that is over has left the loop.
                Phase::Snap | Phase::Over => self.snap(play),
            }
            count(play);
            if self.mercy || self.overtime_is_decided(play) {
                self.phase = Phase::Over;
            }
        }
    }

    fn end_period(&mut self) {
        self.clock = QUARTER_SECONDS;
        match self.quarter {
            1 | 3 => {}
            2 => {
                self.time_outs = [3; 2];
                self.phase = Phase::Kickoff(1 - self.first_kicker);
            }
            4 if self.score[0] == self.score[1] => {
                self.clock = OVERTIME_SECONDS;
                self.time_outs = [2; 2];
                self.overtime_first_drive = self.drive + 1;
                let kicker = self.random.below(2) as usize;
                self.phase = Phase::Kickoff(kicker);
            }
            _ => {
                self.phase = Phase::Over;
                return;
            }
        }
        self.quarter += 1;
    }

    /// Whether overtime is over: at once after a touchdown or safety, and with any lead once both sides have had the
    /// ball.
    fn overtime_is_decided(&self, last: &Play) -> bool {
        if self.quarter < 5 || self.score[0] == self.score[1] {
            return false;
        }
        let possessions = self.drive - self.overtime_first_drive;
        matches!(last.points, 6 | -6 | -2) || possessions >= 2 || (possessions == 1 && last.points == 3)
    }

    fn lead(&self) -> i32 {
        self.score[self.offence] - self.score[1 - self.offence]
    }

    fn uniform(&mut self) -> f32 {
        self.random.uniform()
    }

    fn chance(&mut self, p: f32) -> bool {
        self.random.chance(p)
    }

    /// Two uniform draws from one random word.
    fn two_uniforms(&mut self) -> (Half, Half) {
        let word = self.random.next_u32();
        (Half(word >> 16), low_half(word))
    }

    /// Starts the row of a play in the current situation; [`Self::record`] completes it.
    fn row(&self, play: &mut Play, kind: Kind) {
        if self.phase == Phase::Snap {
            play.down = self.down as i8;
            play.distance = self.distance as i8;
        }
        play.drive = self.drive as i8;
        play.quarter = self.quarter as i8;
        play.clock = self.clock as i16;
        play.offence = self.offence as u8;
        play.yard_line = self.yard_line as i8;
        play.kind = kind;
        play.kicker = kind.kicker();
    }

    /// Names the returner of a kick-off (0) or punt (1) by the kicking side, in games that name returners.
    fn name_returner(&mut self, play: &mut Play, kicking: usize, which: usize) {
        let shares = &self.rosters[1 - kicking].returns[which];
        play.returner = self.returns.as_mut().map_or(NOBODY, |random| chosen(shares, random.uniform()));
    }

    /// Gives points to the offence, or to the other side if negative.
    fn add_points(&mut self, play: &mut Play, points: i8) {
        play.points = points;
        let side = if points > 0 { self.offence } else { 1 - self.offence };
        self.score[side] += i32::from(points.abs());
        self.mercy |= self.score[side] >= MERCY_POINTS;
    }

    /// Completes the current row. `seconds` run off the clock, at most the time left.
    fn record(&mut self, play: &mut Play, seconds: i32) {
        let seconds = seconds.min(self.clock);
        self.clock -= seconds;
        let [home, away] = self.score;
        play.run_off = seconds as i8;
        play.home_score = home as i8;
        play.away_score = away as i8;
    }

    /// Starts a possession of `side` with `yards_to_goal` to go.
    fn start_drive(&mut self, side: usize, yards_to_goal: i32) {
        self.drive += 1;
        self.resume_drive(side, yards_to_goal);
    }

    /// Like [`Self::start_drive`], for a possession that a kick-off has already counted.
    fn resume_drive(&mut self, side: usize, yards_to_goal: i32) {
        self.offence = side;
        self.yard_line = yards_to_goal.clamp(1, 99);
        self.first_and_ten();
        self.phase = Phase::Snap;
    }

    fn first_and_ten(&mut self) {
        self.down = 1;
        self.distance = self.yard_line.min(10);
    }

    /// Prepares the try after a touchdown by `side`.
    fn after_touchdown(&mut self, side: usize) {
        self.offence = side;
        self.yard_line = TRY_YARD_LINE;
        self.phase = Phase::Try;
    }
}

fn normal(tables: &Tables, random: &mut Stream) -> f32 {
    tables.normal[(random.next_u32() >> 22) as usize]
}

/// A uniform draw of 16 bits. Compared with a constant, it stays a whole number.
#[derive(Clone, Copy)]
struct Half(u32);

impl Half {
    /// The draw as a number in [0, 1).
    fn number(self) -> f32 {
        self.0 as f32 * (1.0 / 65_536.0)
    }

    fn is_below(self, share: f32) -> bool {
        (self.0 as f32) < share * 65_536.0
    }

    fn is_above(self, share: f32) -> bool {
        self.0 as f32 > share * 65_536.0
    }
}

/// The lowest 16 bits of a word. Tables draw with the highest 11 bits, so one word serves both.
fn low_half(word: u32) -> Half {
    Half(word & 0xFFFF)
}

/// Points of margin per point of the offence's edge, measured so that one rating point gives one point.
const STRENGTH_SCALE: f32 = 1.60;
/// Standard deviation, in points, of the scoring conditions that both sides share in a game.
const SCORING_SPREAD: f32 = 3.0;
/// Added to both offences, in scaled points, so that the mean total matches the measured one.
const SCORING_LEVEL: f32 = 1.1;
/// Mean and spread of a game's pace. The measured seconds cover all snaps, but 8% of them (touchdowns and turnovers)
/// take 6 seconds instead of the table's; the others take this much longer.
const PACE_LEVEL: f32 = 1.11;
const PACE_SPREAD: f32 = 0.05;
/// Mean plan to pass, on the log-odds scale. The measured shares include sides in a hurry, which the model handles
/// separately.
const PASS_LEVEL: f32 = -0.27;
/// Spread of a side's plan to pass, on the log-odds scale.
const PASS_PLAN_SPREAD: f32 = 0.45;
