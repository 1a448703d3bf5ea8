//! The outcomes of an ensemble in the wide form that an import reads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use ensemble::{EnsembleError, OutcomeRef, RangeReader, StoredEnsemble};
use model::{Outcome, OutcomeKind, UnknownName};
use table::{ListValues, TableError};

/// Columns of the form with a column for each outcome of each entity. Readers of Parquet keep all of them in memory.
const COLUMNS_MAX: usize = 10_000;

/// Why an ensemble has no wide form.
#[derive(Debug, thiserror::Error)]
pub enum WideError {
    #[error("ensemble {ensemble:?} has no kind of entities {kind:?}; there are: {}", known.join(", "))]
    Kind { ensemble: String, kind: String, known: Vec<String> },
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error("{outcome:?} names no entity: write ENTITY:OUTCOME, or choose one kind of {}", known.join(", "))]
    Entity { outcome: String, known: Vec<String> },
    /// One row would hold the outcomes of all entities.
    #[error(
        "ensemble {ensemble:?} has {count} outcomes of several kinds of entities, and a row may hold {max}: choose one kind \
         of {}",
        known.join(", ")
    )]
    Columns { ensemble: String, count: usize, max: usize, known: Vec<String> },
    #[error("column {name:?} would stand for two things: choose other outcomes")]
    Repeated { name: String },
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

type Result<T> = std::result::Result<T, WideError>;

/// The outcomes of an ensemble as batches of rows.
///
/// Entities of one kind have a row for each world and entity: columns `world`, `entity`, and one for each outcome.
/// Entities of several kinds have a row for each world: columns `world`, and `ENTITY:OUTCOME` for each outcome.
///
/// Flags are booleans, codes with labels texts, numbers integers or, with a scale, real numbers.
#[derive(Debug)]
pub struct Wide {
    ensemble: StoredEnsemble,
    ranges: Vec<RangeReader>,
    schema: SchemaRef,
    /// The rows of each range: an entity's name if it has a column, and the outcomes of the other columns.
    rows: Vec<(Option<String>, Vec<OutcomeRef>)>,
}

impl Wide {
    /// Opens the completed ranges. `kind` names the kind of entities to take; without it, all are. `outcomes` are those
    /// to take, as the columns are called; without any, all are.
    ///
    /// # Errors
    /// When the ensemble has no such kind or outcome, has too many outcomes for one row, calls an outcome as another
    /// column, or when segments cannot be read.
    pub fn open(ensemble: StoredEnsemble, kind: Option<&str>, outcomes: &[String]) -> Result<Self> {
        let kinds = &ensemble.plan.catalogue.kinds;
        let unknown = |kind: &str| WideError::Kind {
            ensemble: ensemble.plan.name.clone(),
            kind: kind.to_owned(),
            known: names(&ensemble),
        };
        let kind = match kind {
            Some(name) => Some(kinds.iter().position(|kind| kind.name == name).ok_or_else(|| unknown(name))?),
            None => (kinds.len() == 1).then_some(0),
        };
        let mut fields = vec![Field::new("world", DataType::Int32, false)];
        let rows = match kind {
            Some(kind) => {
                fields.push(Field::new("entity", DataType::Utf8, false));
                of_kind(&ensemble, kind, outcomes, &mut fields)?
            }
            None => vec![(None, of_all(&ensemble, outcomes, &mut fields)?)],
        };
        let mut known = BTreeSet::new();
        if let Some(twice) = fields.iter().find(|field| !known.insert(field.name())) {
            return Err(WideError::Repeated { name: twice.name().clone() });
        }
        Ok(Self { ranges: ensemble.open_outcomes()?, ensemble, schema: Arc::new(Schema::new(fields)), rows })
    }

    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Reads the rows range by range, one entity of a range at a time.
    pub fn batches(&self) -> impl Iterator<Item = Result<RecordBatch>> {
        self.ranges
            .iter()
            .flat_map(|range| self.rows.iter().map(|(entity, row)| self.batch(range, entity.as_ref(), row)))
    }

    fn batch(&self, range: &RangeReader, entity: Option<&String>, row: &[OutcomeRef]) -> Result<RecordBatch> {
        let worlds = range.metadata().range;
        let mut columns: Vec<ArrayRef> =
            vec![Arc::new(Int32Array::from_iter_values(worlds.worlds().map(|w| w.0 as i32)))];
        if let Some(name) = entity {
            columns.push(Arc::new(StringArray::from_iter_values(std::iter::repeat_n(name, worlds.count()))));
        }
        let catalogue = &self.ensemble.plan.catalogue;
        let mut found: BTreeMap<OutcomeRef, ArrayRef> = BTreeMap::new();
        let mut sorted = row.to_vec();
        sorted.sort_unstable();
        for some in sorted.chunk_by(|a, b| a.entity == b.entity) {
            let entity = some[0].entity;
            let outcomes = &catalogue.kind_of(entity).outcomes;
            range.outcomes(catalogue, entity, some.iter().map(|place| place.outcome), |outcome, values| {
                found.insert(OutcomeRef { entity, outcome }, array(&outcomes[outcome], &values));
            })?;
        }
        columns.extend(row.iter().filter_map(|place| found.get(place).cloned()));
        Ok(RecordBatch::try_new(self.schema.clone(), columns)?)
    }
}

