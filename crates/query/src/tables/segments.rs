//! A table of a Delta log: its segments are read by DataFusion's own Parquet scan.
//!
//! What is pruned: segments by the log's statistics, row groups by theirs and by Bloom filters, pages by theirs; then
//! columns under no condition are read of the rows only that meet the conditions.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, FileSource as _, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use table::{Segment, Table};

use super::prune::{IN_LIST_MAX, Known, partition_values, prune};
use super::with_views;
use crate::error::QueryError;
use crate::filter::is_plain;
use crate::reading::Planned;
use crate::rows::project;
use crate::scan::{ScanExec, segment_file};

/// One version of a table.
#[derive(Debug)]
pub(super) struct DeltaTable {
    root: PathBuf,
    schema: SchemaRef,
    /// The columns in the order in which a scan has them: those of the files, then those of the log.
    scanned: TableSchema,
    /// Where each column of `schema` is among them.
    places: Vec<usize>,
    partition: Vec<String>,
    segments: Vec<Segment>,
}

impl DeltaTable {
    /// Takes the version that the table is at.
    pub(super) async fn new(table: &Table) -> Result<Self, QueryError> {
        Self::with_columns(table, &with_views(&*table.arrow_schema()?)).await
    }

    /// As [`Self::new`], with columns that the table may not have yet, and wider types than its own.
    pub(super) async fn with_columns(table: &Table, schema: &SchemaRef) -> Result<Self, QueryError> {
        let schema = schema.clone();
        let partition = table.partition_columns()?;
        let is_in_log = |field: &FieldRef| partition.contains(field.name());
        let (in_log, in_files): (Vec<FieldRef>, Vec<FieldRef>) = schema.fields().iter().cloned().partition(is_in_log);
        let scanned = TableSchema::builder(Arc::new(Schema::new(in_files))).with_table_partition_cols(in_log).build();
        let place = |field: &FieldRef| scanned.table_schema().index_of(field.name());
        let places = schema.fields().iter().map(place).collect::<Result<_, _>>().map_err(|e| QueryError::Invalid {
            reason: format!("the columns of the table {} cannot be told apart: {e}", table.root().display()),
        })?;
        Ok(Self {
            root: table.root().to_owned(),
            schema,
            scanned,
            places,
            partition,
            segments: table.segments().await?,
        })
    }

    /// The segments that the conditions leave over, and how many that are of how many.
    fn left(&self, session: &dyn Session, conditions: &[Expr]) -> (Vec<&Segment>, Planned) {
        let known = Known { segments: &self.segments, schema: &self.schema, partition: &self.partition };
        let keep = prune(session, &known, conditions);
        let (mut left, mut skipped) = (Vec::new(), Vec::new());
        self.segments.iter().zip(keep).for_each(|(s, keep)| if keep { left.push(s) } else { skipped.push(s) });
        let groups = |segments: &[&Segment]| segments.iter().map(|s| s.groups()).sum::<Option<usize>>();
        let planned = Planned {
            segments: self.segments.len(),
            segments_skipped: skipped.len(),
            groups_skipped: skipped.iter().map(|s| s.groups().unwrap_or(1)).sum(),
            groups_left: groups(&left).unwrap_or(0),
        };
        (left, planned)
    }

    /// What is known of some segments' rows without reading them. Bounds are left out: those of texts are no values.
    fn statistics(&self, segments: &[&Segment]) -> Statistics {
        let rows = segments.iter().map(|s| (s.rows > 0).then_some(s.rows as usize)).sum::<Option<usize>>();
        let mut statistics = Statistics::new_unknown(self.scanned.table_schema());
        statistics.num_rows = rows.map_or(Precision::Absent, Precision::Exact);
        let column = |field: &FieldRef| {
            let nulls = segments.iter().map(|s| Some(s.columns.get(field.name())?.nulls? as usize));
            let null_count = nulls.sum::<Option<usize>>().map_or(Precision::Absent, Precision::Exact);
            ColumnStatistics { null_count, ..ColumnStatistics::new_unknown() }
        };
        statistics.column_statistics = self.scanned.table_schema().fields().iter().map(column).collect();
        statistics
    }

