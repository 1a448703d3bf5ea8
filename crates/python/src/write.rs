//! Rows into tables.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array as _, ArrayRef, AsArray as _, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use decode::{Decoded, Format, Limits, OnConflict, Refused, Request, decode};
use disk::Disk;
use ingest::{Bulk, Conflict, FlushOptions, IngestError, LOG_ROWS, Overflow, Renamed};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::input::AnyRecordBatch;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::wait::runtime;

/// Bytes of columns in one body, and of a body.
const BODY_BYTES: usize = 16 << 20;
const BODY_BYTES_MAX: usize = 24 << 20;

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
    let mut count = refused.len() + refused_beyond;
    let item = |item: Refused| json!({"position": item.position, "field": item.field, "reason": item.reason});
    let mut refused: Vec<Value> = refused.into_iter().map(item).collect();
    let mut rows = 0;
    for (_, mut batch) in tables {
        // JSON is decoded row by row, knowing the columns.
        if body.is_arrow && body.on_conflict == OnConflict::Refuse {
            let sent = batch.num_rows();
            let fitted = ingest::fitting(root, disk, batch)?;
            batch = fitted.rows;
            count += sent - batch.num_rows();
            let item = |c: &Conflict| json!({"row": c.first + 1, "field": c.field, "reason": c.to_string()});
            refused.extend(fitted.conflicts.iter().map(item));
        }
        rows += batch.num_rows();
        let (overflows, renamed) = store(root, disk, batch, &mut notices)?;
        notices.extend(overflows.iter().map(|o| overflowed(o.rows, &o.field, &o.overflow)));
        notices.extend(
            renamed.iter().map(|Renamed { field, column }| format!("field {field:?} is stored as column {column:?}")),
        );
    }
    Ok(json!({"rows": rows, "notices": notices, "refused": refused, "refused_count": count}))
}

fn overflowed(rows: usize, column: &str, overflow: &str) -> String {
    format!("{rows} values that do not fit column {column:?} are stored as text in {overflow:?}")
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
            let row_bytes = row_bytes(&batch);
            for piece in cut(&batch, BODY_BYTES / row_bytes) {
                bytes += row_bytes * piece.num_rows();
                waiting.push(piece);
                if bytes >= BODY_BYTES {
                    body(&schema, &waiting, usize::MAX, &mut pieces)?;
                    (waiting, bytes) = (Vec::new(), 0);
                }
            }
        }
        if !waiting.is_empty() {
            body(&schema, &waiting, usize::MAX, &mut pieces)?;
        }
        Ok(pieces)
    });
    let pieces = pieces.map_err(|error: ArrowError| Failure::invalid(error))?;
    Ok(pieces.into_iter().map(|(bytes, rows)| (PyBytes::new(py, &bytes), rows)).collect())
}

/// Bytes of a row, as far as its columns tell; some for each value, because the values of a body are limited, too.
fn row_bytes(batch: &RecordBatch) -> usize {
    const VALUE_BYTES: usize = 2;
    let bytes = batch.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0));
    (bytes.sum::<usize>() / batch.num_rows().max(1)).max(batch.num_columns() * VALUE_BYTES).max(1)
}

/// Pieces of at most so many rows, and at least one piece.
fn cut(batch: &RecordBatch, rows: usize) -> impl Iterator<Item = RecordBatch> {
    let (rows, all) = (rows.max(1), batch.num_rows());
    (0..all.max(1)).step_by(rows).map(move |at| batch.slice(at, rows.min(all - at)))
}

/// Adds a body of the batches, or several if it would be too large and gets smaller than `whole` when it is cut.
fn body(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    whole: usize,
    bodies: &mut Vec<(Vec<u8>, usize)>,
) -> Result<(), ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
    batches.iter().try_for_each(|batch| writer.write(&compact(batch)?))?;
    let (bytes, rows) = (writer.into_inner()?, batches.iter().map(RecordBatch::num_rows).sum::<usize>());
    let shrinks = bytes.len() < whole / 4 * 3;
    if bytes.len() <= BODY_BYTES_MAX || rows <= 1 || !shrinks {
        bodies.push((bytes, rows));
        return Ok(());
    }
    let whole = bytes.len();
    drop(bytes);
    let halves: Vec<RecordBatch> = batches.iter().flat_map(|batch| cut(batch, batch.num_rows().div_ceil(2))).collect();
    let (first, second) = halves.split_at(halves.len() / 2);
    body(schema, first, whole, bodies)?;
    body(schema, second, whole, bodies)
}

/// Leaves out the texts of other rows, which columns of views share.
fn compact(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(|column| -> ArrayRef {
        if let Some(texts) = column.as_string_view_opt() {
            Arc::new(texts.gc())
        } else if let Some(bytes) = column.as_binary_view_opt() {
            Arc::new(bytes.gc())
        } else {
            column.clone()
        }
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns.collect(), &options)
}
