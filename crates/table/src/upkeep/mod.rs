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

use crate::error::{Result, TableError};
use crate::input::Input;
use crate::layout::{Encodings, SAMPLE_ROWS};
use crate::target::Target;

/// Long rows are a smaller sample.
const SAMPLE_BYTES: usize = 32 << 20;

/// Chooses encodings from the first rows of some segments.
fn encodings(target: &Target, inputs: &[Input]) -> Result<Encodings> {
    encodings_of(target, inputs.iter().map(|input| (input, None)))
}

/// Chooses encodings from the first rows of all or some row groups of segments.
fn encodings_of<'a>(
    target: &Target,
    inputs: impl Iterator<Item = (&'a Input, Option<Vec<usize>>)>,
) -> Result<Encodings> {
    let mut sample = Vec::new();
    let (mut rows, mut bytes) = (0, 0);
    'inputs: for (input, groups) in inputs {
        for batch in input.rows(groups, None)? {
            let batch = batch?;
            rows += batch.num_rows();
            bytes += batch.get_array_memory_size();
            sample.push(batch);
            if rows >= SAMPLE_ROWS || bytes >= SAMPLE_BYTES {
                break 'inputs;
            }
        }
    }
    Encodings::choose(&target.schema, &sample, &target.options).map_err(|e| TableError::Unexpected(e.to_string()))
}

#[cfg(test)]
mod tests;
