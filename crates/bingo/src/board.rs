//! An event as the simulation reads it: names are numbers, and what can be known before any world is played is known.

use std::collections::HashSet;

use crate::bits::Bits;
use crate::chances::{Chances, LinePlan, Reading};
use crate::definition::{Activity, Event, Outcome, Player, ROW_TILES, Rule, Team, Tile, duration_s};
use crate::schedule::Schedule;
use crate::strategy::Strategy;
use crate::switches::Switches;

/// No rule of a tile is open to a player.
pub(crate) const NO_RULE: u16 = u16::MAX;

/// An event.
pub(crate) struct Board {
    /// Seconds.
    pub(crate) duration: u32,
    /// Points of a row that open the next one.
    pub(crate) threshold: u32,
    pub(crate) rows: usize,
    /// Tile `t` stands in row `t / 4` and is worth `t % 4 + 1` points.
    pub(crate) tiles: Vec<TilePlan>,
    pub(crate) drops: Vec<String>,
    pub(crate) activities: Vec<ActivityPlan>,
    pub(crate) rules: Vec<RulePlan>,
    pub(crate) teams: Vec<TeamPlan>,
    pub(crate) switches: Switches,
}

pub(crate) struct TilePlan {
    pub(crate) key: String,
    /// Units that complete it.
    pub(crate) count: u32,
    /// Its rules, in order.
    pub(crate) rules: std::ops::Range<usize>,
    /// Drops that any of its rules accepts.
    pub(crate) accepts: Bits,
    /// Activities of its rules.
    pub(crate) activities: Bits,
}

pub(crate) struct ActivityPlan {
    pub(crate) solo: bool,
    /// The least and the most players of a group.
    pub(crate) group: Option<[usize; 2]>,
    /// Seconds of an attempt, and how many less or more it may take: the largest of its lines.
    pub(crate) seconds: u32,
    pub(crate) spread: u32,
    pub(crate) lines: Vec<LinePlan>,
    /// What time is multiplied by for a group of as many players.
    pub(crate) time_of_size: Vec<f64>,
    /// The place of its band for a group of as many players.
    band_of_size: Vec<usize>,
}

/// How a tile is won by an activity.
pub(crate) struct RulePlan {
    pub(crate) activity: usize,
    /// What time is multiplied by, for each set of modifiers that somebody of a group has.
    pub(crate) time_of_mask: Vec<f64>,
    /// For each band, each such set, each line.
    chances: Vec<Chances>,
    /// Units that an attempt is expected to give, where nothing changes its chances.
    expected_units: f64,
}

impl RulePlan {
    #[inline]
    pub(crate) fn chances(&self, activity: &ActivityPlan, size: usize, mask: u8, line: usize) -> &Chances {
        let masks = self.time_of_mask.len();
        &self.chances[(activity.band_of_size[size] * masks + usize::from(mask)) * activity.lines.len() + line]
    }
}

pub(crate) struct TeamPlan {
    pub(crate) members: Vec<MemberPlan>,
    pub(crate) strategy: Strategy,
}

pub(crate) struct MemberPlan {
    /// Place among the event's players.
    pub(crate) player: usize,
    /// What the player's draws for this team are keyed by.
    pub(crate) entity: u32,
    pub(crate) skill: f64,
    pub(crate) schedule: Schedule,
    /// For each tile the first rule that is open to the player, or [`NO_RULE`].
    pub(crate) rule_of_tile: Vec<u16>,
    /// For each rule the set of its modifiers that the player has.
    pub(crate) mask_of_rule: Vec<u8>,
}

impl Board {
    /// An event that was checked.
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

