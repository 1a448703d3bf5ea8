//! Checks that an event can be played.

use std::collections::{BTreeMap, BTreeSet};

use model::{DefinitionError, Fault, UnknownName};

use super::value::{chance, duration_s, minute, start, zone};
use super::{
    Activity, Event, MODIFIERS_MAX, Player, ROW_POINTS, ROW_TILES, RULES_MAX, Rule, StrategyKey, TEAMS_MAX, Team, Tile,
    WORDS_MAX,
};

/// All faults of an event, with their places.
#[derive(Default)]
struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.0.push(Fault { place: place.into(), reason: reason.into() });
    }

    fn unless(&mut self, good: bool, place: &str, reason: impl FnOnce() -> String) {
        if !good {
            self.add(place, reason());
        }
    }

    fn of<T>(&mut self, place: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|reason| self.add(place, reason)).ok()
    }

    fn text(&mut self, place: &str, text: &str, longest: usize) {
        let length = text.chars().count();
        self.unless((1..=longest).contains(&length), place, || {
            format!("has {length} characters: 1 to {longest} allowed")
        });
    }

    fn known(&mut self, place: &str, what: &str, name: &str, names: &BTreeSet<&str>) {
        if !names.contains(name) {
            self.add(place, UnknownName::new(format!("no {what}"), name, names.iter().copied()).to_string());
        }
    }

    /// Reports repeated keys; `at` is the key's place within an item, such as `.name`, or empty if the item is the key.
    fn unique<T>(&mut self, place: &str, at: &str, all: &[T], key: impl Fn(&T) -> &str) {
        let mut seen = BTreeMap::new();
        for (i, item) in all.iter().enumerate() {
            if let Some(first) = seen.insert(key(item), i) {
                let reason = format!("duplicates {place}[{first}]{at} ({:?})", key(item));
                self.add(format!("{place}[{i}]{at}"), reason);
            }
        }
    }

    fn factor(&mut self, place: &str, factor: f64, most: f64) {
        self.unless(factor > 0.0 && factor <= most, place, || {
            format!("is {factor}: must be above 0 and at most {most}")
        });
    }
}

const FACTOR_MAX: f64 = 1000.0;
const SKILL_MAX: f64 = 10.0;
const KEY_MAX: usize = 100;
const NAME_MAX: usize = 200;

pub(super) fn check(event: &Event) -> Result<(), DefinitionError> {
    let mut faults = Faults::default();
    let names = Names::new(event);
    faults.text("name", &event.name, NAME_MAX);
    faults.of("duration", duration_s(&event.duration));
    if let Some(zone) = faults.of("zone", zone(&event.zone)) {
        faults.of("start", start(&event.start, zone));
    }
    faults.unless(event.opening_points <= ROW_POINTS, "opening_points", || {
        format!("is {}: a row has {ROW_POINTS} points", event.opening_points)
    });
    for (key, name) in &event.capabilities {
        faults.text(&format!("capabilities.{key:?}"), key, KEY_MAX);
        faults.text(&format!("capabilities.{key:?}"), name, NAME_MAX);
    }
    let counts = [
        ("activities", event.activities.len(), WORDS_MAX),
        ("players", event.players.len(), WORDS_MAX),
        ("teams", event.teams.len(), TEAMS_MAX),
        ("rows", event.rows.len(), WORDS_MAX / ROW_TILES),
    ];
    for (what, count, most) in counts {
        faults.unless((1..=most).contains(&count), what, || format!("has {count} entries: 1 to {most} allowed"));
    }
    faults.unless(names.drops.len() <= WORDS_MAX, "activities", || {
        format!("grant {} different drops: at most {WORDS_MAX} allowed", names.drops.len())
    });
    check_alone(&mut faults, &event.activities, &event.players);
    for (i, player) in event.players.iter().enumerate() {
        check_capabilities(&mut faults, &format!("players[{i}].capabilities"), player, &names);
    }
    for (i, row) in event.rows.iter().enumerate() {
        let mut points: Vec<u32> = row.tiles.iter().map(|t| t.points).collect();
        points.sort_unstable();
        faults.unless(points == [1, 2, 3, 4], &format!("rows[{i}].tiles"), || {
            format!("are worth {points:?} points: a row has {ROW_TILES} tiles, worth 1, 2, 3 and 4 points")
        });
        for (j, tile) in row.tiles.iter().enumerate() {
            check_tile(&mut faults, &format!("rows[{i}].tiles[{j}]"), tile, &names);
        }
    }
    check_slugs(&mut faults, event);
    for (i, team) in event.teams.iter().enumerate() {
        check_team(&mut faults, &format!("teams[{i}]"), team, &names);
    }
    if faults.0.is_empty() { Ok(()) } else { Err(DefinitionError(faults.0)) }
}

