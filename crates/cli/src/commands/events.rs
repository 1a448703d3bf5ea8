//! `manyworlds events`: one world's events, or its summary.

use anyhow::Result;
use ensemble::{Columns, EventsAnswer, EventsQuestion, Plan, QuestionError, SummaryQuestion};
use model::{Cell, SummaryTable};
use serde_json::{Map, Value};

use super::simulation::{at_hand, replayable};
use super::{make_model, model_of, open_columns};
use crate::args::{EventsArgs, Format};
use crate::output::{self, Table, note, print, print_json};

pub(crate) async fn events(args: &EventsArgs) -> Result<()> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let plan = &columns.ensemble().plan;
    at_hand(&args.played_by, plan)?;
    if args.summary {
        return summary(&columns, args);
    }
    let mut question = EventsQuestion {
        ensemble: args.ensemble.clone(),
        entity: args.entity.clone(),
        world: args.world,
        conditions: args.conditions.iter().chain(&args.drive).cloned().collect(),
        limit: None,
        offset: 0,
    };
    let is_narrowed = !question.conditions.is_empty();
    if let Some(player) = &args.player {
        let entity = plan.catalogue.find_entity(&args.entity)?;
        question.conditions.push(model_of(plan)?.events_of_player(entity, player)?);
    }
    let answer = question.answer(&columns, &make_model()).map_err(|error| explained(plan, error))?;
    if let (Some(player), 0) = (&args.player, answer.total) {
        let such = if is_narrowed { " that meets the other conditions" } else { "" };
        note(&format!("{player} has a part in no event of {} in world {}{such}", args.entity, args.world));
    }
    print_events(&answer, args.format.format)
}

fn explained(plan: &Plan, error: QuestionError) -> anyhow::Error {
    match error {
        QuestionError::Ensemble(error) => replayable(plan, error),
        error => error.into(),
    }
}

fn print_events(answer: &EventsAnswer, format: Format) -> Result<()> {
    let EventsAnswer { columns, rows, .. } = answer;
    if format == Format::Json {
        let object = |row: &Vec<Value>| columns.iter().cloned().zip(row.iter().cloned()).collect::<Map<_, _>>();
        return print_json(&rows.iter().map(object).collect::<Vec<_>>());
    }
    if format == Format::Csv {
        let mut table = Table::with_header(columns.clone());
        rows.iter().for_each(|row| table.push_row(row.iter().map(output::cell).collect()));
        return print(&table.text(format));
    }
    // The table for people skips empty columns, and shows names before the words that stand for them.
    let is_shown = |place: &usize| {
        answer.names_of[*place].is_none() && (*place == 0 || rows.iter().any(|row| !row[*place].is_null()))
    };
    let shown: Vec<usize> = (0..columns.len()).filter(is_shown).collect();
    let names = |place: usize| answer.names_of.iter().position(|of| *of == Some(place));
    let text = |row: &[Value], place: usize| {
        let value = output::cell(&row[place]);
        let name = names(place).and_then(|names| row[names].as_str());
        name.map_or(value.clone(), |name| format!("{name} ({value})"))
    };
    let mut table = Table::with_header(shown.iter().map(|place| columns[*place].clone()).collect());
    rows.iter().for_each(|row| table.push_row(shown.iter().map(|place| text(row, *place)).collect()));
    print(&table.text(format))
}

/// The model's summary tables of one world; JSON also has every outcome.
fn summary(columns: &Columns, args: &EventsArgs) -> Result<()> {
    let (ensemble, entity) = (args.ensemble.clone(), Some(args.entity.clone()));
    let question = SummaryQuestion { ensemble, entity, world: args.world };
    let mut answer = question.answer(columns, &make_model())?;
    if let Some(why) = answer.note.take() {
        note(&format!("showing outcomes only: {why}"));
    }
    let format = args.format.format;
    if format == Format::Json {
        return print_json(&answer);
    }
    let tables = &answer.tables;
    if format == Format::Csv {
        return print(&tables.iter().map(|table| to_text(table).to_csv()).collect::<Vec<_>>().join("\n"));
    }
    let mut text = format!("{}\n", answer.title);
    for table in tables {
        text.push('\n');
        if tables.len() > 1 {
            text.extend([table.name.as_str(), "\n"]);
        }
        text.push_str(&to_text(table).to_string());
    }
    print(&text)
}

fn to_text(table: &SummaryTable) -> Table {
    let cell = |cell: &Cell| match cell {
        Cell::Empty => String::new(),
        Cell::Number(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
    };
    let mut shown = Table::with_header(table.columns.clone());
    table.rows.iter().for_each(|row| shown.push_row(row.iter().map(cell).collect()));
    shown
}
