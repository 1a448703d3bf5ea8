//! The outcomes of an ensemble, read column by column on demand.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::column::{Column, Narrow};
use crate::error::{EnsembleError, QuestionError};
use crate::expression::{BitSet, Expression, OutcomeRef};
use crate::range_reader::RangeReader;
use crate::stored::StoredEnsemble;
use crate::threads::{available, map};

/// Maximum bytes of outcomes in memory for one expression.
pub(crate) const QUESTION_BYTES_MAX: usize = 128 << 20;

/// The columns of one version of an ensemble: read on first use, cached up to a limit.
pub struct Columns {
    ensemble: StoredEnsemble,
    ranges: Vec<RangeReader>,
    worlds: usize,
    limit_bytes: usize,
    kept: Mutex<Kept>,
    pages_read: AtomicU64,
}

#[derive(Default)]
struct Kept {
    columns: HashMap<OutcomeRef, Arc<Column>>,
    /// In order of arrival, oldest first.
    order: std::collections::VecDeque<OutcomeRef>,
    bytes: usize,
}

impl Columns {
    /// Opens the completed ranges of an ensemble; caches at most `limit_bytes` of columns.
    pub fn open(ensemble: StoredEnsemble, limit_bytes: usize) -> Result<Self, EnsembleError> {
        let ranges = ensemble.open_outcomes()?;
        let worlds = ranges.iter().map(|r| r.metadata().range.count()).sum();
        Ok(Self { ensemble, ranges, worlds, limit_bytes, kept: Mutex::default(), pages_read: AtomicU64::new(0) })
    }

    pub fn ensemble(&self) -> &StoredEnsemble {
        &self.ensemble
    }

    /// Completed worlds.
    pub fn worlds(&self) -> usize {
        self.worlds
    }

    /// Pages read from disk so far: one per outcome and range, none for cached columns.
    pub fn pages_read(&self) -> u64 {
        self.pages_read.load(Ordering::Relaxed)
    }

    /// As [`Self::get`], for the columns of one query, with a limit on their total bytes.
    ///
    /// # Errors
    /// Also when they exceed the limit, after reading few columns more.
    pub fn get_within(&self, wanted: &[OutcomeRef], limit_bytes: usize) -> Result<Vec<Arc<Column>>, EnsembleError> {
        /// Columns to read before counting their bytes.
        const AT_ONCE: usize = 16;
        let mut columns = Vec::with_capacity(wanted.len());
        let mut bytes = 0;
        for some in wanted.chunks(AT_ONCE) {
            let some = self.get(some)?;
            bytes += some.iter().map(|column| column.bytes()).sum::<usize>();
            if bytes > limit_bytes {
                return Err(EnsembleError::Memory { limit: limit_bytes });
            }
            columns.extend(some);
        }
        Ok(columns)
    }

    /// The worlds in which an expression holds. Meaningless once `wanted` returns false.
    ///
    /// # Errors
    /// When segments cannot be read, or the expression names outcomes of over 128 MB.
    pub fn worlds_of(&self, expression: &Expression, wanted: &dyn Fn() -> bool) -> Result<BitSet, EnsembleError> {
        let columns = self.get_within(expression.columns(), QUESTION_BYTES_MAX)?;
        Ok(expression.holds_while(&columns, self.worlds, wanted))
    }

    /// The number of an expression in every world (1 and 0 for a condition), exact where [`Expression::values`] is. The
    /// name of an outcome returns its cached column.
    ///
    /// # Errors
    /// When segments cannot be read, the expression names outcomes of over 128 MB, `wanted` returns false, or an
    /// expression other than a name is infinite or NaN in some world.
    pub fn evaluate(&self, expression: &Expression, wanted: &dyn Fn() -> bool) -> Result<Arc<Column>, QuestionError> {
        if let Some(outcome) = expression.outcome() {
            return Ok(self.get(&[outcome])?.swap_remove(0));
        }
        let columns = self.get_within(expression.columns(), QUESTION_BYTES_MAX)?;
        let column = expression.values(&columns, self.worlds, wanted);
        if !wanted() {
            return Err(QuestionError::GivenUp);
        }
        if let Narrow::F64(values) = &column.values {
            self.check_finite(expression, values)?;
        }
        Ok(Arc::new(column))
    }

    fn check_finite(&self, expression: &Expression, values: &[f64]) -> Result<(), QuestionError> {
        let mut others = values.iter().zip(self.ensemble.world_numbers()).filter(|(value, _)| !value.is_finite());
        let Some((_, first)) = others.next() else { return Ok(()) };
        let (count, worlds) = (others.count() + 1, self.worlds);
        Err(QuestionError::NotFinite { expression: expression.text().to_owned(), count, worlds, first })
    }