/// Checks the lists of a part, without the names of the events that use it.
pub(super) fn check_lists(activities: &[Activity], players: &[Player]) -> Result<(), DefinitionError> {
    let mut faults = Faults::default();
    check_alone(&mut faults, activities, players);
    if faults.0.is_empty() { Ok(()) } else { Err(DefinitionError(faults.0)) }
}

fn check_alone(faults: &mut Faults, activities: &[Activity], players: &[Player]) {
    faults.unique("activities", ".key", activities, |a| &a.key);
    faults.unique("players", ".name", players, |p| &p.name);
    for (i, activity) in activities.iter().enumerate() {
        check_activity(faults, &format!("activities[{i}]"), activity);
    }
    for (i, player) in players.iter().enumerate() {
        check_player(faults, &format!("players[{i}]"), player);
    }
}

/// Names that other parts may refer to.
struct Names<'a> {
    capabilities: BTreeSet<&'a str>,
    activities: BTreeSet<&'a str>,
    players: BTreeSet<&'a str>,
    /// Drops that any activity grants.
    drops: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    fn new(event: &'a Event) -> Self {
        Self {
            capabilities: event.capabilities.keys().map(String::as_str).collect(),
            activities: event.activities.iter().map(|a| a.key.as_str()).collect(),
            players: event.players.iter().map(|p| p.name.as_str()).collect(),
            drops: event.activities.iter().flat_map(Activity::drops).collect(),
        }
    }
}

impl Activity {
    pub(crate) fn drops(&self) -> impl Iterator<Item = &str> {
        let outcomes = self.lines.iter().flat_map(|line| &line.outcomes);
        outcomes.flat_map(|outcome| &outcome.grants).map(|grant| grant.drop.as_str())
    }
}

fn check_activity(faults: &mut Faults, place: &str, activity: &Activity) {
    faults.text(&format!("{place}.key"), &activity.key, KEY_MAX);
    faults.text(&format!("{place}.name"), &activity.name, NAME_MAX);
    faults.unless(activity.solo || activity.group.is_some(), place, || {
        "no player or group can do it: set solo = true or group = { min = 2, max = 5 }".to_owned()
    });
    if let Some(group) = activity.group {
        let min = group.min.unwrap_or(1);
        faults.unless(min >= 1 && min <= group.max.unwrap_or(u32::MAX), &format!("{place}.group"), || {
            "min must be at least 1 and not above max".to_owned()
        });
    }
    for (i, band) in activity.bands.iter().enumerate() {
        let place = format!("{place}.bands[{i}]");
        faults.unless(band.min >= 1 && band.min <= band.max, &place, || {
            format!("covers groups of {} to {} players: min must be at least 1 and not above max", band.min, band.max)
        });
        let other = activity.bands[..i].iter().position(|b| b.min <= band.max && band.min <= b.max);
        faults.unless(other.is_none(), &place, || {
            format!("overlaps bands[{}]: a group size may have only one band", other.unwrap_or_default())
        });
        faults.factor(&format!("{place}.time"), band.time, FACTOR_MAX);
        faults.factor(&format!("{place}.chance"), band.chance, FACTOR_MAX);
    }
    faults.unless(!activity.lines.is_empty(), &format!("{place}.lines"), || {
        "is empty: an attempt needs at least one line".to_owned()
    });
    faults.unique(&format!("{place}.lines"), ".key", &activity.lines, |line| &line.key);
    for (i, line) in activity.lines.iter().enumerate() {
        let place = format!("{place}.lines[{i}]");
        faults.text(&format!("{place}.key"), &line.key, KEY_MAX);
        faults.unless((1..=1 << 24).contains(&line.seconds) && line.spread <= 1 << 24, &place, || {
            format!(
                "takes {} seconds with a spread of {}: use 1 to 16777216 seconds and a spread of at most 16777216",
                line.seconds, line.spread
            )
        });
        check_outcomes(faults, &format!("{place}.outcomes"), &line.outcomes);
    }
}

