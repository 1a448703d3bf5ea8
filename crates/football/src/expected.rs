//! What the columns of a play are expected to be: the state of the game follows from the play before.

use model::{EventColumn, Expectation, Formula, Operand};

use crate::play::{Foul, Kind, Outcome};

/// Columns with what is expected of them. Values may differ from it, so it need not follow every rule of the game.
pub(crate) fn with_expectations(columns: Vec<EventColumn>) -> Vec<EventColumn> {
    columns.into_iter().map(|column| EventColumn { expected: expectation(&column.name), ..column }).collect()
}

fn expectation(column: &str) -> Option<Expectation> {
    Some(match column {
        "clock" => Expectation::always(before("clock").plus(-1, Operand::row_before("run_off"))),
        "drive" => drive(),
        "distance" => distance(),
        "yard_line" => yard_line(),
        "points" => points(),
        "home_score" => score("home_score", HOME),
        "away_score" => score("away_score", AWAY),
        "foul_yards" => foul_yards(),
        _ => return None,
    })
}

/// Codes of column `offence`.
const HOME: u8 = 0;
const AWAY: u8 = 1;

fn before(column: &str) -> Formula {
    Formula::default().plus(1, Operand::row_before(column))
}

fn drive() -> Expectation {
    let ends = [Kind::Punt, Kind::FieldGoal, Kind::ExtraPoint, Kind::TwoPointPass, Kind::TwoPointRun];
    let next = Formula { constant: 1, ..before("drive") };
    let cases = vec![(ends.map(|kind| kind as u8).to_vec(), next)];
    Expectation { by: Some(Operand::row_before("play_type")), cases, otherwise: before("drive") }
}

fn distance() -> Expectation {
    let gained = before("distance").plus(-1, Operand::row_before("yards"));
    let later = gained.plus(1, Operand::row_before("foul_yards"));
    let cases = vec![(vec![0], Formula::default()), (vec![1], Formula::constant(10))];
    Expectation { by: Some(Operand::same_row("down")), cases, otherwise: later }
}

fn yard_line() -> Expectation {
    let yard_line = || Operand::row_before("yard_line");
    let yards = || Operand::row_before("yards");
    let foul_yards = || Operand::row_before("foul_yards");
    let turned = Formula::constant(100).plus(-1, yard_line()).plus(1, yards());
    let returned = turned.clone().plus(-1, Operand::row_before("return_yards"));
    let cases = [
        (vec![Outcome::Touchdown], Formula::constant(15)),
        (vec![Outcome::Good, Outcome::Missed], Formula::constant(65)),
        (vec![Outcome::Touchback], Formula::constant(75)),
        (vec![Outcome::Safety], Formula::constant(80)),
        (vec![Outcome::Intercepted, Outcome::FumbleLost, Outcome::Returned], returned),
        (vec![Outcome::FairCatch, Outcome::Downed, Outcome::Blocked], turned),
        (vec![Outcome::NoPlay], before("yard_line").plus(1, foul_yards())),
    ];
    let cases = cases.into_iter().map(|(outcomes, formula)| (outcomes.into_iter().map(|o| o as u8).collect(), formula));
    let gained = before("yard_line").plus(-1, yards()).plus(-1, foul_yards());
    Expectation { by: Some(Operand::row_before("result")), cases: cases.collect(), otherwise: gained }
}

fn points() -> Expectation {
    let scores = [(Outcome::Touchdown, 6), (Outcome::Safety, -2), (Outcome::Good, 1)];
    let cases = scores.map(|(outcome, points)| (vec![outcome as u8], Formula::constant(points)));
    Expectation { by: Some(Operand::same_row("result")), cases: cases.to_vec(), otherwise: Formula::default() }
}

fn score(column: &str, side: u8) -> Expectation {
    let scored = before(column).plus(1, Operand::same_row("points"));
    Expectation { by: Some(Operand::same_row("offence")), cases: vec![(vec![side], scored)], otherwise: before(column) }
}

fn foul_yards() -> Expectation {
    let yards = |foul: &Foul| match foul {
        Foul::OffensiveHolding | Foul::IllegalBlock | Foul::OffensivePassInterference => 10,
        Foul::UnnecessaryRoughness | Foul::RoughingThePasser => 15,
        _ => 5,
    };
    let fouls = (0..).map_while(Foul::from_repr);
    let cases = fouls.map(|foul| (vec![foul as u8], Formula::constant(yards(&foul)))).collect();
    Expectation { by: Some(Operand::same_row("foul")), cases, otherwise: Formula::default() }
}
