use std::sync::Arc;

/// Receives the rows done and the total number of rows.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;
