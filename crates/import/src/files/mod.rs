//! Files as inputs: Parquet, CSV, Arrow (file and stream) and NumPy arrays. The first bytes of a file say what it is.
//! Formats that are read from front to back may be compressed with gzip or zstd.

mod arrays;
mod npy;
mod quotes;
mod zip;

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatchReader;
use arrow::csv::ReaderBuilder;
use arrow::csv::reader::Format;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use arrow::ipc::reader::{FileReader, StreamReader};
use decode::expand_stream;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use self::quotes::Quotes;
use crate::error::ImportError;
use crate::options::Options;
use crate::read::Input;

/// Values of a batch: enough to spread the cost of a batch, few enough to stay in the caches.
const BATCH_VALUES: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Parquet,
    ArrowFile,
    ArrowStream,
    Npz,
    Npy,
    /// Not read.
    Json,
    /// Anything else.
    Csv,
}

/// The files in order, each opened once the one before is read. Arrays of `.npy` files that come alone are the columns
/// of one input, each with the name of its file.
pub fn open(paths: &[PathBuf], options: &Options) -> impl Iterator<Item = Result<Input, ImportError>> {
    let are_arrays = paths.len() > 1 && paths.iter().all(|path| matches!(content_of(path), Ok((Content::Npy, _))));
    let together = are_arrays.then(|| {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let arrays = paths.iter().map(|path| read_npy(path, options)).collect::<Result<Vec<_>, _>>()?;
        let name = names.join(", ");
        let batches = arrays::batches(arrays, options).map_err(|reason| columns(&name, reason))?;
        Ok(Input { name, rows: Some(batches.rows()), batches: Box::new(batches) })
    });
    let alone = if are_arrays { &[] } else { paths };
    together.into_iter().chain(alone.iter().map(|path| open_one(path, options)))
}

fn open_one(path: &Path, options: &Options) -> Result<Input, ImportError> {
    let fail = |reason: String| unreadable(path, &reason);
    let (content, packing) = content_of(path).map_err(|error| fail(error.to_string()))?;
    let file = || File::open(path).map_err(|error| fail(error.to_string()));
    let stream = || plain(path).map(BufReader::new).map_err(|error| fail(error.to_string()));
    let name = path.display().to_string();
    let whole = match content {
        Content::Parquet => Some("a Parquet file"),
        Content::ArrowFile => Some("an Arrow file"),
        Content::Npz => Some("a NumPy archive"),
        Content::ArrowStream | Content::Npy | Content::Csv | Content::Json => None,
    };
    if let (Some(what), Some(packing)) = (whole, packing) {
        return Err(fail(format!("it is {what} that {packing} compressed once more: decompress it first")));
    }
    let mut rows = None;
    let batches: Box<dyn RecordBatchReader + Send> = match content {
        Content::Parquet => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file()?).map_err(|e| fail(e.to_string()))?;
            rows = usize::try_from(builder.metadata().file_metadata().num_rows()).ok();
            let batch_rows = rows_of(builder.schema().fields().len());
            Box::new(builder.with_batch_size(batch_rows).build().map_err(|e| fail(e.to_string()))?)
        }
        Content::ArrowFile => {
            Box::new(FileReader::try_new(BufReader::new(file()?), None).map_err(|e| fail(e.to_string()))?)
        }
        Content::ArrowStream => Box::new(StreamReader::try_new(stream()?, None).map_err(|e| fail(e.to_string()))?),
        Content::Json => return Err(fail("it holds JSON: give Parquet, CSV, Arrow or NumPy files".to_owned())),
        Content::Csv => Box::new(csv(path, options).map_err(fail)?),
        Content::Npy => {
            let arrays = vec![read_npy(path, options)?];
            let batches = arrays::batches(arrays, options).map_err(|reason| columns(&name, reason))?;
            rows = Some(batches.rows());
            Box::new(batches)
        }
        Content::Npz => {
            let arrays = zip::arrays(&mut file()?, options.memory_bytes).map_err(fail)?;
            let batches = arrays::batches(arrays, options).map_err(|reason| columns(&name, reason))?;
            rows = Some(batches.rows());
            Box::new(batches)
        }
    };
    Ok(Input { name, batches, rows })
}

