//! Layouts of tables: the storage of rows, and the conversion of batches to files.

mod advise;
mod bloom;
mod copy;
mod dictionary;
mod encoding;
mod extras;
mod limits;
mod number;
mod options;
mod own;
mod rows;
pub(crate) mod statistics;
mod text;
mod values;
pub(crate) mod write;

pub use advise::{ADVICE_ROWS, Advice, Verdict, advise};
pub(crate) use encoding::SAMPLE_ROWS;
pub use encoding::{ColumnEncoding, Encodings};
pub(crate) use limits::GROUP_BYTES;
pub use limits::GROUP_ROWS_MAX;
pub use options::{Clustering, Curve, Layout, TableOptions};
pub use rows::{conform, set_of, storable};

#[cfg(test)]
mod tests;
