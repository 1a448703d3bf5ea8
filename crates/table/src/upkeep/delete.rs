//! Deletes rows that match a condition.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::{filter_record_batch, not};
use parquet::file::metadata::RowGroupMetaData;

use crate::error::TableError;
use crate::input::Input;
use crate::job::{blocking, retried};
use crate::layout::GROUP_ROWS_MAX;
use crate::log::{Change, Rewrite, Segment};
use crate::output::{self, NanColumns, Output};
use crate::target::Target;
use disk::Disk;

use super::{Result, encodings};

/// The fate of a segment, decided without reading its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Keep,
    Remove,
    /// Read the rows.
    Look,
}

pub trait Filter: Send + Sync + 'static {
    fn fate(&self, segment: &Segment) -> Fate;
    /// Whether a row group may have rows to delete, according to its metadata. Called for segments with [`Fate::Look`].
    fn may_doom(&self, group: &RowGroupMetaData) -> bool {
        let _ = group;
        true
    }
    fn columns(&self) -> Vec<String>;
    /// Marks the rows to delete, given the columns. True means delete; false and NULL mean keep. Errors are messages
    /// with the reason.
    fn doomed(&self, rows: &RecordBatch) -> Result<BooleanArray, String>;
}

/// The result of a deletion or of its dry run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deleted {
    pub rows: u64,
    /// Approximate bytes of these rows, from the average row of their segments.
    pub bytes: u64,
    pub segments_in: usize,
    /// Segments written with the remaining rows.
    pub segments_out: usize,
    pub bytes_before: u64,
    /// Bytes of the written segments; 0 in a dry run.
    pub bytes_after: u64,
}

/// Deletes the rows that a filter selects from the table in the folder `root`. Without `apply`, it is a dry run. Rows
/// inserted during the deletion stay.
pub async fn delete_rows(root: &Path, disk: Arc<dyn Disk>, filter: Arc<dyn Filter>, apply: bool) -> Result<Deleted> {
    retried(|| delete_once(root, disk.clone(), filter.clone(), apply)).await
}

async fn delete_once(root: &Path, disk: Arc<dyn Disk>, filter: Arc<dyn Filter>, apply: bool) -> Result<Deleted> {
    let mut table = output::open(root, disk.clone()).await?;
    let job = Job::new(Target::of(&table, disk)?, filter)?;
    let segments = table.segments_by_age().await?;
    let (touched, output, mut deleted) = blocking(move || job.run(segments, apply)).await?;
    if apply && !touched.is_empty() {
        deleted.bytes_after = output.iter().flat_map(Output::segments).map(|s| s.bytes).sum();
        output::commit(output, &mut table, Change::rewrite(touched, Rewrite::FewerRows)).await?;
    }
    Ok(deleted)
}

pub(crate) struct Job {
    target: Target,
    filter: Arc<dyn Filter>,
    columns: Vec<usize>,
}

impl Job {
    pub(crate) fn new(target: Target, filter: Arc<dyn Filter>) -> Result<Self> {
        let position = |name: &String| {
            let Target { root, schema, .. } = &target;
            schema.index_of(name).map_err(|_| TableError::no_column(root, schema, name))
        };
        let columns = filter.columns().iter().map(position).collect::<Result<_>>()?;
        Ok(Self { target, filter, columns })
    }

    /// Returns the segments with rows to delete and, with `apply`, the new segments with their remaining rows.
    pub(crate) fn run(&self, segments: Vec<Segment>, apply: bool) -> Result<(Vec<Segment>, Option<Output>, Deleted)> {
        let mut deleted = Deleted::default();
        let mut touched = Vec::new();
        let mut rewritten = Vec::new();
        for segment in segments {
            let fate = self.filter.fate(&segment);
            let Target { root, schema, .. } = &self.target;
            // A log may not say how many rows a segment has.
            let is_opened = fate == Fate::Look || fate == Fate::Remove && segment.rows == 0;
            let input = if is_opened { Some(Input::open(root, schema, &segment)?) } else { None };
            let rows = input.as_ref().map_or(segment.rows, Input::rows_in_all);
            let doomed = match (&input, fate) {
                (_, Fate::Remove) => rows,
                (Some(input), _) => self.count(input)?,
                (None, _) => 0,
            };
            if doomed == 0 {
                continue;
            }
            deleted.rows += doomed;
            let of_segment = u128::from(segment.bytes) * u128::from(doomed) / u128::from(rows);
            deleted.bytes += of_segment as u64;
            deleted.segments_in += 1;
            deleted.bytes_before += segment.bytes;
            if let Some(input) = input.filter(|_| doomed < rows) {
                deleted.segments_out += 1;
                rewritten.push(input);
            }
            touched.push(segment);
        }
        let output = if apply && !rewritten.is_empty() { Some(self.rewrite(&rewritten)?) } else { None };
        Ok((touched, output, deleted))
    }

    fn doomed(&self, rows: &RecordBatch) -> Result<BooleanArray> {
        let doomed = self.filter.doomed(rows).map_err(|reason| TableError::options(&self.target.root, reason))?;
        // NULL is not true.
        Ok(doomed.iter().map(|doomed| Some(doomed.unwrap_or(false))).collect())
    }

    fn count(&self, input: &Input) -> Result<u64> {
        let groups = input.metadata().metadata().row_groups().iter().enumerate();
        let groups = groups.filter(|(_, group)| self.filter.may_doom(group)).map(|(i, _)| i).collect();
        let mut count = 0;
        for batch in input.rows(Some(groups), Some(&self.columns))? {
            count += self.doomed(&batch?)?.true_count() as u64;
        }
        Ok(count)
    }

    /// Writes the remaining rows of each segment to a new one, with the same order and tags.
    fn rewrite(&self, inputs: &[Input]) -> Result<Output> {
        let encodings = encodings(&self.target, inputs)?;
        let mut output = Output::new(&self.target, encodings, NanColumns::of_inputs(inputs)?);
        for input in inputs {
            output.begin(input.rows_in_all() as usize, input.segment.tags.clone())?;
            let mut in_group = 0;
            for group in 0..input.metadata().metadata().num_row_groups() {
                for batch in input.rows(Some(vec![group]), None)? {
                    let kept = self.kept(&batch?)?;
                    in_group += kept.num_rows();
                    output.write(&kept)?;
                }
                // Clustered row groups stay separate, unless little remains of them.
                if in_group > GROUP_ROWS_MAX / 2 {
                    output.end_group()?;
                    in_group = 0;
                }
            }
            output.end()?;
        }
        Ok(output)
    }

    fn kept(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let doomed = self.doomed(&batch.project(&self.columns)?)?;
        Ok(filter_record_batch(batch, &not(&doomed)?)?)
    }
}