    fn files(&self, segments: &[&Segment]) -> Result<Vec<PartitionedFile>> {
        let chosen: Vec<Segment> = segments.iter().map(|s| (*s).clone()).collect();
        let mut constants: Vec<Vec<ScalarValue>> = vec![Vec::new(); segments.len()];
        for field in self.scanned.table_partition_cols() {
            let values = partition_values(&chosen, field.name(), field.data_type()).ok_or_else(|| {
                let reason = format!("column {:?} holds {}, which is not read here", field.name(), field.data_type());
                QueryError::Invalid { reason }
            })?;
            for (i, constants) in constants.iter_mut().enumerate() {
                constants.push(ScalarValue::try_from_array(&values, i)?);
            }
        }
        let file = |(segment, constants): (&&Segment, Vec<ScalarValue>)| {
            Ok(segment_file(&self.root.join(&segment.path), segment.bytes)?.with_partition_values(constants))
        };
        segments.iter().zip(constants).map(file).collect()
    }

    /// The scan of files, with everything on that reads less.
    fn source(&self, session: &dyn Session) -> Result<ParquetSource> {
        let runtime = session.runtime_env();
        let store = runtime.object_store(ObjectStoreUrl::local_filesystem())?;
        let footers = runtime.cache_manager.get_file_metadata_cache();
        let mut options = session.default_table_options().parquet;
        options.global.max_in_list_size = IN_LIST_MAX;
        let source = ParquetSource::new(self.scanned.clone())
            .with_table_parquet_options(options)
            .with_parquet_file_reader_factory(Arc::new(CachedParquetFileReaderFactory::new(store, footers)))
            .with_pushdown_filters(true)
            .with_reorder_filters(true)
            .with_enable_page_index(true)
            .with_bloom_filter_on_read(true);
        Ok(source)
    }
}

/// Files in as many groups as there are threads, at most, of about the same bytes.
fn balanced(mut files: Vec<PartitionedFile>, threads: usize) -> Vec<FileGroup> {
    files.sort_by_key(|f| Reverse(f.object_meta.size));
    let mut groups: Vec<(u64, Vec<PartitionedFile>)> = vec![Default::default(); threads.min(files.len())];
    for file in files {
        if let Some((bytes, group)) = groups.iter_mut().min_by_key(|(bytes, _)| *bytes) {
            *bytes += file.object_meta.size;
            group.push(file);
        }
    }
    groups.into_iter().map(|(_, files)| FileGroup::new(files)).collect()
}

#[async_trait]
impl TableProvider for DeltaTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Conditions exclude segments here; the scan takes them over whole where it can once the plan is physical.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let one = |filter: &&Expr| {
            if is_plain(filter) {
                TableProviderFilterPushDown::Inexact
            } else {
                TableProviderFilterPushDown::Unsupported
            }
        };
        Ok(filters.iter().map(one).collect())
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (schema, columns) = project(&self.schema, projection)?;
        let (left, planned) = self.left(session, filters);
        if left.is_empty() {
            let metrics = ExecutionPlanMetricsSet::new();
            planned.note(&metrics);
            let table = format!("{}, segments=0", self.root.display());
            return Ok(ScanExec::plan_counting(table, schema, Vec::new(), Some(0), metrics));
        }
        let groups = balanced(self.files(&left)?, session.config().target_partitions());
        let columns = columns.into_iter().map(|c| self.places[c]).collect();
        let source = self.source(session)?;
        planned.note(source.metrics());
        let scan = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
            .with_file_groups(groups)
            .with_statistics(self.statistics(&left))
            .with_projection_indices(Some(columns))?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(scan))
    }
}
