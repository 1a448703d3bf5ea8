//! Call records streamed into every layout: a day's batches, clustering, and the questions that tell which layout earns
//! its keep.
//!
//! The records are made before any clock starts and are the same for all variants. Every variant's rows are counted
//! and hashed from what is on disk, and every answer is held against a count made from the records themselves.

mod dataset;
mod facts;
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

pub use facts::Answer;
pub use gates::{Gate, GateStatus};
pub use hash::content_hash;
pub use insert::{Checkpoint, Variant, VariantFigures};
pub use pass::{Clustering, ColumnBytes};
pub use phases::Phase;
pub use questions::{Ask, Queried, Question, Reading};
pub use report::{html, markdown};
pub use run::{Cdr, SecondPass, Slowdown, cdr};
pub use workload::CdrWorkload;

#[cfg(test)]
mod tests;
