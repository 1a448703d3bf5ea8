//! The settings of the benchmark.

use std::path::PathBuf;

use serde::Serialize;

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CdrWorkload {
    /// Batches, which span the whole day however many there are.
    pub batches: usize,
    /// Multiplies the rows of every batch.
    pub scale: f64,
    /// How often everything is inserted; medians count.
    pub repeat: usize,
    /// The seed of the records.
    pub seed: u64,
    /// A file of real records in place of generated ones; its rows are cut into as many batches.
    pub input: Option<PathBuf>,
    /// Columns with Bloom filters, in the layouts that have them.
    pub bloom: Vec<String>,
    /// Columns that the clustered layout is clustered by.
    pub cluster: Vec<String>,
    /// Columns that have look-ups in the second pass, in the layouts that have them.
    pub lookup: Vec<String>,
}
