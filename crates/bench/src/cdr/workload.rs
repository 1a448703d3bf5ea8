//! The settings of the benchmark.

use std::path::PathBuf;

use serde::Serialize;

/// The settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CdrWorkload {
    /// Number of batches, which always span the whole day.
    pub batches: usize,
    /// Multiplies the rows of every batch.
    pub scale: f64,
    /// Repeats of all inserts; medians count.
    pub repeat: usize,
    /// The seed of the records.
    pub seed: u64,
    /// A file of real records to use in place of generated ones.
    pub input: Option<PathBuf>,
    /// Columns with Bloom filters, in layouts that have them.
    pub bloom: Vec<String>,
    /// Columns that the clustered layout is clustered by.
    pub cluster: Vec<String>,
    /// Columns with secondary indexes in the second pass, in layouts that have them.
    pub lookup: Vec<String>,
}
