//! Worlds in which a moment of a game looked as it does now: `at q3 8:00 ±60, score 14-10 ±3, possession home`.
//!
//! The state at a moment is that of the last event that had begun by then: the side that has the ball, and the score
//! before it. A kick-off gives the ball away, so the side that receives it has the ball. A world matches where any event
//! within the clock's tolerance of the moment does.

use std::fmt;
use std::ops::Range;

use model::{Catalogue, EventKind};

use crate::event_reader::{EventRows, OwnedEventValues};

/// A moment of a game and what must have held at it. Seconds and points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameState {
    /// 1 to 4, and 5 for overtime.
    pub quarter: i32,
    /// Seconds left in the quarter.
    pub clock: i32,
    /// How far from it an event's clock may lie.
    pub clock_tolerance: i32,
    /// Home and away score.
    pub score: Option<[i32; 2]>,
    /// How far from it each side's score may lie.
    pub score_tolerance: i32,
    /// 0 home, 1 away.
    pub possession: Option<i32>,
}

/// Why a state was refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum StateError {
    /// It does not read as a state.
    #[error("{part:?}: expected {wanted}, as in 'at q3 8:00 ±60, score 14-10 ±3, possession home'")]
    Syntax {
        /// The part that does not.
        part: String,
        /// What could stand there.
        wanted: &'static str,
    },
    /// The ensemble's events do not tell it.
    #[error("the events of this ensemble have no column {0:?}, so no moment of a game can be found in them")]
    NoColumn(&'static str),
}

/// Times that no world needs: no tolerance is wide enough.
pub const NEVER: u32 = u32::MAX;

/// Seconds and points by which a tolerance of 0 is widened.
const CLOCK_STEP: i32 = 30;
const SCORE_STEP: i32 = 1;
/// Points of a side. Differences of larger numbers could overflow.
const POINTS_MAX: i32 = 9_999;

/// The columns that a state is read from.
const COLUMNS: [&str; 5] = ["quarter", "clock", "offence", "home_score", "away_score"];
/// The column that tells kick-offs, where the side in `offence` kicks the ball to the other one, and its words for them.
const PLAY_TYPE: &str = "play_type";
const KICK_OFFS: [&str; 2] = ["kickoff", "onside_kick"];

impl GameState {
    /// Whether `text` is meant as a state rather than as an expression.
    pub fn is_meant(text: &str) -> bool {
        text.trim_start().starts_with("at ")
    }

    /// Whether a column is read by [`Self::times_needed`].
    pub fn reads(column: &str) -> bool {
        COLUMNS.contains(&column) || column == PLAY_TYPE
    }

    /// Parses `at qQ M:SS [±S] [, score H-A [±P]] [, possession home|away]`; `+-` may stand for `±`.
    pub fn parse(text: &str) -> Result<Self, StateError> {
        let text = text.replace("+-", "±");
        let mut parts = text.split(',').map(str::trim);
        let moment = parts.next().unwrap_or_default();
        let syntax = |part: &str, wanted| StateError::Syntax { part: part.to_owned(), wanted };
        let wrong = || syntax(moment, "a moment");
        let (rest, clock_tolerance) = tolerance(moment).ok_or_else(wrong)?;
        let mut words = rest.split_whitespace().skip(1);
        let quarter = words.next().and_then(|q| q.strip_prefix('q')).and_then(|q| q.parse().ok()).ok_or_else(wrong)?;
        let (minutes, seconds) = words.next().and_then(|c| c.split_once(':')).ok_or_else(wrong)?;
        let parsed: (Option<i32>, Option<i32>) = (minutes.parse().ok(), seconds.parse().ok());
        let ((Some(minutes @ 0..=15), Some(seconds @ 0..=59)), 1..=5) = (parsed, quarter) else {
            return Err(wrong());
        };
        let clock = 60 * minutes + seconds;
        let mut state = Self { quarter, clock, clock_tolerance, score: None, score_tolerance: 0, possession: None };
        for part in parts {
            if let Some(score) = part.strip_prefix("score ") {
                let wrong = || syntax(part, "a score");
                let (score, points) = tolerance(score).ok_or_else(wrong)?;
                let (home, away) = score.trim().split_once('-').ok_or_else(wrong)?;
                let few = |side: &i32| (0..=POINTS_MAX).contains(side);
                let number = |t: &str| t.trim().parse().ok().filter(few).ok_or_else(wrong);
                state.score = Some([number(home)?, number(away)?]);
                state.score_tolerance = points;
            } else if let Some(side) = part.strip_prefix("possession ") {
                state.possession = Some(match side.trim() {
                    "home" => 0,
                    "away" => 1,
                    _ => return Err(syntax(part, "possession home or possession away")),
                });
            } else {
                return Err(syntax(part, "score or possession"));
            }
        }
        Ok(state)
    }

