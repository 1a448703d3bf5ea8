//! Merges small segments into large ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::input::Input;
use crate::job::{Counter, Moved, Progress, blocking, retried};
use crate::layout::GROUP_ROWS_MAX;
use crate::log::{Change, Rewrite, Segment};
use crate::output::{self, NanColumns, Output};
use crate::target::Target;
use disk::Disk;

use super::{Result, encodings};

pub(super) const TARGET_ROWS: u64 = 12 * GROUP_ROWS_MAX as u64;
const SMALL_ROWS: u64 = TARGET_ROWS / 2;

/// Merges small segments of adjacent age in the table in the folder `root`. Rows keep their order. Only segments of the
/// same clustering run (or none) and of the same part (or none) are merged, so clustering is preserved. Large row groups
/// with the table's columns and options are copied without decoding them.
pub async fn compact(root: &Path, disk: Arc<dyn Disk>, progress: Option<Progress>) -> Result<Moved> {
    retried(|| compact_once(root, disk.clone(), progress.clone())).await
}

async fn compact_once(root: &Path, disk: Arc<dyn Disk>, progress: Option<Progress>) -> Result<Moved> {
    let mut table = output::open(root, disk.clone()).await?;
    let target = Target::of(&table, disk)?;
    let merges = merges(table.segments_by_age().await?);
    let inputs: Vec<Segment> = merges.iter().flatten().cloned().collect();
    if inputs.is_empty() {
        return Ok(Moved::default());
    }
    let work = move || -> Result<Output> {
        let merges = merges.iter().map(|merge| Input::open_all(&target, merge)).collect::<Result<Vec<_>>>()?;
        let mut output = Output::new(&target, encodings(&target, &merges[0])?, NanColumns::default());
        let total = merges.iter().flatten().map(Input::rows_in_all).sum();
        let mut counter = Counter::new(progress.as_ref(), 1, total);
        for merge in &merges {
            begin(&mut output, merge, merge[0].segment.tags.clone())?;
            for input in merge {
                if output.copy(input)? {
                    counter.add(input.rows_in_all());
                } else {
                    write(&mut output, input, &mut counter)?;
                }
            }
            output.end()?;
        }
        Ok(output)
    };
    let output = blocking(work).await?;
    let moved = Moved::new(inputs.iter().map(|s| s.rows).sum(), &inputs, output.segments());
    output::commit(Some(output), &mut table, Change::rewrite(inputs, Rewrite::SameRows)).await?;
    Ok(moved)
}

/// Starts a segment for the rows of some others, with these tags.
pub(super) fn begin(output: &mut Output, merge: &[Input], tags: BTreeMap<String, String>) -> Result<()> {
    output.set_nan(NanColumns::of_inputs(merge)?);
    output.begin(merge.iter().map(Input::rows_in_all).sum::<u64>() as usize, tags)
}

/// Writes the rows of a segment.
pub(super) fn write(output: &mut Output, input: &Input, counter: &mut Counter<'_>) -> Result<()> {
    for batch in input.rows(None, None)? {
        let batch = batch?;
        output.write(&batch)?;
        counter.add(batch.num_rows() as u64);
    }
    Ok(())
}

/// Groups of small segments to merge, oldest first.
fn merges(segments: Vec<Segment>) -> Vec<Vec<Segment>> {
    let mut open: BTreeMap<BTreeMap<String, String>, (u64, Vec<Segment>)> = BTreeMap::new();
    let mut full = Vec::new();
    for segment in segments.into_iter().filter(|s| s.rows < SMALL_ROWS) {
        let mut run = segment.tags.clone();
        // The number of row groups does not matter for merging.
        run.remove(Segment::GROUPS_TAG);
        let (rows, merge) = open.entry(run).or_default();
        if *rows + segment.rows > TARGET_ROWS {
            full.push(std::mem::take(merge));
            *rows = 0;
        }
        *rows += segment.rows;
        merge.push(segment);
    }
    full.extend(open.into_values().map(|(_, merge)| merge));
    full.retain(|merge| merge.len() > 1);
    full
}
