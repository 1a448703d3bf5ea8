//! Merges small segments into large ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::blocking::blocking;
use crate::error::TableError;
use crate::input::Input;
use crate::layout::GROUP_ROWS_MAX;
use crate::log::{Change, Rewrite, Segment};
use crate::output::{self, NanColumns, Output};
use crate::progress::Progress;
use disk::Disk;

use super::{Result, encodings, retried};

/// Target rows of a merged segment.
pub(super) const TARGET_ROWS: u64 = 12 * GROUP_ROWS_MAX as u64;
/// Segments with fewer rows are small.
const SMALL_ROWS: u64 = TARGET_ROWS / 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compacted {
    /// Rows moved.
    pub rows: u64,
    pub segments_in: usize,
    pub segments_out: usize,
    pub bytes_before: u64,
    pub bytes_after: u64,
}

/// Merges small segments of adjacent age in the table in the folder `root`. Rows keep their order. Only segments of the
/// same clustering run (or none) and of the same part (or none) are merged, so clustering is preserved.
pub async fn compact(root: &Path, disk: Arc<dyn Disk>, progress: Option<Progress>) -> Result<Compacted> {
    retried(|| compact_once(root, disk.clone(), progress.clone())).await
}

async fn compact_once(root: &Path, disk: Arc<dyn Disk>, progress: Option<Progress>) -> Result<Compacted> {
    let mut table = output::open(root, disk.clone()).await?;
    let (options, schema) = (table.options()?, table.arrow_schema()?);
    let merges = merges(table.segments_by_age().await?.into_iter().map(|(_, segment)| segment));
    let inputs: Vec<Segment> = merges.iter().flatten().cloned().collect();
    if inputs.is_empty() {
        return Ok(Compacted::default());
    }
    let folder = root.to_owned();
    let work = move || -> Result<Output> {
        let open = |segment: Segment| Ok((Input::open(&folder, &schema, &segment)?, segment));
        let merges: Vec<Vec<_>> = merges
            .into_iter()
            .map(|merge| merge.into_iter().map(open).collect::<Result<_>>())
            .collect::<Result<_>>()?;
        let mut output = None;
        let total: u64 = merges.iter().flatten().map(|(input, _)| input.rows_in_all()).sum();
        let mut done = 0;
        for merge in &merges {
            let nan = NanColumns::of_inputs(merge, &schema)?;
            let output = match &mut output {
                Some(output) => output,
                none => {
                    let encodings = encodings(merge, &schema, &options)?;
                    none.insert(Output::new(disk.clone(), &folder, &schema, &options, encodings, NanColumns::default()))
                }
            };
            output.set_nan(nan);
            merge_into(output, merge, merge[0].1.tags.clone(), |rows| {
                done += rows;
                if let Some(progress) = &progress {
                    progress(done, total);
                }
            })?;
        }
        output.ok_or_else(|| TableError::Unexpected("found nothing to merge".to_owned()))
    };
    let output = blocking(work).await?;
    let compacted = Compacted {
        rows: inputs.iter().map(|s| s.rows).sum(),
        segments_in: inputs.len(),
        segments_out: output.segments().len(),
        bytes_before: inputs.iter().map(|s| s.bytes).sum(),
        bytes_after: output.segments().iter().map(|s| s.bytes).sum(),
    };
    output.commit(&mut table, Change::rewrite(inputs, Rewrite::SameRows)).await?;
    Ok(compacted)
}

/// Writes the rows of some segments as one segment with these tags.
pub(super) fn merge_into(
    output: &mut Output,
    merge: &[(Input, Segment)],
    tags: BTreeMap<String, String>,
    mut report: impl FnMut(u64),
) -> Result<()> {
    let rows: u64 = merge.iter().map(|(input, _)| input.rows_in_all()).sum();
    output.begin(rows as usize, tags)?;
    for (input, _) in merge {
        for batch in input.rows(None, None)? {
            let batch = batch?;
            output.write(&batch)?;
            report(batch.num_rows() as u64);
        }
    }
    output.end()
}

/// Groups of small segments to merge, oldest first.
fn merges(segments: impl Iterator<Item = Segment>) -> Vec<Vec<Segment>> {
    let mut open: BTreeMap<BTreeMap<String, String>, (u64, Vec<Segment>)> = BTreeMap::new();
    let mut full = Vec::new();
    for segment in segments.filter(|s| s.rows < SMALL_ROWS) {
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
