//! Checks that a league can be played.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use model::{Fault, UnknownName};

use super::lines::{Lines, Section};
use super::{GameRow, LeagueFile, PlayerRow, TeamRow, VenueRow};
use crate::league::{SEEDS, game_id};
use crate::roster::{PLAYERS, ROSTER, Share};
use crate::season::{DIVISION_MAX, TEAMS_MAX};

/// Maximum number of weeks, so that totals of a season fit in 16 bits.
const WEEKS_MAX: u32 = 24;
const VENUES_MAX: usize = 200;
const CONFERENCES_MAX: usize = 2;
const RATING: RangeInclusive<f32> = -30.0..=30.0;
const HOME_EDGE: RangeInclusive<f32> = -20.0..=20.0;
const SCORING: RangeInclusive<f32> = -20.0..=20.0;
const KICK_YARDS: RangeInclusive<f32> = -10.0..=10.0;
const PASSING: RangeInclusive<f32> = -2.0..=2.0;
const SHARE: RangeInclusive<f32> = 0.0..=1.0;
/// Largest difference from 1 of the sum of rounded shares.
const SUM_TOLERANCE: f32 = 0.01;
const ID_MAX: usize = 40;
const NAME_MAX: usize = 100;
const SHOWN_MAX: usize = 50;

/// The row of a fault, or the whole section or file.
#[derive(Debug, Clone, Copy)]
enum Place {
    File,
    Section(Section),
    Row(Section, usize),
}

/// A fault; the text may name another row, whose place is only known later.
pub(super) struct Found {
    place: Place,
    reason: String,
    /// The first of two rows that contradict each other.
    first: Option<(Section, usize)>,
}

/// The faults with their places.
pub(super) fn shown(found: Vec<Found>, lines: &Lines) -> Vec<Fault> {
    let count = found.len();
    let fault = |Found { place, reason, first }: Found| Fault {
        place: match place {
            Place::File => "the league".to_owned(),
            Place::Section(section) => section.name().to_owned(),
            Place::Row(section, row) => lines.place(section, row),
        },
        reason: match first {
            Some((section, row)) => format!("{reason}, the first in {}", lines.place(section, row)),
            None => reason,
        },
    };
    let mut faults: Vec<Fault> = found.into_iter().take(SHOWN_MAX).map(fault).collect();
    if count > SHOWN_MAX {
        let reason = format!("has {} more mistakes", count - SHOWN_MAX);
        faults.push(Fault { place: "the league".to_owned(), reason });
    }
    faults
}

/// All faults of a league.
pub(super) fn faults(file: &LeagueFile) -> Vec<Found> {
    let mut check = Check { file, found: Vec::new() };
    check.counts();
    check.ids();
    file.teams.iter().enumerate().for_each(|(row, team)| check.team(row, team));
    file.venues.iter().enumerate().for_each(|(row, venue)| check.venue(row, venue));
    check.groups();
    check.schedule();
    check.players();
    check.found
}

struct Check<'a> {
    file: &'a LeagueFile,
    found: Vec<Found>,
}

impl<'a> Check<'a> {
    fn add(&mut self, place: Place, reason: String) {
        self.found.push(Found { place, reason, first: None });
    }

    /// Reports a row that contradicts an earlier one.
    fn again(&mut self, section: Section, row: usize, first: usize, reason: String) {
        self.found.push(Found { place: Place::Row(section, row), reason, first: Some((section, first)) });
    }

    fn number(&mut self, place: Place, what: &str, number: f32, range: &RangeInclusive<f32>) {
        if !range.contains(&number) {
            let (least, most) = (range.start(), range.end());
            self.add(place, format!("{what} is {number}: must be from {least} to {most}"));
        }
    }

