//! Segments: Parquet files, written and read by ourselves page by page.
//!
//! A generic Parquet writer hashes every value into a dictionary and cannot see that a column holds small integers.
//! Here a column of small integers or of words becomes a dictionary of all values it could hold and indices of 1, 2,
//! 4 or 8 bits: bytes that the compressor likes and any Parquet reader understands.

mod chunk;
mod codec;
mod delta;
mod encode;
mod format;
mod levels;
mod reader;
mod source;
mod writer;

pub use chunk::EncodedColumn;
pub(crate) use chunk::{Bounds, ChunkWriter, PageFacts};
pub(crate) use codec::Compressor;
pub use codec::{Codec, UnknownCodec};
pub(crate) use delta::push_deltas;
pub use encode::{Encoder, FlatColumn, ListRows, PAGE_ROWS};
pub use format::{EncodingSet, PageFormat};
pub(crate) use levels::push_packed_levels;
pub use reader::{FlatValues, ListValues, SegmentReader};
pub use source::Source as SegmentFile;
pub(crate) use writer::CREATED_BY;
pub use writer::{SegmentWriter, WrittenSegment};

#[cfg(test)]
mod tests;
