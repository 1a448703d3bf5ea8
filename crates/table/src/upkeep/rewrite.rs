//! Rewrites a table in another layout.
//!
//! Reads and writes all segments once, in bounded memory. One commit replaces them and changes the table's properties.
//! The rewrite includes concurrent inserts, except the last ones and those with the old options. These segments stay
//! unchanged, and readers support segments of any layout.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};

use crate::blocking::blocking;
use crate::cluster;
use crate::input::Input;
use crate::layout::{Clustering, Curve, Layout, TableOptions};
use crate::log::{Change, Rewrite, Segment};
use crate::output::{self, NanColumns, Output};
use crate::progress::Progress;
use disk::Disk;
use pages::{Codec, EncodingSet};

use super::compact::{TARGET_ROWS, merge_into};
use super::{Result, encodings};

/// Rounds that include concurrent inserts; later inserts stay unchanged.
const ROUNDS: usize = 3;

/// The options to change. `None` keeps an option if the new layout supports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LayoutChange {
    pub layout: Option<Layout>,
    pub bloom: Option<Vec<String>>,
    pub cluster: Option<Vec<String>>,
    pub curve: Option<Curve>,
    pub codec: Option<Codec>,
    pub encodings: Option<EncodingSet>,
    /// Integer columns to turn into real numbers. Fails for integers beyond 2^53, because they would change.
    pub widen: Vec<String>,
}

impl LayoutChange {
    /// Applies the change to the options `before`.
    pub fn applied_to(&self, before: &TableOptions) -> TableOptions {
        let layout = self.layout.unwrap_or(before.layout);
        let mut after = TableOptions { layout, ..before.clone() };
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

#[derive(Clone)]
pub struct RewriteOptions {
    pub change: LayoutChange,
    /// Memory in bytes for moving rows into layout `clustered`; the rest is spilled to disk.
    pub memory: usize,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    pub layout_before: Layout,
    pub layout: Layout,
    pub rows: u64,
    pub segments_in: usize,
    pub segments_out: usize,
    pub bytes_before: u64,
    pub bytes_after: u64,
    /// Segments inserted too late for the rewrite; they stay unchanged.
    pub segments_left: usize,
}

/// One attempt of [`rewrite`](super::rewrite()).
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
        let seen: BTreeSet<&str> = taken.iter().map(|s| s.path.as_str()).collect();
        let segments = table.segments_by_age().await?.into_iter().map(|(_, segment)| segment);
        let new: Vec<Segment> = segments.filter(|s| !seen.contains(s.path.as_str())).collect();
        if new.is_empty() {
            break;
        }
        let (job, inputs) = (job.clone(), new.clone());
        let (of_round, output) = blocking(move || job.run(&inputs)).await?;
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

/// The schema with the columns `names` widened, and the names of those that were integers.
fn widened(schema: &Schema, names: &[String]) -> (SchemaRef, Vec<String>) {
    let narrow = |f: &FieldRef| f.data_type().is_integer() && names.contains(f.name());
    let widen = schema.fields().iter().filter(|f| narrow(f)).map(|f| f.name().clone()).collect();
    let field = |f: &FieldRef| {
        if narrow(f) { f.as_ref().clone().with_data_type(DataType::Float64) } else { f.as_ref().clone() }
    };
    (Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())), widen)
}

/// Rewrites segments.
struct Job {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    schema: SchemaRef,
    options: TableOptions,
    how: RewriteOptions,
}

impl Job {
    /// Writes the rows of some segments, oldest first, in the new layout. Returns their number, and no output if
    /// there are none.
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

    /// Writes rows in their order, to segments as large as those of compaction.
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

/// Groups adjacent segments of one part; each group becomes one segment.
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
