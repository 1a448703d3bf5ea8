//! Loads a server with rows, and measures it.
//!
//! Enters: a [`Target`] and a [`LoadPlan`], or a program and an [`IngestWorkload`]. Leaves: [`LoadFigures`] on
//! acknowledged and stored records, or an [`Ingest`] with the same for many servers, and the resources that each used.

mod bars;
mod cases;
pub(crate) mod encode;
mod error;
mod format;
mod load;
mod payload;
pub(crate) mod records;
mod report;
mod row;
mod run;
mod tally;
mod target;
mod workload;

pub use bars::IngestBar;
pub use error::LoadError;
pub use format::{BodyCodec, UnknownWord, WireFormat};
pub use load::{LoadFigures, LoadPlan, Pace, load};
pub use report::{html, markdown};
pub use row::IngestRow;
pub use run::{Ingest, ingest};
pub use target::Target;
pub use workload::{IngestSweep, IngestWorkload};

#[cfg(test)]
mod tests;
