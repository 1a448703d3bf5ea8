//! The groups of one thread, split once they exceed the processor's caches.
//!
//! A hash table of millions of groups misses the caches at every row. So a full table is split by the hash of its keys,
//! and a new one begins. [`Joining::join`] then merges one part after the other: a part has few enough groups again, and
//! is ranked and dropped before the next begins if only the first groups are wanted.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::accumulator::Accumulator;
use super::groups::{Find, Groups};
use super::split::Split;
use crate::coder::Coder;
use crate::column::Column;
use crate::error::AskError;
use crate::plan::Plan;

/// Parts of the groups: with 20 million groups a part still fits a cache of some megabytes.
const PARTS: usize = 256;
/// Groups of a full table.
const FULL: usize = 1 << 17;
/// Tables that are filled without looking for groups, if few keys repeated in the one before.
const UNSEARCHED: usize = 15;

/// The groups of one thread.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) groups: Groups,
    /// By part: the groups of earlier tables.
    split: Vec<Vec<Piece>>,
    /// Memory of `split`, in bytes.
    split_memory: usize,
    /// Rows of the current table.
    rows: usize,
    /// Tables to fill without looking for groups.
    unsearched: usize,
}

/// Some groups of a part.
#[derive(Debug)]
struct Piece {
    cells: Vec<u64>,
    accumulators: Vec<Accumulator>,
}

impl Gathered {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { groups: Groups::new(plan), split: Vec::new(), split_memory: 0, rows: 0, unsearched: 0 }
    }

    /// Accumulates rows; `columns` are indexed as in the plan.
    pub(crate) fn update(&mut self, plan: &Plan, rows: usize, columns: &[Option<Column>]) -> Result<(), AskError> {
        let before = self.groups.keys.len();
        let find = if self.unsearched > 0 { Find::Never } else { Find::Always };
        self.groups.accumulate(plan, rows, columns, find)?;
        self.rows += rows;
        let groups = self.groups.keys.len();
        // A larger table is worth its misses if its groups meet more and more rows.
        let fresh = |groups: usize, rows: usize| groups as f64 / rows.max(1) as f64;
        let is_full = groups >= FULL && fresh(groups - before, rows) > 0.75 * fresh(groups, self.rows);
        if find == Find::Never || is_full && self.groups.can_split() {
            self.unsearched = match find {
                Find::Never => self.unsearched - 1,
                Find::Always if fresh(groups, self.rows) > 0.9 => UNSEARCHED,
                Find::Always => 0,
            };
            self.split(plan);
        }
        Ok(())
    }

    pub(crate) fn merge(&mut self, groups: Groups) -> Result<(), AskError> {
        self.rows += groups.keys.len();
        if self.split.is_empty() {
            return self.groups.merge(groups);
        }
        // The table stays, even if it is the smaller one: its codes are those of the texts in split keys.
        let Groups { keys, accumulators } = groups;
        self.groups.absorb(keys.all_cells(), keys.coders(), accumulators)
    }

    /// Groups of the current table.
    pub(crate) fn len(&self) -> usize {
        self.groups.keys.len()
    }

    /// Memory, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.groups.memory() + self.split_memory
    }

    /// Splits the groups of the current table.
    fn split(&mut self, plan: &Plan) {
        let cells = self.groups.keys.drain();
        self.rows = 0;
        if cells.is_empty() {
            return;
        }
        let stride = self.groups.keys.stride();
        let split = Split::new(self.groups.keys.parts(&cells), PARTS);
        let mut accumulators: Vec<_> =
            self.groups.take_accumulators(plan).into_iter().map(|one| one.split(&split).into_iter()).collect();
        self.split.resize_with(PARTS, Vec::new);
        for (part, cells) in self.split.iter_mut().zip(split.deal_keys(&cells, stride)) {
            let accumulators: Vec<_> = accumulators.iter_mut().filter_map(Iterator::next).collect();
            if !cells.is_empty() {
                let piece = Piece { cells, accumulators };
                self.split_memory += piece.memory();
                part.push(piece);
            }
        }
    }
}

impl Piece {
    fn memory(&self) -> usize {
        self.cells.capacity() * size_of::<u64>() + self.accumulators.iter().map(Accumulator::memory).sum::<usize>()
    }
}

/// Returns the groups that may be among the first of all.
pub(crate) type First<'a> = dyn Fn(&mut Groups) -> Result<Vec<u32>, AskError> + Sync + 'a;

/// How to merge the groups of all threads.
pub(crate) struct Joining<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) threads: usize,
    /// Fails if so much memory, in bytes, is too much for so many groups.
    pub(crate) check: &'a (dyn Fn(usize, usize) -> Result<(), AskError> + Sync),
    /// `None` to keep all groups.
    pub(crate) first: Option<&'a First<'a>>,
}

