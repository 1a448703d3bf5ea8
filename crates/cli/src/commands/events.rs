//! `manyworlds events`: one world's events, or its summary.

use anyhow::{Result, bail};
use ensemble::{Columns, EnsembleError, EventFilter, EventRows, MissingModel, OutcomeRef};
use model::{Catalogue, Cell, EntityWorld, EventKind, SummaryTable};
use serde_json::{Map, Value, json};
use world::{World, WorldRange};

use super::{make_model, model_of, open_columns};
use crate::args::{EventsArgs, Format};
use crate::output::{self, Table, note, print, print_json};

pub(crate) async fn events(args: &EventsArgs) -> Result<()> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let stored = columns.ensemble();
    let catalogue = &stored.plan.catalogue;
    let entity = catalogue.find_entity(&args.entity)?;
    let world = World(args.world);
    if args.summary {
        return summary(&columns, entity, world, args.format.format);
    }
    stored.place(world)?;
    let parse = |condition: &String| EventFilter::parse(condition, catalogue);
    let filters = args.conditions.iter().chain(&args.drive).map(parse).collect::<Result<Vec<_>, _>>()?;
    let part = match &args.player {
        Some(player) => Some(parse(&model_of(&stored.plan)?.events_of_player(player)?)?),
        None => None,
    };
    let events = stored.events_of(entity, WorldRange::new(world, 1)?, &make_model())?;
    let count = events.rows.iter().sum::<u32>() as usize;
    let keeps = |row: usize| filters.iter().chain(&part).all(|filter| filter.holds(&events, row));
    let kept: Vec<usize> = (0..count).filter(|&row| keeps(row)).collect();
    if let (Some(player), true) = (&args.player, kept.is_empty()) {
        let such = if filters.is_empty() { "" } else { " that meets the other conditions" };
        note(&format!("{player} has a part in no event of {} in world {world}{such}", args.entity));
    }
    print_events(catalogue, &events, &kept, args.format.format)
}

fn print_events(catalogue: &Catalogue, events: &EventRows, rows: &[usize], format: Format) -> Result<()> {
    let cell = |column: usize, row: usize| -> Value {
        let values = &events.columns[column];
        match (&catalogue.events[column].kind, values.number(row)) {
            (EventKind::F64, _) => json!(values.value(row)),
            (EventKind::Label(words), Some(code)) => json!(words.get(code as usize)),
            (_, number) => json!(number),
        }
    };
    if format == Format::Json {
        let object = |row: usize| {
            let own = catalogue.events.iter().enumerate().map(|(c, column)| (column.name.clone(), cell(c, row)));
            Value::Object(std::iter::once(("number".to_owned(), json!(row))).chain(own).collect::<Map<_, _>>())
        };
        return print_json(&rows.iter().map(|&row| object(row)).collect::<Vec<_>>());
    }
    // The table for people skips empty columns.
    let shown: Vec<usize> = (0..catalogue.events.len())
        .filter(|&c| format == Format::Csv || rows.iter().any(|&row| !cell(c, row).is_null()))
        .collect();
    let header = std::iter::once("number".to_owned()).chain(shown.iter().map(|&c| catalogue.events[c].name.clone()));
    let mut table = Table::with_header(header.collect());
    for &row in rows {
        let cells = shown.iter().map(|&c| output::cell(&cell(c, row)));
        table.push_row(std::iter::once(row.to_string()).chain(cells).collect());
    }
    print(&table.text(format))
}

/// The model's summary tables of one world; JSON also has every outcome.
fn summary(columns: &Columns, entity: usize, world: World, format: Format) -> Result<()> {
    let stored = columns.ensemble();
    let catalogue = &stored.plan.catalogue;
    let place = stored.place(world)?;
    let kind = catalogue.kind_of(entity);
    let refs: Vec<OutcomeRef> = (0..kind.outcomes.len()).map(|outcome| OutcomeRef { entity, outcome }).collect();
    let outcomes: Vec<f64> = columns.get(&refs)?.iter().map(|c| c.value(place)).collect();
    let model = match make_model()(&stored.plan) {
        Ok(model) => Some(model),
        Err(error) if error.is::<MissingModel>() => {
            note(&format!("showing outcomes only: {error}"));
            None
        }
        Err(error) => bail!(error),
    };
    let events = match &model {
        Some(_) => stored.events_of(entity, WorldRange::new(world, 1)?, &make_model()),
        None => Err(EnsembleError::NoEvents { entity: catalogue.entities[entity].name.clone() }),
    };
    let events = match events {
        Err(EnsembleError::NoEvents { .. }) => None,
        events => Some(events?),
    };
    let block = events.as_ref().map(EventRows::block);
    let shown = EntityWorld { catalogue, entity, outcomes: &outcomes, events: block.as_ref() };
    let tables = model.map_or_else(|| vec![SummaryTable::of_outcomes(shown)], |model| model.summary(shown));
    let entity = &catalogue.entities[entity];
    if format == Format::Json {
        let outcomes: Map<String, Value> = shown.values().map(|(o, v)| (o.name.clone(), json!(v))).collect();
        let (name, title) = (&entity.name, &entity.title);
        return print_json(&json!({"entity": name, "title": title, "outcomes": outcomes, "tables": tables}));
    }
    if format == Format::Csv {
        return print(&tables.iter().map(|table| to_text(table).to_csv()).collect::<Vec<_>>().join("\n"));
    }
    let mut text = format!("{}\n", entity.title);
    for table in &tables {
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