    /// The same state with its tolerances taken `times` times. One that is 0 grows by a step each time.
    #[must_use]
    pub fn widened(&self, times: u32) -> Self {
        let wide = |tolerance: i32, step: i32| {
            let (unit, times) = if tolerance > 0 { (tolerance, times) } else { (step, times.saturating_sub(1)) };
            unit.saturating_mul(i32::try_from(times).unwrap_or(i32::MAX))
        };
        Self {
            clock_tolerance: wide(self.clock_tolerance, CLOCK_STEP),
            score_tolerance: wide(self.score_tolerance, SCORE_STEP),
            ..*self
        }
    }

    /// For each world of `events`, how many times the tolerances must be taken ([`Self::widened`]) for the state to
    /// have been seen in it: 1 where it was seen as it is, [`NEVER`] where no tolerance is wide enough.
    pub fn times_needed(&self, catalogue: &Catalogue, events: &EventRows) -> Result<Vec<u32>, StateError> {
        let moments = Moments::of(catalogue, events)?;
        let starts = events.starts();
        Ok((0..events.rows.len()).map(|world| self.times_in(&moments, starts[world]..starts[world + 1])).collect())
    }

    /// [`Self::times_needed`] in the world with these rows.
    fn times_in(&self, moments: &Moments<'_>, rows: Range<usize>) -> u32 {
        let begun = |&row: &usize| {
            let (quarter, clock) = moments.at(row);
            quarter < self.quarter || (quarter == self.quarter && clock >= self.clock)
        };
        let last_begun = rows.clone().take_while(begun).last();
        let fits = |&row: &usize| {
            moments.at(row).0 == self.quarter && self.possession.is_none_or(|side| moments.has_ball(row, side))
        };
        let times = |row: usize| {
            let seconds = if Some(row) == last_begun { 0 } else { (moments.at(row).1 - self.clock).abs() };
            let points = self.score.map_or(0, |score| {
                let before = moments.score_before(row, rows.start);
                (before[0] - score[0]).abs().max((before[1] - score[1]).abs())
            });
            let clock = times_for(seconds, self.clock_tolerance, CLOCK_STEP);
            clock.max(times_for(points, self.score_tolerance, SCORE_STEP))
        };
        rows.clone().filter(fits).map(times).min().unwrap_or(NEVER)
    }
}

/// As it is typed.
impl fmt::Display for GameState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tolerance = |n: i32| if n > 0 { format!(" ±{n}") } else { String::new() };
        write!(
            f,
            "at q{} {}:{:02}{}",
            self.quarter,
            self.clock / 60,
            self.clock % 60,
            tolerance(self.clock_tolerance)
        )?;
        if let Some([home, away]) = self.score {
            write!(f, ", score {home}-{away}{}", tolerance(self.score_tolerance))?;
        }
        match self.possession {
            None => Ok(()),
            Some(side) => write!(f, ", possession {}", if side == 0 { "home" } else { "away" }),
        }
    }
}

