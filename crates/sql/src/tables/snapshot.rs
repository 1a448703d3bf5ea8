//! A table with its unflushed rows: a snapshot.

use std::sync::Arc;

use arrow::compute::cast;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
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
use crate::rows::invalid;

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
        let typed = |rows: RecordBatch| {
            let columns = rows.columns().iter().zip(schema.fields());
            let columns = columns.map(|(column, field)| cast(column, field.data_type()));
            let columns = columns.collect::<Result<_, _>>().map_err(|e| invalid(&e))?;
            RecordBatch::try_new(schema.clone(), columns).map_err(|e| invalid(&e))
        };
        let unflushed = unflushed.into_iter().map(typed).collect::<Result<_, QueryError>>()?;
        let segments = table.map(|table| DeltaTable::new(&table, segments, &schema)).transpose()?;
        Ok(Self { schema, segments, unflushed })
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
        self.unflushed.iter().enumerate().for_each(|(i, rows)| shares[i % count].push(rows.clone()));
        let unflushed = MemorySourceConfig::try_new_exec(&shares, self.schema.clone(), projection.cloned())?;
        match &self.segments {
            None => Ok(unflushed),
            Some(segments) if self.unflushed.is_empty() => segments.scan(session, projection, filters, limit).await,
            Some(segments) => {
                UnionExec::try_new(vec![segments.scan(session, projection, filters, limit).await?, unflushed])
            }
        }
    }
}
