//! Loading a server with rows, and measuring what it does with them.
//!
//! Enters: a [`Target`] and a [`LoadPlan`], or a program and an [`IngestWorkload`]. Leaves: [`LoadFigures`]: how much was
//! acknowledged how fast, and whether all of it is there once; or [`Ingest`], the same of many servers with what they used.

mod bars;
mod cases;
pub(crate) mod encode;
mod error;
mod load;
pub(crate) mod payload;
mod report;
mod tally;
mod target;
mod workload;

pub use bars::IngestBar;
pub use cases::IngestSweep;
pub use error::LoadError;
pub use load::{LoadFigures, LoadPlan, Pace, load};
pub use payload::{BodyCodec, UnknownWord, WireFormat};
pub use report::{html, markdown};
pub use target::Target;
pub use workload::{Ingest, IngestRow, IngestWorkload, ingest};

#[cfg(test)]
mod tests;
