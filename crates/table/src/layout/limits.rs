//! Limits on row groups, pages and filters.

/// Limit on the rows of a row group, which a lookup decodes as a whole.
pub const GROUP_ROWS_MAX: usize = 106_496;
/// False positive rate of Bloom filters: 1 in 80 takes ten bits per value.
pub(crate) const BLOOM_FALSE_POSITIVES: f64 = 0.0125;
/// Limit on the rows of a page, which a question for one row decodes as a whole.
pub(crate) const PAGE_ROWS: usize = 20_000;