impl Joining<'_> {
    /// Merges the groups of all threads; returns the number of groups that were left out, too.
    pub(crate) fn join(&self, all: Vec<Gathered>) -> Result<(Groups, usize), AskError> {
        if all.iter().all(|gathered| gathered.split.is_empty()) {
            let mut joined = Groups::new(self.plan);
            all.into_iter().try_for_each(|gathered| joined.merge(gathered.groups))?;
            return Ok((joined, 0));
        }
        let (mut parts, mut coders): (Vec<Vec<_>>, Vec<_>) = ((0..PARTS).map(|_| Vec::new()).collect(), Vec::new());
        let mut memory = 0;
        for (thread, mut gathered) in all.into_iter().enumerate() {
            gathered.split(self.plan);
            memory += gathered.split_memory;
            for (part, pieces) in parts.iter_mut().zip(gathered.split) {
                part.extend(pieces.into_iter().map(|piece| (thread, piece)));
            }
            coders.push(gathered.groups.keys.into_coders());
        }
        let pieces = parts.into_iter().map(Mutex::new).collect();
        let work = Parts { how: self, pieces, coders, next: AtomicUsize::new(0), memory: AtomicUsize::new(memory) };
        let joined = std::thread::scope(|scope| {
            let helpers: Vec<_> = (1..self.threads).map(|_| scope.spawn(|| work.run())).collect();
            let mut joined = vec![work.run()];
            joined.extend(helpers.into_iter().map(|helper| match helper.join() {
                Ok(found) => found,
                Err(panic) => std::panic::resume_unwind(panic),
            }));
            joined
        });
        let mut all = Groups::new(self.plan);
        let mut left_out = 0;
        for found in joined {
            let (groups, more) = found?;
            left_out += more;
            all.append(groups)?;
        }
        Ok((all, left_out))
    }
}

/// The parts that threads merge.
struct Parts<'a> {
    how: &'a Joining<'a>,
    /// By part; each with the index of its thread.
    pieces: Vec<Mutex<Vec<(usize, Piece)>>>,
    /// The codes of texts, by thread.
    coders: Vec<Vec<Option<Coder>>>,
    next: AtomicUsize,
    memory: AtomicUsize,
}

impl Parts<'_> {
    /// Merges parts until none are left.
    fn run(&self) -> Result<(Groups, usize), AskError> {
        let mut found = Groups::new(self.how.plan);
        let mut left_out = 0;
        while let Some(part) = self.pieces.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let pieces = std::mem::take(&mut *part.lock().unwrap_or_else(PoisonError::into_inner));
            let pieces_memory: usize = pieces.iter().map(|(_, piece)| piece.memory()).sum();
            let mut groups = self.merged(pieces)?;
            let all = groups.keys.len();
            if let Some(first) = self.how.first {
                let first = first(&mut groups)?;
                groups.keep(&first);
            }
            left_out += all - groups.keys.len();
            let kept = groups.memory();
            found.append(groups)?;
            let before = self.memory.fetch_add(kept, Ordering::Relaxed);
            self.memory.fetch_sub(pieces_memory, Ordering::Relaxed);
            (self.how.check)((before + kept).saturating_sub(pieces_memory), found.keys.len())?;
        }
        Ok((found, left_out))
    }

    fn merged(&self, pieces: Vec<(usize, Piece)>) -> Result<Groups, AskError> {
        let mut groups = Groups::new(self.how.plan);
        let cells: usize = pieces.iter().map(|(_, piece)| piece.cells.len()).sum();
        groups.keys.reserve(cells / groups.keys.stride());
        for (thread, Piece { cells, accumulators }) in pieces {
            groups.absorb(&cells, &self.coders[thread], accumulators)?;
        }
        Ok(groups)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use snapshot::Snapshot;

    use super::*;
    use crate::question::Question;
    use crate::run::{Options, partial};
    use crate::segment::match_batch;

    /// Enough rows to split their groups, each with a key of its own.
    fn rows() -> RecordBatch {
        const ROWS: i64 = 150_000;
        let keys: ArrayRef = Arc::new(Int64Array::from_iter_values((0..ROWS).map(|row| row * 7_919)));
        let words = (0..ROWS).map(|row| format!("word {}", row % 5_003));
        let words: ArrayRef = Arc::new(StringArray::from_iter_values(words));
        RecordBatch::try_from_iter([("key", keys), ("word", words)]).unwrap()
    }

    #[test]
    fn memory_is_limited_while_groups_are_joined() {
        let rows = rows();
        let groups = vec!["key".to_owned(), "word".to_owned()];
        let question = Question { groups, ..Question::default() };
        let plan = Plan::new(&question, &rows.schema()).unwrap();
        let gathered = || {
            let matching = match_batch(&rows, &plan, &plan.answered()).unwrap();
            let mut gathered = Gathered::new(&plan);
            gathered.update(&plan, matching.rows, &matching.columns).unwrap();
            assert!(!gathered.split.is_empty());
            gathered
        };
        let join = |check: &(dyn Fn(usize, usize) -> Result<(), AskError> + Sync)| {
            Joining { plan: &plan, threads: 1, check, first: None }.join(vec![gathered()])
        };
        let most = AtomicUsize::new(0);
        let note = |memory: usize, _: usize| -> Result<(), AskError> {
            most.fetch_max(memory, Ordering::Relaxed);
            Ok(())
        };
        let (joined, left_out) = join(&note).unwrap();
        assert_eq!((joined.keys.len(), left_out), (rows.num_rows(), 0));
        let refuse =
            |limit: usize, _: usize| -> Result<(), AskError> { Err(AskError::Memory { limit, wanted: String::new() }) };
        assert!(matches!(join(&refuse), Err(AskError::Memory { .. })));

        // Each part has texts of its own, so joining needs more memory than gathering.
        let (before, most) = (gathered().memory(), most.into_inner());
        assert!(before < most, "{before} bytes before, {most} at most");
        let schema = rows.schema();
        let source = Snapshot {
            root: "nowhere".into(),
            schema,
            table: None,
            segments: Vec::new(),
            unflushed: vec![rows.clone()],
        };
        let ask = |memory_bytes: usize| partial(&source, &question, &Options { threads: 1, memory_bytes, cache: None });
        assert!(ask(most).is_ok());
        assert!(matches!(ask(most - 1), Err(AskError::Memory { .. })));
    }
}
