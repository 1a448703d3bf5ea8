//! Maintenance of tables: merge small segments ([`compact`]), remove old rows ([`trim`]), delete selected rows
//! ([`delete_rows`]), change the layout ([`rewrite()`]), remove unreadable segments ([`rebuild()`]), and remove
//! unused files ([`vacuum`]).
//!
//! Each operation is one atomic commit, concurrent with writers and readers. Files that a commit removes from the
//! table stay for readers of older versions until `vacuum`. If an operation fails, also because other commands keep
//! rewriting the same segments, the table is unchanged.

mod compact;
mod delete;
mod rebuild;
mod rewrite;
mod supersede;
mod trim;
mod vacuum;

use std::path::Path;
use std::sync::Arc;

pub use compact::{Compacted, compact};
pub(crate) use delete::Job as DeleteJob;
pub use delete::{Deleted, Fate, Filter, delete_rows};
pub use rebuild::{DamagedSegment, Rebuilt, rebuild};
pub use rewrite::{LayoutChange, RewriteOptions, Rewritten};
pub use supersede::{Superseding, last_rows};
pub use trim::{TrimLimit, TrimOptions, Trimmed, trim};
pub use vacuum::{ORPHAN_AGE, RETENTION, VacuumOptions, Vacuumed, vacuum, vacuum_but};

use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;

use crate::error::TableError;
use crate::input::Input;
use crate::layout::{Encodings, SAMPLE_ROWS, TableOptions};
use crate::log::Segment;
use disk::Disk;

type Result<T> = std::result::Result<T, TableError>;

/// Attempts of an operation, if other commands change its segments.
pub(crate) const TRIES: usize = 3;

/// Retries work that failed because other commands changed its segments.
async fn retried<T, F: Future<Output = Result<T>>>(work: impl Fn() -> F) -> Result<T> {
    for _ in 1..TRIES {
        match work().await {
            Err(TableError::Overtaken { .. }) => {}
            result => return result,
        }
    }
    work().await
}

/// Rewrites the table in the folder `root` with another layout or other options.
pub async fn rewrite(root: &Path, disk: Arc<dyn Disk>, options: &RewriteOptions) -> Result<Rewritten> {
    retried(|| rewrite::rewrite_once(root, disk.clone(), options)).await
}

/// Chooses encodings from the first rows of some segments.
fn encodings(inputs: &[(Input, Segment)], schema: &SchemaRef, options: &TableOptions) -> Result<Encodings> {
    let mut sample = Vec::new();
    let mut rows = 0;
    'inputs: for (input, _) in inputs {
        for batch in input.rows(None, None)? {
            sample.push(batch?);
            rows += sample.last().map_or(0, arrow::array::RecordBatch::num_rows);
            if rows >= SAMPLE_ROWS {
                break 'inputs;
            }
        }
    }
    let sample = concat_batches(schema, &sample).map_err(|e| TableError::Unexpected(e.to_string()))?;
    Encodings::choose(&sample, options).map_err(|e| TableError::Unexpected(e.to_string()))
}

#[cfg(test)]
mod tests;
