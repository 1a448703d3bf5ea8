//! What keeps a table in shape: small segments become large ones ([`compact`]), old rows go ([`trim`]), chosen rows go
//! ([`delete_rows`]), all rows change their layout ([`rewrite()`]), segments that cannot be read go aside ([`rebuild()`]), and
//! files that nothing names go ([`vacuum`]).
//!
//! Each is one commit, whole or not at all, beside writers and readers. Files that a commit takes out of the table stay
//! for those who read an older version, until `vacuum`.

mod compact;
mod delete;
mod exchange;
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

use crate::disk::Disk;
use crate::error::TableError;
use crate::input::Input;
use crate::layout::avro::AvroTable;
use crate::layout::{Encodings, Layout, SAMPLE_ROWS, TableOptions};
use crate::log::Segment;

type Result<T> = std::result::Result<T, TableError>;

/// How often a command that another overtook begins again.
pub(crate) const TRIES: usize = 3;

/// Begins again what others overtook.
async fn retried<T, F: Future<Output = Result<T>>>(work: impl Fn() -> F) -> Result<T> {
    for _ in 1..TRIES {
        match work().await {
            Err(TableError::Overtaken { .. }) => {}
            result => return result,
        }
    }
    work().await
}

/// Writes the table in the folder `root` anew, in another layout or with other options.
///
/// # Errors
/// Where there is no such table, where the options contradict each other or the columns, where the disk or the log
/// refuses, where others rewrite the same segments again and again, and, from and to layout `row`, where anybody writes to
/// the table. Then the table is as it was.
pub async fn rewrite(root: &Path, disk: Arc<dyn Disk>, options: &RewriteOptions) -> Result<Rewritten> {
    if options.change.layout == Some(Layout::Row) || AvroTable::is_in(root) {
        return exchange::exchange(root, disk, options).await;
    }
    retried(|| rewrite::rewrite_once(root, disk.clone(), options)).await
}

/// Encodings chosen from the first rows of some segments.
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
