//! Summarises one team in one world: its totals, its board, and the players' drops.

use model::{Cell, EntityWorld, EventBlock, EventKind, EventValues, SummaryTable};

use crate::board::Board;
use crate::definition::slug;
use crate::plan::TilePlan;

/// Tables of the team, its tiles in board order, and its players.
pub(crate) fn tables(board: &Board, world: EntityWorld<'_>) -> Vec<SummaryTable> {
    let won = world.events.map(|events| Won::of(board, world, events));
    let mut tables = vec![team(world), tiles(board, world, won.as_ref())];
    tables.extend(won.map(|won| players(world, &won)));
    tables
}

fn team(world: EntityWorld<'_>) -> SummaryTable {
    const COUNTS: [&str; 5] = ["points", "tiles", "row", "win_share", "attempts"];
    let mut table = SummaryTable::new("team", COUNTS);
    table.push(COUNTS.map(|outcome| world.value(outcome).map_or(Cell::Empty, Cell::from)));
    table
}

fn tiles(board: &Board, world: EntityWorld<'_>, won: Option<&Won>) -> SummaryTable {
    let columns = ["row", "tile", "points", "units", "count", "row_opened_s", "completed_s"];
    let mut table = SummaryTable::new("board", columns);
    // Times one second past the end mean "never".
    let second = |outcome: String| {
        let second = world.value(&outcome).filter(|second| *second <= f64::from(board.duration));
        second.map_or(Cell::Empty, Cell::from)
    };
    for (place, tile) in board.tiles.iter().enumerate() {
        let row = TilePlan::row_of(place);
        table.push([
            (row as f64).into(),
            tile.key.as_str().into(),
            f64::from(TilePlan::points_of(place)).into(),
            won.map_or(Cell::Empty, |won| f64::from(won.units_of_tile[place]).into()),
            f64::from(tile.count).into(),
            second(format!("row_{row}_opened")),
            second(format!("tile_{}_completed", slug(&tile.key, '_'))),
        ]);
    }
    table
}

fn players(world: EntityWorld<'_>, won: &Won) -> SummaryTable {
    let mut table = SummaryTable::new("players", ["player", "drops", "units", "completed_tiles"]);
    let is_member = |name: &str| world.catalogue.entities[world.entity].members.iter().any(|member| member == name);
    for (name, counts) in &won.by_player {
        if is_member(name) || counts.iter().any(|count| *count > 0) {
            let [drops, units, completions] = counts.map(|count| f64::from(count).into());
            table.push([name.as_str().into(), drops, units, completions]);
        }
    }
    table
}

/// Totals from the events of a world.
struct Won {
    units_of_tile: Vec<u32>,
    /// Drops, granted units and completions of each player, with groups last.
    by_player: Vec<(String, [u32; 3])>,
}

impl Won {
    fn of(board: &Board, world: EntityWorld<'_>, events: &EventBlock<'_>) -> Self {
        let column = |name: &str| {
            let place = world.catalogue.event_column(name);
            place.map_or((EventValues::Label(&[]), &[][..]), |place| match &world.catalogue.events[place].kind {
                EventKind::Label(words) => (events.columns[place], words.as_slice()),
                _ => (events.columns[place], &[][..]),
            })
        };
        let [(what, whats), (player, players), (units, _), (tile, _)] = ["what", "player", "units", "tile"].map(column);
        let named = players.iter().cloned().chain(std::iter::once("(groups)".to_owned()));
        let mut won =
            Self { units_of_tile: vec![0; board.tiles.len()], by_player: named.map(|name| (name, [0; 3])).collect() };
        for row in 0..what.len() {
            let of = |values: EventValues<'_>| values.number(row).and_then(|n| usize::try_from(n).ok());
            let counts = &mut won.by_player[of(player).unwrap_or(players.len())].1;
            if of(what).and_then(|what| whats.get(what)).is_some_and(|what| what == "completion") {
                counts[2] += 1;
                continue;
            }
            let units = of(units).unwrap_or_default() as u32;
            counts[0] += 1;
            counts[1] += units;
            if let Some(tile) = of(tile) {
                won.units_of_tile[tile] += units;
            }
        }
        won
    }
}
