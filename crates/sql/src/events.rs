//! The table `events`: every stored event. DataFusion's Parquet scan reads it from the ensembles' segments; for columns
//! stored as differences from expected values, the ensemble's own reader does.
//!
//! Conditions prune segments by ensemble and world, row groups by entity, and pages by world.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetAccessPlan;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::union::UnionExec;
use ensemble::{RangeFile, StoredEnsemble};

use crate::compact_events::CompactSegment;
use crate::error::QueryError;
use crate::filter::{Conditions, support};
use crate::forward::base_table;
use crate::rows::{event_type, project, text};
use crate::scan::{Pieces, ScanExec, segment_file};
use crate::stored::EnsembleSnapshot;

/// The table. Its first column is the ensemble; the other columns come from the segments.
#[derive(Debug)]
pub(crate) struct Events {
    snapshot: Arc<EnsembleSnapshot>,
    schema: SchemaRef,
    /// The columns of segments; a column that a segment lacks is NULL there.
    stored: SchemaRef,
    ensemble: FieldRef,
}

impl Events {
    pub(crate) fn new(snapshot: Arc<EnsembleSnapshot>) -> Self {
        let mut stored = vec![
            text("entity", true),
            Field::new("world", DataType::Int32, true),
            Field::new("number", DataType::Int32, true),
        ];
        let readable = snapshot.ensembles().iter().filter_map(|(_, found)| found.as_ref().ok());
        for column in readable.flat_map(|e| &e.plan.catalogue.events) {
            if !stored.iter().any(|f| *f.name() == column.name) {
                stored.push(Field::new(&column.name, event_type(column), true));
            }
        }
        let ensemble = Arc::new(text("ensemble", false));
        let all = std::iter::once(ensemble.clone()).chain(stored.iter().cloned().map(Arc::new));
        let schema = Arc::new(Schema::new(all.collect::<Vec<FieldRef>>()));
        Self { snapshot, schema, stored: Arc::new(Schema::new(stored)), ensemble }
    }

    /// The segments that the conditions keep: files for DataFusion's scan, and pieces for segments that hold differences
    /// in columns of `schema`.
    fn segments(&self, conditions: &Conditions<'_>, schema: &SchemaRef) -> Result<(Vec<PartitionedFile>, Pieces)> {
        let (mut files, mut pieces) = (Vec::new(), Pieces::new());
        for ensemble in self.snapshot.wanted(conditions)? {
            let names = ensemble.plan.catalogue.entities.iter().map(|e| e.name.as_str());
            let entities = conditions.names("entity", names)?;
            let mut wanted: Vec<&RangeFile> = Vec::new();
            for segment in &ensemble.events {
                if !entities.is_empty() && conditions.any_world(segment.0)? {
                    wanted.push(segment);
                }
            }
            // DataFusion's scan reads files only.
            ensemble.fetch(wanted.iter().copied()).map_err(QueryError::from)?;
            let is_compact = ensemble
                .plan
                .catalogue
                .events
                .iter()
                .any(|column| column.expected.is_some() && schema.column_with_name(&column.name).is_some());
            for segment in wanted {
                if is_compact {
                    let (ensemble, segment) = (ensemble.clone(), segment.clone());
                    let (entities, schema) = (entities.clone(), schema.clone());
                    pieces.push(Arc::new(CompactSegment { ensemble, segment, entities, schema }));
                } else {
                    files.extend(file(ensemble, segment, &entities)?);
                }
            }
        }
        Ok((files, pieces))
    }
}

/// A segment with the row groups to read; `None` if it has none.
fn file(ensemble: &StoredEnsemble, segment: &RangeFile, entities: &[usize]) -> Result<Option<PartitionedFile>> {
    let name = ScalarValue::Utf8View(Some(ensemble.plan.name.clone()));
    let file = segment_file(&segment.1, segment.2)?.with_partition_values(vec![name]);
    if entities.len() == ensemble.plan.catalogue.entities.len() {
        return Ok(Some(file));
    }
    let reader = ensemble.open(segment).map_err(QueryError::from)?;
    let groups = &reader.metadata().entities;
    let mut access = ParquetAccessPlan::new_none(groups.len());
    for (group, _) in groups.iter().enumerate().filter(|(_, entity)| entities.contains(entity)) {
        access.scan(group);
    }
    let some = !access.row_group_indexes().is_empty();
    Ok(some.then(|| file.with_extension(access)))
}

#[async_trait]
impl TableProvider for Events {
    base_table!();

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(support(filters, &["ensemble"], &["entity", "world"]))
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (schema, columns) = project(&self.schema, projection)?;
        let (files, pieces) = self.segments(&Conditions::new(session, filters), &schema)?;
        let compact = (!pieces.is_empty()).then(|| ScanExec::plan("events".to_owned(), schema.clone(), pieces, None));
        if files.is_empty() {
            return Ok(compact.unwrap_or_else(|| Arc::new(EmptyExec::new(schema))));
        }
        let groups = FileGroup::new(files).split_files(session.config().target_partitions());
        // The scan puts the ensemble last, after the columns of the segments.
        let last = self.stored.fields().len();
        let columns = columns.into_iter().map(|c| c.checked_sub(1).unwrap_or(last)).collect();
        let stored =
            TableSchema::builder(self.stored.clone()).with_table_partition_cols(vec![self.ensemble.clone()]).build();
        let options = session.default_table_options().parquet;
        let source = ParquetSource::new(stored).with_table_parquet_options(options);
        let scan = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
            .with_file_groups(groups)
            .with_projection_indices(Some(columns))?
            .with_limit(limit)
            .build();
        let scan: Arc<dyn ExecutionPlan> = DataSourceExec::from_data_source(scan);
        match compact {
            Some(compact) => UnionExec::try_new(vec![scan, compact]),
            None => Ok(scan),
        }
    }
}
