//! Where the rows of a file are.

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

/// The lists of a league file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Teams,
    Venues,
    Schedule,
    Players,
}

impl Section {
    pub(super) fn name(self) -> &'static str {
        ["teams", "venues", "schedule", "players"][self as usize]
    }
}

/// The line of each row, by section; empty for JSON.
#[derive(Debug, Default)]
pub(super) struct Lines([Vec<usize>; 4]);

#[derive(Deserialize)]
struct Rows {
    #[serde(default)]
    teams: Vec<Spanned<IgnoredAny>>,
    #[serde(default)]
    venues: Vec<Spanned<IgnoredAny>>,
    #[serde(default)]
    schedule: Vec<Spanned<IgnoredAny>>,
    #[serde(default)]
    players: Vec<Spanned<IgnoredAny>>,
}

impl Lines {
    /// The lines of the rows of a text; none if it is JSON.
    pub(super) fn of(text: &str) -> Self {
        let Ok(Rows { teams, venues, schedule, players }) = toml::from_str(text) else { return Self::default() };
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let line = |row: &Spanned<IgnoredAny>| ends.partition_point(|end| *end < row.span().start) + 1;
        Self([teams, venues, schedule, players].map(|rows| rows.iter().map(line).collect()))
    }

    /// `line 12`, or `players[3]` if lines are unknown.
    pub(super) fn place(&self, section: Section, row: usize) -> String {
        match self.0[section as usize].get(row) {
            Some(line) => format!("line {line}"),
            None => format!("{}[{row}]", section.name()),
        }
    }
}
