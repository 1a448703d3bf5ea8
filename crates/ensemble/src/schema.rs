//! The columns of the three tables.

use model::{Catalogue, EventKind, OutcomeKind};
use table::{Definition, Field, FieldType};

/// The ensemble and its version: equal for all rows of a segment.
pub(crate) fn partitions() -> Vec<Field> {
    vec![Field::new("ensemble", FieldType::Text), Field::new("version", FieldType::Int64)]
}

/// Columns of `sim.outcomes` for every model, in order.
pub(crate) mod outcome {
    pub(crate) const ENTITY: usize = 0;
    pub(crate) const OUTCOME: usize = 1;
    pub(crate) const SCALE: usize = 2;
    pub(crate) const FIRST_WORLD: usize = 3;
    pub(crate) const VALUES: usize = 4;
    pub(crate) const REALS: usize = 5;
}

/// Columns of `sim.events` for every model, in order; the model's own follow.
pub(crate) mod event {
    pub(crate) const ENTITY: usize = 0;
    pub(crate) const WORLD: usize = 1;
    pub(crate) const NUMBER: usize = 2;
    pub(crate) const FIRST_OWN: usize = 3;
}

/// The columns of a model's outcome segment, with a column of reals only if the model has some.
pub fn outcome_fields(catalogue: &Catalogue) -> Vec<Field> {
    let mut fields = all_outcome_fields();
    let mut outcomes = catalogue.kinds.iter().flat_map(|k| &k.outcomes);
    if !outcomes.any(|o| o.kind == OutcomeKind::Real) {
        fields.truncate(outcome::REALS);
    }
    fields
}

fn all_outcome_fields() -> Vec<Field> {
    vec![
        Field::new("entity", FieldType::Text),
        Field::new("outcome", FieldType::Text),
        Field::new("scale", FieldType::Int32),
        Field::new("first_world", FieldType::Int32),
        Field::new("values", FieldType::Int32List),
        Field::new("reals", FieldType::DoubleList),
    ]
}

/// The columns of a model's event segment. A column with expected values is stored as differences from them, under another
/// name, so that they are not mistaken for the values.
pub fn event_fields(catalogue: &Catalogue) -> Vec<Field> {
    let common = common_event_fields().into_iter();
    let own = catalogue.events.iter().map(|c| {
        if c.expected.is_some() {
            return Field::new(c.residual_name(), FieldType::Int32);
        }
        let ty = match c.kind {
            EventKind::Label(_) => FieldType::Text,
            EventKind::I8 => FieldType::Int8,
            EventKind::I16 => FieldType::Int16,
            EventKind::I32 => FieldType::Int32,
            EventKind::F64 => FieldType::Double,
        };
        Field::new(&c.name, ty)
    });
    common.chain(own).collect()
}

fn common_event_fields() -> Vec<Field> {
    vec![
        Field::new("entity", FieldType::Text),
        Field::new("world", FieldType::Int32),
        Field::new("number", FieldType::Int32),
    ]
}

/// Columns of `sim.ensembles`, in order.
pub(crate) const ENSEMBLE_COLUMNS: [(&str, FieldType); 8] = [
    ("model", FieldType::Text),
    ("parameters", FieldType::Text),
    ("seed", FieldType::Text),
    ("worlds", FieldType::Int32),
    ("range_worlds", FieldType::Int32),
    ("events", FieldType::Text),
    ("created", FieldType::Text),
    ("catalogue", FieldType::Text),
];

pub(crate) fn ensemble_fields() -> Vec<Field> {
    ENSEMBLE_COLUMNS.iter().map(|(name, ty)| Field::new(*name, *ty)).collect()
}

/// A column of `sim.ensembles` added with the first ensemble that stopped early, once an outcome met its goal: the
/// outcome, and the goal.
pub(crate) const ENOUGH: &str = "enough";

/// A column of `sim.ensembles` added with the first ensemble that was extended or has compact events: what a program must
/// know to read the ensemble, or to change it.
pub(crate) const NEEDS: &str = "needs";

pub(crate) fn outcomes_table() -> Definition {
    Definition::of_fields(
        &partitions(),
        &all_outcome_fields(),
        "one row an entity, outcome and range; value i of a list, divided by the scale, belongs to world first_world + i",
    )
}

pub(crate) fn events_table() -> Definition {
    Definition::of_fields(
        &partitions(),
        &common_event_fields(),
        "one row an event of an entity in a world, numbered from 0; each model has columns of its own",
    )
}

pub(crate) fn ensembles_table() -> Definition {
    Definition::of_fields(&partitions(), &ensemble_fields(), "one row a version of an ensemble")
}
