//! Finds worlds that looked like the present at a moment of a game: `at q3 8:00 ±60, score 14-10 ±3, possession home`.
//!
//! The state at a moment is that of the last play begun by then: the side with the ball, and the score before the play.
//! On a kick-off the receiving side has the ball. A world matches if any play within the clock's tolerance of the
//! moment matches.

use std::fmt;
use std::ops::Range;

use model::{Catalogue, Condition, ConditionError, EventBlock, EventKind, NEVER, Tolerance};

/// A moment of a game and its conditions, in seconds and points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    /// 1 to 4, and 5 for overtime.
    quarter: i32,
    /// Seconds left in the quarter.
    clock: i32,
    /// Largest difference of a play's clock from it.
    clock_tolerance: Tolerance,
    /// Home and away score, and the largest difference on each side.
    score: Option<([i32; 2], Tolerance)>,
    /// 0 home, 1 away.
    possession: Option<i32>,
}

/// Seconds and points by which a tolerance of 0 is widened.
const CLOCK_STEP: i32 = 30;
const SCORE_STEP: i32 = 1;
/// Limit on a side's points. Differences of larger numbers could overflow.
const POINTS_MAX: i32 = 9_999;

const EXAMPLE: &str = "at q3 8:00 ±60, score 14-10 ±3, possession home";

/// See [`model::Model::condition`].
pub(crate) fn condition(catalogue: &Catalogue, text: &str) -> Option<Result<Box<dyn Condition>, ConditionError>> {
    let is_meant = text.split_whitespace().next() == Some("at");
    is_meant.then(|| Ok(Box::new(MomentCondition::new(Moment::parse(text)?, catalogue)?) as Box<dyn Condition>))
}

impl Moment {
    /// Parses `at qQ M:SS [±S] [, score H-A [±P]] [, possession home|away]`.
    fn parse(text: &str) -> Result<Self, ConditionError> {
        let mut parts = text.split(',').map(str::trim);
        let moment = parts.next().unwrap_or_default();
        let syntax = |part: &str, wanted: &str| ConditionError::Syntax {
            part: part.to_owned(),
            wanted: wanted.to_owned(),
            example: EXAMPLE,
        };
        let wrong = || syntax(moment, "a moment");
        let (rest, clock_tolerance) = Tolerance::split(moment, CLOCK_STEP).ok_or_else(wrong)?;
        let mut words = rest.split_whitespace().skip(1);
        let quarter = words.next().and_then(|q| q.strip_prefix('q')).and_then(|q| q.parse().ok()).ok_or_else(wrong)?;
        let (minutes, seconds) = words.next().and_then(|c| c.split_once(':')).ok_or_else(wrong)?;
        let parsed: (Option<i32>, Option<i32>) = (minutes.parse().ok(), seconds.parse().ok());
        let (Some(minutes @ 0..=15), Some(seconds @ 0..=59)) = parsed else {
            return Err(syntax(moment, "a clock from 0:00 to 15:00"));
        };
        if !(1..=5).contains(&quarter) {
            return Err(syntax(moment, "a quarter from q1 to q4, or q5 for overtime"));
        }
        let clock = 60 * minutes + seconds;
        let mut state = Self { quarter, clock, clock_tolerance, score: None, possession: None };
        for part in parts {
            if let Some(score) = part.strip_prefix("score ") {
                let wrong = || syntax(part, "a score");
                let (score, points) = Tolerance::split(score, SCORE_STEP).ok_or_else(wrong)?;
                let (home, away) = score.split_once('-').ok_or_else(wrong)?;
                let few = |side: &i32| (0..=POINTS_MAX).contains(side);
                let number = |t: &str| t.trim().parse().ok().filter(few).ok_or_else(wrong);
                state.score = Some(([number(home)?, number(away)?], points));
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

    #[must_use]
    fn widened(&self, times: u32) -> Self {
        Self {
            clock_tolerance: self.clock_tolerance.widened(times),
            score: self.score.map(|(score, tolerance)| (score, tolerance.widened(times))),
            ..*self
        }
    }
}

/// The form that a user types.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at q{} {}:{:02}{}", self.quarter, self.clock / 60, self.clock % 60, self.clock_tolerance)?;
        if let Some(([home, away], tolerance)) = self.score {
            write!(f, ", score {home}-{away}{tolerance}")?;
        }
        match self.possession {
            None => Ok(()),
            Some(side) => write!(f, ", possession {}", if side == 0 { "home" } else { "away" }),
        }
    }
}

/// The moment, and the columns of the ensemble's events that it reads.
struct MomentCondition {
    moment: Moment,
    quarter: usize,
    clock: usize,
    offence: usize,
    scores: [usize; 2],
    /// The code of the home side.
    home: i32,
    /// The column of the kind of play, and the codes of kick-offs in it: on these, the side in `offence` kicks to the
    /// other one. `None` if the events have no kinds.
    kick_offs: Option<(usize, Vec<i32>)>,
}

impl MomentCondition {
    fn new(moment: Moment, catalogue: &Catalogue) -> Result<Self, ConditionError> {
        let codes = |column: usize, wanted: &[&str]| -> Vec<i32> {
            let EventKind::Label(words) = &catalogue.events[column].kind else { return Vec::new() };
            (0..).zip(words).filter(|(_, word)| wanted.contains(&word.as_str())).map(|(code, _)| code).collect()
        };
        let offence = catalogue.find_event_column("offence")?;
        let kinds = catalogue.event_column("play_type");
        Ok(Self {
            moment,
            quarter: catalogue.find_event_column("quarter")?,
            clock: catalogue.find_event_column("clock")?,
            offence,
            scores: [catalogue.find_event_column("home_score")?, catalogue.find_event_column("away_score")?],
            home: codes(offence, &["home"]).first().copied().unwrap_or(0),
            kick_offs: kinds.map(|column| (column, codes(column, &["kickoff", "onside_kick"]))),
        })
    }

