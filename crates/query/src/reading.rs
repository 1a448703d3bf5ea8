//! What a question read, and what it could leave unread.

use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricValue, MetricsSet};

/// Segments of the tables that a question names.
const SEGMENTS: &str = "segments_total";
/// Those that the log's statistics exclude.
const SEGMENTS_SKIPPED: &str = "segments_skipped";
/// Row groups of the excluded segments, and of the others.
const GROUPS_SKIPPED: &str = "groups_skipped";
const GROUPS_LEFT: &str = "groups_left";
/// Row groups that look-ups exclude, and bytes that were read of look-ups.
const GROUPS_BY_LOOKUP: &str = "groups_skipped_by_lookup";
const LOOKUP_BYTES: &str = "lookup_bytes";
/// Counted by DataFusion's scans, and by our own of layout row.
pub(crate) const BYTES: &str = "bytes_scanned";

/// What a question read of the tables in Parquet and Avro files. It is complete once all rows were taken, and counts
/// nothing where the log alone gave the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// Bytes of pages, Bloom filters and look-ups. Footers and the indexes of look-ups, which an engine keeps after it
    /// read them once, are not counted.
    pub bytes: u64,
    /// Rows that the scans handed on: those that meet the conditions which a scan checks itself.
    pub rows: u64,
    /// Segments that neither statistics in the log nor look-ups excluded, of
    pub segments_read: u64,
    /// all segments of the tables (of layout row: files).
    pub segments_total: u64,
    /// Row groups that neither statistics nor Bloom filters nor look-ups excluded, of
    pub groups_read: u64,
    /// all row groups of the tables; excluded segments of other writers count as one each. Layout row has none.
    pub groups_total: u64,
    /// Row groups that look-ups excluded, of those that the log's statistics left over.
    pub groups_skipped_by_lookup: u64,
    /// Pages that page statistics did not exclude, of
    pub pages_read: u64,
    /// all pages in the row groups read of the columns under conditions, where pages have statistics.
    pub pages_total: u64,
}

impl Reading {
    /// Sums up what the scans of a plan have counted so far.
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

/// What is known of a scan when it is planned.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Planned {
    /// All segments, and those excluded.
    pub(crate) segments: usize,
    pub(crate) segments_skipped: usize,
    /// Row groups of the excluded segments, and those that look-ups exclude.
    pub(crate) groups_skipped: usize,
    /// The other row groups; 0 where not known.
    pub(crate) groups_left: usize,
    /// Row groups that look-ups exclude, and what was read of those.
    pub(crate) groups_by_lookup: usize,
    pub(crate) lookup_bytes: usize,
}

impl Planned {
    /// Notes it among the metrics of the scan, where [`Reading::of`] and `EXPLAIN ANALYZE` find it.
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
