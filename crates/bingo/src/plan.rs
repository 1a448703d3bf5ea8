//! Parts of an event, prepared for the simulation.

use crate::bits::Bits;
use crate::chances::{Chances, LinePlan, Reading};
use crate::definition::schedule::Schedule;
use crate::definition::{Activity, Line, Modifier, Outcome, ROW_TILES, Rule};

/// Means that a player can use no rule of a tile.
pub(crate) const NO_RULE: u16 = u16::MAX;

pub(crate) struct TilePlan {
    pub(crate) key: String,
    /// Units that complete it.
    pub(crate) count: u32,
    /// Its rules, in order.
    pub(crate) rules: std::ops::Range<usize>,
    /// Drops that at least one of its rules accepts.
    pub(crate) accepts: Bits,
    /// Activities of its rules.
    pub(crate) activities: Bits,
}

impl TilePlan {
    pub(crate) fn row_of(tile: usize) -> usize {
        tile / ROW_TILES
    }

    pub(crate) fn points_of(tile: usize) -> u32 {
        (tile % ROW_TILES) as u32 + 1
    }
}

pub(crate) struct ActivityPlan {
    pub(crate) solo: bool,
    /// Minimum and maximum players of a group.
    pub(crate) group: Option<[usize; 2]>,
    /// Seconds of an attempt, and the maximum deviation: the largest of its lines.
    pub(crate) seconds: u32,
    pub(crate) spread: u32,
    pub(crate) lines: Vec<LinePlan>,
    /// Factor on time by group size.
    pub(crate) time_of_size: Vec<f64>,
    /// Index of the band by group size.
    band_of_size: Vec<usize>,
}

/// One way to win a tile, by an activity.
pub(crate) struct RulePlan {
    pub(crate) activity: usize,
    /// Factor on time for each set of modifiers that a group's members have.
    pub(crate) time_of_mask: Vec<f64>,
    /// By band, then set of modifiers, then line.
    chances: Vec<Chances>,
    /// Expected units of an attempt, without modifiers.
    pub(crate) expected_units: f64,
}

impl RulePlan {
    #[inline]
    pub(crate) fn chances(&self, activity: &ActivityPlan, size: usize, mask: u8, line: usize) -> &Chances {
        let masks = self.time_of_mask.len();
        &self.chances[(activity.band_of_size[size] * masks + usize::from(mask)) * activity.lines.len() + line]
    }
}

pub(crate) struct MemberPlan {
    /// Index among the event's players.
    pub(crate) player: usize,
    /// The entity of the player's draws for this team.
    pub(crate) entity: u32,
    pub(crate) skill: f64,
    pub(crate) schedule: Schedule,
    /// For each tile the first rule that the player can use, or [`NO_RULE`].
    pub(crate) rule_of_tile: Vec<u16>,
    /// For each rule the set of its modifiers that the player has.
    pub(crate) mask_of_rule: Vec<u8>,
}

impl ActivityPlan {
    pub(crate) fn new(activity: &Activity, drops: &[String], largest_group: usize) -> Self {
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
    pub(crate) fn new(rule: &Rule, activity: &Activity, place: usize, reading: Reading) -> Self {
        let masks = 0..1usize << rule.modifiers.len();
        let product = |mask: usize, factor: fn(&Modifier) -> Option<f64>| -> f64 {
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
        let of_line = |line: &Line| -> f64 {
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
