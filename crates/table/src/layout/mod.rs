//! How the rows of a table are stored, and how batches of rows become its files.

pub(crate) mod avro;
mod encoding;
mod options;
mod rows;
pub(crate) mod statistics;
pub(crate) mod write;

pub(crate) use encoding::SAMPLE_ROWS;
pub use encoding::{ColumnEncoding, Encodings};
pub use options::{Clustering, Curve, Layout, TableOptions};
pub use rows::{conform, storable};
pub use write::GROUP_ROWS_MAX;
pub(crate) use write::WrittenRows;

#[cfg(test)]
mod tests;
