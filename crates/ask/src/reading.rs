//! The data read and skipped to compute an answer.

use std::collections::BTreeSet;

/// The data read and skipped to compute an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    pub segments: usize,
    /// Segments that the log's statistics exclude.
    pub segments_by_log: usize,
    /// Segments counted from the log, without reading them.
    pub segments_counted: usize,
    pub segments_cached: usize,
    /// Row groups of the opened segments.
    pub groups: usize,
    /// Row groups read, at least in part.
    pub groups_read: usize,
    /// The data skipped in the opened segments.
    pub skipped: Skipped,
    pub columns: BTreeSet<String>,
    /// Bytes read: footers, page indexes, secondary indexes, filters and pages.
    pub bytes: u64,
    /// Rows whose columns were read.
    pub rows: u64,
    pub rows_matching: u64,
    pub rows_unflushed: u64,
}

/// The data skipped in the opened segments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skipped {
    pub groups_by_statistics: usize,
    /// Row groups that secondary indexes exclude.
    pub groups_by_lookup: usize,
    pub groups_by_filter: usize,
    pub pages_by_statistics: usize,
    /// Bytes read of secondary indexes and filters.
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
        self.rows_matching += other.rows_matching;
        self.rows_unflushed += other.rows_unflushed;
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
