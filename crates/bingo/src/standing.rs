//! Finds worlds in which a team stood as it does now: `at 12h ±30m, points 40 ±4, tiles 18 ±2, row 5, done caverns-1`.
//!
//! A team's standing at a second follows from the tiles completed by then. A world matches if the standing matches at
//! any second within the time's tolerance.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use model::{Catalogue, Condition, ConditionError, EventBlock, NEVER, Tolerance, UnknownName};
use world::{Seed, World};

use crate::blocks::Completions;
use crate::board::Board;
use crate::definition::{duration_s, slug};
use crate::team_state::{self, TeamState};

/// The counted values of a team; see [`counts_of`].
const COUNTS: [&str; 3] = ["points", "tiles", "row"];

fn counts_of(state: &TeamState<'_>) -> [u32; 3] {
    [state.points, state.tiles, state.row()]
}

/// Seconds, and counts, by which a tolerance of 0 is widened.
const TIME_STEP: i32 = 600;
const COUNT_STEP: i32 = 1;
/// Larger than any count of a team.
const COUNT_MAX: i32 = 9_999;

const EXAMPLE: &str = "at 12h ±30m, points 40 ±4, tiles 18 ±2, row 5, done KEY, missing KEY";

/// See [`model::Model::condition`].
pub(crate) fn condition(
    board: &Arc<Board>,
    catalogue: &Catalogue,
    text: &str,
) -> Option<Result<Box<dyn Condition>, ConditionError>> {
    let is_meant = text.split_whitespace().next() == Some("at");
    is_meant.then(|| Ok(Box::new(Standing::parse(board, catalogue, text)?) as Box<dyn Condition>))
}

/// A team's standing at a second of the event.
struct Standing {
    board: Arc<Board>,
    /// Positions of the columns `second`, `what` and `tile`.
    columns: [usize; 3],
    second: i32,
    time_tolerance: Tolerance,
    /// Indices into [`COUNTS`].
    counts: Vec<(usize, i32, Tolerance)>,
    /// Tiles, and whether they are completed.
    tiles: Vec<(usize, bool)>,
}

impl Standing {
    /// Parses `at TIME [±TIME]`, then comma-separated and in any order `points|tiles|row N [±N]`, `done KEY` and
    /// `missing KEY`.
    fn parse(board: &Arc<Board>, catalogue: &Catalogue, text: &str) -> Result<Self, ConditionError> {
        let mut parts = text.split(',').map(str::trim);
        let moment = parts.next().unwrap_or_default();
        let (time, tolerance) = Tolerance::split_text(moment.strip_prefix("at").unwrap_or(moment));
        let syntax = |wanted: &str| syntax(moment, wanted);
        let seconds = |text| duration_s(text).map(|s| s as i32).map_err(|_| syntax("a time such as 12h or 1day 6h"));
        let second = seconds(time)?;
        if second > board.duration as i32 {
            let end = time_text(board.duration as i32);
            return Err(syntax(&format!("a time of the event, which lasts {end}")));
        }
        let column = |name| catalogue.find_event_column(name);
        let mut standing = Self {
            board: board.clone(),
            columns: [column("second")?, column("what")?, column("tile")?],
            second,
            time_tolerance: Tolerance::new(tolerance.map_or(Ok(0), seconds)?, TIME_STEP),
            counts: Vec::new(),
            tiles: Vec::new(),
        };
        for part in parts {
            standing.add(part)?;
        }
        Ok(standing)
    }

    fn add(&mut self, part: &str) -> Result<(), ConditionError> {
        let syntax = |wanted| syntax(part, wanted);
        let (word, rest) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
        if let Some(count) = COUNTS.iter().position(|name| *name == word) {
            let (number, tolerance) = Tolerance::split(rest, COUNT_STEP).ok_or_else(|| syntax("a tolerance"))?;
            let number = number.parse().ok().filter(|number| (0..=COUNT_MAX).contains(number));
            self.counts.push((count, number.ok_or_else(|| syntax("a number"))?, tolerance));
            return Ok(());
        }
        if !["done", "missing"].contains(&word) {
            return Err(syntax("points, tiles, row, done or missing"));
        }
        let tiles = &self.board.tiles;
        let tile = tiles.iter().position(|tile| tile.key == rest.trim() || slug(&tile.key, '_') == rest.trim());
        let unknown = || UnknownName::new("no tile", rest.trim(), tiles.iter().map(|tile| tile.key.as_str()));
        self.tiles.push((tile.ok_or_else(unknown)?, word == "done"));
        Ok(())
    }

    /// The distance of a team's progress through a world: no tile at first, then these completions.
    fn distance(&self, state: &mut TeamState<'_>, completions: impl Iterator<Item = (u32, usize)>) -> u32 {
        let (mut nearest, mut from) = (NEVER, 0);
        for (second, tile) in completions {
            if second > from {
                nearest = nearest.min(self.distance_while(state, from..=second - 1));
            }
            state.complete(tile, second);
            from = second;
        }
        nearest.min(self.distance_while(state, from..=self.board.duration))
    }

    /// The distance of a team with the standing of `state` during these seconds.
    fn distance_while(&self, state: &TeamState<'_>, seconds: RangeInclusive<u32>) -> u32 {
        let completed = |tile: usize| state.completed[tile] != team_state::NEVER;
        if self.tiles.iter().any(|(tile, done)| completed(*tile) != *done) {
            return NEVER;
        }
        let nearest = self.second.clamp(*seconds.start() as i32, *seconds.end() as i32);
        let time = self.time_tolerance.times((nearest - self.second).abs());
        let has = counts_of(state);
        let counts = self.counts.iter().map(|(count, n, tolerance)| tolerance.times((has[*count] as i32 - n).abs()));
        counts.fold(time, u32::max)
    }
}

impl Condition for Standing {
    fn columns(&self) -> Vec<usize> {
        self.columns.to_vec()
    }

    fn distances(&self, events: &EventBlock<'_>) -> Vec<u32> {
        let mut state = TeamState::new(&self.board, events.entity, false);
        let mut completions = Completions::new(events, self.columns);
        let distance = |(world, count): (World, &u32)| {
            state.reset(Seed(0), world);
            self.distance(&mut state, completions.next(*count))
        };
        events.range.worlds().zip(events.rows).map(distance).collect()
    }

    fn widened(&self, times: u32) -> String {
        let widened = Self {
            board: self.board.clone(),
            time_tolerance: self.time_tolerance.widened(times),
            counts: self.counts.iter().map(|(count, n, tolerance)| (*count, *n, tolerance.widened(times))).collect(),
            tiles: self.tiles.clone(),
            ..*self
        };
        widened.to_string()
    }
}

/// The form that a user types.
impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}", time_text(self.second))?;
        if self.time_tolerance.amount() > 0 {
            write!(f, " ±{}", time_text(self.time_tolerance.amount()))?;
        }
        for (count, number, tolerance) in &self.counts {
            write!(f, ", {} {number}{tolerance}", COUNTS[*count])?;
        }
        for (tile, done) in &self.tiles {
            write!(f, ", {} {}", if *done { "done" } else { "missing" }, self.board.tiles[*tile].key)?;
        }
        Ok(())
    }
}

fn syntax(part: &str, wanted: &str) -> ConditionError {
    ConditionError::Syntax { part: part.to_owned(), wanted: wanted.to_owned(), example: EXAMPLE }
}

fn time_text(seconds: i32) -> String {
    humantime::format_duration(Duration::from_secs(seconds.unsigned_abs().into())).to_string()
}
