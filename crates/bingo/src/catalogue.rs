//! Names of the model's entities, outcomes and events.

use model::{Catalogue, Entity, EntityKind, EventColumn, EventKind, Outcome, OutcomeKind};

use crate::blocks::WHATS;
use crate::board::Board;
use crate::definition::{Event, ROW_TILES, slug};
use crate::team_state::{NEVER, TeamState};

/// The outcomes and events of each team's world.
pub(crate) fn catalogue(event: &Event, board: &Board) -> Catalogue {
    let team = |team: &crate::definition::Team| Entity {
        name: slug(&team.name, '-'),
        kind: 0,
        title: team.name.clone(),
        members: team.players.clone(),
    };
    Catalogue {
        kinds: vec![EntityKind { name: "team".to_owned(), outcomes: outcomes(board) }],
        entities: event.teams.iter().map(team).collect(),
        events: event_columns(event, board),
    }
}

/// The stored value of a whole win: every share of it is an integer.
pub(crate) fn whole_win(teams: usize) -> i32 {
    let common = |a: i32, b: i32| {
        let (mut x, mut y) = (a, b);
        while y != 0 {
            (x, y) = (y, x % y);
        }
        a / x * b
    };
    (1..=teams as i32).fold(1, common)
}

fn outcomes(board: &Board) -> Vec<Outcome> {
    let outcome = |name: String, unit: &str, kind, scale| Outcome { scale, ..Outcome::new(name, unit, kind) };
    let number = |name: &str, unit: &str| outcome(name.to_owned(), unit, OutcomeKind::Number, 1);
    let end = board.duration + 1;
    let second =
        |name: String| outcome(name, &format!("second of the event, {end} where never"), OutcomeKind::Number, 1);
    let mut all = vec![
        number("points", "points"),
        number("tiles", "tiles completed"),
        number("row", "furthest row that opened, the first is 0"),
        outcome("win_share".to_owned(), "wins", OutcomeKind::Number, whole_win(board.teams.len())),
        number("attempts", "attempts"),
    ];
    all.extend((0..board.rows).map(|row| second(format!("row_{row}_opened"))));
    all.extend(board.tiles.iter().map(|tile| second(format!("tile_{}_completed", slug(&tile.key, '_')))));
    all
}

/// A team's outcomes in one world, in the order of the catalogue.
pub(crate) fn row<'a>(board: &Board, state: &'a TeamState<'_>, win_share: i32) -> impl Iterator<Item = i32> + use<'a> {
    let counts = [state.points, state.tiles, state.row()].map(|n| n as i32);
    let after = board.duration as i32 + 1;
    let second = move |second: &u32| if *second == NEVER { after } else { *second as i32 };
    counts
        .into_iter()
        .chain([win_share, state.attempts as i32])
        .chain(state.opened.iter().map(second))
        .chain(state.completed.iter().map(second))
}

fn event_columns(event: &Event, board: &Board) -> Vec<EventColumn> {
    let column = |name: &str, doc: &str, kind, nullable| EventColumn {
        doc: doc.to_owned(),
        nullable,
        ..EventColumn::new(name, kind)
    };
    let words = |words: Vec<String>| EventKind::Label(words);
    let activities = event.activities.iter().map(|a| a.key.clone()).collect();
    let players = event.players.iter().map(|p| p.name.clone()).collect();
    let tiles = board.tiles.iter().map(|t| t.key.clone()).collect();
    vec![
        column("second", "second of the event", EventKind::I32, false),
        column("what", "a drop, or a tile's completion", words(WHATS.map(str::to_owned).to_vec()), false),
        column("player", "who won it; NULL where a group rolled", words(players), true),
        column("activity", "what was done", words(activities), false),
        column("drop", "what was won", words(board.drops.clone()), true),
        column("units", "how many the tile got", EventKind::I32, true),
        column("tile", "the tile that got them, or was completed; NULL where none wanted the drop", words(tiles), true),
    ]
}

/// Conditions that hold in every world of a team: its totals match its completed tiles and opened rows.
pub(crate) fn identities(board: &Board) -> Vec<String> {
    let end = board.duration;
    let tile = |tile: usize| format!("tile_{}_completed", slug(&board.tiles[tile].key, '_'));
    let mut all = vec![
        "win_share >= 0 and win_share <= 1".to_owned(),
        format!("row >= 0 and row < {}", board.rows),
        format!("tiles >= 0 and tiles <= {}", board.tiles.len()),
        format!("points >= tiles and points <= {}", board.rows * 10),
        "row_0_opened = 0".to_owned(),
    ];
    for row in 1..board.rows {
        all.push(format!("row_{row}_opened >= row_{}_opened", row - 1));
        all.push(format!("row_{row}_opened > {end} or row >= {row}"));
        all.push(format!("row_{row}_opened <= {end} or row < {row}"));
    }
    for number in 0..board.tiles.len() {
        let (tile, row) = (tile(number), number / ROW_TILES);
        all.push(format!("{tile} > {end} or {tile} >= row_{row}_opened"));
    }
    all
}
