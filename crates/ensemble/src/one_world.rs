//! Queries about one world: its events, and its summary.

use model::{Catalogue, EntityWorld, EventBlock, EventKind, EventRows, MemberNames, SummaryTable};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use world::{World, WorldRange};

use crate::columns::Columns;
use crate::error::{EnsembleError, QuestionError};
use crate::event_filter::EventFilter;
use crate::expression::OutcomeRef;
use crate::json::number;
use crate::plan::{MakeModel, MissingModel};
use crate::questions::{CONDITIONS_MAX, check_count};
use crate::stored::{StoredEnsemble, damaged};

/// A query for the events of an entity in one world.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventsQuestion {
    pub ensemble: String,
    pub entity: String,
    pub world: u32,
    /// Conditions over the columns of events, as one text or several. All must hold.
    #[serde(default, rename = "where", deserialize_with = "one_or_more")]
    pub conditions: Vec<String>,
    /// Events to return at most; by default all.
    #[serde(default)]
    pub limit: Option<usize>,
    /// Matching events to skip.
    #[serde(default)]
    pub offset: usize,
}

fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Texts {
        One(String),
        More(Vec<String>),
    }
    Ok(match Texts::deserialize(from)? {
        Texts::One(text) if text.trim().is_empty() => Vec::new(),
        Texts::One(text) => vec![text],
        Texts::More(texts) => texts,
    })
}

/// Events of one world.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventsAnswer {
    /// `number`, the event's place in its world, and the columns of the catalogue. Columns whose words stand for members
    /// are followed by a column `NAME_name` with the members' names.
    pub columns: Vec<String>,
    /// For a column with names, the index of the column with the words.
    #[serde(skip)]
    pub names_of: Vec<Option<usize>>,
    pub rows: Vec<Vec<Value>>,
    /// Events that meet the conditions, returned or not.
    pub total: usize,
}

impl EventsQuestion {
    /// Answers from stored events, or replays them with the model of `make_model`.
    ///
    /// # Errors
    /// When the entity, the world or a name in a condition is unknown, the entity has no events, or they can be neither
    /// read nor replayed.
    pub fn answer(&self, columns: &Columns, make_model: &MakeModel) -> Result<EventsAnswer, QuestionError> {
        check_count("conditions", self.conditions.len(), CONDITIONS_MAX)?;
        let stored = columns.ensemble();
        let catalogue = &stored.plan.catalogue;
        let entity = catalogue.find_entity(&self.entity)?;
        let world = only(stored, World(self.world))?;
        let filters = self.conditions.iter().map(|condition| EventFilter::parse(condition, catalogue));
        let filters = filters.collect::<Result<Vec<_>, _>>()?;
        let events = stored.events_of(entity, world, make_model)?;
        let count = events.rows.iter().sum::<u32>() as usize;
        let kept = (0..count).filter(|&row| filters.iter().all(|filter| filter.holds(&events, row)));
        let kept: Vec<usize> = kept.collect();
        let block = events.block();
        let shown: Vec<Shown<'_>> = (0..catalogue.events.len()).map(|c| Shown::new(catalogue, &block, c)).collect();
        let rows = kept.iter().skip(self.offset).take(self.limit.unwrap_or(usize::MAX));
        let row = |&row: &usize| std::iter::once(json!(row)).chain(shown.iter().flat_map(|c| c.cells(row))).collect();
        let (columns, names_of) = headers(&shown);
        Ok(EventsAnswer { columns, names_of, rows: rows.map(row).collect(), total: kept.len() })
    }
}

/// The range of one stored world.
fn only(stored: &StoredEnsemble, world: World) -> Result<WorldRange, EnsembleError> {
    stored.place(world)?;
    WorldRange::new(world, 1).map_err(|error| damaged(&stored.plan.name, &error.to_string()))
}

