//! Scans of this program's own tables: each piece produces batches on its own thread. Also describes segments to
//! DataFusion's scan.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics, internal_err};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::execution::TaskContext;
use datafusion::object_store::{ObjectMeta, path::Path as StorePath};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::metrics::{BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, SendableRecordBatchStream,
};
use tokio::sync::mpsc::Sender;

use crate::error::QueryError;

/// Rows per batch, approximately.
pub(crate) const BATCH_ROWS: usize = 8192;

/// Maximum unread batches per piece.
const WAITING_MAX: usize = 2;

/// What is left to read, by any thread.
pub(crate) type Pieces = Vec<Arc<dyn Piece>>;

/// A part of a scan, read by one thread.
pub(crate) trait Piece: fmt::Debug + Send + Sync {
    /// Sends every batch to `out`; stops early when `out` is closed.
    fn produce(&self, out: &Out) -> Result<(), QueryError>;
}

/// A piece without rows: a plan needs at least one piece.
#[derive(Debug)]
struct Nothing;

impl Piece for Nothing {
    fn produce(&self, _: &Out) -> Result<(), QueryError> {
        Ok(())
    }
}

/// The output of a piece.
pub(crate) struct Out {
    sender: Sender<Result<RecordBatch>>,
    pages: Count,
    rows: BaselineMetrics,
    context: Arc<TaskContext>,
}

impl Out {
    /// Sends a batch, blocking while the reader is behind; returns false if the reader is gone.
    pub(crate) fn give(&self, batch: RecordBatch) -> bool {
        self.rows.output_rows().add(batch.num_rows());
        self.sender.blocking_send(Ok(batch)).is_ok()
    }

    /// Counts data pages read from disk.
    pub(crate) fn count_pages(&self, pages: usize) {
        self.pages.add(pages);
    }

    /// The resources of the query.
    pub(crate) fn context(&self) -> &TaskContext {
        &self.context
    }
}

/// A scan of one of our tables.
#[derive(Debug)]
pub(crate) struct ScanExec {
    table: String,
    pieces: Pieces,
    /// The number of rows it yields, if known.
    rows: Option<usize>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl ScanExec {
    /// A plan that yields the rows of `pieces` in any order; EXPLAIN shows `table`.
    pub(crate) fn plan(
        table: String,
        schema: SchemaRef,
        pieces: Pieces,
        rows: Option<usize>,
    ) -> Arc<dyn ExecutionPlan> {
        if pieces.is_empty() {
            return Arc::new(EmptyExec::new(schema));
        }
        Self::plan_counting(table, schema, pieces, rows, ExecutionPlanMetricsSet::new())
    }

    /// Like [`Self::plan`], with metrics from planning. They stay even without pieces.
    pub(crate) fn plan_counting(
        table: String,
        schema: SchemaRef,
        mut pieces: Pieces,
        rows: Option<usize>,
        metrics: ExecutionPlanMetricsSet,
    ) -> Arc<dyn ExecutionPlan> {
        if pieces.is_empty() {
            pieces.push(Arc::new(Nothing));
        }
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(pieces.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Arc::new(Self { table, pieces, rows, properties: Arc::new(properties), metrics })
    }
}

impl DisplayAs for ScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.schema();
        let columns: Vec<&str> = schema.fields().iter().map(|c| c.name().as_str()).collect();
        write!(f, "ScanExec: {}, columns=[{}], pieces={}", self.table, columns.join(", "), self.pieces.len())
    }
}

impl ExecutionPlan for ScanExec {
    fn name(&self) -> &'static str {
        "ScanExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a scan has no children") }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a scan has no children") }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(piece) = self.pieces.get(partition).cloned() else {
            return internal_err!("a scan of {} pieces has no piece {partition}", self.pieces.len());
        };
        let mut builder = RecordBatchReceiverStreamBuilder::new(self.schema(), WAITING_MAX);
        let out = Out {
            sender: builder.tx(),
            pages: MetricBuilder::new(&self.metrics).counter("pages_read", partition),
            rows: BaselineMetrics::new(&self.metrics, partition),
            context,
        };
        builder.spawn_blocking(move || piece.produce(&out).map_err(DataFusionError::from));
        Ok(builder.build())
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let unknown = Statistics::new_unknown(&self.schema());
        Ok(Arc::new(match (self.rows, args.partition()) {
            (Some(rows), None) => unknown.with_num_rows(Precision::Exact(rows)),
            _ => unknown,
        }))
    }
}

/// A segment for a scan: the file at `path`, of `bytes`.
pub(crate) fn segment_file(path: &Path, bytes: u64) -> Result<PartitionedFile> {
    let location = StorePath::from_absolute_path(std::path::absolute(path)?).map_err(|e| {
        let reason = format!("invalid path of segment {}: {e}", path.display());
        QueryError::Invalid { reason }
    })?;
    Ok(PartitionedFile::new_from_meta(ObjectMeta {
        location,
        // A segment never changes under its name, so its age is irrelevant.
        last_modified: std::time::SystemTime::UNIX_EPOCH.into(),
        size: bytes,
        e_tag: None,
        version: None,
    }))
}