/// The content of a file, decompressed.
fn plain(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    Ok(expand_stream(File::open(path)?)?.1)
}

/// What a file holds, and the name of its compression.
fn content_of(path: &Path) -> io::Result<(Content, Option<&'static str>)> {
    let (packing, stream) = expand_stream(File::open(path)?)?;
    let mut start = Vec::new();
    stream.take(8).read_to_end(&mut start)?;
    let content = match &start[..] {
        [b'P', b'A', b'R', b'1', ..] => Content::Parquet,
        b"ARROW1\0\0" => Content::ArrowFile,
        [0xFF, 0xFF, 0xFF, 0xFF, ..] => Content::ArrowStream,
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Content::Npz,
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Content::Npy,
        [b'{', b'"' | b'\n' | b'\r' | b' ' | b'}', ..] | [b'[', b'{', ..] => Content::Json,
        _ => Content::Csv,
    };
    Ok((content, packing))
}

/// Rows of a batch of some columns.
fn rows_of(columns: usize) -> usize {
    (BATCH_VALUES / columns.max(1)).clamp(1 << 10, 1 << 16)
}

/// Reads the file twice: the first time for the types of its columns, and for a quote that is never closed.
fn csv(path: &Path, options: &Options) -> Result<impl RecordBatchReader + Send + use<>, String> {
    let failed = |error: ArrowError| match error {
        ArrowError::CsvError(reason) => reason,
        error => error.to_string(),
    };
    let format = Format::default().with_header(true);
    let mut quotes = Quotes::new(unmarked(path).map_err(|error| error.to_string())?);
    let inferred = format.infer_schema(&mut quotes, None);
    if let Some(line) = quotes.unclosed() {
        return Err(format!("the quote that opens on line {line} is never closed"));
    }
    let (inferred, _) = inferred.map_err(failed)?;
    if let (1, Some(line)) = (inferred.fields().len(), quotes.skipped()) {
        return Err(format!("line {line} is empty: write its value, or remove the line"));
    }
    let names = [(&options.columns.entity, "entity"), (&options.columns.outcome, "outcome")];
    let is_name = |name: &str| names.iter().any(|(given, default)| given.as_deref().unwrap_or(default) == name);
    let fields = inferred.fields().iter().map(|field| {
        let of = match field.data_type() {
            // The name 017 stays as it is.
            _ if is_name(field.name()) => DataType::Utf8,
            of @ (DataType::Boolean | DataType::Int64 | DataType::Float64) => of.clone(),
            _ => DataType::Utf8,
        };
        Field::new(field.name(), of, true)
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let rows = rows_of(schema.fields().len());
    let file = unmarked(path).map_err(|error| error.to_string())?;
    ReaderBuilder::new(schema).with_format(format).with_batch_size(rows).build(file).map_err(failed)
}

/// The content of a text file after its byte order mark, if it has one.
fn unmarked(path: &Path) -> io::Result<impl Read + Send + use<>> {
    const MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];
    let (mut start, mut file) = (Vec::new(), plain(path)?);
    file.by_ref().take(MARK.len() as u64).read_to_end(&mut start)?;
    start.drain(..if start == MARK { MARK.len() } else { 0 });
    Ok(Cursor::new(start).chain(file))
}

fn read_npy(path: &Path, options: &Options) -> Result<npy::Array, ImportError> {
    let opened = File::open(path).and_then(expand_stream);
    let (packing, file) = opened.map_err(|error| unreadable(path, &error.to_string()))?;
    // Without `.npy`, or `.npy.gz`.
    let stem = |path: &Path| PathBuf::from(path.file_stem().unwrap_or_default());
    let name = stem(&packing.map_or_else(|| path.to_owned(), |_| stem(path))).to_string_lossy().into_owned();
    npy::read(name, BufReader::new(file), options.memory_bytes).map_err(|reason| unreadable(path, &reason))
}

fn unreadable(path: &Path, reason: &str) -> ImportError {
    ImportError::Unreadable { input: path.display().to_string(), reason: reason.to_owned() }
}

fn columns(input: &str, reason: String) -> ImportError {
    ImportError::Columns { input: input.to_owned(), reason }
}
