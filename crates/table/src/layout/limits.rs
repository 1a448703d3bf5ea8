//! How much goes into a row group, a page and a filter.

/// Rows of a row group, at most: what a question that is looked up in it must decode.
pub const GROUP_ROWS_MAX: usize = 106_496;
/// False answers of a Bloom filter: one in eighty. That takes ten bits a value.
pub(crate) const BLOOM_FALSE_POSITIVES: f64 = 0.0125;
/// Rows of a page, at most: what a question that needs one row must decode.
pub(crate) const PAGE_ROWS: usize = 20_000;
