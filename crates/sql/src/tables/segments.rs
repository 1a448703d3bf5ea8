//! A table of a Delta log, read by DataFusion's Parquet scan.
//!
//! Statistics in the log prune segments; secondary indexes, statistics and Bloom filters prune row groups; statistics
//! prune pages. Unfiltered columns are read only for matching rows.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::{CachedParquetFileReaderFactory, ParquetAccessPlan};
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, FileSource as _, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use table::{Segment, Table};

use super::lookup::{FoundIn, Lookups, Wanted};
use super::nullability::NotNullInFile;
use super::prune::{IN_LIST_MAX, LogStatistics, null_rows, partition_values, prune};
use crate::error::QueryError;
use crate::filter::is_plain;
use crate::reading::Planned;
use crate::rows::project;
use crate::scan::{ScanExec, segment_file};

#[derive(Debug)]
pub(super) struct DeltaTable {
    root: PathBuf,
    schema: SchemaRef,
    /// The columns in the order of a scan: those in files, then partition columns.
    scanned: TableSchema,
    /// The index of each column of `schema` in `scanned`.
    places: Vec<usize>,
    partition: Vec<String>,
    segments: Arc<Vec<Segment>>,
    /// The indexed columns, and their indexes.
    indexed: Vec<String>,
    lookups: Arc<Lookups>,
}

impl DeltaTable {
    /// The `segments` of a table, read as `schema`. That schema may have more columns and wider types.
    pub(super) fn new(table: &Table, segments: Vec<Segment>, schema: &SchemaRef) -> Result<Self, QueryError> {
        let schema = schema.clone();
        let partition = table.partition_columns()?;
        let is_in_log = |field: &FieldRef| partition.contains(field.name());
        let (in_log, in_files): (Vec<FieldRef>, Vec<FieldRef>) = schema.fields().iter().cloned().partition(is_in_log);
        let scanned = TableSchema::builder(Arc::new(Schema::new(in_files))).with_table_partition_cols(in_log).build();
        let place = |field: &FieldRef| scanned.table_schema().index_of(field.name());
        let places = schema.fields().iter().map(place).collect::<Result<_, _>>().map_err(|e| QueryError::Invalid {
            reason: format!("duplicate columns in table {}: {e}", table.root().display()),
        })?;
        let root = table.root().to_owned();
        let segments = Arc::new(segments);
        let lookups = Arc::new(Lookups::new(root.clone(), segments.clone()));
        let indexed = table.options()?.lookup;
        Ok(Self { root, schema, scanned, places, partition, segments, indexed, lookups })
    }

    /// Selects segments and row groups by the conditions, and counts both.
    async fn left(&self, session: &dyn Session, conditions: &[Expr]) -> Result<(Vec<Left<'_>>, Planned)> {
        let statistics = LogStatistics { segments: &self.segments, schema: &self.schema, partition: &self.partition };
        let keep = prune(session, &statistics, conditions);
        let (kept, skipped): (Vec<usize>, Vec<usize>) = (0..self.segments.len()).partition(|&i| keep[i]);
        let mut planned = Planned {
            segments: self.segments.len(),
            segments_skipped: skipped.len(),
            groups_skipped: skipped.iter().map(|&i| self.segments[i].groups().unwrap_or(1)).sum(),
            ..Planned::default()
        };
        let found = match Wanted::of(conditions, &self.schema, &self.indexed) {
            Some(wanted) => self.lookups.find(wanted, &kept, session.config().target_partitions()).await?,
            None => kept.iter().map(|&segment| FoundIn { segment, groups: None, bytes: 0 }).collect(),
        };
        let mut left = Vec::with_capacity(found.len());
        let mut groups_left = Some(0);
        for FoundIn { segment, groups, bytes } in found {
            let segment = &self.segments[segment];
            planned.lookup_bytes += bytes as usize;
            let kept = groups.as_ref().map(|groups| groups.iter().filter(|g| **g).count());
            let by_lookup = groups.as_ref().map_or(0, Vec::len) - kept.unwrap_or(0);
            planned.groups_by_lookup += by_lookup;
            planned.groups_skipped += by_lookup;
            if kept == Some(0) {
                planned.segments_skipped += 1;
                continue;
            }
            groups_left = groups_left.zip(kept.or_else(|| segment.groups())).map(|(sum, n)| sum + n);
            left.push(Left { segment, groups: groups.filter(|_| by_lookup > 0) });
        }
        planned.groups_left = groups_left.unwrap_or(0);
        Ok((left, planned))
    }

