//! Rewrites a table in another layout.
//!
//! Reads and writes all segments once, in bounded memory. One commit replaces them and changes the table's properties.
//! The rewrite includes concurrent inserts, except the last ones and those with the old options. These segments stay
//! unchanged, and readers support segments of any layout.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};

use crate::cluster;
use crate::error::TableError;
use crate::input::Input;
use crate::job::{Counter, Moved, Progress, blocking, retried};
use crate::layout::{Clustering, Curve, Layout, TableOptions};
use crate::log::{Change, Rewrite, Segment};
use crate::output::{self, NanColumns, Output};
use crate::target::Target;
use disk::Disk;
use pages::{Codec, EncodingSet};

use super::compact::{Size, begin, write};
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
        // Real numbers have no Bloom filters.
        after.bloom.retain(|column| !self.widen.contains(column));
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    pub layout_before: Layout,
    pub layout: Layout,
    pub moved: Moved,
    /// Segments inserted too late for the rewrite; they stay unchanged.
    pub segments_left: usize,
}

/// Rewrites the table in the folder `root` with another layout or other options.
pub async fn rewrite(root: &Path, disk: Arc<dyn Disk>, options: &RewriteOptions) -> Result<Rewritten> {
    retried(|| rewrite_once(root, disk.clone(), options)).await
}

async fn rewrite_once(root: &Path, disk: Arc<dyn Disk>, options: &RewriteOptions) -> Result<Rewritten> {
    let mut table = output::open(root, disk.clone()).await?;
    let target = Target::of(&table, disk)?;
    let (before, columns) = (target.options.clone(), target.schema.clone());
    let (schema, widen) = widened(&target.schema, &options.change.widen);
    let after = options.change.applied_to(&before);
    after.check(root, &schema)?;
    let target = Target { schema, options: after.clone(), ..target };
    let job = Arc::new(Job { target, how: options.clone() });
    let mut taken: Vec<Segment> = Vec::new();
    let (mut rows, mut written) = (0, None::<Output>);
    for _ in 0..ROUNDS {
        let seen: BTreeSet<&str> = taken.iter().map(|s| s.path.as_str()).collect();
        let mut new = table.segments_by_age().await?;
        new.retain(|s| !seen.contains(s.path.as_str()));
        let Some(first) = new.first() else { break };
        if table.arrow_schema()? != columns {
            // Another writer added columns.
            return Err(TableError::Overtaken { path: root.to_owned(), segment: first.path.clone() });
        }
        taken.extend(new.iter().cloned());
        let job = job.clone();
        let (of_round, output) = blocking(move || job.run(&new)).await?;
        rows += of_round;
        match (&mut written, output) {
            (Some(written), Some(output)) => written.append(output),
            (written, output) => *written = written.take().or(output),
        }
        table.refresh().await?;
    }
    let moved = Moved::new(rows, &taken, written.as_ref().map_or(&[][..], Output::segments));
    let properties = after.property_changes(&before);
    let changes = written.is_some() || !taken.is_empty() || !properties.is_empty() || !widen.is_empty();
    if changes {
        let change = Change { widen, properties, ..Change::rewrite(taken, Rewrite::SameRows) };
        output::commit(written, &mut table, change).await?;
    }
    let segments_left = table.segments().await?.len() - moved.segments_out;
    Ok(Rewritten { layout_before: before.layout, layout: after.layout, moved, segments_left })
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

struct Job {
    target: Target,
    how: RewriteOptions,
}

impl Job {
    /// Writes the rows of some segments, oldest first, in the new layout. Returns their number, and no output if
    /// there are none.
    fn run(&self, segments: &[Segment]) -> Result<(u64, Option<Output>)> {
        let inputs = Input::open_all(&self.target, segments)?;
        let rows = inputs.iter().map(Input::rows_in_all).sum();
        let output = match &self.target.options.clustering {
            _ if rows == 0 => None,
            Some(clustering) => Some(self.cluster(clustering, segments)?),
            None => Some(self.write(inputs, rows)?),
        };
        Ok((rows, output))
    }

    fn cluster(&self, clustering: &Clustering, segments: &[Segment]) -> Result<Output> {
        let RewriteOptions { memory, progress, .. } = self.how.clone();
        let job = cluster::Job { target: self.target.clone(), clustering: clustering.clone(), memory, progress };
        Ok(job.run(segments, segments)?.0)
    }

    /// Writes rows in their order, to segments as large as those of compaction.
    fn write(&self, inputs: Vec<Input>, rows: u64) -> Result<Output> {
        let mut output = Output::new(&self.target, encodings(&self.target, &inputs)?, NanColumns::default());
        let mut counter = Counter::new(self.how.progress.as_ref(), 1, rows);
        for merge in in_order(inputs) {
            begin(&mut output, &merge, Segment::part_tags(merge[0].segment.part()))?;
            merge.iter().try_for_each(|input| write(&mut output, input, &mut counter))?;
            output.end()?;
        }
        Ok(output)
    }
}

/// Groups adjacent segments of one part; each group becomes one segment.
fn in_order(inputs: Vec<Input>) -> Vec<Vec<Input>> {
    let mut parts: BTreeMap<Option<String>, Vec<Input>> = BTreeMap::new();
    for input in inputs {
        parts.entry(input.segment.part().map(str::to_owned)).or_default().push(input);
    }
    let mut merges: Vec<Vec<Input>> = Vec::new();
    for inputs in parts.into_values() {
        let mut all = Size::default();
        for (place, input) in inputs.into_iter().enumerate() {
            let size = Size { rows: input.rows_in_all(), bytes: input.segment.bytes };
            if let Some(merge) = merges.last_mut().filter(|_| place > 0 && (all + size).fits()) {
                all = all + size;
                merge.push(input);
            } else {
                all = size;
                merges.push(vec![input]);
            }
        }
    }
    merges
}
