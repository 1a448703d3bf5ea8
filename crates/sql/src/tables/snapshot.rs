//! A table with its unflushed rows: a snapshot.

use std::sync::Arc;

use arrow::compute::cast;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;
use snapshot::Snapshot;

use super::segments::DeltaTable;
use super::with_views;
use crate::error::QueryError;

#[derive(Debug)]
pub(super) struct SnapshotTable {
    schema: SchemaRef,
    segments: Option<DeltaTable>,
    unflushed: Vec<RecordBatch>,
}

impl SnapshotTable {
    pub(super) fn new(snapshot: Snapshot) -> Result<Self, QueryError> {
        let Snapshot { schema, table, segments, unflushed, .. } = snapshot;
        let schema = with_views(&schema);
        let segments = table.map(|table| DeltaTable::new(&table, segments, &schema)).transpose()?;
        Ok(Self { schema, segments, unflushed })
    }

    /// The unflushed rows with the projected columns, which have the types of `schema`.
    fn unflushed(&self, projection: &[usize], schema: &SchemaRef) -> Result<Vec<RecordBatch>> {
        let typed = |rows: &RecordBatch| {
            let columns = projection.iter().zip(schema.fields());
            let columns = columns.map(|(place, field)| cast(rows.column(*place), field.data_type()));
            let count = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
            RecordBatch::try_new_with_options(schema.clone(), columns.collect::<Result<_, _>>()?, &count)
        };
        Ok(self.unflushed.iter().map(typed).collect::<Result<_, ArrowError>>()?)
    }
}

#[async_trait]
impl TableProvider for SnapshotTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        match &self.segments {
            Some(segments) => segments.supports_filters_pushdown(filters),
            None => Ok(vec![TableProviderFilterPushDown::Unsupported; filters.len()]),
        }
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let threads = session.config().target_partitions().max(1);
        let mut shares: Vec<Vec<RecordBatch>> = vec![Vec::new(); threads.min(self.unflushed.len()).max(1)];
        let count = shares.len();
        let columns = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let schema = Arc::new(self.schema.project(&columns)?);
        let unflushed = self.unflushed(&columns, &schema)?;
        unflushed.into_iter().enumerate().for_each(|(i, rows)| shares[i % count].push(rows));
        let unflushed = MemorySourceConfig::try_new_exec(&shares, schema, None)?;
        match &self.segments {
            None => Ok(unflushed),
            Some(segments) if self.unflushed.is_empty() => segments.scan(session, projection, filters, limit).await,
            Some(segments) => {
                UnionExec::try_new(vec![segments.scan(session, projection, filters, limit).await?, unflushed])
            }
        }
    }
}