    /// Returns columns in the given order. Reads those of one entity that are not cached in one pass.
    pub fn get(&self, wanted: &[OutcomeRef]) -> Result<Vec<Arc<Column>>, EnsembleError> {
        let missing: Vec<OutcomeRef> = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            wanted.iter().filter(|w| !kept.columns.contains_key(w)).copied().collect()
        };
        let read = by_entity(missing, |outcomes| self.read(outcomes))?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for (outcome, column) in &read {
            kept.insert(*outcome, column.clone(), self.limit_bytes);
        }
        let find = |w: &OutcomeRef| read.get(w).or_else(|| kept.columns.get(w)).cloned();
        let found: Option<Vec<_>> = wanted.iter().map(find).collect();
        drop(kept);
        match found {
            Some(columns) => Ok(columns),
            // Another thread's columns evicted ours between the two lookups.
            None => wanted.iter().map(|w| Ok(Arc::new(self.read(&[*w])?.swap_remove(0)))).collect(),
        }
    }

    /// As [`Self::get`], on this thread, without the cache.
    pub(crate) fn get_alone(&self, wanted: &[OutcomeRef]) -> Result<Vec<Arc<Column>>, EnsembleError> {
        let read = by_entity(wanted.to_vec(), |outcomes| self.read_alone(outcomes))?;
        Ok(wanted.iter().map(|outcome| read[outcome].clone()).collect())
    }

    /// Reads some outcomes (ascending) of one entity, many of them on all cores.
    fn read(&self, outcomes: &[OutcomeRef]) -> Result<Vec<Column>, EnsembleError> {
        /// Outcomes for each thread at least.
        const PIECE: usize = 8;
        if outcomes.len() < 2 * PIECE {
            return self.read_alone(outcomes);
        }
        let threads = available();
        let pieces: Vec<&[OutcomeRef]> = outcomes.chunks(outcomes.len().div_ceil(threads).max(PIECE)).collect();
        Ok(map(threads, &pieces, |piece| self.read_alone(piece))?.into_iter().flatten().collect())
    }

    /// Reads some outcomes (ascending, at least one) of one entity on this thread, and caches none.
    pub(crate) fn read_alone(&self, outcomes: &[OutcomeRef]) -> Result<Vec<Column>, EnsembleError> {
        self.pages_read.fetch_add((outcomes.len() * self.ranges.len()) as u64, Ordering::Relaxed);
        let catalogue = &self.ensemble.plan.catalogue;
        let entity = outcomes[0].entity;
        let kind = catalogue.kind_of(entity);
        let empty = |o: &OutcomeRef| Column::new(self.worlds, kind.outcomes[o.outcome].scale);
        let mut columns: Vec<Column> = outcomes.iter().map(empty).collect();
        for range in &self.ranges {
            range.outcomes(catalogue, entity, outcomes.iter().map(|o| o.outcome), |outcome, values| {
                if let Ok(place) = outcomes.binary_search_by_key(&outcome, |o| o.outcome) {
                    columns[place].append(&values, self.worlds);
                }
            })?;
        }
        Ok(columns)
    }
}

/// Reads outcomes, those of one entity in one call with each once and in order.
fn by_entity(
    mut wanted: Vec<OutcomeRef>,
    read: impl Fn(&[OutcomeRef]) -> Result<Vec<Column>, EnsembleError>,
) -> Result<HashMap<OutcomeRef, Arc<Column>>, EnsembleError> {
    wanted.sort_unstable();
    wanted.dedup();
    let mut all = HashMap::new();
    for of_entity in wanted.chunk_by(|a, b| a.entity == b.entity) {
        all.extend(of_entity.iter().copied().zip(read(of_entity)?.into_iter().map(Arc::new)));
    }
    Ok(all)
}

impl Kept {
    fn insert(&mut self, outcome: OutcomeRef, column: Arc<Column>, limit_bytes: usize) {
        self.bytes += column.bytes();
        self.order.push_back(outcome);
        if let Some(old) = self.columns.insert(outcome, column) {
            self.bytes -= old.bytes();
        }
        while self.bytes > limit_bytes {
            let Some(oldest) = self.order.pop_front() else {
                break;
            };
            if let Some(gone) = self.columns.remove(&oldest) {
                self.bytes -= gone.bytes();
            }
        }
    }
}
