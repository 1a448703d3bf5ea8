//! Rows in progress, handed over one by one by the readers of records.

use std::ops::Range;

use super::decoded::RefusedRecord;
use super::limits::Limits;
use super::refusal::{Refusal, Taken, refuse};
use super::table::Table;

/// End a call after this many refused records: each is reported, which takes more memory than its bytes.
const REFUSED_MAX: usize = 10_000;

/// The rows of one call, in progress.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    pub(super) table: &'a mut Table,
    pub(super) limits: &'a Limits,
    /// The time of rows without one, if they get one.
    pub(super) now: Option<i64>,
    pub(super) cells_left: usize,
    pub(super) refused: Vec<RefusedRecord>,
    /// For a body that is read at once: how many refused records are not reported one by one.
    pub(super) beyond: Option<usize>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(table: &'a mut Table, limits: &'a Limits, now: Option<i64>, beyond: Option<usize>) -> Self {
        Self { table, limits, now, cells_left: limits.cells_max, refused: Vec::new(), beyond }
    }

    /// Whether to end the call before the next record.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.beyond.is_none() && self.refused.len() >= REFUSED_MAX
    }

    /// The path under which rows are found.
    #[inline]
    pub(super) fn path(&self) -> &[Box<[u8]>] {
        &self.table.rules.path
    }

    /// Whether a document of this many rows may begin.
    pub(super) fn has_room(&self, rows: usize) -> bool {
        self.table.rows() == 0 || rows.saturating_mul(self.table.row_cells()) <= self.cells_left
    }

    /// Keeps the current row and returns true, or drops it if the batch is full without it.
    #[inline]
    pub(super) fn keep(&mut self, position: impl FnOnce() -> usize) -> Taken<bool> {
        self.table.settle(self.limits)?;
        let cells = self.table.row_cells();
        if cells > self.cells_left {
            if self.beyond.is_some() {
                return self.limits.too_many_cells();
            }
            if self.table.rows() == 0 {
                return refuse(format!("it holds more than {} values, rows times columns", self.limits.cells_max));
            }
            self.table.rollback();
            return Ok(false);
        }
        self.cells_left -= cells;
        self.table.report_overflow(position);
        self.table.commit(self.table.row.time.or(self.now));
        Ok(true)
    }

    /// As [`Batch::keep`], for a row of a document: refused if the document has too many rows.
    pub(super) fn keep_whole(&mut self, position: impl FnOnce() -> usize) -> Taken<()> {
        if self.keep(position)? {
            return Ok(());
        }
        refuse(format!("its document holds more than {} values, rows times columns", self.limits.cells_max))
    }

    /// Reports a refused record and drops its values.
    #[cold]
    pub(super) fn refuse(&mut self, position: usize, refusal: Refusal, bytes: Range<usize>) {
        self.table.rollback();
        if let Some(beyond) = self.beyond.as_mut().filter(|_| self.refused.len() == self.limits.refused_max) {
            *beyond += 1;
            return;
        }
        self.refused.push(RefusedRecord { position, field: refusal.field, reason: refusal.reason, bytes });
    }
}
