//! An event prepared for the simulation: numbers instead of names, and all values that do not depend on the world.

use std::collections::HashSet;

use crate::chances::Reading;
use crate::definition::schedule::Schedule;
use crate::definition::{Activity, Event, Player, Rule, Team, Tile, duration_s};
use crate::plan::{ActivityPlan, MemberPlan, NO_RULE, RulePlan, TilePlan};
use crate::strategy::{Strategy, Terrain};
use crate::switches::Switches;

/// An event.
pub(crate) struct Board {
    /// Seconds.
    pub(crate) duration: u32,
    /// Points of a row that open the next one.
    pub(crate) threshold: u32,
    pub(crate) rows: usize,
    /// Tile `t` is in row `t / 4` and is worth `t % 4 + 1` points.
    pub(crate) tiles: Vec<TilePlan>,
    pub(crate) drops: Vec<String>,
    pub(crate) activities: Vec<ActivityPlan>,
    pub(crate) rules: Vec<RulePlan>,
    pub(crate) teams: Vec<TeamPlan>,
    pub(crate) switches: Switches,
}

pub(crate) struct TeamPlan {
    pub(crate) members: Vec<MemberPlan>,
    pub(crate) strategy: Strategy,
}

impl Board {
    /// Prepares a checked event.
    pub(crate) fn new(event: &Event, switches: Switches) -> Self {
        let mut drops: Vec<String> = event.activities.iter().flat_map(Activity::drops).map(str::to_owned).collect();
        drops.sort_unstable();
        drops.dedup();
        let reading = if switches.rounded_weights { Reading::RoundedWeights } else { Reading::Exact };
        let largest_team = event.teams.iter().map(|t| t.players.len()).max().unwrap_or(0);
        let activities = event.activities.iter().map(|a| ActivityPlan::new(a, &drops, largest_team)).collect();
        let mut board = Self {
            duration: duration_s(&event.duration).unwrap_or_default(),
            threshold: event.opening_points,
            rows: event.rows.len(),
            tiles: Vec::new(),
            drops,
            activities,
            rules: Vec::new(),
            teams: Vec::new(),
            switches,
        };
        let mut written = Vec::new();
        for row in &event.rows {
            let mut tiles: Vec<&Tile> = row.tiles.iter().collect();
            tiles.sort_by_key(|tile| tile.points);
            for tile in tiles {
                board.add_tile(event, tile, reading);
                written.extend(&tile.rules);
            }
        }
        let mut entities = HashSet::new();
        board.teams = event.teams.iter().map(|team| board.team(event, team, &written, &mut entities)).collect();
        board
    }

    fn add_tile(&mut self, event: &Event, tile: &Tile, reading: Reading) {
        let first = self.rules.len();
        for rule in &tile.rules {
            let activity = event.activities.iter().position(|a| a.key == rule.activity).unwrap_or_default();
            self.rules.push(RulePlan::new(rule, &event.activities[activity], activity, reading));
        }
        let accepted = tile.rules.iter().flat_map(|rule| &rule.drops);
        self.tiles.push(TilePlan {
            key: tile.key.clone(),
            count: tile.count,
            rules: first..self.rules.len(),
            accepts: accepted.filter_map(|drop| self.drops.iter().position(|d| d == drop)).collect(),
            activities: self.rules[first..].iter().map(|rule| rule.activity).collect(),
        });
    }

    /// Prepares a team. `written` holds all rules in the order of [`Board::rules`], `entities` those of the earlier
    /// teams.
    fn team(&self, event: &Event, team: &Team, written: &[&Rule], entities: &mut HashSet<u32>) -> TeamPlan {
        // The event's order of players counts, not the team's.
        let players = event.players.iter().enumerate().filter(|(_, player)| team.players.contains(&player.name));
        let members: Vec<MemberPlan> = players
            .map(|(place, player)| {
                let mut entity = entity(&team.name, &player.name);
                while !entities.insert(entity) {
                    entity = entity.wrapping_add(1);
                }
                self.member(event, place, player, entity, written)
            })
            .collect();
        let estimates: Vec<f64> = (0..self.tiles.len()).map(|tile| self.estimate_s(tile)).collect();
        let terrain =
            Terrain { tiles: &self.tiles, estimates: &estimates, drops: self.drops.len(), threshold: self.threshold };
        let strategy = Strategy::new(&terrain, team, &members);
        TeamPlan { members, strategy }
    }

    fn member(&self, event: &Event, place: usize, player: &Player, entity: u32, written: &[&Rule]) -> MemberPlan {
        let has = |key: &String| player.capabilities.contains(key);
        let is_open = |rule: &usize| written[*rule].needs.iter().all(has);
        let rule_of = |tile: &TilePlan| tile.rules.clone().find(is_open).map_or(NO_RULE, |rule| rule as u16);
        let mask_of = |rule: &&Rule| {
            let modifiers = rule.modifiers.iter().enumerate().filter(|(_, m)| has(&m.capability));
            modifiers.fold(0u8, |mask, (i, _)| mask | 1 << i)
        };
        MemberPlan {
            player: place,
            entity,
            skill: player.skill,
            schedule: Schedule::of(event, player),
            rule_of_tile: self.tiles.iter().map(rule_of).collect(),
            mask_of_rule: written.iter().map(mask_of).collect(),
        }
    }

    /// Estimated seconds to complete a tile: the expected number of attempts by its best rule, times their seconds.
    /// Depends on the definition alone: not on skills, bands, modifiers or progress.
    pub(crate) fn estimate_s(&self, tile: usize) -> f64 {
        let tile = &self.tiles[tile];
        let of_rule = |rule: &RulePlan| {
            if rule.expected_units <= 0.0 {
                return f64::INFINITY;
            }
            // Sums of fractions may fall just short: 5 / (2/3 + 3/3) is 3.00... and means 3.
            let attempts = (f64::from(tile.count) / rule.expected_units * (1.0 - 1e-12)).ceil();
            attempts * f64::from(self.activities[rule.activity].seconds)
        };
        self.rules[tile.rules.clone()].iter().map(of_rule).fold(f64::INFINITY, f64::min)
    }
}

/// The number of a player in a team. It depends on the two names only, so adding a player or a team does not change the
/// draws of the others.
fn entity(team: &str, player: &str) -> u32 {
    // FNV-1a. No name contains the byte 255.
    let bytes = team.bytes().chain([u8::MAX]).chain(player.bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    world::mix64(hash) as u32
}