    /// A team; `written` are all rules in the order of [`Board::rules`], `entities` those of the teams before.
    fn team(&self, event: &Event, team: &Team, written: &[&Rule], entities: &mut HashSet<u32>) -> TeamPlan {
        // Players are looked at in the order in which the event lists them, whatever the team's is.
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
        let strategy = Strategy::new(self, team, &members);
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

    /// Seconds that a tile seems to take: those of the attempts that its best rule is expected to need. Looks at nothing but
    /// the definition: at no skill, band, modifier or progress.
    pub(crate) fn estimate_s(&self, tile: usize) -> f64 {
        let tile = &self.tiles[tile];
        let of_rule = |rule: &RulePlan| {
            if rule.expected_units <= 0.0 {
                return f64::INFINITY;
            }
            // Sums of fractions may be too small by a hair: 5 / (2/3 + 3/3) is 3.00... and means 3.
            let attempts = (f64::from(tile.count) / rule.expected_units * (1.0 - 1e-12)).ceil();
            attempts * f64::from(self.activities[rule.activity].seconds)
        };
        self.rules[tile.rules.clone()].iter().map(of_rule).fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn row_of(tile: usize) -> usize {
        tile / ROW_TILES
    }

    pub(crate) fn points_of(tile: usize) -> u32 {
        (tile % ROW_TILES) as u32 + 1
    }
}

/// The number of a player in a team, by their names and nothing else: who else plays, and where, changes nobody's luck.
fn entity(team: &str, player: &str) -> u32 {
    // FNV-1a. No name has the byte 255.
    let bytes = team.bytes().chain([u8::MAX]).chain(player.bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    world::mix64(hash) as u32
}

impl ActivityPlan {
    fn new(activity: &Activity, drops: &[String], largest_group: usize) -> Self {
        let band = |size: usize| activity.bands.iter().position(|b| (b.min..=b.max).contains(&(size as u32)));
        let sizes = 0..=largest_group;
        Self {
            solo: activity.solo,
            group: activity.group.map(|g| [g.min.unwrap_or(1) as usize, g.max.unwrap_or(u32::MAX) as usize]),
            seconds: activity.lines.iter().map(|line| line.seconds).max().unwrap_or(1),
            spread: activity.lines.iter().map(|line| line.spread).max().unwrap_or(0),
            lines: activity.lines.iter().map(|line| LinePlan::new(line, drops)).collect(),
            time_of_size: sizes.clone().map(|size| band(size).map_or(1.0, |b| activity.bands[b].time)).collect(),
            band_of_size: sizes.map(|size| band(size).map_or(0, |b| b + 1)).collect(),
        }
    }
}

impl RulePlan {
    fn new(rule: &Rule, activity: &Activity, place: usize, reading: Reading) -> Self {
        let masks = 0..1usize << rule.modifiers.len();
        let product = |mask: usize, factor: fn(&crate::definition::Modifier) -> Option<f64>| -> f64 {
            let there = rule.modifiers.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
            there.filter_map(|(_, m)| factor(m)).product()
        };
        let accepted = |outcome: &Outcome| outcome.grants.iter().any(|grant| rule.drops.contains(&grant.drop));
        let mut chances = Vec::new();
        for band in std::iter::once(1.0).chain(activity.bands.iter().map(|b| b.chance)) {
            for mask in masks.clone() {
                let factor = band * product(mask, |m| m.chance);
                chances.extend(activity.lines.iter().map(|line| reading.chances(line, accepted, factor)));
            }
        }
        let units = |outcome: &Outcome| -> f64 {
            let counted = outcome.grants.iter().filter(|grant| rule.drops.contains(&grant.drop));
            counted
                .map(|grant| f64::midpoint(f64::from(grant.units.bounds()[0]), f64::from(grant.units.bounds()[1])))
                .sum()
        };
        let of_line = |line: &crate::definition::Line| -> f64 {
            let probabilities = reading.probabilities(line, accepted, 1.0);
            probabilities.iter().zip(&line.outcomes).map(|(p, outcome)| p * units(outcome)).sum()
        };
        Self {
            activity: place,
            time_of_mask: masks.map(|mask| product(mask, |m| m.time)).collect(),
            chances,
            expected_units: activity.lines.iter().map(of_line).sum(),
        }
    }
}
