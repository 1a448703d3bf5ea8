//! The box score of a game, and the summary of a team's season.

use model::{Cell, EntityWorld, SummaryTable};

use crate::roster::{PLAYERS, ROSTER};

const SIDES: [&str; 2] = ["home", "away"];

/// The box score of a game and its players, or the summary of a season.
pub(crate) fn tables(world: EntityWorld<'_>) -> Vec<SummaryTable> {
    let players = players(world);
    let tables = std::iter::once(box_score(world));
    tables.chain((!players.rows.is_empty()).then_some(players)).collect()
}

/// An entity's outcomes in one world, with both sides beside each other. Omits zeros, and outcomes of single players.
fn box_score(world: EntityWorld<'_>) -> SummaryTable {
    let mut table = SummaryTable::new("box score", ["outcome", "", "home", "away"]);
    for (outcome, value) in world.values() {
        if let Some(stat) = outcome.name.strip_prefix("home_") {
            let away = world.value(&format!("away_{stat}"));
            if (value != 0.0 || away.unwrap_or(0.0) != 0.0) && player_of(stat).is_none() {
                table.push([stat.into(), Cell::Empty, value.into(), away.map_or(Cell::Empty, Cell::from)]);
            }
        } else if !outcome.name.starts_with("away_") && value != 0.0 {
            table.push([outcome.name.as_str().into(), value.into(), Cell::Empty, Cell::Empty]);
        }
    }
    table
}

/// The roster place in the name of a player's outcome, and the rest: 0 and `attempts` of `qb1_attempts`.
fn player_of(stat: &str) -> Option<(usize, &str)> {
    let (place, rest) = stat.split_once('_')?;
    Some((ROSTER[..PLAYERS].iter().position(|p| *p == place)?, rest))
}

/// A row for each player of a game who did anything.
fn players(world: EntityWorld<'_>) -> SummaryTable {
    let mut table = SummaryTable::new("players", ["side", "position", "player", "statistics"]);
    for (side, name) in SIDES.into_iter().enumerate() {
        let mut lines = vec![Vec::new(); PLAYERS];
        for (outcome, value) in world.values().filter(|(_, value)| *value != 0.0) {
            let stat = outcome.name.strip_prefix(name).and_then(|rest| rest.strip_prefix('_'));
            if let Some((place, stat)) = stat.and_then(player_of) {
                lines[place].push(format!("{stat} {value}"));
            }
        }
        for (place, line) in lines.into_iter().enumerate().filter(|(_, line)| !line.is_empty()) {
            let player = member(world, side, place).unwrap_or_default();
            table.push([name.into(), ROSTER[place].into(), player.into(), line.join(", ").as_str().into()]);
        }
    }
    table
}

/// The name of a player of one side.
fn member(world: EntityWorld<'_>, side: usize, place: usize) -> Option<&str> {
    let catalogue = world.catalogue;
    let team = catalogue.entity(catalogue.entities[world.entity].members.get(side)?)?;
    catalogue.entities[team].members.get(place).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use model::{Catalogue, Entity, EntityKind, Outcome};

    use super::*;
    use crate::outcomes::number;

    #[test]
    fn both_sides_stand_beside_each_other() {
        let outcomes: Vec<Outcome> =
            ["total_points", "home_points", "away_points", "home_sacks", "away_sacks", "ties", "away_aces"]
                .map(|name| number(name, ""))
                .to_vec();
        let entity = Entity { name: "game".to_owned(), kind: 0, title: String::new(), members: Vec::new() };
        let kinds = vec![EntityKind { name: "game".to_owned(), outcomes }];
        let catalogue = Catalogue { kinds, entities: vec![entity], events: Vec::new() };
        let values = [24.0, 21.0, 3.0, 0.0, 0.0, 0.0, 5.0];
        let table = box_score(EntityWorld { catalogue: &catalogue, entity: 0, outcomes: &values, events: None });
        let expected = [
            [Cell::from("total_points"), Cell::from(24.0), Cell::Empty, Cell::Empty],
            [Cell::from("points"), Cell::Empty, Cell::from(21.0), Cell::from(3.0)],
        ];
        assert_eq!(table.rows, expected.map(Vec::from));
    }

    #[test]
    fn players_have_names_and_rows() {
        let outcomes =
            ["home_points", "home_qb1_attempts", "home_qb1_fumbles_lost", "away_qb1_attempts", "away_k_points"];
        let kinds =
            vec![EntityKind { name: "game".to_owned(), outcomes: outcomes.map(|name| number(name, "")).to_vec() }];
        let entity = |name: &str, members: &[&str]| {
            let members = members.iter().map(|&name| name.to_owned()).collect();
            Entity { name: name.to_owned(), kind: 0, title: String::new(), members }
        };
        let entities = vec![entity("game", &["a", "b"]), entity("a", &["Ann"]), entity("b", &["Bob"])];
        let catalogue = Catalogue { kinds, entities, events: Vec::new() };
        let values = [7.0, 30.0, 1.0, 20.0, 0.0];
        let found = tables(EntityWorld { catalogue: &catalogue, entity: 0, outcomes: &values, events: None });
        assert_eq!(found[0].rows, [[Cell::from("points"), Cell::Empty, Cell::from(7.0), Cell::Empty].to_vec()]);
        let expected = [["home", "qb1", "Ann", "attempts 30, fumbles_lost 1"], ["away", "qb1", "Bob", "attempts 20"]];
        assert_eq!(found[1].rows, expected.map(|row| row.map(Cell::from).to_vec()));
    }
}