fn headers(shown: &[Shown<'_>]) -> (Vec<String>, Vec<Option<usize>>) {
    let (mut columns, mut names_of) = (vec!["number".to_owned()], vec![None]);
    for column in shown {
        columns.push(column.name.to_owned());
        names_of.push(None);
        if column.names.is_some() {
            names_of.push(Some(columns.len() - 1));
            columns.push(format!("{}_name", column.name));
        }
    }
    (columns, names_of)
}

/// A column of events.
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
        let names = catalogue.member_names(events.entity, place);
        Self { name: &column.name, kind: &column.kind, events, place, names }
    }

    fn value(&self, row: usize) -> Value {
        let values = self.events.columns[self.place];
        match (self.kind, values.number(row)) {
            (EventKind::F64, _) => json!(values.value(row)),
            (EventKind::Label(words), Some(code)) => json!(words.get(code as usize)),
            (_, number) => json!(number),
        }
    }

    /// The column's value, and its member's name if words stand for members.
    fn cells(&self, row: usize) -> impl Iterator<Item = Value> {
        let name = self
            .names
            .as_ref()
            .map(|names| json!(names.name(self.events.columns[self.place], self.events.columns[names.chooser], row)));
        std::iter::once(self.value(row)).chain(name)
    }
}

/// A query for the model's own tables about an entity in one world.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryQuestion {
    pub ensemble: String,
    /// By default the first of the catalogue.
    #[serde(default)]
    pub entity: Option<String>,
    pub world: u32,
}

/// One world of an entity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SummaryAnswer {
    pub entity: String,
    /// The entity's title.
    pub title: String,
    /// Every outcome by its name.
    pub outcomes: Map<String, Value>,
    /// The model's tables, or one of the outcomes if the model is not at hand.
    pub tables: Vec<SummaryTable>,
    /// Why the tables are not the model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl SummaryQuestion {
    /// Answers with the model of `make_model`, or without it from the outcomes.
    ///
    /// # Errors
    /// When the entity or the world is unknown, the model refuses the ensemble's parameters, or segments cannot be read.
    pub fn answer(&self, columns: &Columns, make_model: &MakeModel) -> Result<SummaryAnswer, QuestionError> {
        let stored = columns.ensemble();
        let catalogue = &stored.plan.catalogue;
        let entity = match &self.entity {
            Some(name) => catalogue.find_entity(name)?,
            None => catalogue.entities.first().map(|_| 0).ok_or(QuestionError::NoOutcomes)?,
        };
        let world = World(self.world);
        let place = stored.place(world)?;
        let kind = catalogue.kind_of(entity);
        let refs: Vec<OutcomeRef> = (0..kind.outcomes.len()).map(|outcome| OutcomeRef { entity, outcome }).collect();
        let outcomes: Vec<f64> = columns.get(&refs)?.iter().map(|column| column.value(place)).collect();
        let (model, note) = match make_model(&stored.plan) {
            Ok(model) => (Some(model), None),
            Err(error) if error.is::<MissingModel>() => (None, Some(error.to_string())),
            Err(error) => {
                let ensemble = stored.plan.name.clone();
                return Err(EnsembleError::NoModel { ensemble, reason: error.to_string() }.into());
            }
        };
        let events = match &model {
            Some(_) => stored.events_of(entity, only(stored, world)?, make_model),
            None => Err(EnsembleError::NoEvents { entity: catalogue.entities[entity].name.clone() }),
        };
        let events = match events {
            Err(EnsembleError::NoEvents { .. }) => None,
            events => Some(events?),
        };
        let block = events.as_ref().map(EventRows::block);
        let shown = EntityWorld { catalogue, entity, outcomes: &outcomes, events: block.as_ref() };
        let tables = model.map_or_else(|| vec![SummaryTable::of_outcomes(shown)], |model| model.summary(shown));
        let outcomes = shown.values().map(|(outcome, value)| (outcome.name.clone(), number(value))).collect();
        let entity = &catalogue.entities[entity];
        Ok(SummaryAnswer { entity: entity.name.clone(), title: entity.title.clone(), outcomes, tables, note })
    }
}
