//! The box score of a game, and the summary of a team's season.

use model::{Cell, EntityWorld, SummaryTable};

/// An entity's outcomes in one world, with both sides beside each other. Omits zeros.
pub(crate) fn box_score(world: EntityWorld<'_>) -> SummaryTable {
    let mut table = SummaryTable::new("box score", ["outcome", "", "home", "away"]);
    for (outcome, value) in world.values() {
        if let Some(stat) = outcome.name.strip_prefix("home_") {
            let away = world.value(&format!("away_{stat}"));
            if value != 0.0 || away.unwrap_or(0.0) != 0.0 {
                table.push([stat.into(), Cell::Empty, value.into(), away.map_or(Cell::Empty, Cell::from)]);
            }
        } else if !outcome.name.starts_with("away_") && value != 0.0 {
            table.push([outcome.name.as_str().into(), value.into(), Cell::Empty, Cell::Empty]);
        }
    }
    table
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
}