    fn known(&mut self, place: Place, what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> bool {
        let names: Vec<&str> = names.collect();
        let known = names.contains(&name);
        if !known {
            self.add(place, UnknownName::new(what, name, names).to_string());
        }
        known
    }

    fn name(&mut self, place: Place, name: &str) {
        let length = name.chars().count();
        if !(1..=NAME_MAX).contains(&length) || name.chars().any(char::is_control) {
            self.add(place, format!("name {name:?}: must have 1 to {NAME_MAX} printable characters"));
        }
    }

    fn counts(&mut self) {
        let LeagueFile { teams, schedule, venues, .. } = self.file;
        if !(2..=TEAMS_MAX).contains(&teams.len()) {
            self.add(Place::Section(Section::Teams), format!("a league has 2 to {TEAMS_MAX}, not {}", teams.len()));
        }
        if schedule.is_empty() {
            self.add(Place::Section(Section::Schedule), "is empty: add at least one game".to_owned());
        }
        if venues.len() > VENUES_MAX {
            self.add(
                Place::Section(Section::Venues),
                format!("a league has at most {VENUES_MAX}, not {}", venues.len()),
            );
        }
    }

    /// Ids of venues, and of teams and games, which share one space of names.
    fn ids(&mut self) {
        let LeagueFile { teams, schedule, venues, .. } = self.file;
        let mut by_week: Vec<usize> = (0..schedule.len()).collect();
        by_week.sort_by_key(|row| schedule[*row].week);
        let games = by_week.iter().enumerate().map(|(place, row)| {
            let id = schedule[*row].id.clone().unwrap_or_else(|| game_id(place));
            (Section::Schedule, *row, id)
        });
        let rows = |section, ids: Vec<&String>| {
            ids.into_iter().cloned().enumerate().map(move |(row, id)| (section, row, id)).collect::<Vec<_>>()
        };
        let entities = rows(Section::Teams, teams.iter().map(|team| &team.id).collect()).into_iter().chain(games);
        let venues = rows(Section::Venues, venues.iter().map(|venue| &venue.id).collect());
        for list in [entities.collect(), venues] {
            let mut seen: BTreeMap<String, (Section, usize)> = BTreeMap::new();
            for (section, row, id) in list {
                let place = Place::Row(section, row);
                if !is_id(&id) {
                    let allowed = format!("1 to {ID_MAX} letters, digits, '-' and '_', beginning with a letter");
                    self.add(place, format!("id {id:?}: must be {allowed}"));
                }
                let reason = format!("id {id:?} is used a second time");
                if let Some(first) = seen.insert(id, (section, row)) {
                    self.found.push(Found { place, reason, first: Some(first) });
                }
            }
        }
    }

    fn team(&mut self, row: usize, team: &'a TeamRow) {
        let place = Place::Row(Section::Teams, row);
        self.name(place, &team.name);
        self.number(place, &format!("offence of {:?}", team.id), team.offence, &RATING);
        self.number(place, &format!("defence of {:?}", team.id), team.defence, &RATING);
        self.venue_of(place, team.venue.as_ref());
    }

    fn venue_of(&mut self, place: Place, venue: Option<&'a String>) {
        if let Some(venue) = venue {
            self.known(place, "no venue", venue, self.file.venues.iter().map(|v| v.id.as_str()));
        }
    }

    fn venue(&mut self, row: usize, venue: &VenueRow) {
        let place = Place::Row(Section::Venues, row);
        let of = |what: &str| format!("{what} of {:?}", venue.id);
        self.number(place, &of("home_edge"), venue.home_edge.unwrap_or_default(), &HOME_EDGE);
        self.number(place, &of("scoring"), venue.scoring, &SCORING);
        self.number(place, &of("kick_yards"), venue.kick_yards as f32, &KICK_YARDS);
        self.number(place, &of("passing"), venue.passing, &PASSING);
    }

    /// Conferences, divisions and play-offs.
    fn groups(&mut self) {
        let place = Place::Section(Section::Teams);
        let mut conferences: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for team in &self.file.teams {
            *conferences.entry(&team.conference).or_default().entry(&team.division).or_default() += 1;
        }
        if conferences.len() > CONFERENCES_MAX {
            let names: Vec<String> = conferences.keys().map(|name| format!("{name:?}")).collect();
            self.add(place, format!("are in {} conferences ({}): use 1 or 2", conferences.len(), names.join(", ")));
        }
        for (division, &teams) in conferences.values().flatten().filter(|(_, teams)| **teams > DIVISION_MAX) {
            self.add(place, format!("{} has {teams} teams: use at most {DIVISION_MAX}", called("division", division)));
        }
        let smallest = conferences.values().map(|divisions| divisions.values().sum()).min().unwrap_or_default();
        let playoff = self.file.playoff_teams.map_or(SEEDS.min(smallest), |teams| teams as usize);
        for (conference, divisions) in &conferences {
            let teams: usize = divisions.values().sum();
            if !(divisions.len()..=teams).contains(&playoff) {
                let least = divisions.len();
                let (of, divisions) =
                    (called("conference", conference), if least == 1 { "division" } else { "divisions" });
                let reason = format!(
                    "playoff_teams is {playoff}: {of} has {teams} teams in {least} {divisions}, so give {least} to {teams}"
                );
                self.add(Place::File, reason);
            }
        }
    }

    fn schedule(&mut self) {
        let mut played: BTreeMap<(&str, u32), usize> = BTreeMap::new();
        for (row, game) in self.file.schedule.iter().enumerate() {
            let GameRow { week, home, away, venue, .. } = game;
            let place = Place::Row(Section::Schedule, row);
            if !(1..=WEEKS_MAX).contains(week) {
                self.add(place, format!("week is {week}: must be from 1 to {WEEKS_MAX}"));
            }
            self.venue_of(place, venue.as_ref());
            for team in [home, away] {
                self.known(place, "no team", team, self.file.teams.iter().map(|t| t.id.as_str()));
            }
            if home == away {
                self.add(place, format!("{home:?} plays against itself: name another team"));
                continue;
            }
            for team in [home, away] {
                if let Some(first) = played.insert((team, *week), row) {
                    let reason = format!("{team:?} plays a second game in week {week}");
                    self.again(Section::Schedule, row, first, reason);
                }
            }
        }
        let idle = |team: &&TeamRow| !played.keys().any(|(id, _)| *id == team.id);
        let idle: Vec<&str> = self.file.teams.iter().filter(idle).map(|team| team.id.as_str()).collect();
        if !idle.is_empty() && !self.file.schedule.is_empty() {
            self.add(Place::Section(Section::Schedule), format!("has no games for {}", idle.join(", ")));
        }
    }

    fn players(&mut self) {
        let mut teams: BTreeMap<&str, Vec<(usize, &PlayerRow)>> = BTreeMap::new();
        for (row, player) in self.file.players.iter().enumerate() {
            let place = Place::Row(Section::Players, row);
            self.name(place, &player.name);
            let ids = self.file.teams.iter().map(|team| team.id.as_str());
            if self.known(place, &format!("{:?} is in no team", player.name), &player.team, ids) {
                teams.entry(&player.team).or_default().push((row, player));
            }
            let what = format!("{:?} has no position", player.name);
            let Some(at) = ROSTER[..PLAYERS].iter().position(|p| *p == player.position) else {
                self.known(place, &what, &player.position, ROSTER[..PLAYERS].iter().copied());
                continue;
            };
            for share in Share::ALL {
                self.share(place, player, share, at);
            }
        }
        teams.into_iter().for_each(|(team, players)| self.roster(team, &players));
    }

    fn share(&mut self, place: Place, player: &PlayerRow, share: Share, at: usize) {
        let (value, name) = (player.share(share), share.name());
        self.number(place, &format!("{name} of {:?}", player.name), value, &SHARE);
        if value > 0.0 && !share.suits(at) {
            let suited = share.positions().join(", ");
            self.add(place, format!("{:?} is a {} and has no {name}: give them to {suited}", player.name, ROSTER[at]));
        }
    }

    /// The players of one team: one for each place, and shares that sum to 1.
    fn roster(&mut self, team: &str, players: &[(usize, &PlayerRow)]) {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (row, player) in players {
            if let Some(first) = places.insert(&player.position, *row) {
                let reason = format!("team {team:?} has a second {}", player.position);
                self.again(Section::Players, *row, first, reason);
            }
        }
        let last = Place::Row(Section::Players, players.last().map_or(0, |(row, _)| *row));
        let missing: Vec<&str> = ROSTER[..PLAYERS].iter().copied().filter(|p| !places.contains_key(p)).collect();
        if !missing.is_empty() {
            self.add(last, format!("team {team:?} has no {}: each team has one of each position", missing.join(", ")));
        }
        for share in Share::ALL {
            let sum: f32 = players.iter().map(|(_, player)| player.share(share)).sum();
            if sum > 0.0 && (sum - 1.0).abs() > SUM_TOLERANCE {
                let reason = format!("{} of team {team:?} sum to {sum:.3}, and must sum to 1", share.name());
                self.add(last, reason);
            }
        }
    }
}

/// A group of teams in messages; the only group has no name.
fn called(group: &str, name: &str) -> String {
    if name.is_empty() { "the league".to_owned() } else { format!("{group} {name:?}") }
}

fn is_id(id: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    id.len() <= ID_MAX && id.starts_with(|c: char| c.is_ascii_alphabetic()) && id.chars().all(good)
}
