//! Compares outcomes that a model gives with the stored ones.

use model::{Catalogue, EventBlock, OutcomeBlock, Sink, Stop, Values};
use table::TableError;
use world::World;

use super::each_column;
use crate::range_reader::RangeReader;

/// How many outcome values were compared, if all are as stored; otherwise the first difference, or why it is not known.
pub(crate) type Recounted = Result<u64, String>;

/// Compares outcomes of a model with the stored ones.
pub(crate) struct Recount<'a> {
    catalogue: &'a Catalogue,
    stored: &'a RangeReader,
    /// What gives the model's values: `its events count to`.
    source: &'static str,
    compared: u64,
    different: Option<String>,
    failure: Option<TableError>,
}

impl<'a> Recount<'a> {
    pub(crate) fn new(catalogue: &'a Catalogue, stored: &'a RangeReader, source: &'static str) -> Self {
        Self { catalogue, stored, source, compared: 0, different: None, failure: None }
    }

    /// What comparing found.
    pub(crate) fn found(self) -> Recounted {
        match (self.failure, self.different) {
            (Some(error), _) => Err(error.to_string()),
            (None, Some(different)) => Err(different),
            (None, None) => Ok(self.compared),
        }
    }
}

impl Sink for Recount<'_> {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        let catalogue = self.catalogue;
        let mut different = None;
        let mut compared = 0;
        let read = each_column(catalogue, self.stored, block.entity, |outcome, stored| {
            let Some(counted) = block.columns.get(outcome).filter(|counted| !counted.is_empty()) else { return };
            compared += stored.len() as u64;
            let name = || &catalogue.kind_of(block.entity).outcomes[outcome].name;
            let entity = &catalogue.entities[block.entity].name;
            if counted.len() != stored.len() {
                let (counted, stored) = (counted.len(), stored.len());
                different = Some(format!("{} of {entity} has {counted} values for {stored} worlds", name()));
                return;
            }
            let differs = |a: f64, b: f64| a != b && !(a.is_nan() && b.is_nan());
            let world = (0..stored.len()).find(|&w| differs(number(&stored, w), number(counted, w)));
            if let Some(w) = world {
                different.get_or_insert_with(|| {
                    format!(
                        "{} of {entity} in world {} is stored as {}, but {} {}",
                        name(),
                        World(block.range.first().0 + w as u32),
                        number(&stored, w),
                        self.source,
                        number(counted, w)
                    )
                });
            }
        });
        self.compared += compared;
        self.different = self.different.take().or(different);
        if let Err(error) = read {
            self.failure.get_or_insert(error);
        }
        Ok(())
    }

    fn events(&mut self, _: EventBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }
}

fn number(values: &Values<'_>, world: usize) -> f64 {
    match values {
        Values::I16(v) => f64::from(v[world]),
        Values::I32(v) => f64::from(v[world]),
        Values::F64(v) => v[world],
    }
}
