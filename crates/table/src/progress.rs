//! How far long work is.

use std::sync::Arc;

/// Called with the rows done and the rows in all.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;
