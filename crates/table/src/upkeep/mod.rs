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

pub use crate::job::Moved;
pub use compact::compact;
pub(crate) use delete::Job as DeleteJob;
pub use delete::{Deleted, Fate, Filter, delete_rows};
pub use rebuild::{DamagedSegment, Rebuilt, rebuild};
pub use rewrite::{LayoutChange, RewriteOptions, Rewritten, rewrite};
pub use supersede::{Superseding, last_rows};
pub use trim::{TrimLimit, TrimOptions, Trimmed, trim};
pub use vacuum::{ORPHAN_AGE, RETENTION, VacuumOptions, Vacuumed, vacuum, vacuum_but};

use arrow::compute::concat_batches;

use crate::error::{Result, TableError};
use crate::input::Input;
use crate::layout::{Encodings, SAMPLE_ROWS};
use crate::target::Target;

/// Chooses encodings from the first rows of some segments.
fn encodings(target: &Target, inputs: &[Input]) -> Result<Encodings> {
    let mut sample = Vec::new();
    let mut rows = 0;
    'inputs: for input in inputs {
        for batch in input.rows(None, None)? {
            sample.push(batch?);
            rows += sample.last().map_or(0, arrow::array::RecordBatch::num_rows);
            if rows >= SAMPLE_ROWS {
                break 'inputs;
            }
        }
    }
    let sample = concat_batches(&target.schema, &sample)?;
    Encodings::choose(&sample, &target.options).map_err(|e| TableError::Unexpected(e.to_string()))
}

#[cfg(test)]
mod tests;
