//! An event as its user writes it, in TOML or JSON.

mod advice;
mod check;
mod read;
pub(crate) mod schedule;
mod value;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

pub(crate) use advice::advise_on_text;
pub use advice::{advise, online_hours};
pub(crate) use check::slug;
pub use read::parse;
pub(crate) use read::{PART_LISTS, check_part, read};
pub(crate) use value::{chance, duration_s};

/// Tiles per row, worth 1, 2, 3 and 4 points.
pub const ROW_TILES: usize = 4;
/// Points of all tiles of a row.
pub const ROW_POINTS: u32 = 10;
/// Maximum number of players, activities, drops and tiles of an event, each: they are words of event columns.
pub const WORDS_MAX: usize = 254;
/// Maximum number of teams of an event: a win shared by all of them is still stored exactly.
pub const TEAMS_MAX: usize = 20;
/// Maximum number of rules of a tile, so that all rules of an event have numbers of 16 bits.
pub const RULES_MAX: usize = 100;
/// Maximum number of modifiers of a rule.
pub const MODIFIERS_MAX: usize = 6;

/// An example: one day, two teams of four.
pub const SMALL: &str = include_str!("../../events/small.toml");
/// An example: nine days, three teams of twenty.
pub const BIG: &str = include_str!("../../events/big.toml");

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// The display name.
    pub name: String,
    /// Its duration: `24h`, `9days`.
    pub duration: String,
    /// Its start, in local time of [`zone`](Self::zone): `2026-01-10T08:00`.
    pub start: String,
    /// The time zone of the start and of the players' sessions: a name of the IANA database.
    #[serde(default = "new_york")]
    pub zone: String,
    /// Points of completed tiles in a row that open the next one.
    #[serde(default = "five")]
    pub opening_points: u32,
    /// What players can own or do: keys and display names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub capabilities: BTreeMap<String, String>,
    pub activities: Vec<Activity>,
    pub players: Vec<Player>,
    /// The rows of the board, in order.
    pub rows: Vec<Row>,
    pub teams: Vec<Team>,
}

fn new_york() -> String {
    "America/New_York".to_owned()
}

fn five() -> u32 {
    5
}

/// Whether a written event leaves the value out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn one() -> f64 {
    1.0
}

/// Something that players do repeatedly; each time is an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Activity {
    /// Its name in rules.
    pub key: String,
    /// The display name.
    pub name: String,
    /// Whether one player can do it alone.
    #[serde(default, skip_serializing_if = "is_default")]
    pub solo: bool,
    /// The group sizes, if groups do it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupSize>,
    /// The rolls at the end of an attempt.
    pub lines: Vec<Line>,
    /// Differences between groups of some sizes and a single player.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<Band>,
}

/// The size of a group, in players.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSize {
    /// Minimum; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// Maximum; unlimited by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
}

/// One roll of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Its name in the activity.
    pub key: String,
    pub roll: Roll,
    /// Seconds of an attempt.
    pub seconds: u32,
    /// Maximum deviation from these seconds, up or down; uniformly distributed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spread: u32,
    pub outcomes: Vec<Outcome>,
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

/// One possible result of a roll.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Its name in the line.
    pub key: String,
    /// Its probability, as a fraction: `1/128`. If a line's probabilities sum to less than 1, the rest gives nothing.
    pub chance: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
}

/// Units of something that tiles accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    pub drop: String,
    #[serde(default)]
    pub units: Units,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a whole number, or the least and the most as [1, 3]")]
pub enum Units {
    Fixed(u32),
    /// From the first to the second number, uniformly distributed.
    Between([u32; 2]),
}

impl Default for Units {
    fn default() -> Self {
        Self::Fixed(1)
    }
}

impl Units {
    /// The smallest and the largest number.
    pub(crate) fn bounds(self) -> [u32; 2] {
        match self {
            Self::Fixed(units) => [units; 2],
            Self::Between(bounds) => bounds,
        }
    }
}

/// A difference for groups of some sizes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// Size of the smallest group.
    pub min: u32,
    /// Size of the largest group.
    pub max: u32,
    /// Factor on an attempt's time.
    #[serde(default = "one")]
    pub time: f64,
    /// Factor on the chance of accepted drops.
    #[serde(default = "one")]
    pub chance: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Player {
    /// Unique in the event.
    pub name: String,
    /// Factor on the time of attempts: below 1 is faster.
    #[serde(default = "one")]
    pub skill: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// The player's weekly sessions; without any, the player is always online.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<Session>,
}

/// A weekly session of a player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// The day on which it starts.
    pub day: Day,
    /// The time at which it starts: `18:30`.
    pub at: String,
    /// Its length in minutes: 1 to 1440. It may continue past midnight.
    pub minutes: u32,
}

/// A day of the week, from Monday on.
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tile {
    /// Unique in the event.
    pub key: String,
    /// The display name.
    pub name: String,
    pub points: u32,
    /// Units that complete it.
    #[serde(default = "one_unit")]
    pub count: u32,
    /// The ways to win units.
    pub rules: Vec<Rule>,
}

fn one_unit() -> u32 {
    1
}

/// A way to win a tile's units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The key of the activity to do.
    pub activity: String,
    /// The drops that count.
    pub drops: Vec<String>,
    /// The capabilities that a player needs, all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// What makes it faster or more likely.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
}

/// The effect of a capability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modifier {
    /// The capability; one member of the group is enough.
    pub capability: String,
    /// Factor on an attempt's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Factor on the chance of accepted drops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Team {
    /// Unique in the event.
    pub name: String,
    /// How it chooses work and grants.
    pub strategy: StrategyKey,
    #[serde(default, skip_serializing_if = "is_default")]
    pub parameters: StrategyParameters,
    pub players: Vec<String>,
}

/// How a team chooses its work and where units go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum StrategyKey {
    /// The most points first, then the shortest time.
    Greedy,
    /// The fastest way to open the next row.
    RowUnlocking,
    /// As `row_unlocking`, but prefers activities that also serve other tiles.
    ComboUnlocking,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrategyParameters {
    /// Points that the team aims at in a row before anything else; the event's opening points by default. Not for
    /// `greedy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aim_points: Option<u32>,
    /// How much longer a tile's estimated time becomes for each tile of a closed row that shares its activity; 1 by
    /// default. For `combo_unlocking` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing_weight: Option<f64>,
}
