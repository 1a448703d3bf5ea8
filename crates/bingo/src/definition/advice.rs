//! Advice on questionable parts of a playable event.

use model::Fault;

use super::read::parse;
use super::schedule::Schedule;
use super::value::duration_s;
use super::{Activity, Event, Player, Rule, Team, Tile};

/// Hours of an event during which a player is online.
pub fn online_hours(event: &Event, player: &Player) -> f64 {
    let duration = duration_s(&event.duration).unwrap_or_default();
    Schedule::of(event, player).online_s(duration) as f64 / 3600.0
}

/// Lists the questionable parts of an event: players who never play, tiles that a team cannot complete, work that wins
/// nothing, and unused definitions.
pub fn advise(event: &Event) -> Vec<Fault> {
    let mut advice = Vec::new();
    let mut add = |place: String, reason: String| advice.push(Fault { place, reason });
    for (i, player) in event.players.iter().enumerate() {
        advise_on_player(event, player, |reason| add(format!("players[{i}]"), reason));
    }
    for (i, row) in event.rows.iter().enumerate() {
        for (j, tile) in row.tiles.iter().enumerate() {
            let place = format!("rows[{i}].tiles[{j}]");
            event.teams.iter().filter_map(|team| hindrance(event, team, tile)).for_each(|why| add(place.clone(), why));
            for (k, rule) in tile.rules.iter().enumerate() {
                advise_on_drops(event, rule, |at, reason| add(format!("{place}.rules[{k}]{at}"), reason));
            }
        }
    }
    let rules = || event.rows.iter().flat_map(|row| &row.tiles).flat_map(|tile| &tile.rules);
    for (i, activity) in event.activities.iter().enumerate() {
        if !rules().any(|rule| rule.activity == activity.key) {
            add(format!("activities[{i}]"), format!("no tile uses {:?}", activity.key));
        }
    }
    for key in event.capabilities.keys() {
        if !event.players.iter().any(|p| p.capabilities.contains(key)) {
            add(format!("capabilities.{key:?}"), "no player has it".to_owned());
        }
    }
    advice
}

/// As [`advise`], of a text that defines an event.
pub(crate) fn advise_on_text(text: &str) -> Vec<Fault> {
    parse(text).map(|event| advise(&event)).unwrap_or_default()
}

fn advise_on_player(event: &Event, player: &Player, mut add: impl FnMut(String)) {
    if !event.teams.iter().any(|team| team.players.contains(&player.name)) {
        add(format!("{} is in no team", player.name));
    }
    if online_hours(event, player) <= 0.0 {
        add(format!("{} is offline during the whole event", player.name));
    }
    if Schedule::of(event, player).overlaps() {
        add(format!("sessions of {} overlap: overlapping time counts once", player.name));
    }
}

/// Why no player of a team can work for a tile; `None` if one can.
fn hindrance(event: &Event, team: &Team, tile: &Tile) -> Option<String> {
    let members = || event.players.iter().filter(|p| team.players.contains(&p.name));
    let able = |rule: &Rule| members().filter(|p| rule.needs.iter().all(|n| p.capabilities.contains(n))).count();
    let enough = |rule: &Rule| activity_of(event, rule).is_some_and(|activity| able(rule) >= activity.least_players());
    if !tile.rules.iter().any(|rule| able(rule) > 0) {
        Some(format!("no player of team {} has the capabilities that tile {:?} needs", team.name, tile.key))
    } else if !tile.rules.iter().any(enough) {
        Some(format!("team {} has too few players to complete tile {:?}", team.name, tile.key))
    } else {
        None
    }
}

/// Advises on drops that count for a rule but that its own activity never grants.
fn advise_on_drops(event: &Event, rule: &Rule, mut add: impl FnMut(String, String)) {
    let Some(activity) = activity_of(event, rule) else { return };
    let missing = |drop: &String| !activity.drops().any(|granted| granted == drop);
    if rule.drops.iter().all(missing) {
        let key = &activity.key;
        add(String::new(), format!("{key:?} grants none of the drops: an attempt for this tile cannot win its units"));
        return;
    }
    for (i, drop) in rule.drops.iter().enumerate().filter(|(_, drop)| missing(drop)) {
        let reason = format!("{:?} never grants {drop:?}: it counts only if another activity grants it", activity.key);
        add(format!(".drops[{i}]"), reason);
    }
}

fn activity_of<'a>(event: &'a Event, rule: &Rule) -> Option<&'a Activity> {
    event.activities.iter().find(|activity| activity.key == rule.activity)
}

impl Activity {
    /// The smallest number of players for the rule.
    fn least_players(&self) -> usize {
        let group = self.group.map_or(1, |group| group.min.unwrap_or(1) as usize);
        if self.solo { 1 } else { group }
    }
}
