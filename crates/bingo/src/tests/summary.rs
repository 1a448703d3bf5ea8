//! One world as tables.

use model::{Cell, EntityWorld, EventBlock, Model as _, OutcomeBlock, Sink, Stop, SummaryTable, Wanted};
use world::{Seed, World, WorldRange};

use super::rows::three_rows;
use super::support::*;
use crate::Bingo;

struct Summary<'a>(&'a Bingo, Vec<f64>, Vec<SummaryTable>);

impl Sink for Summary<'_> {
    fn outcomes(&mut self, _: OutcomeBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        let (catalogue, events) = (self.0.catalogue(), Some(&block));
        self.2 = self.0.summary(EntityWorld { catalogue, entity: 0, outcomes: &self.1, events });
        Ok(())
    }
}

fn text(table: &SummaryTable) -> Vec<String> {
    let cell = |cell: &Cell| match cell {
        Cell::Empty => "-".to_owned(),
        Cell::Number(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
    };
    table.rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_world_is_shown_as_team_board_and_players() {
    let mut event = three_rows(5);
    event.duration = "450s".to_owned();
    let model = model(&event, &[]);
    let told = told(&event);
    let kind = &model.catalogue().kinds[0];
    let outcomes = kind.outcomes.iter().map(|o| f64::from(told.outcomes[&o.name]) / f64::from(o.scale)).collect();
    let mut sink = Summary(&model, outcomes, Vec::new());
    let range = WorldRange::new(World(0), 1).unwrap();
    model.simulate(Seed(1), range, Wanted { events: true, entity: None }, &mut sink).unwrap();
    let names: Vec<&str> = sink.2.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["team", "board", "players"]);
    assert_eq!(text(&sink.2[0]), ["14 4 2 1 4"]);
    let board = text(&sink.2[1]);
    assert_eq!(board.len(), 12);
    assert_eq!(board[..4], ["0 a1 1 0 1 0 -", "0 a2 2 0 1 0 -", "0 a3 3 1 1 0 200", "0 a4 4 1 1 0 100"]);
    assert_eq!(board[7..9], ["1 b4 4 1 1 200 300", "2 c1 1 0 1 400 -"]);
    assert_eq!(text(&sink.2[2]), ["ann 4 4 4"]);
}
