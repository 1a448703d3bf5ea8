//! Layout `row`: a folder of Avro object container files. It is the baseline for comparisons.
//!
//! Each batch is one file, which gets its final name once it is complete. The table has no log: it consists of all
//! files with final names.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use arrow_avro::compression::CompressionCodec;
use arrow_avro::reader::ReaderBuilder;
use arrow_avro::writer::WriterBuilder;
use arrow_avro::writer::format::AvroOcfFormat;

use crate::error::TableError;
use crate::new_file::NewFile;
use disk::Disk;

/// Describes the columns: an Arrow stream without rows. It marks a folder as a table of this layout.
const SCHEMA_FILE: &str = "schema.arrow";
const SUFFIX: &str = "avro";
const BUFFER_BYTES: usize = 1 << 20;

/// A table of layout `row`.
#[derive(Debug, Clone)]
pub struct AvroTable {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    schema: SchemaRef,
}

type Result<T> = std::result::Result<T, TableError>;

impl AvroTable {
    /// Whether the folder `root` looks like a table of this layout.
    pub(crate) fn is_in(root: &Path) -> bool {
        root.join(SCHEMA_FILE).is_file()
    }

    /// Opens the table in the folder `root`; `None` if it does not exist.
    pub fn open(root: &Path, disk: Arc<dyn Disk>) -> Result<Option<Self>> {
        let path = root.join(SCHEMA_FILE);
        if !path.is_file() {
            return Ok(None);
        }
        let file = File::open(&path).map_err(TableError::io("open", &path))?;
        let reader = StreamReader::try_new(BufReader::new(file), None).map_err(|e| TableError::damaged(&path, e))?;
        Ok(Some(Self { root: root.to_owned(), disk, schema: reader.schema() }))
    }

    /// Opens the table in the folder `root`, or creates it.
    pub fn open_or_create(root: &Path, disk: Arc<dyn Disk>, schema: &Schema) -> Result<Self> {
        if let Some(table) = Self::open(root, disk.clone())? {
            return Ok(table);
        }
        let path = root.join(SCHEMA_FILE);
        let mut file = NewFile::create(disk.clone(), &path)?;
        let failed = |e| TableError::encode_arrow(&path, e);
        StreamWriter::try_new(&mut file, schema).and_then(|mut w| w.finish()).map_err(failed)?;
        file.finish()?;
        Ok(Self { root: root.to_owned(), disk, schema: Arc::new(schema.clone()) })
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The files of the table and their sizes in bytes, sorted by name.
    pub fn files(&self) -> Result<Vec<(PathBuf, u64)>> {
        let failed = || TableError::io("list the folder", &self.root);
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let path = entry.path();
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if !hidden && path.extension().is_some_and(|e| e == SUFFIX) {
                files.push((path, entry.metadata().map_err(failed())?.len()));
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Durably writes rows as the file `name` and returns its size; `None` if the file exists.
    pub(crate) fn insert(&self, name: &str, batches: &[RecordBatch]) -> Result<Option<u64>> {
        self.insert_all(name, batches.iter().cloned().map(Ok))
    }

    /// Like [`Self::insert`], from an iterator.
    pub(crate) fn insert_all(
        &self,
        name: &str,
        batches: impl Iterator<Item = Result<RecordBatch>>,
    ) -> Result<Option<u64>> {
        let path = self.root.join(format!("{name}.{SUFFIX}"));
        if path.exists() {
            return Ok(None);
        }
        let file = NewFile::create(self.disk.clone(), &path)?;
        let failed = |e: arrow_avro::errors::AvroError| TableError::encode_arrow(&path, e.into());
        let mut writer = WriterBuilder::new((*self.schema).clone())
            .with_compression(Some(CompressionCodec::ZStandard))
            .build::<_, AvroOcfFormat>(BufWriter::with_capacity(BUFFER_BYTES, file))
            .map_err(failed)?;
        for batch in batches {
            writer.write(&batch?).map_err(failed)?;
        }
        writer.finish().map_err(failed)?;
        let buffered = writer.into_inner();
        let mut file = buffered.into_inner().map_err(|e| TableError::io("write", &path)(e.into_error()))?;
        file.finish().map(Some)
    }

    /// Reads one of the table's files in batches.
    pub fn read(&self, file: &Path) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let path = file.to_owned();
        let opened = File::open(&path).map_err(TableError::io("open", &path))?;
        let reader = ReaderBuilder::new()
            .build(BufReader::with_capacity(BUFFER_BYTES, opened))
            .map_err(|e| TableError::damaged(&path, e))?;
        let schema = self.schema.clone();
        Ok(reader.map(move |batch| {
            let batch = batch.map_err(|e| TableError::damaged(&path, e))?;
            restore(&schema, &batch).map_err(|e| TableError::damaged(&path, e))
        }))
    }
}

/// Restores the types that Avro lacks.
fn restore(schema: &SchemaRef, batch: &RecordBatch) -> std::result::Result<RecordBatch, arrow::error::ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields());
    let columns =
        columns.map(|(column, field)| cast(column, field.data_type())).collect::<std::result::Result<_, _>>()?;
    RecordBatch::try_new(schema.clone(), columns)
}