    /// Statistics of the selected segments, without bounds: those of texts may be truncated.
    fn statistics(&self, left: &[Left<'_>]) -> Statistics {
        let segments: Vec<&Segment> = left.iter().map(|l| l.segment).collect();
        let rows = segments.iter().map(|s| (s.rows > 0).then_some(s.rows as usize)).sum::<Option<usize>>();
        let mut statistics = Statistics::new_unknown(self.scanned.table_schema());
        statistics.num_rows = rows.map_or(Precision::Absent, Precision::Exact);
        let column = |field: &FieldRef| {
            let nulls = segments.iter().map(|s| null_rows(s, field).map(|rows| rows as usize));
            let null_count = nulls.sum::<Option<usize>>().map_or(Precision::Absent, Precision::Exact);
            ColumnStatistics { null_count, ..ColumnStatistics::new_unknown() }
        };
        statistics.column_statistics = self.scanned.table_schema().fields().iter().map(column).collect();
        // If row groups are skipped, the counts are upper bounds.
        if left.iter().any(|l| l.groups.is_some()) { statistics.to_inexact() } else { statistics }
    }

    fn files(&self, left: &[Left<'_>]) -> Result<Vec<PartitionedFile>> {
        let chosen: Vec<Segment> = left.iter().map(|l| l.segment.clone()).collect();
        let mut constants: Vec<Vec<ScalarValue>> = vec![Vec::new(); left.len()];
        for field in self.scanned.table_partition_cols() {
            let values = partition_values(&chosen, field.name(), field.data_type()).ok_or_else(|| {
                let reason = format!("cannot read partition column {:?}: it holds {}", field.name(), field.data_type());
                QueryError::Invalid { reason }
            })?;
            for (i, constants) in constants.iter_mut().enumerate() {
                constants.push(ScalarValue::try_from_array(&values, i)?);
            }
        }
        let file = |(left, constants): (&Left<'_>, Vec<ScalarValue>)| {
            let file = segment_file(&self.root.join(&left.segment.path), left.segment.bytes)?;
            let file = file.with_partition_values(constants);
            Ok(match &left.groups {
                Some(groups) => file.with_extension(access(groups)),
                None => file,
            })
        };
        left.iter().zip(constants).map(file).collect()
    }

    /// The scan of the files, with all pruning enabled that is right for columns of `schema`.
    fn source(&self, session: &dyn Session, left: &[Left<'_>], schema: &Schema) -> Result<ParquetSource> {
        let runtime = session.runtime_env();
        let store = runtime.object_store(ObjectStoreUrl::local_filesystem())?;
        let footers = runtime.cache_manager.get_file_metadata_cache();
        let mut options = session.default_table_options().parquet;
        options.global.max_in_list_size = IN_LIST_MAX;
        // Times that Spark writes as INT96 would wrap around as nanoseconds before 1677 and after 2262.
        options.global.coerce_int96 = Some("us".to_owned());
        // Other writers leave NaN, which is greater than all numbers, out of the bounds in their files.
        let has_reals = schema.fields().iter().any(|field| field.data_type().is_floating());
        let is_bounded = !has_reals || left.iter().all(|l| l.segment.groups().is_some());
        options.global.pruning = is_bounded;
        let source = ParquetSource::new(self.scanned.clone())
            .with_table_parquet_options(options)
            .with_parquet_file_reader_factory(Arc::new(CachedParquetFileReaderFactory::new(store, footers)))
            .with_pushdown_filters(true)
            .with_reorder_filters(true)
            .with_enable_page_index(is_bounded)
            .with_bloom_filter_on_read(true);
        Ok(source)
    }
}

struct Left<'a> {
    segment: &'a Segment,
    groups: Option<Vec<bool>>,
}

fn access(groups: &[bool]) -> ParquetAccessPlan {
    let mut access = ParquetAccessPlan::new_none(groups.len());
    groups.iter().enumerate().filter(|(_, wanted)| **wanted).for_each(|(group, _)| access.scan(group));
    access
}

/// Distributes files over at most `threads` groups of similar size in bytes.
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

    /// Conditions exclude segments here. The physical plan then pushes them into the scan as far as it can.
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
        let (left, planned) = self.left(session, filters).await?;
        if left.is_empty() {
            let metrics = ExecutionPlanMetricsSet::new();
            planned.note(&metrics);
            let table = format!("{}, segments=0", self.root.display());
            return Ok(ScanExec::plan_counting(table, schema, Vec::new(), Some(0), metrics));
        }
        let groups = balanced(self.files(&left)?, session.config().target_partitions());
        let columns = columns.into_iter().map(|c| self.places[c]).collect();
        let source = self.source(session, &left, &schema)?;
        planned.note(source.metrics());
        let scan = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
            .with_file_groups(groups)
            .with_expr_adapter(Some(Arc::new(NotNullInFile)))
            .with_statistics(self.statistics(&left))
            .with_projection_indices(Some(columns))?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(scan))
    }
}