/// How many times a tolerance must be taken to cover a distance.
fn times_for(distance: i32, tolerance: i32, step: i32) -> u32 {
    let times = |unit: i32| (distance as u32).div_ceil(unit as u32);
    if tolerance > 0 { times(tolerance).max(1) } else { 1 + times(step) }
}

/// What a state is held against: the moments at which events begin.
struct Moments<'a> {
    quarter: &'a OwnedEventValues,
    clock: &'a OwnedEventValues,
    offence: &'a OwnedEventValues,
    scores: [&'a OwnedEventValues; 2],
    /// The code of the home side.
    home: i32,
    /// What kind of event each is, and which codes are kick-offs; `None` where there are none.
    kick_offs: Option<(&'a OwnedEventValues, Vec<i32>)>,
}

impl<'a> Moments<'a> {
    fn of(catalogue: &Catalogue, events: &'a EventRows) -> Result<Self, StateError> {
        let column = |name: &'static str| {
            let place = catalogue.event_column(name).ok_or(StateError::NoColumn(name))?;
            Ok(&events.columns[place])
        };
        let codes = |column: usize, wanted: &[&str]| -> Vec<i32> {
            let EventKind::Label(words) = &catalogue.events[column].kind else { return Vec::new() };
            (0..).zip(words).filter(|(_, word)| wanted.contains(&word.as_str())).map(|(code, _)| code).collect()
        };
        let home = catalogue.event_column("offence").and_then(|place| codes(place, &["home"]).first().copied());
        let play_type = catalogue.event_column(PLAY_TYPE);
        Ok(Self {
            quarter: column(COLUMNS[0])?,
            clock: column(COLUMNS[1])?,
            offence: column(COLUMNS[2])?,
            scores: [column(COLUMNS[3])?, column(COLUMNS[4])?],
            home: home.unwrap_or(0),
            kick_offs: play_type.map(|place| (&events.columns[place], codes(place, &KICK_OFFS))),
        })
    }

    fn at(&self, row: usize) -> (i32, i32) {
        (self.quarter.number(row).unwrap_or(0), self.clock.number(row).unwrap_or(0))
    }

    fn has_ball(&self, row: usize, side: i32) -> bool {
        let kicks_off = |(kinds, codes): &(&OwnedEventValues, Vec<i32>)| {
            kinds.number(row).is_some_and(|kind| codes.contains(&kind))
        };
        let offence = if self.kick_offs.as_ref().is_some_and(kicks_off) { 1 - side } else { side };
        self.offence.number(row) == Some(if offence == 0 { self.home } else { 1 - self.home })
    }

    /// Scores are those after an event: the score at its beginning is that after the one before.
    fn score_before(&self, row: usize, first: usize) -> [i32; 2] {
        self.scores.map(|side| if row == first { 0 } else { side.number(row - 1).unwrap_or(0) })
    }
}

/// What stands before `±`, and the number behind it (0 where there is none).
fn tolerance(text: &str) -> Option<(&str, i32)> {
    match text.split_once('±') {
        None => Some((text, 0)),
        Some((rest, number)) => {
            let digits = number.trim().trim_end_matches(|c: char| c.is_alphabetic() || c.is_whitespace());
            digits.parse().ok().filter(|n| *n >= 0).map(|n| (rest, n))
        }
    }
}

#[cfg(test)]
mod tests {
    use model::EventColumn;
    use world::{World, WorldRange};

    use super::*;

