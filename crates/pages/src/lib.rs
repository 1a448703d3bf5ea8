//! Reads and writes Parquet pages.
//!
//! Enters: numbers and texts to encode ([`ChunkWriter`] and the `push_` functions), or a [`SharedFile`] and the rows
//! of a column chunk to read. Leaves: compressed pages with their index and statistics, or values ([`Values`]).
//!
//! Guarantees
//! - any Parquet reader can read the pages;
//! - damaged input returns an [`Error`]: every length, width, count and offset is checked before use, and memory is
//!   reserved for one page at most;
//! - an unsupported layout returns [`Error::Unsupported`], so that the caller can fall back to the Parquet library.
//!
//! Knows nothing about tables, schemas or questions.

mod chunk;
mod codec;
pub mod delta;
mod dictionary;
pub mod encoding;
mod error;
mod file;
mod flat;
mod footer;
mod format;
mod header;
pub mod hybrid;
mod levels;
mod read;
pub mod split;
pub mod text;
mod thrift;
pub mod varint;

pub use chunk::{Bounds, ChunkWriter, EncodedColumn, PageMetadata};
pub use codec::{Codec, Compressor, UnknownCodec, unsupported_codec};
pub use dictionary::{Codes, Dictionary};
pub use error::{Error, Result};
pub use file::SharedFile;
pub use flat::{Column, Values, plain, read_flat};
pub use footer::{guarded, read_footer, read_page_index, read_page_locations};
pub use format::{EncodingSet, PageFormat};
pub use header::{Header, PageKind};
pub use levels::{definition_levels, push_level_runs, push_levels, repetition_levels};
pub use read::{ColumnPages, Page, room};
