//! Call records streamed into every layout of a table: a day's batches, clustering and questions.
//!
//! The baseline, variant `row`, is not a layout of a table but a folder of Avro files.
//!
//! All variants get the same records, made before any measurement. Each variant's stored rows are counted and hashed,
//! and every answer is compared with a count over the records.

mod avro;
mod avro_provider;
pub(crate) mod dataset;
mod expected;
mod gates;
mod hash;
mod input;
mod insert;
mod pass;
mod phases;
mod plots;
mod questions;
mod report;
mod run;
mod workload;

pub use expected::Answer;
pub use gates::Gate;
pub use hash::content_hash;
pub use insert::{Checkpoint, Variant, VariantFigures};
pub use pass::{Clustering, ColumnBytes};
pub use phases::Phase;
pub use questions::{Queried, Question};
pub use run::{Cdr, SecondPass, Slowdown, cdr};
pub use workload::CdrWorkload;

#[cfg(test)]
mod tests;
