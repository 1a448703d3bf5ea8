//! The baseline: a folder of Avro object container files, row by row, without a log.
//!
//! Each batch is one file, which gets its final name once it is synced. The table consists of all files with final
//! names.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use arrow_avro::compression::CompressionCodec;
use arrow_avro::errors::AvroError;
use arrow_avro::reader::ReaderBuilder;
use arrow_avro::writer::WriterBuilder;
use arrow_avro::writer::format::AvroOcfFormat;
use disk::{RealDisk, create_dirs, write_file};
use uuid::Uuid;

use crate::error::BenchError;

/// Describes the columns: an Arrow stream without rows. It marks a folder as a table of the baseline.
const SCHEMA_FILE: &str = "columns.arrow";
const SUFFIX: &str = "avro";
const BUFFER_BYTES: usize = 1 << 20;

#[derive(Debug, Clone)]
pub(crate) struct AvroTable {
    root: PathBuf,
    schema: SchemaRef,
}

impl AvroTable {
    /// Opens the table in the folder `root`; `None` if there is none.
    pub(crate) fn open(root: &Path) -> Result<Option<Self>, BenchError> {
        let path = root.join(SCHEMA_FILE);
        if !path.is_file() {
            return Ok(None);
        }
        let file = File::open(&path).map_err(BenchError::io("open", &path))?;
        let reader = StreamReader::try_new(BufReader::new(file), None).map_err(BenchError::rows(&path))?;
        Ok(Some(Self { root: root.to_owned(), schema: reader.schema() }))
    }

    /// Creates an empty table in the folder `root`.
    pub(crate) fn create(root: &Path, schema: &SchemaRef) -> Result<Self, BenchError> {
        create_dirs(&RealDisk, root).map_err(BenchError::io("create", root))?;
        let (path, mut bytes) = (root.join(SCHEMA_FILE), Vec::new());
        let described = StreamWriter::try_new(&mut bytes, schema).and_then(|mut writer| writer.finish());
        described.map_err(BenchError::rows(&path))?;
        write_file(&RealDisk, &path, &bytes).map_err(BenchError::io("write", &path))?;
        Ok(Self { root: root.to_owned(), schema: schema.clone() })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The files of the table and their sizes in bytes, sorted by name.
    pub(crate) fn files(&self) -> Result<Vec<(PathBuf, u64)>, BenchError> {
        let failed = || BenchError::io("list", &self.root);
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let path = entry.path();
            if path.extension().is_some_and(|e| e == SUFFIX) {
                files.push((path, entry.metadata().map_err(failed())?.len()));
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Durably writes rows as one file.
    pub(crate) fn insert(&self, batches: &[RecordBatch]) -> Result<(), BenchError> {
        let path = self.root.join(format!("{}.{SUFFIX}", Uuid::new_v4().simple()));
        let bytes = self.encode(batches).map_err(|error| BenchError::rows(&path)(error.into()))?;
        write_file(&RealDisk, &path, &bytes).map_err(BenchError::io("write", &path))
    }

    fn encode(&self, batches: &[RecordBatch]) -> Result<Vec<u8>, AvroError> {
        let mut writer = WriterBuilder::new((*self.schema).clone())
            .with_compression(Some(CompressionCodec::ZStandard))
            .build::<_, AvroOcfFormat>(Vec::new())?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()?;
        Ok(writer.into_inner())
    }

    /// Reads one of the table's files in batches.
    pub(crate) fn read(
        &self,
        file: &Path,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, BenchError>> + use<>, BenchError> {
        let path = file.to_owned();
        let opened = File::open(&path).map_err(BenchError::io("open", &path))?;
        let opened = BufReader::with_capacity(BUFFER_BYTES, opened);
        let reader = ReaderBuilder::new().build(opened).map_err(BenchError::rows(&path))?;
        let schema = self.schema.clone();
        Ok(reader.map(move |batch| batch.and_then(|batch| restore(&schema, &batch)).map_err(BenchError::rows(&path))))
    }
}

/// Restores the types that Avro lacks.
fn restore(schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| cast(column, field.data_type())).collect::<Result<_, _>>();
    RecordBatch::try_new(schema.clone(), columns?)
}
