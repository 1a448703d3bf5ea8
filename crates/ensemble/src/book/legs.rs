//! The worlds in which bets are met.

use std::collections::HashMap;
use std::sync::Arc;

use crate::columns::Columns;
use crate::error::QuestionError;
use crate::expression::{BitSet, Expression};

/// Maximum bytes of the sets of worlds of all bets.
pub(super) const SETS_BYTES_MAX: usize = 256 << 20;

/// Sets of worlds by entity and text of a leg; bets with equal legs share them.
pub(super) struct Legs<'a> {
    columns: &'a Columns,
    wanted: &'a dyn Fn() -> bool,
    known: HashMap<(Option<usize>, String), Arc<BitSet>>,
    /// Sets, of single legs and of whole bets.
    sets: usize,
}

impl<'a> Legs<'a> {
    pub(super) fn new(columns: &'a Columns, wanted: &'a dyn Fn() -> bool) -> Self {
        Self { columns, wanted, known: HashMap::new(), sets: 0 }
    }

    /// The worlds in which all legs hold.
    ///
    /// # Errors
    /// When a leg is invalid, the sets exceed 256 MB, the caller gives up, or segments cannot be read.
    pub(super) fn met(&mut self, entity: Option<usize>, legs: &[String]) -> Result<Arc<BitSet>, QuestionError> {
        let [single] = legs else {
            let mut joint = BitSet::all(self.columns.worlds());
            for leg in legs {
                joint.intersect(&*self.leg(entity, leg)?);
            }
            self.count()?;
            return Ok(Arc::new(joint));
        };
        self.leg(entity, single)
    }

    fn leg(&mut self, entity: Option<usize>, text: &str) -> Result<Arc<BitSet>, QuestionError> {
        let key = (entity, text.to_owned());
        if let Some(set) = self.known.get(&key) {
            return Ok(set.clone());
        }
        let expression = Expression::parse(text, &self.columns.ensemble().plan.catalogue, entity)?;
        let set = Arc::new(self.columns.worlds_of(&expression, self.wanted)?);
        if !(self.wanted)() {
            return Err(QuestionError::GivenUp);
        }
        self.count()?;
        self.known.insert(key, set.clone());
        Ok(set)
    }

    /// Counts one more set.
    fn count(&mut self) -> Result<(), QuestionError> {
        self.sets += 1;
        if self.sets * self.columns.worlds().div_ceil(8) > SETS_BYTES_MAX {
            return Err(QuestionError::BookMemory { limit: SETS_BYTES_MAX });
        }
        Ok(())
    }
}