fn names(ensemble: &StoredEnsemble) -> Vec<String> {
    ensemble.plan.catalogue.kinds.iter().map(|kind| kind.name.clone()).collect()
}

/// The rows of the entities of a kind.
fn of_kind(
    ensemble: &StoredEnsemble,
    kind: usize,
    outcomes: &[String],
    fields: &mut Vec<Field>,
) -> Result<Vec<(Option<String>, Vec<OutcomeRef>)>> {
    let catalogue = &ensemble.plan.catalogue;
    let all = &catalogue.kinds[kind];
    let mut chosen = (0..all.outcomes.len()).collect::<Vec<_>>();
    if !outcomes.is_empty() {
        chosen = outcomes.iter().map(|name| all.find_outcome(name)).collect::<std::result::Result<_, _>>()?;
    }
    fields.extend(chosen.iter().map(|&outcome| field(&all.outcomes[outcome], None)));
    let entities = catalogue.entities.iter().enumerate().filter(|(_, entity)| entity.kind == kind);
    let row = |entity: usize| chosen.iter().map(|&outcome| OutcomeRef { entity, outcome }).collect();
    Ok(entities.map(|(place, entity)| (Some(entity.name.clone()), row(place))).collect())
}

/// The outcomes that `ENTITY:OUTCOME` names; all of them without names.
fn of_all(ensemble: &StoredEnsemble, outcomes: &[String], fields: &mut Vec<Field>) -> Result<Vec<OutcomeRef>> {
    let catalogue = &ensemble.plan.catalogue;
    let all = (0..catalogue.entities.len()).flat_map(|entity| {
        (0..catalogue.kind_of(entity).outcomes.len()).map(move |outcome| OutcomeRef { entity, outcome })
    });
    let count = if outcomes.is_empty() { all.clone().count() } else { outcomes.len() };
    if count > COLUMNS_MAX {
        let (ensemble, known) = (ensemble.plan.name.clone(), names(ensemble));
        return Err(WideError::Columns { ensemble, count, max: COLUMNS_MAX, known });
    }
    let find = |name: &String| {
        let Some((entity, outcome)) = name.split_once(':') else {
            return Err(WideError::Entity { outcome: name.clone(), known: names(ensemble) });
        };
        let entity = catalogue.find_entity(entity)?;
        Ok(OutcomeRef { entity, outcome: catalogue.kind_of(entity).find_outcome(outcome)? })
    };
    let chosen: Vec<_> =
        if outcomes.is_empty() { all.collect() } else { outcomes.iter().map(find).collect::<Result<_>>()? };
    fields.extend(chosen.iter().map(|place| {
        let outcome = &catalogue.kind_of(place.entity).outcomes[place.outcome];
        field(outcome, Some(&catalogue.entities[place.entity].name))
    }));
    Ok(chosen)
}

fn field(outcome: &Outcome, entity: Option<&str>) -> Field {
    let name = entity.map_or_else(|| outcome.name.clone(), |entity| format!("{entity}:{}", outcome.name));
    let ty = match outcome.kind {
        OutcomeKind::Flag => DataType::Boolean,
        OutcomeKind::Code if !outcome.labels.is_empty() => DataType::Utf8,
        OutcomeKind::Real => DataType::Float64,
        OutcomeKind::Number | OutcomeKind::Code if outcome.scale > 1 => DataType::Float64,
        OutcomeKind::Number | OutcomeKind::Code => DataType::Int32,
    };
    Field::new(name, ty, false)
}

/// The values in the type of [`field`].
fn array(outcome: &Outcome, values: &ListValues) -> ArrayRef {
    let scale = f64::from(outcome.scale);
    let whole: Box<dyn Iterator<Item = i32>> = match values {
        ListValues::I16(values) => Box::new(values.iter().map(|value| i32::from(*value))),
        ListValues::I32(values) => Box::new(values.iter().copied()),
        ListValues::F64(values) => return Arc::new(Float64Array::from(values.clone())),
        ListValues::Null => Box::new(std::iter::empty()),
    };
    match field(outcome, None).data_type() {
        DataType::Boolean => Arc::new(whole.map(|value| Some(value != 0)).collect::<BooleanArray>()),
        DataType::Utf8 => {
            let text = |code: i32| outcome.label(code.into()).map_or_else(|| code.to_string(), str::to_owned);
            Arc::new(StringArray::from_iter_values(whole.map(text)))
        }
        DataType::Float64 => Arc::new(Float64Array::from_iter_values(whole.map(|value| f64::from(value) / scale))),
        _ => Arc::new(Int32Array::from_iter_values(whole)),
    }
}
