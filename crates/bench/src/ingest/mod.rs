//! Loads a server with rows, and measures it.
//!
//! Enters: a [`Target`] and a [`LoadPlan`], or a program and an [`IngestWorkload`]. Leaves: [`LoadFigures`] on
//! acknowledged and stored records, or an [`Ingest`] with the same for many servers, and the resources that each used.

mod bars;
mod cases;
mod counts;
pub(crate) mod encode;
mod format;
mod load;
mod payload;
pub(crate) mod records;
mod report;
mod row;
mod run;
mod target;
mod workload;

pub use format::{BodyCodec, WireFormat};
pub(crate) use load::load_counting;
pub use load::{LoadFigures, LoadPlan, Pace, load};
pub use row::{IngestRow, ServerSettings};
pub use run::{Ingest, ingest};
pub use target::Target;
pub use workload::{Compared, IngestSweep, IngestWorkload};

#[cfg(test)]
mod tests;
