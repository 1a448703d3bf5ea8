//! What was read for an answer, and what was left out and why.

use std::collections::BTreeSet;

/// What was read for an answer, and what was left out and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// Segments of the table.
    pub segments: usize,
    /// Of those, left out by what the log says of them.
    pub segments_by_log: usize,
    /// Whose rows the log alone counts.
    pub segments_counted: usize,
    /// Answered from the cache.
    pub segments_cached: usize,
    /// Row groups of the segments that were opened.
    pub groups: usize,
    /// Row groups of which something was read.
    pub groups_read: usize,
    /// What was left out of the segments that were opened.
    pub skipped: Skipped,
    /// Columns that were read.
    pub columns: BTreeSet<String>,
    /// Bytes that were read: footers, indexes, filters and pages.
    pub bytes: u64,
    /// Rows whose columns were read.
    pub rows: u64,
    /// Rows that met the conditions.
    pub rows_met: u64,
    /// Rows of the log of writes, which are in no segment yet.
    pub rows_fresh: u64,
}

/// What was left out of segments that were opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skipped {
    /// Row groups, by their statistics.
    pub groups_by_statistics: usize,
    /// Row groups, by look-ups.
    pub groups_by_lookup: usize,
    /// Row groups, by Bloom filters.
    pub groups_by_filter: usize,
    /// Pages, by their statistics.
    pub pages_by_statistics: usize,
    /// Bytes of look-ups and filters that were read.
    pub(crate) bytes: u64,
}

impl Reading {
    pub(crate) fn add(&mut self, other: Self) {
        self.segments += other.segments;
        self.segments_by_log += other.segments_by_log;
        self.segments_counted += other.segments_counted;
        self.segments_cached += other.segments_cached;
        self.groups += other.groups;
        self.groups_read += other.groups_read;
        self.skipped.add(&other.skipped);
        self.columns.extend(other.columns);
        self.bytes += other.bytes;
        self.rows += other.rows;
        self.rows_met += other.rows_met;
        self.rows_fresh += other.rows_fresh;
    }
}

impl Skipped {
    fn add(&mut self, other: &Self) {
        self.groups_by_statistics += other.groups_by_statistics;
        self.groups_by_lookup += other.groups_by_lookup;
        self.groups_by_filter += other.groups_by_filter;
        self.pages_by_statistics += other.pages_by_statistics;
        self.bytes += other.bytes;
    }
}
