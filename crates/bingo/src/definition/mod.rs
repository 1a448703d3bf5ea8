//! An event as its user writes it, in TOML or JSON.

mod advice;
mod check;
mod read;
pub(crate) mod schedule;
mod value;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use advice::{Advice, advise, online_hours};
pub(crate) use check::slug;
pub use read::parse;
pub(crate) use read::read;
pub(crate) use value::{chance, duration_s};

/// Tiles of a row; they are worth 1 to 4 points, one each.
pub const ROW_TILES: usize = 4;
/// Points of all tiles of a row.
pub const ROW_POINTS: u32 = 10;
/// Players, activities, drops and tiles of an event, at most: each is a word of an event column.
pub const WORDS_MAX: usize = 254;
/// Teams of an event, at most: a win that they all share is stored exactly.
pub const TEAMS_MAX: usize = 20;
/// Rules of a tile, at most: all rules of an event have numbers of 16 bits.
pub const RULES_MAX: usize = 100;
/// Modifiers of a rule, at most.
pub const MODIFIERS_MAX: usize = 6;

/// A day's event of two teams of four.
pub const SMALL: &str = include_str!("../../events/small.toml");
/// Nine days of three teams of twenty.
pub const BIG: &str = include_str!("../../events/big.toml");

/// A whole event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// For people.
    pub name: String,
    /// How long it lasts: `24h`, `9days`.
    pub duration: String,
    /// When it starts, on the clocks of [`zone`](Self::zone): `2026-01-10T08:00`.
    pub start: String,
    /// Where those clocks hang, which also tell the players' sessions: a name of the IANA database.
    #[serde(default = "new_york")]
    pub zone: String,
    /// Points of completed tiles in a row that open the next one.
    #[serde(default = "five")]
    pub opening_points: u32,
    /// What players can have or be able to do: a key each, and its name for people.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub capabilities: BTreeMap<String, String>,
    /// What players can do.
    pub activities: Vec<Activity>,
    /// Who plays.
    pub players: Vec<Player>,
    /// The board, the first row first.
    pub rows: Vec<Row>,
    /// Who plays with whom, and how.
    pub teams: Vec<Team>,
}

fn new_york() -> String {
    "America/New_York".to_owned()
}

fn five() -> u32 {
    5
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}

fn one() -> f64 {
    1.0
}

/// Something that players do again and again, each time an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Activity {
    /// Its name in rules.
    pub key: String,
    /// For people.
    pub name: String,
    /// Whether one player does it alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub solo: bool,
    /// The groups that do it, where groups do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupSize>,
    /// What is rolled when an attempt ends.
    pub lines: Vec<Line>,
    /// How groups of some sizes differ from a single player.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<Band>,
}

/// How many players a group has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSize {
    /// At least; 1 where it is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// At most; no limit where it is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
}

/// One roll of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Its name in the activity.
    pub key: String,
    /// Who rolls.
    pub roll: Roll,
    /// Seconds that an attempt takes.
    pub seconds: u32,
    /// Seconds that it may take less or more, all as likely.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spread: u32,
    /// What the roll can give.
    pub outcomes: Vec<Outcome>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// Who rolls a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Roll {
    /// Every player of the group.
    Player,
    /// The group, once.
    Group,
}

/// One thing that a roll can give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Its name in the line.
    pub key: String,
    /// How likely it is, as a fraction: `1/128`. What is missing to 1 in a line gives nothing.
    pub chance: String,
    /// What it grants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
}

/// Units of something that tiles ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// What.
    pub drop: String,
    /// How many.
    #[serde(default)]
    pub units: Units,
}

/// How many units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a whole number, or the least and the most as [1, 3]")]
pub enum Units {
    /// Always as many.
    Fixed(u32),
    /// From the first to the second, all as likely.
    Between([u32; 2]),
}

impl Default for Units {
    fn default() -> Self {
        Self::Fixed(1)
    }
}

impl Units {
    /// The least and the most.
    pub(crate) fn bounds(self) -> [u32; 2] {
        match self {
            Self::Fixed(units) => [units; 2],
            Self::Between(bounds) => bounds,
        }
    }
}

/// How groups of some sizes differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// The smallest group.
    pub min: u32,
    /// The largest.
    pub max: u32,
    /// What an attempt's time is multiplied by.
    #[serde(default = "one")]
    pub time: f64,
    /// What the chance of what a tile accepts is multiplied by.
    #[serde(default = "one")]
    pub chance: f64,
}

/// Somebody who plays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Player {
    /// Unique in the event.
    pub name: String,
    /// What attempts' times are multiplied by: below 1 is faster.
    #[serde(default = "one")]
    pub skill: f64,
    /// What the player has or can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// When the player is there, every week; always where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<Session>,
}

/// A time at which a player is there, every week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// The day on which it begins.
    pub day: Day,
    /// When it begins: `18:30`.
    pub at: String,
    /// How long it is: 1 to 1440. It may go past midnight.
    pub minutes: u32,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Day {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

/// A row of the board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Four tiles, worth 1 to 4 points.
    pub tiles: Vec<Tile>,
}

/// A tile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tile {
    /// Unique in the event.
    pub key: String,
    /// For people.
    pub name: String,
    /// What it is worth.
    pub points: u32,
    /// Units that complete it.
    #[serde(default = "one_unit")]
    pub count: u32,
    /// What gives units.
    pub rules: Vec<Rule>,
}

fn one_unit() -> u32 {
    1
}

/// How a tile's units are won.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// By doing this.
    pub activity: String,
    /// By winning one of these.
    pub drops: Vec<String>,
    /// By players who have all of these capabilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// What makes it faster or likelier.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
}

/// What a capability changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modifier {
    /// The capability, of anybody in the group.
    pub capability: String,
    /// What an attempt's time is multiplied by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// What the chance of what the tile accepts is multiplied by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
}

/// Players who play together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Team {
    /// Unique in the event.
    pub name: String,
    /// How it decides.
    pub strategy: StrategyKey,
    /// What the strategy can be told.
    #[serde(default, skip_serializing_if = "StrategyParameters::is_empty")]
    pub parameters: StrategyParameters,
    /// The players by name.
    pub players: Vec<String>,
}

/// How a team decides what to do, and where units go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrategyKey {
    /// The most points first, then what is done soonest.
    Greedy,
    /// What opens the next row soonest.
    RowUnlocking,
    /// As that, but with an eye on what also serves other tiles.
    ComboUnlocking,
}

impl StrategyKey {
    /// As it is written.
    pub fn key(self) -> &'static str {
        match self {
            Self::Greedy => "greedy",
            Self::RowUnlocking => "row_unlocking",
            Self::ComboUnlocking => "combo_unlocking",
        }
    }
}

/// What strategies can be told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrategyParameters {
    /// Points that the team aims at in a row before it does anything else: the event's opening points where it is not told.
    /// Not for `greedy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aim_points: Option<u32>,
    /// How much longer a tile seems for each tile of a closed row that the same activity serves: 1 where it is not told.
    /// For `combo_unlocking` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing_weight: Option<f64>,
}

impl StrategyParameters {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
