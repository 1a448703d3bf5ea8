//! Worlds in which a moment of a game looked as it does now: `at q3 8:00 ±60, score 14-10 ±3, possession home`.
//!
//! The state at a moment is that of the last event that had begun by then: its side on the ball, and the score
//! before it. A world matches where any event within the clock's tolerance of the moment does.

use model::{Catalogue, EventKind};

use crate::event_reader::EventRows;
use crate::expression::BitSet;

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

/// The columns that a state is read from.
const COLUMNS: [&str; 5] = ["quarter", "clock", "offence", "home_score", "away_score"];

impl GameState {
    /// Whether `text` is meant as a state rather than as an expression.
    pub fn is_meant(text: &str) -> bool {
        text.trim_start().starts_with("at ")
    }

    /// Whether a column is read by [`Self::matches`].
    pub fn reads(column: &str) -> bool {
        COLUMNS.contains(&column)
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
                let number = |t: &str| t.trim().parse().map_err(|_| wrong());
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

    /// The worlds of `events` in which the state was seen.
    pub fn matches(&self, catalogue: &Catalogue, events: &EventRows) -> Result<BitSet, StateError> {
        let column = |name: &'static str| {
            let place = catalogue.event_column(name).ok_or(StateError::NoColumn(name))?;
            Ok(&events.columns[place])
        };
        let [quarter, clock, offence, home, away] =
            [column(COLUMNS[0])?, column(COLUMNS[1])?, column(COLUMNS[2])?, column(COLUMNS[3])?, column(COLUMNS[4])?];
        let home_code = match &catalogue.events[catalogue.event_column("offence").unwrap_or(0)].kind {
            EventKind::Label(words) => words.iter().position(|w| w == "home").unwrap_or(0) as i32,
            _ => 0,
        };
        let possession = self.possession.map(|side| if side == 0 { home_code } else { 1 - home_code });
        let starts = events.starts();
        let fits = |row: usize, first: usize| {
            // Scores are those after an event: the score at its beginning is that after the one before.
            let before = |scores: &crate::event_reader::OwnedEventValues| {
                if row == first { 0 } else { scores.number(row - 1).unwrap_or(0) }
            };
            possession.is_none_or(|p| offence.number(row) == Some(p))
                && self.score.is_none_or(|[h, a]| {
                    (before(home) - h).abs() <= self.score_tolerance && (before(away) - a).abs() <= self.score_tolerance
                })
        };
        Ok(BitSet::from_fn(events.rows.len(), |world| {
            let rows = starts[world]..starts[world + 1];
            let at = |row: usize| (quarter.number(row).unwrap_or(0), clock.number(row).unwrap_or(0));
            let begun = |row: usize| {
                let (q, c) = at(row);
                q < self.quarter || (q == self.quarter && c >= self.clock)
            };
            let last_begun = rows.clone().take_while(|&row| begun(row)).last();
            let near = |row: &usize| {
                let (q, c) = at(*row);
                q == self.quarter && (c - self.clock).abs() <= self.clock_tolerance
            };
            last_begun.is_some_and(|row| fits(row, rows.start) && at(row).0 == self.quarter)
                || rows.clone().filter(near).any(|row| fits(row, rows.start))
        }))
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
    use crate::event_reader::OwnedEventValues;

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
        assert_eq!(GameState::parse("at q5 0:30").unwrap().clock, 30);
        for bad in [
            "at",
            "at q9 1:00",
            "at q1 99",
            "at q1 1:75",
            "at q1 1:00, score 3",
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
            ],
        };
        // Two worlds: home scores on its play at 500 in the first; away has the ball then in the second.
        let events = EventRows {
            entity: 0,
            range: WorldRange::new(World(0), 2).unwrap(),
            rows: vec![3, 2],
            columns: vec![
                OwnedEventValues::I8(vec![1, 1, 1, 1, 1]),
                OwnedEventValues::I16(vec![900, 500, 400, 900, 480]),
                OwnedEventValues::Label(vec![0, 0, 1, 0, 1]),
                OwnedEventValues::I8(vec![0, 7, 7, 0, 0]),
                OwnedEventValues::I8(vec![0; 5]),
            ],
        };
        let check = |text: &str, expected: &[usize]| {
            let found = GameState::parse(text).unwrap().matches(&catalogue, &events).unwrap();
            assert_eq!(found.worlds().collect::<Vec<_>>(), expected, "{text}");
        };
        check("at q1 7:00, score 0-0, possession home", &[0]);
        check("at q1 6:40, score 7-0, possession away", &[0]);
        check("at q1 6:40, possession away", &[0, 1]);
        check("at q1 8:20 ±30, possession away, score 0-0", &[1]);
        check("at q1 6:40, score 3-0 ±4", &[0, 1]);
        check("at q2 1:00", &[]);
        let mut other = catalogue.clone();
        other.events.remove(1);
        let refused = GameState::parse("at q1 1:00").unwrap().matches(&other, &events);
        assert_eq!(refused, Err(StateError::NoColumn("clock")));
    }
}
