//! Queries for the values of single worlds.

use std::ops::Range;

use serde::Deserialize;

use crate::column::Column;
use crate::columns::Columns;
use crate::error::{EnsembleError, QuestionError};
use crate::quantity::{Quantity, columns_of};
use crate::questions::{AT_ONCE, asked, check_count};

/// Maximum values of one answer, with the numbers of the worlds: 32 MB.
const VALUES_MAX: usize = 4 << 20;

/// A query for each of the outcomes of each of the entities, in every world or in some.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldsQuestion {
    pub ensemble: String,
    /// Refuse any other version, so that the parts of a long answer belong together.
    #[serde(default)]
    pub version: Option<u64>,
    /// Without entities, each outcome names its own: `team-03:wins`.
    #[serde(default)]
    pub entities: Vec<String>,
    /// Names of outcomes, and expressions such as `wins - losses`; none for the numbers of the worlds alone.
    #[serde(default)]
    pub outcomes: Vec<String>,
    /// The place of the first world among the stored ones.
    #[serde(default)]
    pub first: usize,
    /// Worlds to return at most; by default all that follow.
    #[serde(default)]
    pub worlds: Option<usize>,
}

/// One outcome or expression in the worlds of an answer.
#[derive(Debug)]
pub struct WorldsColumn {
    /// `ENTITY:OUTCOME` if the query names entities, else the outcome as typed.
    pub name: String,
    /// Whether the values are 0 or 1.
    pub is_flag: bool,
    /// A value for each world.
    pub values: Column,
}

/// The values of some worlds.
#[derive(Debug)]
pub struct WorldsAnswer {
    /// The ensemble's version.
    pub version: u64,
    /// The numbers of the worlds.
    pub worlds: Vec<u32>,
    pub columns: Vec<WorldsColumn>,
}

impl WorldsQuestion {
    /// Answers over `columns` of the ensemble; stops once `wanted` returns false.
    ///
    /// # Errors
    /// When the version is another one, an entity or outcome is unknown, an expression is invalid or not finite in some
    /// world, the answer has over 4 million values, the caller gives up, or segments cannot be read.
    pub fn answer(&self, columns: &Columns, wanted: &dyn Fn() -> bool) -> Result<WorldsAnswer, QuestionError> {
        let ensemble = columns.ensemble();
        if let Some(version) = self.version.filter(|version| *version != ensemble.version) {
            return Err(EnsembleError::Version { name: self.ensemble.clone(), version }.into());
        }
        let catalogue = &ensemble.plan.catalogue;
        let asked = asked(&self.entities, &self.outcomes, catalogue)?;
        let places = self.places(columns.worlds());
        check_count("values", places.len().saturating_mul(asked.len() + 1), VALUES_MAX)?;
        let numbers = ensemble.world_numbers().skip(places.start).take(places.len());
        let mut found = Vec::with_capacity(asked.len());
        for some in asked.chunks(AT_ONCE) {
            let quantities = some.iter().map(|(entity, text)| Quantity::parse(text, catalogue, *entity));
            let quantities = quantities.collect::<Result<Vec<_>, _>>()?;
            let read = columns_of(&quantities, columns, wanted)?;
            for (((entity, text), quantity), column) in some.iter().zip(&quantities).zip(read) {
                if !wanted() {
                    return Err(QuestionError::GivenUp);
                }
                let name = match entity {
                    Some(entity) => format!("{}:{text}", catalogue.entities[*entity].name),
                    None => (*text).to_owned(),
                };
                found.push(WorldsColumn { name, is_flag: quantity.is_flag, values: column.slice(places.clone()) });
            }
        }
        Ok(WorldsAnswer { version: ensemble.version, worlds: numbers.map(|world| world.0).collect(), columns: found })
    }

    /// The places of the worlds among the stored ones.
    fn places(&self, stored: usize) -> Range<usize> {
        let first = self.first.min(stored);
        first..self.worlds.map_or(stored, |worlds| first.saturating_add(worlds).min(stored))
    }
}