fn check_outcomes(faults: &mut Faults, place: &str, outcomes: &[super::Outcome]) {
    faults.unless(!outcomes.is_empty(), place, || "is empty: a line needs at least one outcome".to_owned());
    faults.unique(place, ".key", outcomes, |outcome| &outcome.key);
    let mut sum = 0.0;
    for (i, outcome) in outcomes.iter().enumerate() {
        let place = format!("{place}[{i}]");
        faults.text(&format!("{place}.key"), &outcome.key, KEY_MAX);
        if let Some([upper, lower]) = faults.of(&format!("{place}.chance"), chance(&outcome.chance)) {
            sum += f64::from(upper) / f64::from(lower);
        }
        for (j, grant) in outcome.grants.iter().enumerate() {
            let place = format!("{place}.grants[{j}]");
            faults.text(&format!("{place}.drop"), &grant.drop, NAME_MAX);
            let [least, most] = grant.units.bounds();
            faults.unless(least >= 1 && least <= most && most <= 1 << 24, &format!("{place}.units"), || {
                format!("are {least} to {most}: must be from 1 to 16777216, the smaller first")
            });
        }
    }
    // Fractions such as 1/3 do not sum to exactly 1.
    faults.unless(sum <= 1.0 + 1e-9, place, || format!("chances sum to {sum:.4}: must sum to at most 1"));
}

fn check_player(faults: &mut Faults, place: &str, player: &Player) {
    faults.text(&format!("{place}.name"), &player.name, KEY_MAX);
    faults.factor(&format!("{place}.skill"), player.skill, SKILL_MAX);
    faults.unique(&format!("{place}.capabilities"), "", &player.capabilities, |key| key);
    for (i, session) in player.sessions.iter().enumerate() {
        let place = format!("{place}.sessions[{i}]");
        faults.of(&format!("{place}.at"), minute(&session.at));
        faults.unless((1..=1440).contains(&session.minutes), &format!("{place}.minutes"), || {
            format!("is {}: a session has 1 to 1440 minutes", session.minutes)
        });
    }
}

fn check_capabilities(faults: &mut Faults, place: &str, player: &Player, names: &Names<'_>) {
    for (i, key) in player.capabilities.iter().enumerate() {
        faults.known(&format!("{place}[{i}]"), "capability", key, &names.capabilities);
    }
}

fn check_tile(faults: &mut Faults, place: &str, tile: &Tile, names: &Names<'_>) {
    faults.text(&format!("{place}.key"), &tile.key, KEY_MAX);
    faults.text(&format!("{place}.name"), &tile.name, NAME_MAX);
    faults.unless((1..=1 << 24).contains(&tile.count), &format!("{place}.count"), || {
        format!("is {}: must be from 1 to 16777216", tile.count)
    });
    faults.unless(!tile.rules.is_empty(), &format!("{place}.rules"), || {
        "is empty: a tile needs at least one rule".to_owned()
    });
    faults.unless(tile.rules.len() <= RULES_MAX, &format!("{place}.rules"), || {
        format!("has {} entries: at most {RULES_MAX} allowed", tile.rules.len())
    });
    for (i, rule) in tile.rules.iter().enumerate() {
        check_rule(faults, &format!("{place}.rules[{i}]"), rule, names);
    }
}

