//! Rows into tables.

use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use decode::{Decoded, Format, Limits, OnConflict, Request, decode};
use disk::Disk;
use ingest::{Bulk, FlushOptions, IngestError, LOG_ROWS, Overflow, Renamed};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::input::AnyRecordBatch;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::wait::runtime;

/// Bytes of columns in one body.
const BODY_BYTES: usize = 16 << 20;

/// Rows for one table.
pub(crate) struct Body {
    table: String,
    is_arrow: bool,
    bytes: Vec<u8>,
    on_conflict: OnConflict,
}

impl Body {
    /// # Errors
    /// If `format` is neither `arrow` nor `json`.
    pub(crate) fn new(table: String, format: &str, bytes: Vec<u8>, refuse: bool) -> Result<Self, Failure> {
        let is_arrow = match format {
            "arrow" => true,
            "json" => false,
            other => return Err(Failure::invalid(format!("rows come as arrow or json, not as {other:?}"))),
        };
        let on_conflict = if refuse { OnConflict::Refuse } else { OnConflict::Overflow };
        Ok(Self { table, is_arrow, bytes, on_conflict })
    }
}

/// Stores the rows of a body in the table in the folder `root`, by the rules of every other way in.
pub(crate) fn write(root: &Path, disk: &Arc<dyn Disk>, body: &Body) -> Result<Value, Failure> {
    let columns = ingest::columns(root, disk);
    let format =
        if body.is_arrow { Format::ArrowStream { table: &body.table } } else { Format::Json { table: &body.table } };
    let now_micros = chrono::Utc::now().timestamp_micros();
    let request = Request { now_micros, on_conflict: body.on_conflict, columns: Some(&columns) };
    let Decoded { tables, refused, refused_beyond, overflows, .. } =
        decode(format, &body.bytes, &request, &Limits::default()).map_err(Failure::invalid)?;
    let mut notices: Vec<String> =
        overflows.into_iter().map(|(_, o)| overflowed(o.rows, &o.name, &o.overflow)).collect();
    let mut rows = 0;
    for (_, batch) in tables {
        rows += batch.num_rows();
        let (overflows, renamed) = store(root, disk, batch, &mut notices)?;
        notices.extend(overflows.iter().map(|o| overflowed(o.rows, &o.field, &o.overflow)));
        notices.extend(
            renamed.iter().map(|Renamed { field, column }| format!("field {field:?} is stored as column {column:?}")),
        );
    }
    let refused: Vec<Value> = refused
        .iter()
        .map(|item| json!({"position": item.position, "field": item.field, "reason": item.reason}))
        .collect();
    let count = refused.len() + refused_beyond;
    Ok(json!({"rows": rows, "notices": notices, "refused": refused, "refused_count": count}))
}

fn overflowed(rows: usize, column: &str, overflow: &str) -> String {
    format!("{rows} values that column {column:?} does not hold are stored as text in {overflow:?}")
}

/// Stores rows; they are durable when it returns.
fn store(
    root: &Path,
    disk: &Arc<dyn Disk>,
    rows: RecordBatch,
    notices: &mut Vec<String>,
) -> Result<(Vec<Overflow>, Vec<Renamed>), Failure> {
    if rows.num_rows() > LOG_ROWS {
        return runtime()?.block_on(async {
            let mut load = Bulk::begin(root, disk.clone(), &FlushOptions::default()).await?;
            load.write(rows).await?;
            let (_, overflows, renamed) = load.finish().await?;
            Ok((overflows, renamed.into_iter().collect()))
        });
    }
    let appended = ingest::append(root, disk, &[rows])?;
    if appended.is_due() {
        match runtime()?.block_on(ingest::digest(root, disk.clone(), &FlushOptions::default())) {
            // Another process may be at it.
            Ok(_) | Err(IngestError::Digesting { .. }) => {}
            // An exception would make the caller append the durable rows again.
            Err(error) => {
                notices.push(format!("the rows are stored, but the log could not be turned into segments: {error}"));
            }
        }
    }
    Ok((appended.overflows, appended.renamed.into_iter().collect()))
}

/// Arrow objects as bodies, each an IPC stream of some megabytes, with the number of its rows.
#[pyfunction]
pub(crate) fn bodies(py: Python<'_>, rows: AnyRecordBatch) -> PyResult<Vec<(Bound<'_, PyBytes>, usize)>> {
    let reader = rows.into_reader()?;
    let schema = reader.schema();
    let pieces = py.detach(|| {
        let (mut pieces, mut waiting, mut bytes) = (Vec::new(), Vec::new(), 0);
        for batch in reader {
            let batch = batch?;
            bytes += batch.get_array_memory_size();
            waiting.push(batch);
            if bytes >= BODY_BYTES {
                pieces.push(body(&schema, &waiting)?);
                (waiting, bytes) = (Vec::new(), 0);
            }
        }
        if !waiting.is_empty() {
            pieces.push(body(&schema, &waiting)?);
        }
        Ok(pieces)
    });
    let pieces = pieces.map_err(|error: ArrowError| Failure::invalid(error))?;
    Ok(pieces.into_iter().map(|(bytes, rows)| (PyBytes::new(py, &bytes), rows)).collect())
}

fn body(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<(Vec<u8>, usize), ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    Ok((writer.into_inner()?, batches.iter().map(RecordBatch::num_rows).sum()))
}
