//! Segments: Parquet files, written and read by ourselves page by page.
//!
//! A generic Parquet writer hashes every value into a dictionary and cannot see that a column holds small integers.
//! Here a column of small integers or of words becomes a dictionary of all values it could hold and indices of 1, 2,
//! 4 or 8 bits: bytes that the compressor likes and any Parquet reader understands.

mod encode;
mod reader;
mod writer;

pub use encode::{Encoder, FlatColumn, ListRows, PAGE_ROWS};
pub use reader::{FlatValues, ListValues, SegmentReader};
pub(crate) use writer::CREATED_BY;
pub use writer::{SegmentWriter, WrittenSegment};

#[cfg(test)]
mod tests;
