//! Limits on row groups, pages and filters.

/// Maximum rows of a row group. A lookup decodes a whole group.
pub const GROUP_ROWS_MAX: usize = 106_496;
/// Maximum bytes of a row group before compression, where rows are long. It is in memory during writing.
pub(crate) const GROUP_BYTES: usize = 128 << 20;
/// False positive rate of Bloom filters: 1 in 80 takes ten bits per value.
pub(crate) const BLOOM_FALSE_POSITIVES: f64 = 0.0125;
/// Maximum rows of a page. A question for one row decodes a whole page.
pub(crate) const PAGE_ROWS: usize = 20_000;
/// Size of a page before compression, where values are long.
pub(crate) const PAGE_BYTES: usize = 1 << 20;
/// Size of a page of times, before compression. Times mostly ascend, so that short pages have narrow bounds: questions about
/// a time read less, and those by the hour need not decode pages within one hour.
pub(crate) const TIME_PAGE_BYTES: usize = 1 << 12;
/// Maximum rows of a page that this crate encodes of a column by which rows are ordered: times, 4 KB of them at 16 bits a
/// difference, and clustering columns. Questions about a box of those read the pages within it.
pub(crate) const ORDERED_PAGE_ROWS: usize = 2_048;
/// A page that ends with an hour has at least one row for each so many of its maximum.
pub(crate) const HOUR_SHARE_MIN: usize = 4;
/// Limit on the values of a dictionary: readers hold it in memory.
pub(crate) const DICTIONARY_BYTES_MAX: usize = 16 << 20;
