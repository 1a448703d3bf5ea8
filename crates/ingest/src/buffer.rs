//! Rows of one table that are in its log and in none of its segments.

use std::collections::VecDeque;
use std::time::Instant;

use arrow::array::RecordBatch;

use crate::shared::Share;

/// Rows of one request, at their place in the log.
#[derive(Debug)]
pub(crate) struct Logged {
    pub(crate) position: u64,
    pub(crate) rows: RecordBatch,
    /// Of memory.
    bytes: usize,
    pub(crate) since: Instant,
    /// Held as long as the rows are, of their size. `None` for what was recovered: it is there whether there is room or not.
    _share: Option<Share>,
}

impl Logged {
    pub(crate) fn new(position: u64, rows: RecordBatch, mut share: Option<Share>) -> Self {
        let bytes = rows.get_array_memory_size();
        if let Some(share) = &mut share {
            share.shrink(bytes as u64);
        }
        Self { position, rows, bytes, since: Instant::now(), _share: share }
    }
}

/// In the order of their positions. Rows stay until the segment that holds them is committed, so that readers find them
/// in one of both.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    waiting: VecDeque<Logged>,
    /// Positions up to this one are being written to a segment.
    taken: u64,
    /// Of those that are not.
    rows: usize,
    bytes: usize,
}

/// What goes into a segment.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) batches: Vec<RecordBatch>,
    /// The last position among them.
    pub(crate) position: u64,
}

impl Buffer {
    pub(crate) fn push(&mut self, logged: Logged) {
        self.rows += logged.rows.num_rows();
        self.bytes += logged.bytes;
        self.waiting.push_back(logged);
    }

    fn untaken(&self) -> impl Iterator<Item = &Logged> {
        let from = self.waiting.partition_point(|l| l.position <= self.taken);
        self.waiting.range(from..)
    }

    /// Rows and bytes that are not being written, and since when the first of them waits.
    pub(crate) fn waiting(&self) -> (usize, usize, Option<Instant>) {
        (self.rows, self.bytes, self.untaken().next().map(|l| l.since))
    }

    /// Takes the oldest rows that are not being written, `rows` of them or just more; `None` where there are none.
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

    /// Forgets what is in the table now.
    pub(crate) fn committed(&mut self, position: u64) {
        while self.waiting.front().is_some_and(|l| l.position <= position) {
            self.waiting.pop_front();
        }
    }

    /// Takes back what could not be written.
    pub(crate) fn give_back(&mut self) {
        self.taken = self.waiting.front().map_or(self.taken, |l| l.position - 1);
        (self.rows, self.bytes) = (0, 0);
        for logged in &self.waiting {
            self.rows += logged.rows.num_rows();
            self.bytes += logged.bytes;
        }
    }

    /// Everything that is in no segment.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Logged> {
        self.waiting.iter()
    }
}
