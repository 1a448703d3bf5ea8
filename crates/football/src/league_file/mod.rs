//! A league as its user writes it, in TOML or JSON: teams, schedule, players and venues.

mod build;
mod check;
mod lines;
#[cfg(test)]
mod tests;
mod write;

use model::{DefinitionError, Fault, read_document};
use serde::{Deserialize, Serialize};

pub use write::example;

use crate::roster::Share;
use lines::Lines;

/// A league, its rows in the order of the file but for the schedule, which is in order of weeks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeagueFile {
    /// Teams of each conference in its play-offs; by default 7, or all teams of smaller conferences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playoff_teams: Option<u32>,
    pub teams: Vec<TeamRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub venues: Vec<VenueRow>,
    pub schedule: Vec<GameRow>,
    /// Players; a team without any has players without names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub players: Vec<PlayerRow>,
}

/// Whether a written league leaves the value out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeamRow {
    /// Its name in questions.
    pub id: String,
    /// The display name.
    pub name: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub conference: String,
    /// A division of its conference.
    #[serde(default, skip_serializing_if = "is_default")]
    pub division: String,
    /// Points by which its offence is better than average.
    pub offence: f32,
    /// Points by which its defence is better than average.
    pub defence: f32,
    /// The id of its home venue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venue: Option<String>,
}

/// A place, and what it changes in games.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VenueRow {
    pub id: String,
    /// Home advantage, in points; by default the parameter's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_edge: Option<f32>,
    /// Points that both sides together score more than elsewhere.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scoring: f32,
    /// Yards by which field goals are easier than their length.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kick_yards: i32,
    /// Added to the log-odds of dropping back to pass.
    #[serde(default, skip_serializing_if = "is_default")]
    pub passing: f32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameRow {
    /// Its name in questions; by default `game-001` and so on, in order of weeks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its week, from 1.
    pub week: u32,
    /// The id of the home team.
    pub home: String,
    /// The id of the visiting team.
    pub away: String,
    /// Whether neither team is at home.
    #[serde(default, skip_serializing_if = "is_default")]
    pub neutral: bool,
    /// The id of its venue; by default that of the home team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venue: Option<String>,
}

/// A player and his shares of what his team does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayerRow {
    /// The id of his team.
    pub team: String,
    /// His roster place, such as `qb1`.
    pub position: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub starts: f32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub carries: f32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub targets: f32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub kick_returns: f32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub punt_returns: f32,
}

impl PlayerRow {
    fn share(&self, of: Share) -> f32 {
        match of {
            Share::Starts => self.starts,
            Share::Carries => self.carries,
            Share::Targets => self.targets,
            Share::KickReturns => self.kick_returns,
            Share::PuntReturns => self.punt_returns,
        }
    }
}

/// Reads a league in TOML, or in JSON if the text starts with `{`.
///
/// # Errors
/// If the text is neither, lacks a field or has an unknown one: with line and column. If the league cannot be played:
/// with the line of every fault, or its place in JSON, such as `schedule[3]`.
pub fn parse(text: &str) -> Result<LeagueFile, DefinitionError> {
    let mut file: LeagueFile = read_document(text, "the league")?;
    let faults = check::faults(&file);
    if faults.is_empty() {
        file.schedule.sort_by_key(|game| game.week);
        return Ok(file);
    }
    Err(DefinitionError(check::shown(faults, &Lines::of(text))))
}

/// Rewrites a user's text in canonical form.
pub(crate) fn read(text: &str) -> Result<String, DefinitionError> {
    serde_json::to_string(&parse(text)?)
        .map_err(|error| DefinitionError(vec![Fault { place: "the league".to_owned(), reason: error.to_string() }]))
}
