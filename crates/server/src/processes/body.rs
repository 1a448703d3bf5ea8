//! Encodes answers as reply bodies while their rows arrive.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ::parquet::arrow::ArrowWriter;
use arrow::array::RecordBatch;
use arrow::csv::{Writer as CsvWriter, WriterBuilder as CsvBuilder};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use arrow::json::writer::{EncoderOptions, make_encoder};
use serde_json::json;
use sql::{JsonRows, in_cells};

use super::message::{Format, Part};
use crate::parquet;

/// A body on its way to `W`.
pub(super) enum Body<W: Write + Send> {
    Json(JsonRows<W>),
    Csv(Box<CsvWriter<W>>),
    Arrow(StreamWriter<W>),
    Parquet(Box<ArrowWriter<W>>),
    Arrays { out: W, rows: usize, began: Instant },
    Series { out: W, rows: usize },
}

impl<W: Write + Send> Body<W> {
    /// Begins a body of rows of `schema`. The query started at `began`.
    pub(super) fn new(format: &Format, schema: &SchemaRef, mut out: W, began: Instant) -> Result<Self, ArrowError> {
        Ok(match format {
            Format::Json => Self::Json(JsonRows::new(out, schema)),
            Format::Csv => {
                let mut writer = CsvBuilder::new().with_header(true).build(out);
                writer.write(&in_cells(&RecordBatch::new_empty(schema.clone()))?)?;
                Self::Csv(Box::new(writer))
            }
            Format::Arrow => Self::Arrow(StreamWriter::try_new(out, schema)?),
            Format::Parquet => Self::Parquet(Box::new(parquet::writer(out, schema)?)),
            Format::Arrays => {
                let columns: Vec<&String> = schema.fields().iter().map(|f| f.name()).collect();
                write!(out, r#"{{"success":true,"columns":{},"data":["#, json!(columns))?;
                Self::Arrays { out, rows: 0, began }
            }
            Format::Series(name) => {
                let head = r#"{"results":[{"statement_id":0,"series":[{"columns":["name"],"name":"#;
                write!(out, r#"{head}{},"values":["#, json!(name))?;
                Self::Series { out, rows: 0 }
            }
        })
    }

    /// Whether the rows are written as text.
    pub(super) fn is_text(&self) -> bool {
        !matches!(self, Self::Arrow(_) | Self::Parquet(_))
    }

    /// Writes a batch of rows.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match self {
            Self::Json(writer) => writer.write(batch),
            Self::Csv(writer) => writer.write(&in_cells(batch)?),
            Self::Arrow(writer) => writer.write(batch),
            Self::Parquet(writer) => parquet::write(writer, batch),
            Self::Arrays { out, rows, .. } | Self::Series { out, rows } => {
                rows_as_arrays(batch, *rows == 0, out)?;
                *rows += batch.num_rows();
                Ok(())
            }
        }
    }

    /// Ends the body, and returns `W`.
    pub(super) fn finish(self) -> Result<W, ArrowError> {
        match self {
            Self::Json(writer) => writer.finish(),
            Self::Csv(writer) => Ok(writer.into_inner()),
            Self::Arrow(writer) => writer.into_inner(),
            Self::Parquet(writer) => Ok(writer.into_inner()?),
            Self::Arrays { mut out, rows, began } => {
                let milliseconds = began.elapsed().as_secs_f64() * 1e3;
                write!(out, r#"],"row_count":{rows},"execution_time_ms":{milliseconds:.3}}}"#)?;
                Ok(out)
            }
            Self::Series { mut out, .. } => {
                out.write_all(b"]}]}]}")?;
                Ok(out)
            }
        }
    }
}

/// Writes each row as a JSON array. `first`: no row precedes them.
fn rows_as_arrays(batch: &RecordBatch, first: bool, out: &mut impl Write) -> Result<(), ArrowError> {
    let options = EncoderOptions::default();
    let schema = batch.schema();
    let encoders = schema.fields().iter().zip(batch.columns()).map(|(f, c)| make_encoder(f, c, &options));
    let mut encoders = encoders.collect::<Result<Vec<_>, _>>()?;
    let mut text = Vec::new();
    for row in 0..batch.num_rows() {
        text.clear();
        text.extend_from_slice(if first && row == 0 { b"[" } else { b",[" });
        for (place, encoder) in encoders.iter_mut().enumerate() {
            if place > 0 {
                text.push(b',');
            }
            if encoder.is_null(row) { text.extend(b"null") } else { encoder.encode(row, &mut text) }
        }
        text.push(b']');
        out.write_all(&text)?;
    }
    Ok(())
}

/// Rows as an Arrow IPC stream, flushed after each batch so that the reader has it.
pub(super) struct Batches<W: Write>(StreamWriter<W>);

/// Target bytes of a batch, so that no process holds much of an answer at once.
const BATCH_BYTES: usize = 1 << 20;

impl<W: Write> Batches<W> {
    pub(super) fn new(schema: &Schema, out: W) -> Result<Self, ArrowError> {
        Ok(Self(StreamWriter::try_new(out, schema)?))
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let rows = batch.num_rows();
        if rows > 1 && batch.get_array_memory_size() > BATCH_BYTES {
            let size = bytes_of(batch)?;
            if size > BATCH_BYTES {
                self.write(&batch.slice(0, rows / 2))?;
                return self.write(&batch.slice(rows / 2, rows - rows / 2));
            }
        }
        self.0.write(batch)?;
        self.0.flush()
    }

    pub(super) fn finish(self) -> Result<W, ArrowError> {
        self.0.into_inner()
    }
}

/// Bytes of the rows in a batch. The memory size of a slice would count the whole batch.
fn bytes_of(batch: &RecordBatch) -> Result<usize, ArrowError> {
    batch.columns().iter().map(|column| column.to_data().get_slice_memory_size()).sum()
}

/// Sends a body or a stream to the server in pieces.
pub(super) struct Sink<'a> {
    stream: &'a mut UnixStream,
    piece: Vec<u8>,
    written: usize,
    /// Bytes that may still be written.
    most: usize,
    /// Whether the body exceeded the limit.
    pub(super) over: Arc<AtomicBool>,
}

const PIECE_BYTES: usize = 256 << 10;

impl<'a> Sink<'a> {
    pub(super) fn new(stream: &'a mut UnixStream, most: usize) -> Self {
        Self { stream, piece: Vec::new(), written: 0, most, over: Arc::default() }
    }
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written += bytes.len();
        if self.written > self.most {
            self.over.store(true, Ordering::Relaxed);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the answer is too large"));
        }
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        Part::Bytes(std::mem::take(&mut self.piece)).put(self.stream)
    }
}
