//! Clustering: reorders the rows of a table so that rows with similar values in several columns are adjacent.
//!
//! Enters: a table of layout `clustered`. Leaves: the same rows in new segments; each row group covers a small box of
//! the clustering columns. One commit replaces the old segments. Concurrent writers continue; readers of older versions
//! find their files until a vacuum.
//!
//! A run passes over its input twice. A sample gives the quantiles of each column (`rank`) and thus each row's cell
//! in a cube (`keys`). The first pass reads the clustering columns only and counts the rows per cell; along a curve
//! (`curve`) the counts determine each row's row group. The second pass reads all columns and moves each row there
//! (`shuffle`), spilling to disk if memory runs out (`spill`).

mod choice;
mod curve;
mod depth;
mod keys;
mod rank;
mod shuffle;
mod spill;

use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use self::depth::Points;
use self::keys::Keys;
use self::shuffle::{Placement, Shuffle};
use crate::error::{Result, TableError};
use crate::input::Input;
use crate::job::{Counter, Moved, Progress, blocking, retried};
use crate::layout::{Clustering, Encodings, GROUP_BYTES, GROUP_ROWS_MAX, Layout, TableOptions};
use crate::log::{Change, Rewrite, Segment};
use crate::output::{self, NanColumns, Output};
use crate::target::Target;
use disk::Disk;

pub const MEMORY: usize = 256 << 20;
const SEGMENT_GROUPS: usize = 12;

#[derive(Clone)]
pub struct ClusterOptions {
    /// The new clustering; `None` keeps the stored one.
    pub clustering: Option<Clustering>,
    /// Memory for moving rows, in bytes; the rest is spilled to disk.
    pub memory: usize,
    /// Also rewrite segments that are already clustered.
    pub all: bool,
    pub progress: Option<Progress>,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self { clustering: None, memory: MEMORY, all: false, progress: None }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Clustered {
    pub moved: Moved,
    /// Row groups of the whole table that a question for one key read before clustering, on average.
    pub depth_before: f64,
    pub depth_after: f64,
    pub spilled_bytes: u64,
    /// Clustering columns with only one value, which have no effect.
    pub left_out: Vec<String>,
}

/// Clusters the table in the folder `root`, by default only its unclustered segments.
pub async fn cluster(root: &Path, disk: Arc<dyn Disk>, options: ClusterOptions) -> Result<Clustered> {
    retried(|| cluster_once(root, disk.clone(), &options)).await
}

async fn cluster_once(root: &Path, disk: Arc<dyn Disk>, options: &ClusterOptions) -> Result<Clustered> {
    let mut table = output::open(root, disk.clone()).await?;
    let target = Target::of(&table, disk)?;
    let stored = target.options.clone();
    let (of_table, clustering) = clustering(root, &target.schema, &stored, options)?;
    let segments = table.segments_by_age().await?;
    let chosen = choice::choose(segments.clone(), &clustering, options.all);
    if chosen.iter().all(|s| s.rows == 0) {
        return Ok(Clustered::default());
    }
    let properties = of_table.property_changes(&stored);
    let ClusterOptions { memory, progress, .. } = options.clone();
    let job = Job { target: Target { options: of_table, ..target }, clustering, memory, progress };
    let inputs = chosen.clone();
    let (output, clustered) = blocking(move || job.run(&segments, &inputs)).await?;
    let change = Change { properties, ..Change::rewrite(chosen, Rewrite::SameRows) };
    output::commit(Some(output), &mut table, change).await?;
    Ok(clustered)
}

/// The table's new options and clustering.
fn clustering(
    root: &Path,
    schema: &SchemaRef,
    stored: &TableOptions,
    options: &ClusterOptions,
) -> Result<(TableOptions, Clustering)> {
    let refuse = |reason: String| TableError::options(root, reason);
    if stored.layout != Layout::Clustered {
        return Err(refuse(format!("cannot cluster layout {}: use a table of layout clustered", stored.layout)));
    }
    let clustering = options.clustering.as_ref().or(stored.clustering.as_ref());
    let clustering =
        clustering.ok_or_else(|| refuse("no clustering columns: name the columns to cluster by".to_owned()))?.clone();
    let of_table = TableOptions { clustering: Some(clustering.clone()), ..stored.clone() };
    of_table.check(root, schema)?;
    Ok((of_table, clustering))
}

pub(crate) struct Job {
    pub(crate) target: Target,
    pub(crate) clustering: Clustering,
    pub(crate) memory: usize,
    pub(crate) progress: Option<Progress>,
}

impl Job {
    /// Moves the rows of the `chosen` segments, at least one row in total. `segments` are all segments of the table.
    pub(crate) fn run(&self, segments: &[Segment], chosen: &[Segment]) -> Result<(Output, Clustered)> {
        let inputs = Input::open_all(&self.target, chosen)?;
        let others: Vec<Segment> = segments.iter().filter(|s| !chosen.contains(s)).cloned().collect();
        let others = Input::open_all(&self.target, &others)?;
        let rows: u64 = inputs.iter().map(Input::rows_in_all).sum();
        let Target { root, schema, .. } = &self.target;
        let place = |name: &String| Ok(schema.index_of(name)?);
        let columns = self.clustering.columns.iter().map(place).collect::<Result<Vec<_>>>()?;
        let sample = keys::sample(&inputs, schema, &columns)?;
        let (keys, constant) = Keys::of_sample(&sample, &columns, rows);
        let left_out: Vec<String> = constant.into_iter().map(|place| schema.field(place).name().clone()).collect();
        for column in &left_out {
            tracing::warn!(table = %root.display(), column, "ignored a clustering column with only one value");
        }
        let points = Points::of_sample(&keys, &sample, &columns);
        let depth_before = points.depth(&keys, inputs.iter().chain(&others));
        // Reading and writing are half of the work each.
        let mut counter = Counter::new(self.progress.as_ref(), 2, rows);
        let (mut bins, nan) = self.shuffle(&inputs, &keys, &columns, &mut counter)?;
        let output = self.write(&mut bins, nan, &mut counter)?;
        let written = Input::open_all(&self.target, output.segments())?;
        let clustered = Clustered {
            moved: Moved::new(rows, chosen, output.segments()),
            depth_before,
            depth_after: points.depth(&keys, written.iter().chain(&others)),
            spilled_bytes: bins.spilled(),
            left_out,
        };
        Ok((output, clustered))
    }

