//! One world of an entity, as tables for display.

use serde::Serialize;

use crate::{Catalogue, EventBlock, Outcome};

/// One world of one entity, stored or replayed.
#[derive(Debug, Clone, Copy)]
pub struct EntityWorld<'a> {
    /// The catalogue of the model that played it.
    pub catalogue: &'a Catalogue,
    /// The entity's index in the catalogue.
    pub entity: usize,
    /// The value of each outcome of the entity's kind, in catalogue order.
    pub outcomes: &'a [f64],
    /// The events of this world alone; `None` if the entity has none.
    pub events: Option<&'a EventBlock<'a>>,
}

impl<'a> EntityWorld<'a> {
    /// The entity's outcomes with their values, in catalogue order.
    pub fn values(self) -> impl Iterator<Item = (&'a Outcome, f64)> {
        self.catalogue.kind_of(self.entity).outcomes.iter().zip(self.outcomes.iter().copied())
    }

    /// The value of an outcome; `None` if the entity has no such outcome.
    pub fn value(self, outcome: &str) -> Option<f64> {
        self.outcomes.get(self.catalogue.kind_of(self.entity).outcome(outcome)?).copied()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SummaryTable {
    /// A short title.
    pub name: String,
    pub columns: Vec<String>,
    /// The rows, with one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

impl SummaryTable {
    /// A table without rows.
    pub fn new<const N: usize>(name: &str, columns: [&str; N]) -> Self {
        Self { name: name.to_owned(), columns: columns.map(str::to_owned).to_vec(), rows: Vec::new() }
    }

    /// Appends a row, with one cell per column.
    pub fn push<const N: usize>(&mut self, row: [Cell; N]) {
        debug_assert_eq!(N, self.columns.len());
        self.rows.push(row.into());
    }

    /// The outcomes of an entity, one per row; codes by their labels.
    pub fn of_outcomes(world: EntityWorld<'_>) -> Self {
        let mut table = Self::new("outcomes", ["outcome", "value", "unit"]);
        for (outcome, value) in world.values() {
            let label = outcome.labels.get(value as usize).filter(|label| !label.is_empty());
            let value = label.map_or_else(|| value.into(), |label| label.as_str().into());
            table.push([outcome.name.as_str().into(), value, outcome.unit.as_str().into()]);
        }
        table
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    Empty,
    Number(f64),
    Text(String),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<f64> for Cell {
    /// NaN and infinities are texts, because JSON has no numbers for them.
    fn from(number: f64) -> Self {
        match number {
            _ if number.is_finite() => Self::Number(number),
            f64::INFINITY => Self::Text("Infinity".to_owned()),
            f64::NEG_INFINITY => Self::Text("-Infinity".to_owned()),
            _ => Self::Text("NaN".to_owned()),
        }
    }
}
