//! `manyworlds events`: one world's events, or its summary.

use anyhow::{Result, bail};
use ensemble::{Columns, EnsembleError, EventFilter, MissingModel, OutcomeRef};
use model::{Catalogue, Cell, EntityWorld, EventBlock, EventKind, EventRows, MemberNames, SummaryTable};
use serde_json::{Map, Value, json};
use world::{World, WorldRange};

use super::simulation::{at_hand, replayable};
use super::{make_model, model_of, open_columns};
use crate::args::{EventsArgs, Format};
use crate::output::{self, Table, note, print, print_json};

pub(crate) async fn events(args: &EventsArgs) -> Result<()> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let stored = columns.ensemble();
    at_hand(&args.played_by, &stored.plan)?;
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
        Some(player) => Some(parse(&model_of(&stored.plan)?.events_of_player(entity, player)?)?),
        None => None,
    };
    let events = stored.events_of(entity, WorldRange::new(world, 1)?, &make_model());
    let events = events.map_err(|error| replayable(&stored.plan, error))?;
    let count = events.rows.iter().sum::<u32>() as usize;
    let keeps = |row: usize| filters.iter().chain(&part).all(|filter| filter.holds(&events, row));
    let kept: Vec<usize> = (0..count).filter(|&row| keeps(row)).collect();
    if let (Some(player), true) = (&args.player, kept.is_empty()) {
        let such = if filters.is_empty() { "" } else { " that meets the other conditions" };
        note(&format!("{player} has a part in no event of {} in world {world}{such}", args.entity));
    }
    print_events(catalogue, &events.block(), &kept, args.format.format)
}

fn print_events(catalogue: &Catalogue, events: &EventBlock<'_>, rows: &[usize], format: Format) -> Result<()> {
    let columns: Vec<Shown<'_>> = (0..catalogue.events.len()).map(|c| Shown::new(catalogue, events, c)).collect();
    if format == Format::Json {
        let object = |row: usize| {
            let own = columns.iter().flat_map(|column| column.cells(row));
            Value::Object(std::iter::once(("number".to_owned(), json!(row))).chain(own).collect::<Map<_, _>>())
        };
        return print_json(&rows.iter().map(|&row| object(row)).collect::<Vec<_>>());
    }
    if format == Format::Csv {
        let named = columns.iter().flat_map(Shown::headers);
        let mut table = Table::with_header(std::iter::once("number".to_owned()).chain(named).collect());
        for &row in rows {
            let cells = columns.iter().flat_map(|column| column.cells(row)).map(|(_, value)| output::cell(&value));
            table.push_row(std::iter::once(row.to_string()).chain(cells).collect());
        }
        return print(&table.text(format));
    }
    // The table for people skips empty columns.
    let used = |column: &&Shown<'_>| rows.iter().any(|&row| !column.value(row).is_null());
    let shown: Vec<&Shown<'_>> = columns.iter().filter(used).collect();
    let header = std::iter::once("number").chain(shown.iter().map(|column| column.name));
    let mut table = Table::with_header(header.map(str::to_owned).collect());
    for &row in rows {
        table.push_row(std::iter::once(row.to_string()).chain(shown.iter().map(|column| column.text(row))).collect());
    }
    print(&table.text(format))
}

/// A column of events to print.
struct Shown<'a> {
    name: &'a str,
    kind: &'a EventKind,
    events: &'a EventBlock<'a>,
    place: usize,
    /// The names of members behind the words.
    names: Option<MemberNames<'a>>,
}

impl<'a> Shown<'a> {
    fn new(catalogue: &'a Catalogue, events: &'a EventBlock<'a>, place: usize) -> Self {
        let column = &catalogue.events[place];
        Self {
            name: &column.name,
            kind: &column.kind,
            events,
            place,
            names: catalogue.member_names(events.entity, place),
        }
    }

    fn value(&self, row: usize) -> Value {
        let values = self.events.columns[self.place];
        match (self.kind, values.number(row)) {
            (EventKind::F64, _) => json!(values.value(row)),
            (EventKind::Label(words), Some(code)) => json!(words.get(code as usize)),
            (_, number) => json!(number),
        }
    }

    fn member(&self, row: usize) -> Option<&'a str> {
        let names = self.names.as_ref()?;
        names.name(self.events.columns[self.place], self.events.columns[names.chooser], row)
    }

    /// The value as text, after the member's name.
    fn text(&self, row: usize) -> String {
        let value = output::cell(&self.value(row));
        self.member(row).map_or(value.clone(), |name| format!("{name} ({value})"))
    }

    fn headers(&self) -> impl Iterator<Item = String> {
        let name = self.names.is_some().then(|| format!("{}_name", self.name));
        std::iter::once(self.name.to_owned()).chain(name)
    }

    /// The column's value, and its member's name in a column of its own.
    fn cells(&self, row: usize) -> impl Iterator<Item = (String, Value)> {
        let values = [self.value(row), json!(self.member(row))];
        self.headers().zip(values)
    }
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
