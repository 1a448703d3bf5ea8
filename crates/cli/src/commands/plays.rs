//! `manyworlds plays`: one world's events, and its box score.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use ensemble::{EventRows, OutcomeRef, Plan, events_of};
use model::{Catalogue, EventFilter, EventKind, UnknownName};
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
    let players = match &args.player {
        Some(player) => players(&stored.plan, player)?,
        None => vec![Vec::new()],
    };
    let events = events_of(stored, entity, WorldRange::new(world, 1)?, |_| true, &make_model())?;
    let count = events.rows.iter().sum::<u32>() as usize;
    let keeps = |filters: &[Filter], row: usize| filters.iter().all(|f| f.keeps(&events, row));
    let has_part = |row: usize| players.iter().any(|filters| keeps(filters, row));
    let kept: Vec<usize> = (0..count).filter(|&row| keeps(&filters, row) && has_part(row)).collect();
    if let (Some(player), true) = (&args.player, kept.is_empty()) {
        let such = if filters.is_empty() { "" } else { " that meets the other conditions" };
        note(&format!("{player} has a part in no event of {} in world {world}{such}", args.entity));
    }
    print_events(catalogue, &events, &kept, args.format.format)?;
    Ok(ExitCode::SUCCESS)
}

/// A condition on one column of an event.
struct Filter {
    column: usize,
    operator: &'static str,
    value: i32,
}

impl Filter {
    fn keeps(&self, events: &EventRows, row: usize) -> bool {
        let value = events.columns[self.column].number(row);
        match (self.operator, value) {
            ("=", value) => value == Some(self.value),
            ("!=", value) => value != Some(self.value),
            (_, None) => false,
            ("<", Some(v)) => v < self.value,
            ("<=", Some(v)) => v <= self.value,
            (">", Some(v)) => v > self.value,
            (_, Some(v)) => v >= self.value,
        }
    }
}

fn filters(catalogue: &Catalogue, args: &PlaysArgs) -> Result<Vec<Filter>> {
    let mut filters = Vec::new();
    for condition in &args.conditions {
        filters.push(parse_filter(catalogue, condition)?);
    }
    if let Some(drive) = args.drive {
        filters.push(parse_filter(catalogue, &format!("drive={drive}"))?);
    }
    Ok(filters)
}

/// The events that a player has a part in meet one of these lists of conditions.
fn players(plan: &Plan, player: &str) -> Result<Vec<Vec<Filter>>> {
    let of_list =
        |list: EventFilter| list.iter().map(|(column, word)| filter(&plan.catalogue, column, "=", word)).collect();
    model_of(plan)?.events_of_player(player)?.into_iter().map(of_list).collect()
}

fn parse_filter(catalogue: &Catalogue, text: &str) -> Result<Filter> {
    const OPERATORS: [&str; 6] = ["!=", "<=", ">=", "=", "<", ">"];
    let found =
        OPERATORS.into_iter().find_map(|o| text.split_once(o).map(|(column, value)| (column.trim(), o, value.trim())));
    let Some((name, operator, value)) = found else {
        bail!("{text:?}: expected a column, one of = != < <= > >=, and a value, as in 'down>=3'");
    };
    filter(catalogue, name, operator, value)
}

fn filter(catalogue: &Catalogue, name: &str, operator: &'static str, value: &str) -> Result<Filter> {
    let names = catalogue.events.iter().map(|c| c.name.as_str());
    let column = catalogue.event_column(name).ok_or_else(|| UnknownName::new("events have no column", name, names))?;
    let value = match &catalogue.events[column].kind {
        EventKind::Label(words) => {
            let place = words.iter().position(|w| w == value);
            place.with_context(|| format!("{name} is never {value:?}: it is one of {}", words.join(", ")))? as i32
        }
        EventKind::I8 | EventKind::I16 | EventKind::I32 => {
            value.parse().with_context(|| format!("{name} is a number, and {value:?} is none"))?
        }
    };
    Ok(Filter { column, operator, value })
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
