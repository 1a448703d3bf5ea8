//! Rows of one table that are in its log but in no segment.

use std::collections::VecDeque;
use std::time::Instant;

use arrow::array::RecordBatch;

use crate::shared::Share;

/// Rows of one request, with their position in the log.
#[derive(Debug)]
pub(crate) struct Logged {
    pub(crate) position: u64,
    pub(crate) rows: RecordBatch,
    /// In memory.
    bytes: usize,
    pub(crate) since: Instant,
    /// The rows' share of the memory budget. `None` for recovered rows, which are loaded whether or not they fit.
    _share: Option<Share>,
}

impl Logged {
    pub(crate) fn new(position: u64, rows: RecordBatch, share: Option<Share>) -> Self {
        let bytes = rows.get_array_memory_size();
        Self { position, rows, bytes, since: Instant::now(), _share: share }
    }
}

/// Ordered by position. Rows stay until their segment is committed, so that readers always find them in the buffer or
/// in the table.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    waiting: VecDeque<Logged>,
    /// Positions up to this one are being written to a segment.
    taken: u64,
    /// Rows not being written yet.
    rows: usize,
    bytes: usize,
    /// Rows in the log only: a table that cannot be written uses no memory.
    held: Option<Held>,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    /// Their first position.
    from: u64,
    rows: usize,
}

/// The rows of the next segment.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) batches: Vec<RecordBatch>,
    pub(crate) position: u64,
}

impl Buffer {
    pub(crate) fn push(&mut self, logged: Logged) {
        if let Some(held) = &mut self.held {
            held.rows += logged.rows.num_rows();
            return;
        }
        self.add(logged);
    }

    fn add(&mut self, logged: Logged) {
        self.rows += logged.rows.num_rows();
        self.bytes += logged.bytes;
        self.waiting.push_back(logged);
    }

    fn untaken(&self) -> impl Iterator<Item = &Logged> {
        let from = self.waiting.partition_point(|l| l.position <= self.taken);
        self.waiting.range(from..)
    }

    /// Rows and bytes not being written yet, and since when the first of them waits.
    pub(crate) fn waiting(&self) -> (usize, usize, Option<Instant>) {
        (self.rows, self.bytes, self.untaken().next().map(|l| l.since))
    }

    /// Takes the oldest waiting rows, at least `rows` of them if there are enough; `None` without any.
    pub(crate) fn take(&mut self, rows: usize) -> Option<Taken> {
        let mut batches = Vec::new();
        let (mut taken, mut bytes, mut position) = (0, 0, self.taken);
        for logged in self.untaken() {
            if taken >= rows {
                break;
            }
            taken += logged.rows.num_rows();
            bytes += logged.bytes;
            position = logged.position;
            batches.push(logged.rows.clone());
        }
        self.rows -= taken;
        self.bytes -= bytes;
        self.taken = position;
        (!batches.is_empty()).then_some(Taken { batches, position })
    }

    /// Drops rows that are in the table now.
    pub(crate) fn committed(&mut self, position: u64) {
        while self.waiting.front().is_some_and(|l| l.position <= position) {
            self.waiting.pop_front();
        }
    }

    /// Drops rows past `position` from memory, leaving them in the log. None of them may be on its way into a segment.
    pub(crate) fn hold(&mut self, position: u64) {
        let rows = self.unwritten();
        self.waiting.clear();
        (self.rows, self.bytes, self.taken) = (0, 0, position);
        self.held = Some(Held { from: position + 1, rows });
    }

    /// Takes back the next rows that were left in the log; `more` others stay there.
    pub(crate) fn take_back(&mut self, rows: Vec<Logged>, more: usize) {
        let last = rows.last().map(|logged| logged.position);
        rows.into_iter().for_each(|logged| self.add(logged));
        if let Some(held) = self.held.take() {
            let from = last.map_or(held.from, |last| last + 1);
            self.held = (more > 0).then_some(Held { from, rows: more });
        }
    }

    /// The first position that is in the log only.
    pub(crate) fn held_from(&self) -> Option<u64> {
        self.held.map(|held| held.from)
    }

    /// Rows in no segment.
    pub(crate) fn unwritten(&self) -> usize {
        self.waiting.iter().map(|logged| logged.rows.num_rows()).sum::<usize>() + self.held.map_or(0, |held| held.rows)
    }

    /// The rows in memory that are in no segment.
    pub(crate) fn batches(&self) -> Vec<RecordBatch> {
        self.waiting.iter().map(|logged| logged.rows.clone()).collect()
    }

    /// The first position in no segment; `None` if all are.
    pub(crate) fn first_unwritten(&self) -> Option<u64> {
        self.waiting.front().map(|logged| logged.position).or(self.held_from())
    }
}
