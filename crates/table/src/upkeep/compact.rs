//! Merges small segments into large ones.

use std::collections::BTreeMap;
use std::ops::Add;
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

/// Limits on a merged segment. That on bytes is for long rows.
const ROWS_MAX: u64 = 12 * GROUP_ROWS_MAX as u64;
const BYTES_MAX: u64 = 512 << 20;

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
    let mut rows = 0;
    for batch in input.rows(None, None)? {
        let batch = batch?;
        output.write(&batch)?;
        rows += batch.num_rows() as u64;
        counter.add(batch.num_rows() as u64);
    }
    input.check_rows(rows)
}

/// Segments to merge, oldest first. Segments of half the size of a merged one stay.
pub(super) fn merges(segments: Vec<Segment>) -> Vec<Vec<Segment>> {
    let mut open: BTreeMap<BTreeMap<String, String>, (Size, Vec<Segment>)> = BTreeMap::new();
    let mut full = Vec::new();
    for segment in segments {
        let size = Size { rows: segment.rows, bytes: segment.bytes };
        if !(size + size).fits() {
            continue;
        }
        let mut run = segment.tags.clone();
        // The number of row groups does not matter for merging.
        run.remove(Segment::GROUPS_TAG);
        let (all, merge) = open.entry(run).or_default();
        if !(*all + size).fits() {
            full.push(std::mem::take(merge));
            *all = Size::default();
        }
        *all = *all + size;
        merge.push(segment);
    }
    full.extend(open.into_values().map(|(_, merge)| merge));
    full.retain(|merge| merge.len() > 1);
    full
}

/// The size of segments.
#[derive(Clone, Copy, Default)]
pub(super) struct Size {
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

impl Size {
    /// Whether one segment may be as large.
    pub(super) fn fits(self) -> bool {
        self.rows <= ROWS_MAX && self.bytes <= BYTES_MAX
    }
}

impl Add for Size {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        // Logs of other writers may hold any number.
        Self { rows: self.rows.saturating_add(more.rows), bytes: self.bytes.saturating_add(more.bytes) }
    }
}
