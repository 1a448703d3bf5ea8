//! A table is written anew, in another layout.
//!
//! All segments are read and written once, in bounded memory, and exchanged in one commit that also changes the table's
//! properties. What others insert until then is taken along; what they insert during the last moments, and what writers
//! that opened the table before go on to insert, stays as it was written: readers read segments of any layout.
//!
//! Layout `row` has no log: see [`super::exchange`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};

use crate::aside::aside;
use crate::cluster;
use crate::disk::Disk;
use crate::input::Input;
use crate::layout::avro::AvroTable;
use crate::layout::{Clustering, Curve, Layout, TableOptions};
use crate::log::{Change, Rewrite, Segment};
use crate::output::{self, NanColumns, Output};
use crate::progress::Progress;
use pages::{Codec, EncodingSet};

use super::compact::{TARGET_ROWS, merge_into};
use super::{Result, encodings};

/// How often what was inserted meanwhile is taken along, before the rest is left as it is.
const ROUNDS: usize = 3;

/// What is different from now on. What is `None` stays, where the new layout has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LayoutChange {
    /// How rows are stored.
    pub layout: Option<Layout>,
    /// Columns with Bloom filters.
    pub bloom: Option<Vec<String>>,
    /// Columns that rows are clustered by.
    pub cluster: Option<Vec<String>>,
    /// The order of clustered rows.
    pub curve: Option<Curve>,
    /// What compresses pages.
    pub codec: Option<Codec>,
    /// Which encodings pages may have.
    pub encodings: Option<EncodingSet>,
    /// Columns of integers that hold real numbers from now on; refused where one is past 2^53, and would change.
    pub widen: Vec<String>,
}

impl LayoutChange {
    /// The options of a table that had those of `before`.
    pub fn applied_to(&self, before: &TableOptions) -> TableOptions {
        let layout = self.layout.unwrap_or(before.layout);
        let mut after = if layout == Layout::Row { TableOptions::new(layout) } else { before.clone() };
        after.layout = layout;
        if layout == Layout::Column {
            after.bloom.clear();
        }
        if layout != Layout::Clustered {
            after.clustering = None;
        }
        if let Some(bloom) = &self.bloom {
            after.bloom.clone_from(bloom);
        }
        if self.cluster.is_some() || self.curve.is_some() {
            let clustering =
                after.clustering.get_or_insert(Clustering { columns: Vec::new(), curve: Curve::default() });
            clustering.columns = self.cluster.clone().unwrap_or_else(|| clustering.columns.clone());
            clustering.curve = self.curve.unwrap_or(clustering.curve);
        }
        after.codec = self.codec.unwrap_or(after.codec);
        after.encodings = self.encodings.unwrap_or(after.encodings);
        after
    }
}

/// How to rewrite.
#[derive(Clone)]
pub struct RewriteOptions {
    /// What is different from now on.
    pub change: LayoutChange,
    /// Bytes for rows that are being moved into layout `clustered`; more are put aside on disk.
    pub memory: usize,
    /// Is told how far it is.
    pub progress: Option<Progress>,
}

impl Default for RewriteOptions {
    fn default() -> Self {
        Self { change: LayoutChange::default(), memory: cluster::MEMORY, progress: None }
    }
}

impl fmt::Debug for RewriteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { change, memory, progress: _ } = self;
        f.debug_struct("RewriteOptions").field("change", change).field("memory", memory).finish_non_exhaustive()
    }
}

/// What rewriting did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The layout before.
    pub layout_before: Layout,
    /// The layout now.
    pub layout: Layout,
    /// Rows that were written anew.
    pub rows: u64,
    /// Segments that they were in.
    pub segments_in: usize,
    /// Segments that they are in now.
    pub segments_out: usize,
    /// Bytes of those segments before.
    pub bytes_before: u64,
    /// Bytes of those segments now.
    pub bytes_after: u64,
    /// Segments that were inserted too late to be taken along: they are as they were written.
    pub segments_left: usize,
}

