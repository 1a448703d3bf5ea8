//! Segments: Parquet files that this crate writes and reads page by page.
//!
//! A generic Parquet writer hashes every value into a dictionary, even if a column holds only small integers. Here such
//! a column gets a dictionary of all possible values, and indices of 1, 2, 4 or 8 bits. These compress well, and any
//! Parquet reader understands them.

mod encode;
mod reader;
mod writer;

pub use encode::{Encoder, FlatColumn, ListRows, PAGE_ROWS};
pub use reader::{FlatValues, ListValues, SegmentReader};
pub(crate) use writer::CREATED_BY;
pub use writer::{SegmentWriter, WrittenSegment};

#[cfg(test)]
mod tests;
