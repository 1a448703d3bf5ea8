//! A table of layout `row`. Scans read its files completely; it is the baseline.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::compute::cast;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use table::AvroTable;

use super::with_views;
use crate::error::QueryError;
use crate::reading::{BYTES, Planned};
use crate::rows::{batch, invalid, project};
use crate::scan::{Out, Piece, ScanExec};

/// The table's files at the time of opening.
#[derive(Debug)]
pub(super) struct RowTable {
    name: String,
    table: Arc<AvroTable>,
    files: Vec<(PathBuf, u64)>,
    schema: SchemaRef,
}

impl RowTable {
    pub(super) fn new(name: &str, table: AvroTable) -> Result<Self, QueryError> {
        let (files, schema) = (table.files()?, with_views(table.schema()));
        Ok(Self { name: name.to_owned(), table: Arc::new(table), files, schema })
    }
}

#[async_trait]
impl TableProvider for RowTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (schema, columns) = project(&self.schema, projection)?;
        let threads = session.config().target_partitions().min(self.files.len());
        // Round robin balances well for many files, and for files of similar size.
        let piece = |first: usize| {
            let files = self.files.iter().skip(first).step_by(threads).cloned().collect();
            Arc::new(Share { table: self.table.clone(), files, schema: schema.clone(), columns: columns.clone() })
                as Arc<dyn Piece>
        };
        let metrics = ExecutionPlanMetricsSet::new();
        let files = self.files.len();
        Planned { segments: files, ..Planned::default() }.note(&metrics);
        let table = format!("{}, files={files}", self.name);
        Ok(ScanExec::plan_counting(table, schema.clone(), (0..threads).map(piece).collect(), None, metrics))
    }
}

/// Files for one thread to read.
#[derive(Debug)]
struct Share {
    table: Arc<AvroTable>,
    files: Vec<(PathBuf, u64)>,
    schema: SchemaRef,
    columns: Vec<usize>,
}

impl Piece for Share {
    fn produce(&self, out: &Out) -> Result<(), QueryError> {
        for (file, bytes) in &self.files {
            out.count(BYTES, *bytes as usize);
            for read in self.table.read(file)? {
                let read = read?;
                let wanted = self.columns.iter().zip(self.schema.fields());
                let columns = wanted
                    .map(|(&column, field)| cast(read.column(column), field.data_type()))
                    .collect::<Result<_, _>>()
                    .map_err(|e| invalid(&e))?;
                if !out.give(batch(&self.schema, columns, read.num_rows())?) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