    #[test]
    fn states_are_parsed() {
        let full = GameState::parse("at q3 8:05 ±60s, score 14-10 +-3 points, possession away").unwrap();
        let expected = GameState {
            quarter: 3,
            clock: 485,
            clock_tolerance: 60,
            score: Some([14, 10]),
            score_tolerance: 3,
            possession: Some(1),
        };
        assert_eq!(full, expected);
        assert_eq!(full.to_string(), "at q3 8:05 ±60, score 14-10 ±3, possession away");
        assert_eq!(full.widened(3).to_string(), "at q3 8:05 ±180, score 14-10 ±9, possession away");
        assert_eq!(GameState::parse("at q5 0:30").unwrap().clock, 30);
        assert_eq!(GameState::parse("at q5 0:30").unwrap().widened(2).to_string(), "at q5 0:30 ±30");
        for bad in [
            "at",
            "at q9 1:00",
            "at q1 99",
            "at q1 1:75",
            "at q1 1:00, score 3",
            "at q1 1:00, score 2147483647--2147483648",
            "at q1 1:00, score 99999-0",
            "at q1 1:00, ball home",
            "at q1 1:00 ±x",
        ] {
            assert!(GameState::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_moment_is_found_in_the_events() {
        let column =
            |name: &str, kind| EventColumn { name: name.to_owned(), doc: String::new(), kind, nullable: false };
        let sides = EventKind::Label(vec!["home".to_owned(), "away".to_owned()]);
        let catalogue = Catalogue {
            kinds: Vec::new(),
            entities: Vec::new(),
            events: vec![
                column("quarter", EventKind::I8),
                column("clock", EventKind::I16),
                column("offence", sides),
                column("home_score", EventKind::I8),
                column("away_score", EventKind::I8),
                column("play_type", EventKind::Label(["run", "kickoff", "onside_kick"].map(str::to_owned).to_vec())),
            ],
        };
        // Two worlds: home scores on its play at 500 in the first; away has the ball then in the second. Each begins with a
        // kick-off, by away in the first and by home in the second.
        let events = EventRows {
            entity: 0,
            range: WorldRange::new(World(0), 2).unwrap(),
            rows: vec![3, 2],
            columns: vec![
                OwnedEventValues::I8(vec![1, 1, 1, 1, 1]),
                OwnedEventValues::I16(vec![900, 500, 400, 900, 480]),
                OwnedEventValues::Label(vec![1, 0, 1, 0, 1]),
                OwnedEventValues::I8(vec![0, 7, 7, 0, 0]),
                OwnedEventValues::I8(vec![0; 5]),
                OwnedEventValues::Label(vec![1, 0, 0, 2, 0]),
            ],
        };
        let times = |state: GameState| state.times_needed(&catalogue, &events).unwrap();
        let check = |text: &str, expected: &[usize]| {
            let state = GameState::parse(text).unwrap();
            let found = times(state);
            assert_eq!((0..2).filter(|&w| found[w] == 1).collect::<Vec<_>>(), expected, "{text}");
            // Widened by as many times as a world needs it is seen there, and by fewer it is not.
            for wider in 1..100 {
                let seen = times(state.widened(wider)).iter().map(|&t| t == 1).collect::<Vec<_>>();
                assert_eq!(seen, found.iter().map(|&t| t <= wider).collect::<Vec<_>>(), "{text}, {wider} times");
            }
        };
        check("at q1 15:00, possession home", &[0]);
        check("at q1 15:00, possession away", &[1]);
        check("at q1 7:00, score 0-0, possession home", &[0]);
        check("at q1 6:40, score 7-0, possession away", &[0]);
        check("at q1 6:40, possession away", &[0, 1]);
        check("at q1 8:20 ±30, possession away, score 0-0", &[1]);
        check("at q1 6:40, score 3-0 ±4", &[0, 1]);
        check("at q1 1:00 ±10, score 0-3 ±1, possession home", &[]);
        check("at q1 15:00 ±7, score 3-0, possession away", &[]);
        check("at q2 1:00", &[]);
        assert_eq!(times(GameState::parse("at q2 1:00 ±9").unwrap()), [NEVER, NEVER]);
        // Of events that know no kick-offs, the side that is named has the ball.
        let mut other = catalogue.clone();
        other.events.truncate(5);
        let named = GameState::parse("at q1 15:00, possession away").unwrap().times_needed(&other, &events).unwrap();
        assert_eq!(named, [1, 15]);
        other.events.remove(1);
        let refused = GameState::parse("at q1 1:00").unwrap().times_needed(&other, &events);
        assert_eq!(refused, Err(StateError::NoColumn("clock")));
    }
}
