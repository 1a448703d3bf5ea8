//! Turns a checked file into the league that games use.

use super::{GameRow, LeagueFile, PlayerRow, TeamRow};
use crate::league::{Fixture, League, SEEDS, Site, Team, game_id};
use crate::roster::{PLAYERS, ROSTER, Roster, Share};

impl LeagueFile {
    /// The league; the file must have been checked.
    pub(crate) fn league(&self) -> League {
        let conferences = distinct(self.teams.iter().map(|team| &team.conference));
        let divisions = distinct(self.teams.iter().map(|team| (&team.conference, &team.division)));
        let of = |team: &TeamRow| divisions.iter().position(|(_, name)| *name == (&team.conference, &team.division));
        let conference = |team: &TeamRow| conferences.iter().position(|(_, name)| **name == team.conference);
        let place = |team| (conference(team).unwrap_or_default(), of(team).unwrap_or_default());
        let teams: Vec<Team> = self.teams.iter().map(|row| self.team(row, place(row))).collect();
        let smallest = conferences.iter().map(|(teams, _)| *teams).min().unwrap_or_default();
        let members = |division: usize| (0..teams.len()).filter(|team| teams[*team].division == division).collect();
        League {
            fixtures: self.schedule.iter().enumerate().map(|(place, row)| self.fixture(place, row)).collect(),
            divisions: (0..divisions.len()).map(members).collect(),
            weeks: self.schedule.iter().map(|game| game.week as usize).max().unwrap_or_default(),
            conferences: conferences.len(),
            seeds: self.playoff_teams.map_or(SEEDS.min(smallest), |teams| teams as usize),
            names_kickers: true,
            teams,
        }
    }

    fn team(&self, row: &TeamRow, (conference, division): (usize, usize)) -> Team {
        let players: Vec<&PlayerRow> = self.players.iter().filter(|player| player.team == row.id).collect();
        let at = |place: usize| players.iter().find(|player| player.position == ROSTER[place]);
        let name = |place: usize| at(place).map_or_else(|| format!("{} {}", row.id, ROSTER[place]), |p| p.name.clone());
        let shares = |share: Share| {
            let own: [f32; PLAYERS] = std::array::from_fn(|place| at(place).map_or(0.0, |player| player.share(share)));
            if own.iter().all(|share| *share == 0.0) { share.usual() } else { own }
        };
        Team {
            id: row.id.clone(),
            name: row.name.clone(),
            offence: row.offence,
            defence: row.defence,
            players: (0..PLAYERS).map(name).collect(),
            roster: Roster::new(shares),
            site: self.site(row.venue.as_ref()),
            conference,
            division,
        }
    }

    fn site(&self, venue: Option<&String>) -> Site {
        let venue = self.venues.iter().find(|row| Some(&row.id) == venue);
        venue.map_or_else(Site::default, |row| Site {
            home_edge: row.home_edge,
            scoring: row.scoring,
            kick_yards: row.kick_yards,
            passing: row.passing,
        })
    }

    fn fixture(&self, place: usize, row: &GameRow) -> Fixture {
        let team = |id: &String| self.teams.iter().position(|team| team.id == *id).unwrap_or_default();
        let teams = [&row.home, &row.away].map(team);
        let home = self.teams[teams[0]].venue.as_ref();
        // A home team elsewhere has no home advantage.
        let neutral = row.neutral || row.venue.is_some() && row.venue.as_ref() != home;
        let site = self.site(row.venue.as_ref().or(home));
        Fixture {
            id: row.id.clone().unwrap_or_else(|| game_id(place)),
            week: row.week as usize - 1,
            teams,
            site: if neutral { site.neutral() } else { site },
            neutral,
        }
    }
}

/// The different values, in order of their first appearance, with their numbers.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<(usize, T)> {
    let mut found: Vec<(usize, T)> = Vec::new();
    for value in values {
        match found.iter_mut().find(|(_, known)| *known == value) {
            Some((count, _)) => *count += 1,
            None => found.push((1, value)),
        }
    }
    found
}
