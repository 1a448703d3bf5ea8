//! Rows that meet a condition go.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::{filter_record_batch, not};
use arrow::datatypes::SchemaRef;
use parquet::file::metadata::RowGroupMetaData;

use crate::aside::aside;
use crate::disk::Disk;
use crate::error::TableError;
use crate::input::Input;
use crate::layout::{GROUP_ROWS_MAX, TableOptions};
use crate::log::{Change, Rewrite, Segment};
use crate::output::{self, NanColumns, Output};

use super::{Result, encodings, retried};

/// What becomes of a segment, as far as can be told without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// None of its rows goes.
    Keep,
    /// All of its rows go.
    Remove,
    /// Its rows must be looked at.
    Look,
}

/// Which rows go.
pub trait Filter: Send + Sync + 'static {
    /// What a segment's statistics say.
    fn fate(&self, segment: &Segment) -> Fate;
    /// Whether rows of a row group may go, as far as its file says; asked of segments that must be looked at.
    fn may_doom(&self, group: &RowGroupMetaData) -> bool {
        let _ = group;
        true
    }
    /// The columns that [`Self::doomed`] looks at.
    fn columns(&self) -> Vec<String>;
    /// Whether each row of those columns goes: those that are true, and neither false nor NULL.
    ///
    /// # Errors
    /// Words that say why that cannot be told.
    fn doomed(&self, rows: &RecordBatch) -> std::result::Result<BooleanArray, String>;
}

/// What a deletion did, or would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deleted {
    /// Rows that are gone.
    pub rows: u64,
    /// Bytes that they take, by what a row of their segments does.
    pub bytes: u64,
    /// Segments that were taken out of the table.
    pub segments_in: usize,
    /// Segments that hold what is left of those.
    pub segments_out: usize,
    /// Bytes of the segments that were taken out.
    pub bytes_before: u64,
    /// Bytes of what is left of those; where it was only asked what would be done, 0.
    pub bytes_after: u64,
}

/// Deletes the rows that a filter says from the table in the folder `root`; where not `apply`, tells only what that would
/// do. Rows that are inserted meanwhile stay.
///
/// # Errors
/// Where there is no such table or column, where the filter fails, where the disk or the log refuses, and where others
/// rewrite the same segments again and again. Then the table is as it was.
pub async fn delete_rows(root: &Path, disk: Arc<dyn Disk>, filter: Arc<dyn Filter>, apply: bool) -> Result<Deleted> {
    retried(|| delete_once(root, disk.clone(), filter.clone(), apply)).await
}

async fn delete_once(root: &Path, disk: Arc<dyn Disk>, filter: Arc<dyn Filter>, apply: bool) -> Result<Deleted> {
    let mut table = output::open(root, disk.clone()).await?;
    let job = Job::new(root, disk, table.arrow_schema()?, table.options()?, filter)?;
    let segments: Vec<Segment> = table.segments_by_age().await?.into_iter().map(|(_, segment)| segment).collect();
    let (touched, output, mut deleted) = aside(move || job.run(segments, apply)).await?;
    if !apply || touched.is_empty() {
        return Ok(deleted);
    }
    if let Some(output) = output {
        deleted.bytes_after = output.segments().iter().map(|s| s.bytes).sum();
        output.commit(&mut table, Change::rewrite(touched, Rewrite::FewerRows)).await?;
    } else {
        table.commit(&Change::rewrite(touched, Rewrite::FewerRows)).await?;
    }
    Ok(deleted)
}

/// Takes rows out of segments.
pub(crate) struct Job {
    root: std::path::PathBuf,
    disk: Arc<dyn Disk>,
    schema: SchemaRef,
    options: TableOptions,
    filter: Arc<dyn Filter>,
    columns: Vec<usize>,
}

impl Job {
    pub(crate) fn new(
        root: &Path,
        disk: Arc<dyn Disk>,
        schema: SchemaRef,
        options: TableOptions,
        filter: Arc<dyn Filter>,
    ) -> Result<Self> {
        let position = |name: &String| {
            schema.index_of(name).map_err(|_| {
                let have = schema.fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>().join(", ");
                let reason = format!("there is no column {name:?}: the columns are {have}");
                TableError::Options { path: root.to_owned(), reason }
            })
        };
        let columns = filter.columns().iter().map(position).collect::<Result<_>>()?;
        Ok(Self { root: root.to_owned(), disk, schema, options, filter, columns })
    }

    /// Gives the segments that hold rows that go, and, where `apply`, what takes their place if anything does.
    pub(crate) fn run(&self, segments: Vec<Segment>, apply: bool) -> Result<(Vec<Segment>, Option<Output>, Deleted)> {
        let mut deleted = Deleted::default();
        let mut touched = Vec::new();
        let mut rewritten = Vec::new();
        for segment in segments {
            let fate = self.filter.fate(&segment);
            let input = if fate == Fate::Look { Some(Input::open(&self.root, &self.schema, &segment)?) } else { None };
            let doomed = match &input {
                Some(input) => self.count(input)?,
                None if fate == Fate::Remove => segment.rows,
                None => 0,
            };
            if doomed == 0 {
                continue;
            }
            deleted.rows += doomed;
            let of_segment = u128::from(segment.bytes) * u128::from(doomed) / u128::from(segment.rows.max(doomed));
            deleted.bytes += of_segment as u64;
            deleted.segments_in += 1;
            deleted.bytes_before += segment.bytes;
            if let Some(input) = input.filter(|_| doomed < segment.rows) {
                deleted.segments_out += 1;
                rewritten.push((input, segment.clone()));
            }
            touched.push(segment);
        }
        let output = if apply && !rewritten.is_empty() { Some(self.rewrite(&rewritten)?) } else { None };
        Ok((touched, output, deleted))
    }

    fn doomed(&self, rows: &RecordBatch) -> Result<BooleanArray> {
        let unfit = |reason| TableError::Options { path: self.root.clone(), reason };
        let doomed = self.filter.doomed(rows).map_err(unfit)?;
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

    /// Writes what is left of some segments, one for each, in its order and with its tags.
    fn rewrite(&self, inputs: &[(Input, Segment)]) -> Result<Output> {
        let encodings = encodings(inputs, &self.schema, &self.options)?;
        let nan = NanColumns::of_inputs(inputs, &self.schema)?;
        let mut output = Output::new(self.disk.clone(), &self.root, &self.schema, &self.options, encodings, nan);
        for (input, segment) in inputs {
            output.begin(segment.rows as usize, segment.tags.clone())?;
            let mut in_group = 0;
            for group in 0..input.metadata().metadata().num_row_groups() {
                for batch in input.rows(Some(vec![group]), None)? {
                    let kept = self.kept(&batch?)?;
                    in_group += kept.num_rows();
                    output.write(&kept)?;
                }
                // Clustered row groups stay apart, unless little is left of them.
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
        let unexpected = |e: arrow::error::ArrowError| TableError::Unexpected(e.to_string());
        let looked_at = batch.project(&self.columns).map_err(unexpected)?;
        let kept = not(&self.doomed(&looked_at)?).map_err(unexpected)?;
        filter_record_batch(batch, &kept).map_err(unexpected)
    }
}
