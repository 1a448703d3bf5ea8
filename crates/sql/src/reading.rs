//! The data that a query read and skipped.

use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricValue, MetricsSet};

/// Segments of the query's tables.
const SEGMENTS: &str = "segments_total";
/// Segments that the log's statistics exclude.
const SEGMENTS_SKIPPED: &str = "segments_skipped";
/// Row groups of the excluded segments, and row groups excluded in the other segments.
const GROUPS_SKIPPED: &str = "groups_skipped";
const GROUPS_LEFT: &str = "groups_left";
/// Row groups that secondary indexes exclude, and bytes read of those indexes.
const GROUPS_BY_LOOKUP: &str = "groups_skipped_by_lookup";
const LOOKUP_BYTES: &str = "lookup_bytes";
/// Counted by DataFusion's scans.
const BYTES: &str = "bytes_scanned";

/// The data that a query read from tables in Parquet files. Complete after the last row. Zero if the log alone
/// gave the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// Bytes of pages, Bloom filters and secondary indexes. Excludes footers and the block indexes of secondary
    /// indexes: an engine reads them once and caches them.
    pub bytes: u64,
    /// Rows that the scans returned, after the conditions that the scans evaluate.
    pub rows: u64,
    /// Segments excluded by neither the log's statistics nor secondary indexes.
    pub segments_read: u64,
    /// All segments of the tables.
    pub segments_total: u64,
    /// Row groups excluded by neither statistics nor Bloom filters nor secondary indexes.
    pub groups_read: u64,
    /// All row groups of the tables. An excluded segment of another writer counts as one.
    pub groups_total: u64,
    /// Row groups excluded by secondary indexes, after the log's statistics.
    pub groups_skipped_by_lookup: u64,
    /// Pages not excluded by page statistics.
    pub pages_read: u64,
    /// All pages of filtered columns in the row groups read, if pages have statistics.
    pub pages_total: u64,
}

impl Reading {
    /// Adds up the metrics of a plan's scans so far.
    pub(crate) fn of(plan: &dyn ExecutionPlan) -> Self {
        let mut reading = Self::default();
        reading.add(plan);
        reading
    }

    fn add(&mut self, plan: &dyn ExecutionPlan) {
        let children = plan.children();
        for child in &children {
            self.add(child.as_ref());
        }
        if let Some(metrics) = plan.metrics().filter(|_| children.is_empty()) {
            self.add_scan(&metrics);
        }
    }

    fn add_scan(&mut self, metrics: &MetricsSet) {
        let count = |name: &str| metrics.sum_by_name(name).map_or(0, |m| m.as_usize() as u64);
        let kept = |name: &str| match metrics.sum_by_name(name) {
            Some(MetricValue::PruningMetrics { pruning_metrics: m, .. }) => {
                (m.matched() as u64, (m.matched() + m.pruned()) as u64)
            }
            _ => (0, 0),
        };
        let (after_filters, _) = kept("row_groups_pruned_bloom_filter");
        let (_, opened) = kept("row_groups_pruned_statistics");
        let (_, by_limit) = kept("limit_pruned_row_groups");
        let later = by_limit + count("row_groups_pruned_dynamic_filter");
        let (pages_read, pages_total) = kept("page_index_pages_pruned");
        self.bytes += count(BYTES) + count(LOOKUP_BYTES);
        self.rows += metrics.output_rows().unwrap_or(0) as u64;
        self.segments_total += count(SEGMENTS);
        self.segments_read += count(SEGMENTS) - count(SEGMENTS_SKIPPED);
        self.groups_read += after_filters.saturating_sub(later);
        self.groups_total += count(GROUPS_SKIPPED) + count(GROUPS_LEFT).max(opened);
        self.groups_skipped_by_lookup += count(GROUPS_BY_LOOKUP);
        self.pages_read += pages_read;
        self.pages_total += pages_total;
    }
}

/// Counts of a scan at planning time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Planned {
    /// All segments, and the excluded ones.
    pub(crate) segments: usize,
    pub(crate) segments_skipped: usize,
    /// Row groups of excluded segments, and those that secondary indexes exclude.
    pub(crate) groups_skipped: usize,
    /// The other row groups; 0 if unknown.
    pub(crate) groups_left: usize,
    /// Row groups that secondary indexes exclude, and bytes read of those indexes.
    pub(crate) groups_by_lookup: usize,
    pub(crate) lookup_bytes: usize,
}

impl Planned {
    /// Adds the counts to the metrics of the scan, for [`Reading::of`] and `EXPLAIN ANALYZE`.
    pub(crate) fn note(self, metrics: &ExecutionPlanMetricsSet) {
        for (name, n) in [
            (SEGMENTS, self.segments),
            (SEGMENTS_SKIPPED, self.segments_skipped),
            (GROUPS_SKIPPED, self.groups_skipped),
            (GROUPS_LEFT, self.groups_left),
            (GROUPS_BY_LOOKUP, self.groups_by_lookup),
            (LOOKUP_BYTES, self.lookup_bytes),
        ] {
            MetricBuilder::new(metrics).global_counter(name).add(n);
        }
    }
}
