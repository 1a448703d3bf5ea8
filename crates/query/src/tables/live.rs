//! Tables that rows are coming in for: segments, and the rows that are in none yet, in one snapshot.

use std::fmt;
use std::sync::Arc;

use arrow::compute::cast;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;
use table::{Table, TableName};

use super::segments::DeltaTable;
use super::with_views;
use crate::error::QueryError;
use crate::rows::invalid;

/// Who knows the rows that are in no segment yet.
pub trait LiveTables: fmt::Debug + Send + Sync {
    /// The tables that rows came in for.
    fn names(&self) -> Vec<TableName>;

    /// The rows of a table that may be in no segment; `None` where none came in. Taken before the table is opened, it
    /// and the table hold every row there is.
    ///
    /// # Errors
    /// In words.
    fn fresh(&self, name: &TableName) -> std::result::Result<Option<FreshRows>, String>;

    /// Fresh rows in the columns of a table that was opened after they were taken, and those they bring.
    ///
    /// # Errors
    /// In words.
    fn fit(&self, _name: &TableName, rows: FreshRows, _columns: &Schema) -> std::result::Result<FreshRows, String> {
        Ok(rows)
    }
}

/// Rows of a table that may be in no segment.
#[derive(Debug, Clone)]
pub struct FreshRows {
    /// The columns of the table, those included that no segment has.
    pub schema: SchemaRef,
    /// Rows with their positions: those up to [`Table::append_position`] are in the segments of a version.
    pub rows: Vec<(u64, RecordBatch)>,
}

/// A table with its fresh rows.
#[derive(Debug)]
pub(super) struct LiveTable {
    schema: SchemaRef,
    segments: Option<DeltaTable>,
    fresh: Vec<RecordBatch>,
}

impl LiveTable {
    /// `table` was opened after `fresh` was taken from `live`.
    pub(super) async fn new(
        name: &TableName,
        table: Option<&Table>,
        mut fresh: FreshRows,
        live: &dyn LiveTables,
    ) -> Result<Self, QueryError> {
        let (columns, position) = match table {
            Some(table) => (table.arrow_schema()?, table.append_position().await?),
            None => (Arc::new(Schema::empty()), 0),
        };
        fresh.rows.retain(|(at, _)| *at > position);
        let fresh = live.fit(name, fresh, &columns).map_err(|reason| QueryError::Invalid { reason })?;
        let schema = with_views(&fresh.schema);
        let segments = match table {
            Some(table) => Some(DeltaTable::with_columns(table, &schema).await?),
            None => None,
        };
        let typed = |(_, rows): (u64, RecordBatch)| {
            let columns = rows.columns().iter().zip(schema.fields());
            let columns = columns.map(|(column, field)| cast(column, field.data_type()));
            let columns = columns.collect::<Result<_, _>>().map_err(|e| invalid(&e))?;
            RecordBatch::try_new(schema.clone(), columns).map_err(|e| invalid(&e))
        };
        let fresh = fresh.rows.into_iter().map(typed).collect::<Result<_, QueryError>>()?;
        Ok(Self { schema, segments, fresh })
    }
}

#[async_trait]
impl TableProvider for LiveTable {
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
        let mut shares: Vec<Vec<RecordBatch>> = vec![Vec::new(); threads.min(self.fresh.len()).max(1)];
        let count = shares.len();
        self.fresh.iter().enumerate().for_each(|(i, rows)| shares[i % count].push(rows.clone()));
        let fresh = MemorySourceConfig::try_new_exec(&shares, self.schema.clone(), projection.cloned())?;
        match &self.segments {
            None => Ok(fresh),
            Some(segments) if self.fresh.is_empty() => segments.scan(session, projection, filters, limit).await,
            Some(segments) => {
                UnionExec::try_new(vec![segments.scan(session, projection, filters, limit).await?, fresh])
            }
        }
    }
}
