//! Rows under way, as the readers of records hand them over one by one.

use std::ops::Range;

use super::Limits;
use super::table::{Refusal, Table, Taken, refuse};

/// Refused records after which a call ends: they are reported one by one, and take more memory than their bytes.
const REFUSED_MAX: usize = 10_000;

/// A record that is no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRecord {
    /// The line on which it begins, counted from 1 (a CSV's header is line 1); in MessagePack its place among the maps,
    /// counted from 0. Counted over the whole stream.
    pub position: usize,
    /// The field that is to blame, where it is one.
    pub field: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// Where it lies in the bytes of this call, without its line's end.
    pub bytes: Range<usize>,
}

/// The rows of one call under way.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    pub(super) table: &'a mut Table,
    pub(super) limits: &'a Limits,
    /// The time of rows that have none, if they get one.
    pub(super) now: Option<i64>,
    pub(super) cells_left: usize,
    pub(super) refused: Vec<RefusedRecord>,
    /// Of a body that is read at once: how many more were refused than are reported one by one.
    pub(super) beyond: Option<usize>,
}

impl Batch<'_> {
    /// Whether the call is to end before the next record.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.beyond.is_none() && self.refused.len() >= REFUSED_MAX
    }

    /// The path under which rows lie.
    #[inline]
    pub(super) fn path(&self) -> &[Box<[u8]>] {
        &self.table.rules.path
    }

    /// Whether a document of so many rows is to be begun.
    pub(super) fn has_room(&self, rows: usize) -> bool {
        self.table.rows() == 0 || rows.saturating_mul(self.table.row_cells()) <= self.cells_left
    }

    /// Keeps the row under way and says so, or forgets it where the batch is full without it.
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

    /// As [`Batch::keep`], for a row of a document: it is refused where the document has too many.
    pub(super) fn keep_whole(&mut self, position: impl FnOnce() -> usize) -> Taken<()> {
        if self.keep(position)? {
            return Ok(());
        }
        refuse(format!("its document holds more than {} values, rows times columns", self.limits.cells_max))
    }

    /// Notes that a record is refused, and forgets what was taken of it.
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
