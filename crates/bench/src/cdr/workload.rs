//! The settings of the benchmark.

use std::path::PathBuf;

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CdrWorkload {
    /// Number of batches; together they always span the whole day.
    pub batches: usize,
    /// Multiplies the rows of every batch.
    pub scale: f64,
    /// Repeats of all inserts; the report shows medians.
    pub repeat: usize,
    pub seed: u64,
    /// A file of real records to use instead of generated ones.
    pub input: Option<PathBuf>,
    /// Columns with Bloom filters, in layouts that support them.
    pub bloom: Vec<String>,
    /// Columns that order the clustered layout.
    pub cluster: Vec<String>,
    /// Columns with secondary indexes in the second pass, in layouts that support them.
    pub lookup: Vec<String>,
}