    fn shuffle(
        &self,
        inputs: &[Input],
        keys: &Keys,
        columns: &[usize],
        counter: &mut Counter<'_>,
    ) -> Result<(Shuffle, NanColumns)> {
        let mut placement = self.place(inputs, keys, columns, counter.total())?;
        let mut bins = Shuffle::new(&self.target.root, &self.target.schema, placement.bins(), self.memory);
        let mut nan = NanColumns::default();
        for input in inputs {
            for batch in input.rows(None, None)? {
                let batch = batch?;
                nan.add_batch(&batch);
                let cells = keys.cells(batch.num_rows(), |column| batch.column(column));
                bins.push(&batch, &placement.bins_of(&cells))?;
                counter.add(batch.num_rows() as u64);
            }
        }
        Ok((bins, nan))
    }

    fn place(&self, inputs: &[Input], keys: &Keys, columns: &[usize], rows: u64) -> Result<Placement> {
        let mut counts = vec![0; keys.cube().cells() as usize];
        let needed: Vec<usize> = columns.iter().copied().filter(|c| keys.ranks().iter().any(|r| r.0 == *c)).collect();
        for input in inputs {
            if needed.is_empty() {
                counts[0] += input.rows_in_all();
                continue;
            }
            for batch in input.rows(None, Some(&needed))? {
                let batch = batch?;
                let column = |at| batch.column(needed.iter().position(|c| *c == at).unwrap_or_default());
                for cell in keys.cells(batch.num_rows(), column) {
                    counts[cell as usize] += 1;
                }
            }
        }
        let bytes: u64 = inputs.iter().map(|input| input.row_bytes() * input.rows_in_all()).sum();
        let row_bytes = bytes.div_ceil(rows).max(1);
        let groups = rows.div_ceil((GROUP_BYTES as u64 / row_bytes).clamp(1, GROUP_ROWS_MAX as u64)).max(1);
        Ok(Placement::new(keys.cube(), self.clustering.curve, &counts, rows.div_ceil(groups)))
    }

    /// Writes each bin as one row group.
    fn write(&self, bins: &mut Shuffle, nan: NanColumns, counter: &mut Counter<'_>) -> Result<Output> {
        let count = bins.len();
        let encodings = Encodings::choose(&self.target.schema, &bins.rows(count / 2)?, &self.target.options);
        let encodings = encodings.map_err(|e| TableError::encode(&self.target.root, e))?;
        let marks = choice::marks(&self.clustering);
        let mut output = Output::new(&self.target, encodings, nan);
        let group_rows = counter.total().div_ceil(count as u64) as usize;
        let segments = count.div_ceil(SEGMENT_GROUPS);
        for segment in 0..segments {
            let groups = segment * count / segments..(segment + 1) * count / segments;
            output.begin(groups.len() * group_rows, marks.clone())?;
            for group in groups {
                for batch in bins.take(group)? {
                    output.write(&batch)?;
                    counter.add(batch.num_rows() as u64);
                }
                output.end_group()?;
            }
            output.end()?;
        }
        Ok(output)
    }
}

#[cfg(test)]
mod tests;