    /// The distance of the world with these rows.
    fn distance(&self, events: &EventBlock<'_>, rows: Range<usize>) -> u32 {
        let moment = &self.moment;
        let at = |row: usize| [self.quarter, self.clock].map(|c| events.columns[c].number(row).unwrap_or(0));
        let begun = |&row: &usize| {
            let [quarter, clock] = at(row);
            quarter < moment.quarter || (quarter == moment.quarter && clock >= moment.clock)
        };
        let last_begun = rows.clone().take_while(begun).last();
        let fits = |&row: &usize| {
            at(row)[0] == moment.quarter && moment.possession.is_none_or(|side| self.has_ball(events, row, side))
        };
        let distance = |row: usize| {
            let seconds = if Some(row) == last_begun { 0 } else { (at(row)[1] - moment.clock).abs() };
            let score = moment.score.map_or(1, |(score, tolerance)| {
                // Stored scores are those after a play; the score before a play is that after the previous one.
                let of = |side: usize| events.columns[self.scores[side]].number(row - 1).unwrap_or(0);
                let before = [0, 1].map(|side| if row == rows.start { 0 } else { of(side) });
                tolerance.times((before[0] - score[0]).abs().max((before[1] - score[1]).abs()))
            });
            moment.clock_tolerance.times(seconds).max(score)
        };
        rows.clone().filter(fits).map(distance).min().unwrap_or(NEVER)
    }

    fn has_ball(&self, events: &EventBlock<'_>, row: usize, side: i32) -> bool {
        let kicks_off = |(column, codes): &(usize, Vec<i32>)| {
            events.columns[*column].number(row).is_some_and(|kind| codes.contains(&kind))
        };
        let offence = if self.kick_offs.as_ref().is_some_and(kicks_off) { 1 - side } else { side };
        events.columns[self.offence].number(row) == Some(if offence == 0 { self.home } else { 1 - self.home })
    }
}

impl Condition for MomentCondition {
    fn columns(&self) -> Vec<usize> {
        let own = [self.quarter, self.clock, self.offence].into_iter().chain(self.scores);
        own.chain(self.kick_offs.as_ref().map(|(column, _)| *column)).collect()
    }

    fn distances(&self, events: &EventBlock<'_>) -> Vec<u32> {
        events.worlds().map(|(_, rows)| self.distance(events, rows)).collect()
    }

    fn widened(&self, times: u32) -> String {
        self.moment.widened(times).to_string()
    }
}

#[cfg(test)]
mod tests {
    use model::{EventColumn, EventValues};
    use world::{World, WorldRange};