fn check_rule(faults: &mut Faults, place: &str, rule: &Rule, names: &Names<'_>) {
    faults.known(&format!("{place}.activity"), "activity", &rule.activity, &names.activities);
    faults.unless(!rule.drops.is_empty(), &format!("{place}.drops"), || {
        "is empty: a rule needs at least one drop".to_owned()
    });
    for (i, drop) in rule.drops.iter().enumerate() {
        faults.known(&format!("{place}.drops[{i}]"), "activity grants", drop, &names.drops);
    }
    for (i, key) in rule.needs.iter().enumerate() {
        faults.known(&format!("{place}.needs[{i}]"), "capability", key, &names.capabilities);
    }
    faults.unless(rule.modifiers.len() <= MODIFIERS_MAX, &format!("{place}.modifiers"), || {
        format!("has {} entries: at most {MODIFIERS_MAX} allowed", rule.modifiers.len())
    });
    for (i, modifier) in rule.modifiers.iter().enumerate() {
        let place = format!("{place}.modifiers[{i}]");
        faults.known(&format!("{place}.capability"), "capability", &modifier.capability, &names.capabilities);
        faults.unless(modifier.time.is_some() || modifier.chance.is_some(), &place, || {
            "has no effect: set time, chance or both".to_owned()
        });
        for (what, factor) in [("time", modifier.time), ("chance", modifier.chance)] {
            if let Some(factor) = factor {
                faults.factor(&format!("{place}.{what}"), factor, FACTOR_MAX);
            }
        }
    }
}

fn check_team(faults: &mut Faults, place: &str, team: &Team, names: &Names<'_>) {
    faults.text(&format!("{place}.name"), &team.name, KEY_MAX);
    faults.unless(!team.players.is_empty(), &format!("{place}.players"), || {
        "is empty: a team needs at least one player".to_owned()
    });
    faults.unique(&format!("{place}.players"), "", &team.players, |name| name);
    for (i, name) in team.players.iter().enumerate() {
        faults.known(&format!("{place}.players[{i}]"), "player", name, &names.players);
    }
    let told = &team.parameters;
    if let Some(points) = told.aim_points {
        let place = format!("{place}.parameters.aim_points");
        faults.unless(team.strategy != StrategyKey::Greedy, &place, || {
            "strategy greedy does not have this parameter".to_owned()
        });
        faults.unless(points <= ROW_POINTS, &place, || format!("is {points}: a row has {ROW_POINTS} points"));
    }
    if let Some(weight) = told.sharing_weight {
        let place = format!("{place}.parameters.sharing_weight");
        faults.unless(team.strategy == StrategyKey::ComboUnlocking, &place, || {
            "only strategy combo_unlocking has this parameter".to_owned()
        });
        faults.unless((0.0..=FACTOR_MAX).contains(&weight), &place, || format!("is {weight}: must be from 0 to 1000"));
    }
}

/// The letters and digits of a name in lower case, with `joint` in place of everything else.
pub(crate) fn slug(name: &str, joint: char) -> String {
    let mut slug = String::new();
    for c in name.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with(joint) && !slug.is_empty() {
            slug.push(joint);
        }
    }
    slug.trim_end_matches(joint).to_owned()
}

/// Teams become entities and tiles become outcomes; these names allow plain letters only.
fn check_slugs(faults: &mut Faults, event: &Event) {
    let tiles = event.rows.iter().enumerate().flat_map(|(i, row)| {
        let tiles = row.tiles.iter().enumerate();
        tiles.map(move |(j, tile)| (format!("rows[{i}].tiles[{j}].key"), tile.key.as_str(), '_'))
    });
    let teams = event.teams.iter().enumerate().map(|(i, team)| (format!("teams[{i}].name"), team.name.as_str(), '-'));
    for named in [tiles.collect::<Vec<_>>(), teams.collect()] {
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for (place, name, joint) in named {
            let plain = slug(name, joint);
            if plain.is_empty() {
                faults.add(&place, format!("{name:?} needs a letter from a to z or a digit"));
            } else if let Some(other) = seen.insert(plain.clone(), place.clone()) {
                faults.add(&place, format!("{name:?} becomes {plain:?} in tables, as does {other}: choose another"));
            }
        }
    }
}
