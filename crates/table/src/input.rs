//! Reads the rows of a table's segments with the table's columns.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef, Int64Type, Schema, SchemaRef};
use arrow::error::ArrowError;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, RowGroupMetaData};
use parquet::schema::types::TypePtr;

use crate::arrow_footer::arrow_footer;
use crate::error::{Result, TableError};
use crate::layout::conform;
use crate::log::Segment;
use crate::target::Target;

pub(crate) const BATCH_ROWS: usize = 131_072;
/// Maximum bytes per batch: batches of long texts have fewer rows.
const BATCH_BYTES: u64 = 64 << 20;

/// Larger integers change when converted to real numbers.
const EXACT_MAX: u64 = 1 << 53;

pub(crate) struct Input {
    pub(crate) segment: Segment,
    root: PathBuf,
    path: PathBuf,
    schema: SchemaRef,
    metadata: ArrowReaderMetadata,
}

impl Input {
    /// Opens a segment of the table in the folder `root` with the columns `schema`.
    pub(crate) fn open(root: &Path, schema: &SchemaRef, segment: &Segment) -> Result<Self> {
        let path = root.join(&segment.path);
        let file = File::open(&path).map_err(TableError::io("open", &path))?;
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Skip);
        let read = ArrowReaderMetadata::load(&file, options).map_err(|e| TableError::damaged(&path, e))?;
        let metadata = arrow_footer(read.metadata().clone()).map_err(|e| TableError::damaged(&path, e))?;
        Ok(Self { segment: segment.clone(), root: root.to_owned(), path, schema: schema.clone(), metadata })
    }

    pub(crate) fn open_all(target: &Target, segments: &[Segment]) -> Result<Vec<Self>> {
        segments.iter().map(|segment| Self::open(&target.root, &target.schema, segment)).collect()
    }

    pub(crate) fn metadata(&self) -> &ArrowReaderMetadata {
        &self.metadata
    }

    /// The file, and its footer with the page indexes.
    pub(crate) fn with_page_index(&self) -> Result<(File, Arc<ParquetMetaData>)> {
        let file = File::open(&self.path).map_err(TableError::io("open", &self.path))?;
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let footer = ArrowReaderMetadata::load(&file, options).map_err(|e| TableError::damaged(&self.path, e))?;
        Ok((file, footer.metadata().clone()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(crate) fn rows_in_all(&self) -> u64 {
        self.metadata.metadata().file_metadata().num_rows() as u64
    }

    fn batch_rows(&self) -> usize {
        BATCH_ROWS.min((BATCH_BYTES / self.row_bytes()) as usize).max(1)
    }

    /// Bytes of a row before compression, at least 1.
    pub(crate) fn row_bytes(&self) -> u64 {
        let groups = self.metadata.metadata().row_groups();
        let bytes: i64 = groups.iter().map(RowGroupMetaData::total_byte_size).sum();
        (bytes as u64).div_ceil(self.rows_in_all().max(1)).max(1)
    }

    /// Fails unless the segment has as many rows as the log says.
    pub(crate) fn check_rows(&self, rows: u64) -> Result<()> {
        let logged = self.segment.rows;
        if logged == 0 || rows == logged {
            return Ok(());
        }
        Err(TableError::damaged(&self.path, format!("it has {rows} rows, but the log says {logged}")))
    }

    /// Reads some or all row groups and columns of the table in batches of at most [`BATCH_ROWS`] rows.
    pub(crate) fn rows(
        &self,
        groups: Option<Vec<usize>>,
        columns: Option<&[usize]>,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let (root, path) = (self.root.clone(), self.path.clone());
        let schema = match columns {
            None => self.schema.clone(),
            Some(columns) => self.schema.project(columns).map_err(|e| TableError::damaged(&path, e))?.into(),
        };
        // Open the file for each call: reading moves a file's position.
        let file = File::open(&path).map_err(TableError::io("open", &path))?;
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
            .with_batch_size(self.batch_rows());
        if columns.is_some() {
            let parquet = self.metadata.parquet_schema();
            let wanted = |field: &TypePtr| schema.field_with_name(field.name()).is_ok();
            let roots = parquet.root_schema().get_fields().iter().enumerate().filter(|(_, field)| wanted(field));
            builder = builder.with_projection(ProjectionMask::roots(parquet, roots.map(|(place, _)| place)));
        }
        if let Some(groups) = groups {
            builder = builder.with_row_groups(groups);
        }
        let mut reader = Some(builder.build().map_err(|e| TableError::damaged(&path, e))?);
        let next = move || {
            // The library panics on some damaged pages.
            let read = catch_unwind(AssertUnwindSafe(|| reader.as_mut().and_then(Iterator::next)));
            read.unwrap_or_else(|_| {
                reader = None;
                Some(Err(ArrowError::ParquetError("its pages do not decode".to_owned())))
            })
        };
        Ok(std::iter::from_fn(next).map(move |batch| {
            let batch = batch.map_err(|e| TableError::damaged(&path, e))?;
            conform(&root, &schema, &widened(&root, batch, &schema)?)
        }))
    }
}

/// Converts integers to real numbers if the table's column was widened after the segment was written. Fails for
/// integers beyond 2^53, because they would change.
fn widened(root: &Path, batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let wide = |field: &FieldRef| {
        field.data_type().is_integer()
            && schema.field_with_name(field.name()).is_ok_and(|f| *f.data_type() == DataType::Float64)
    };
    if !batch.schema_ref().fields().iter().any(wide) {
        return Ok(batch);
    }
    let column = |(field, column): (&FieldRef, &ArrayRef)| {
        if !wide(field) {
            return Ok((field.clone(), column.clone()));
        }
        let integers = cast(column, &DataType::Int64)?;
        if integers.as_primitive::<Int64Type>().iter().flatten().any(|value| value.unsigned_abs() > EXACT_MAX) {
            return Err(TableError::ColumnType {
                path: root.to_owned(),
                column: field.name().clone(),
                have: "integers beyond 2^53".to_owned(),
                want: "real numbers".to_owned(),
            });
        }
        let field = field.as_ref().clone().with_data_type(DataType::Float64);
        Ok((Arc::new(field), cast(column, &DataType::Float64)?))
    };
    let columns = batch.schema_ref().fields().iter().zip(batch.columns()).map(column);
    let (fields, columns): (Vec<_>, Vec<_>) = columns.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}
