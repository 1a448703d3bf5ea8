//! Reads rows of a file in the format that its extension names.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use decode::{Limits, Overflow, RowFormat, RowReader, RowRules, expand_stream};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use table::{conform, storable};

use crate::args::{TableInsertArgs, extension};
use crate::commands::{chunk_bytes, decoders};

/// The rows of a file, batch by batch.
pub(super) enum Rows {
    /// Lines of text.
    Text(Box<Text>),
    /// Columns with declared types.
    Typed(Typed),
}

/// A file without declared types.
pub(super) struct Text {
    file: Box<dyn Read>,
    reader: RowReader,
    /// Bytes that do not form a complete row yet.
    bytes: Vec<u8>,
    is_read: bool,
    /// Rows that do not fill a batch yet.
    pieces: Vec<RecordBatch>,
    batch_rows: usize,
    overflow: Vec<Overflow>,
}

/// A file with declared column types.
pub(super) struct Typed {
    path: PathBuf,
    /// The columns, in stored types.
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
}

impl Rows {
    /// Opens a file of rows for a table with the columns `known`.
    pub(super) fn open(path: &Path, args: &TableInsertArgs, known: &Schema) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let (batch_rows, failed) = (args.batch_rows as usize, || format!("reading {}", path.display()));
        let extension = extension(path);
        let format = match extension {
            Some("csv") => RowFormat::Csv,
            Some("jsonl" | "ndjson" | "json") => RowFormat::Json,
            Some("parquet" | "arrow" | "ipc" | "feather") if path.extension().and_then(OsStr::to_str) != extension => {
                bail!("{}: a Parquet or Arrow file is compressed inside: decompress it first", path.display())
            }
            Some("parquet") => {
                let builder = ParquetRecordBatchReaderBuilder::try_new(file).with_context(failed)?;
                let schema = builder.schema().clone();
                return Self::typed(path, &schema, builder.with_batch_size(batch_rows).build().with_context(failed)?);
            }
            Some("arrow" | "ipc" | "feather") => {
                let reader =
                    arrow::ipc::reader::FileReader::try_new(BufReader::new(file), None).with_context(failed)?;
                return Self::typed(path, &reader.schema(), reader);
            }
            _ => bail!("{}: name a .csv, .jsonl, .parquet or .arrow file, or a .csv.gz or .jsonl.gz", path.display()),
        };
        let (_, file) = expand_stream(file).with_context(failed)?;
        let reader = RowReader::new(format, &RowRules::default(), &Limits::default())?;
        let reader = reader.knowing(known).on_conflict(args.on_conflict.into()).unstamped();
        let (bytes, pieces, overflow) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self::Text(Box::new(Text { file, reader, bytes, is_read: false, pieces, batch_rows, overflow })))
    }

    fn typed(
        path: &Path,
        schema: &Schema,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + 'static,
    ) -> Result<Self> {
        let schema = storable(path, schema)?;
        Ok(Self::Typed(Typed { path: path.to_owned(), schema, batches: Box::new(batches) }))
    }

    /// The next batch: a full one, or the last rows.
    pub(super) fn next_batch(&mut self) -> Result<Option<Vec<RecordBatch>>> {
        match self {
            Self::Text(text) => text.next_batch(),
            Self::Typed(Typed { path, schema, batches }) => {
                let Some(rows) = batches.next().transpose()? else { return Ok(None) };
                Ok(Some(vec![conform(path, schema, &rows)?]))
            }
        }
    }

    /// The columns that the file declares.
    pub(super) fn declared(&self) -> Option<&Schema> {
        match self {
            Self::Text(_) => None,
            Self::Typed(typed) => Some(&typed.schema),
        }
    }

    pub(super) fn overflow(self) -> Vec<Overflow> {
        match self {
            Self::Text(text) => text.overflow,
            Self::Typed(_) => Vec::new(),
        }
    }
}

impl Text {
    fn next_batch(&mut self) -> Result<Option<Vec<RecordBatch>>> {
        while self.waiting() < self.batch_rows && (!self.is_read || !self.bytes.is_empty()) {
            self.read()?;
        }
        let mut batch = Vec::new();
        let mut wanted = self.batch_rows;
        while wanted > 0 && !self.pieces.is_empty() {
            let rows = self.pieces[0].num_rows();
            if rows <= wanted {
                batch.push(self.pieces.remove(0));
            } else {
                batch.push(self.pieces[0].slice(0, wanted));
                self.pieces[0] = self.pieces[0].slice(wanted, rows - wanted);
            }
            wanted = wanted.saturating_sub(rows);
        }
        Ok((!batch.is_empty()).then_some(batch))
    }

    fn waiting(&self) -> usize {
        self.pieces.iter().map(RecordBatch::num_rows).sum()
    }

    /// Reads the next bytes of the file.
    fn read(&mut self) -> Result<()> {
        if !self.is_read {
            let chunk = chunk_bytes();
            let read = self.file.by_ref().take(chunk as u64).read_to_end(&mut self.bytes)?;
            self.is_read = read < chunk;
        }
        let mut taken = 0;
        for rows in self.reader.read_all(&self.bytes, self.is_read, 0, decoders(self.bytes.len())) {
            let rows = rows?;
            if let Some(refused) = rows.refused.first() {
                let field = refused.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
                bail!("line {}: {field}{}", refused.position, refused.reason);
            }
            self.overflow.extend(rows.overflows);
            self.pieces.extend(rows.batch);
            taken += rows.taken;
        }
        self.bytes.drain(..taken);
        Ok(())
    }
}