    use super::*;

    #[test]
    fn moments_are_parsed() {
        let full = Moment::parse("at q3 8:05 ±60s, score 14-10 +-3 points, possession away").unwrap();
        assert_eq!((full.quarter, full.clock, full.possession), (3, 485, Some(1)));
        assert_eq!(full.to_string(), "at q3 8:05 ±60, score 14-10 ±3, possession away");
        assert_eq!(full.widened(3).to_string(), "at q3 8:05 ±180, score 14-10 ±9, possession away");
        assert_eq!(Moment::parse("at q5 0:30").unwrap().clock, 30);
        assert_eq!(Moment::parse("at q5 0:30").unwrap().widened(2).to_string(), "at q5 0:30 ±30");
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
            assert!(Moment::parse(bad).is_err(), "{bad}");
        }
        for (text, said) in [
            ("at q1 1:00, ball home", "\"ball home\": expected score or possession"),
            ("at q9 1:00", "\"at q9 1:00\": expected a quarter from q1 to q4, or q5 for overtime"),
            ("at q1 1:75", "\"at q1 1:75\": expected a clock from 0:00 to 15:00"),
        ] {
            assert_eq!(Moment::parse(text).unwrap_err().to_string(), format!("{said}, as in '{EXAMPLE}'"));
        }
    }

    fn catalogue() -> Catalogue {
        let column = |name: &str, kind| EventColumn::new(name, kind);
        let sides = EventKind::Label(vec!["home".to_owned(), "away".to_owned()]);
        let events = vec![
            column("quarter", EventKind::I8),
            column("clock", EventKind::I16),
            column("offence", sides),
            column("home_score", EventKind::I8),
            column("away_score", EventKind::I8),
            column("play_type", EventKind::Label(["run", "kickoff", "onside_kick"].map(str::to_owned).to_vec())),
        ];
        Catalogue { kinds: Vec::new(), entities: Vec::new(), events }
    }

    #[test]
    fn other_words_are_not_its_own() {
        assert!(condition(&catalogue(), "home_points > 3").is_none());
        assert!(condition(&catalogue(), "attempts > 3").is_none());
        assert!(condition(&catalogue(), "at q9").unwrap().is_err());
    }

    #[test]
    fn the_moment_is_found_in_the_events() {
        // Two worlds. In the first, home scores on its play at 500; in the second, away has the ball then. Each begins
        // with a kick-off, by away in the first and by home in the second.
        let events = EventBlock {
            entity: 0,
            range: WorldRange::new(World(0), 2).unwrap(),
            rows: &[3, 2],
            columns: vec![
                EventValues::I8(&[1, 1, 1, 1, 1]),
                EventValues::I16(&[900, 500, 400, 900, 480]),
                EventValues::Label(&[1, 0, 1, 0, 1]),
                EventValues::I8(&[0, 7, 7, 0, 0]),
                EventValues::I8(&[0; 5]),
                EventValues::Label(&[1, 0, 0, 2, 0]),
            ],
        };
        let of = |text: &str, catalogue: &Catalogue| condition(catalogue, text).unwrap();
        let distances = |text: &str| of(text, &catalogue()).unwrap().distances(&events);
        let check = |text: &str, expected: &[usize]| {
            let condition = of(text, &catalogue()).unwrap();
            let found = condition.distances(&events);
            assert_eq!((0..2).filter(|&w| found[w] == 1).collect::<Vec<_>>(), expected, "{text}");
            // The condition holds in a world from the widening that the world needs, and not before.
            for wider in 1..100 {
                let seen = distances(&condition.widened(wider)).iter().map(|&t| t == 1).collect::<Vec<_>>();
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
        assert_eq!(distances("at q2 1:00 ±9"), [NEVER, NEVER]);
        // Without kick-offs in the events, the side in `offence` has the ball.
        let mut other = catalogue();
        other.events.truncate(5);
        let named = of("at q1 15:00, possession away", &other).unwrap();
        assert_eq!((named.columns(), named.distances(&events)), (vec![0, 1, 2, 3, 4], vec![1, 15]));
        other.events.remove(1);
        let refused = of("at q1 1:00", &other).err().unwrap().to_string();
        assert!(refused.starts_with("events have no column \"clock\""), "{refused}");
    }
}
