//! `manyworlds plays`: one world's events, and its box score.

use std::process::ExitCode;

use anyhow::Result;
use ensemble::{EventFilter, EventRows, OutcomeRef, events_of};
use model::{Catalogue, EventKind};
use serde_json::{Map, Value, json};
use world::{World, WorldRange};

use super::{make_model, model_of, open_columns};
use crate::args::{Format, PlaysArgs};
use crate::output::{Table, note, print, print_json};

pub(crate) async fn plays(args: &PlaysArgs) -> Result<ExitCode> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let stored = columns.ensemble();
    let catalogue = &stored.plan.catalogue;
    let entity = catalogue.find_entity(&args.entity)?;
    let world = World(args.world);
    let place = stored.place(world)?;
    if args.box_score {
        let outcomes = 0..catalogue.kind_of(entity).outcomes.len();
        let refs: Vec<OutcomeRef> = outcomes.map(|outcome| OutcomeRef { entity, outcome }).collect();
        let values: Vec<f64> = columns.get(&refs)?.iter().map(|c| c.value(place)).collect();
        box_score(catalogue, entity, &values, args.format.format)?;
        return Ok(ExitCode::SUCCESS);
    }
    let filters = filters(catalogue, args)?;
    let part = match &args.player {
        Some(player) => Some(EventFilter::parse(&model_of(&stored.plan)?.events_of_player(player)?, catalogue)?),
        None => None,
    };
    let events = events_of(stored, entity, WorldRange::new(world, 1)?, |_| true, &make_model())?;
    let count = events.rows.iter().sum::<u32>() as usize;
    let keeps = |row: usize| filters.iter().chain(&part).all(|filter| filter.holds(&events, row));
    let kept: Vec<usize> = (0..count).filter(|&row| keeps(row)).collect();
    if let (Some(player), true) = (&args.player, kept.is_empty()) {
        let such = if filters.is_empty() { "" } else { " that meets the other conditions" };
        note(&format!("{player} has a part in no event of {} in world {world}{such}", args.entity));
    }
    print_events(catalogue, &events, &kept, args.format.format)?;
    Ok(ExitCode::SUCCESS)
}

fn filters(catalogue: &Catalogue, args: &PlaysArgs) -> Result<Vec<EventFilter>> {
    let drive = args.drive.map(|drive| format!("drive = {drive}"));
    let conditions = args.conditions.iter().chain(&drive);
    Ok(conditions.map(|condition| EventFilter::parse(condition, catalogue)).collect::<Result<_, _>>()?)
}

fn print_events(catalogue: &Catalogue, events: &EventRows, rows: &[usize], format: Format) -> Result<()> {
    let cell = |column: usize, row: usize| -> Value {
        match (events.columns[column].number(row), &catalogue.events[column].kind) {
            (None, _) => Value::Null,
            (Some(code), EventKind::Label(words)) => json!(words.get(code as usize)),
            (Some(number), _) => json!(number),
        }
    };
    if format == Format::Json {
        let object = |row: usize| {
            let own = catalogue.events.iter().enumerate().map(|(c, column)| (column.name.clone(), cell(c, row)));
            Value::Object(std::iter::once(("number".to_owned(), json!(row))).chain(own).collect::<Map<_, _>>())
        };
        return print_json(&rows.iter().map(|&row| object(row)).collect::<Vec<_>>());
    }
    // For people, columns in which nothing stands are left out.
    let shown: Vec<usize> = (0..catalogue.events.len())
        .filter(|&c| format == Format::Csv || rows.iter().any(|&row| !cell(c, row).is_null()))
        .collect();
    let header = std::iter::once("number".to_owned()).chain(shown.iter().map(|&c| catalogue.events[c].name.clone()));
    let mut table = Table::with_header(header.collect());
    for &row in rows {
        let text = |value: Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text,
            other => other.to_string(),
        };
        table.push_row(std::iter::once(row.to_string()).chain(shown.iter().map(|&c| text(cell(c, row)))).collect());
    }
    print(&if format == Format::Csv { table.to_csv() } else { table.to_string() })
}

/// An entity's outcomes in one world: those of both sides beside each other, what is zero left out.
fn box_score(catalogue: &Catalogue, entity: usize, values: &[f64], format: Format) -> Result<()> {
    let kind = catalogue.kind_of(entity);
    let title = &catalogue.entities[entity].title;
    if format == Format::Json {
        let outcomes: Map<String, Value> =
            kind.outcomes.iter().zip(values).map(|(o, v)| (o.name.clone(), json!(v))).collect();
        return print_json(&json!({"entity": catalogue.entities[entity].name, "title": title, "outcomes": outcomes}));
    }
    let mut table = Table::new(["outcome", "", "home", "away"]);
    for (outcome, value) in kind.outcomes.iter().zip(values) {
        if let Some(stat) = outcome.name.strip_prefix("home_") {
            let twin = kind.outcome(&format!("away_{stat}"));
            let away = twin.map_or(0.0, |twin| values[twin]);
            if *value != 0.0 || away != 0.0 {
                table.push([stat.to_owned(), String::new(), value.to_string(), away.to_string()]);
            }
        } else if !outcome.name.starts_with("away_") && *value != 0.0 {
            table.push([outcome.name.clone(), value.to_string(), String::new(), String::new()]);
        }
    }
    if format == Format::Csv {
        return print(&table.to_csv());
    }
    print(&format!("{title}\n\n{table}"))
}