/// As [`rewrite`](super::rewrite()), of a table with a log.
pub(super) async fn rewrite_once(root: &Path, disk: Arc<dyn Disk>, options: &RewriteOptions) -> Result<Rewritten> {
    let mut table = output::open(root, disk.clone()).await?;
    let before = table.options()?;
    let (schema, widen) = widened(&*table.arrow_schema()?, &options.change.widen);
    let after = options.change.applied_to(&before);
    after.check(root, &schema)?;
    let job = Arc::new(Job { root: root.to_owned(), disk, schema, options: after.clone(), how: options.clone() });
    let mut taken: Vec<Segment> = Vec::new();
    let (mut rows, mut written) = (0, None::<Output>);
    for _ in 0..ROUNDS {
        let known: BTreeSet<&str> = taken.iter().map(|s| s.path.as_str()).collect();
        let segments = table.segments_by_age().await?.into_iter().map(|(_, segment)| segment);
        let new: Vec<Segment> = segments.filter(|s| !known.contains(s.path.as_str())).collect();
        if new.is_empty() {
            break;
        }
        let (job, inputs) = (job.clone(), new.clone());
        let (of_round, output) = aside(move || job.run(&inputs)).await?;
        rows += of_round;
        match (&mut written, output) {
            (Some(written), Some(output)) => written.append(output),
            (written, output) => *written = written.take().or(output),
        }
        taken.extend(new);
        table.refresh().await?;
    }
    let segments = written.as_ref().map_or(&[][..], Output::segments);
    let mut rewritten = Rewritten {
        layout_before: before.layout,
        layout: after.layout,
        rows,
        segments_in: taken.len(),
        segments_out: segments.len(),
        bytes_before: taken.iter().map(|s| s.bytes).sum(),
        bytes_after: segments.iter().map(|s| s.bytes).sum(),
        segments_left: 0,
    };
    let properties = after.property_changes(&before);
    let nothing = taken.is_empty() && properties.is_empty() && widen.is_empty();
    let change = Change { widen, properties, ..Change::rewrite(taken, Rewrite::SameRows) };
    match written {
        Some(written) => {
            written.commit(&mut table, change).await?;
        }
        None if nothing => {}
        None => {
            table.commit(&change).await?;
        }
    }
    rewritten.segments_left = table.segments().await?.len() - rewritten.segments_out;
    Ok(rewritten)
}

/// The columns with those of some names widened, and which of these were not wide before.
fn widened(schema: &Schema, names: &[String]) -> (SchemaRef, Vec<String>) {
    let narrow = |f: &FieldRef| f.data_type().is_integer() && names.contains(f.name());
    let widen = schema.fields().iter().filter(|f| narrow(f)).map(|f| f.name().clone()).collect();
    let field = |f: &FieldRef| {
        if narrow(f) { f.as_ref().clone().with_data_type(DataType::Float64) } else { f.as_ref().clone() }
    };
    (Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())), widen)
}

/// Writes segments anew.
struct Job {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    schema: SchemaRef,
    options: TableOptions,
    how: RewriteOptions,
}

impl Job {
    /// Writes the rows of some segments, the oldest first, as the new layout has them. Gives how many they are, and
    /// nothing where they are none.
    fn run(&self, segments: &[Segment]) -> Result<(u64, Option<Output>)> {
        let open = |segment: &Segment| Ok((Input::open(&self.root, &self.schema, segment)?, segment.clone()));
        let inputs: Vec<(Input, Segment)> = segments.iter().map(open).collect::<Result<_>>()?;
        let rows = inputs.iter().map(|(input, _)| input.rows_in_all()).sum();
        let output = match &self.options.clustering {
            _ if rows == 0 => None,
            Some(clustering) => Some(self.cluster(clustering, segments)?),
            None => Some(self.write(inputs, rows)?),
        };
        Ok((rows, output))
    }

    fn cluster(&self, clustering: &Clustering, segments: &[Segment]) -> Result<Output> {
        let job = cluster::Job {
            root: self.root.clone(),
            disk: self.disk.clone(),
            schema: self.schema.clone(),
            options: self.options.clone(),
            clustering: clustering.clone(),
            memory: self.how.memory,
            progress: self.how.progress.clone(),
        };
        Ok(job.run(segments, segments)?.0)
    }

    /// Writes rows in their order, into segments as large as compaction makes them.
    fn write(&self, inputs: Vec<(Input, Segment)>, rows: u64) -> Result<Output> {
        let encodings = encodings(&inputs, &self.schema, &self.options)?;
        let nan = NanColumns::default();
        let mut output = Output::new(self.disk.clone(), &self.root, &self.schema, &self.options, encodings, nan);
        let mut done = 0;
        for merge in in_order(inputs) {
            output.set_nan(NanColumns::of_inputs(&merge, &self.schema)?);
            merge_into(&mut output, &merge, Segment::part_tags(merge[0].1.part()), |more| {
                done += more;
                if let Some(progress) = &self.how.progress {
                    progress(done, rows);
                }
            })?;
        }
        Ok(output)
    }
}

/// Neighbours of one part that become one segment each.
fn in_order(inputs: Vec<(Input, Segment)>) -> Vec<Vec<(Input, Segment)>> {
    let mut parts: BTreeMap<Option<String>, Vec<(Input, Segment)>> = BTreeMap::new();
    for (input, segment) in inputs {
        parts.entry(segment.part().map(str::to_owned)).or_default().push((input, segment));
    }
    let mut merges = Vec::new();
    for inputs in parts.into_values() {
        let mut of_part: Vec<Vec<(Input, Segment)>> = Vec::new();
        let mut room = 0;
        for (input, segment) in inputs {
            let rows = input.rows_in_all();
            if let Some(merge) = of_part.last_mut().filter(|_| rows <= room) {
                merge.push((input, segment));
            } else {
                room = TARGET_ROWS.max(rows);
                of_part.push(vec![(input, segment)]);
            }
            room -= rows;
        }
        merges.append(&mut of_part);
    }
    merges
}
