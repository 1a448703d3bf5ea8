//! The settings of the benchmark.

use std::path::PathBuf;

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize, clap::Args)]
pub struct CdrWorkload {
    /// Cut the day into this many batches
    #[arg(long, value_name = "B", default_value_t = 500)]
    pub batches: usize,
    /// Multiply the rows of every batch
    ///
    /// At 1 a batch has 10,000 to 500,000 rows, and the day 40 million.
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    pub scale: f64,
    /// Repeat every insert and report medians
    #[arg(long, value_name = "R", default_value_t = 1)]
    pub repeat: usize,
    /// Seed of the generated records
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Insert records of this file instead
    ///
    /// A .csv or .parquet file, cut into batches.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scale", "seed"])]
    pub input: Option<PathBuf>,
    /// Add Bloom filters to these columns
    #[arg(long, value_name = "COL,..", value_delimiter = ',',
          default_values_t = ["call_id", "caller_number", "callee_number"].map(String::from))]
    pub bloom: Vec<String>,
    /// Cluster by these columns
    #[arg(long, value_name = "COL,..", value_delimiter = ',',
          default_values_t = ["call_hour", "cell_tower_id"].map(String::from))]
    pub cluster: Vec<String>,
    /// Add secondary indexes to these columns
    ///
    /// They exist in the second pass only.
    #[arg(long, value_name = "COL,..", value_delimiter = ',',
          default_values_t = ["call_timestamp", "caller_number", "callee_number", "cell_tower_id", "call_date"]
              .map(String::from))]
    pub lookup: Vec<String>,
}
