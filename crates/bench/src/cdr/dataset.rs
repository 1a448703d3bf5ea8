//! The day's records in files, made before any measurement.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::ipc::reader::FileReader;
use arrow::ipc::writer::FileWriter;
use telecom::{Records, Traffic};
use world::{ContentHash, Seed};

use super::hash::content_hash;
use crate::error::BenchError;

/// A batch on disk.
#[derive(Debug, Clone)]
pub(crate) struct DatasetBatch {
    pub(crate) path: PathBuf,
    pub(crate) rows: u64,
}

/// All batches in order.
#[derive(Debug, Clone)]
pub(crate) struct Dataset {
    pub(crate) batches: Vec<DatasetBatch>,
    pub(crate) hash: ContentHash,
    /// Bytes of the values: 8 per number or time, 1 per flag, the length of texts.
    pub(crate) raw_bytes: u64,
}

impl Dataset {
    /// Generates a day's records in `folder`.
    pub(crate) fn generate(
        folder: &Path,
        traffic: &Traffic,
        seed: Seed,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, BenchError> {
        let mut dataset = Self::begin(folder)?;
        for batch in traffic.batches() {
            let chunks = Records::new(seed, *batch).chunks(telecom::CHUNK);
            dataset.add(folder, chunks.map(Ok), stop)?;
        }
        Ok(dataset)
    }

    /// Copies given records to `folder`, `rows` per batch.
    pub(crate) fn copy(
        folder: &Path,
        records: impl Iterator<Item = Result<RecordBatch, BenchError>>,
        rows: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, BenchError> {
        let mut dataset = Self::begin(folder)?;
        let mut waiting: Vec<RecordBatch> = Vec::new();
        let mut count = 0;
        for batch in records {
            let mut batch = batch?;
            while count + batch.num_rows() >= rows {
                let missing = rows - count;
                waiting.push(batch.slice(0, missing));
                batch = batch.slice(missing, batch.num_rows() - missing);
                dataset.add(folder, waiting.drain(..).map(Ok), stop)?;
                count = 0;
            }
            count += batch.num_rows();
            waiting.push(batch);
        }
        if count > 0 {
            dataset.add(folder, waiting.into_iter().map(Ok), stop)?;
        }
        Ok(dataset)
    }

    fn begin(folder: &Path) -> Result<Self, BenchError> {
        std::fs::create_dir_all(folder).map_err(BenchError::io("create", folder))?;
        Ok(Self { batches: Vec::new(), hash: ContentHash::default(), raw_bytes: 0 })
    }

    fn add(
        &mut self,
        folder: &Path,
        chunks: impl Iterator<Item = Result<RecordBatch, BenchError>>,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), BenchError> {
        if stop() {
            return Err(BenchError::Stopped);
        }
        let path = folder.join(format!("{:06}.arrow", self.batches.len() + 1));
        let ipc = |e| BenchError::Rows { path: path.clone(), source: e };
        let file = BufWriter::with_capacity(1 << 20, File::create(&path).map_err(BenchError::io("write", &path))?);
        let mut writer = FileWriter::try_new(file, &telecom::schema()).map_err(ipc)?;
        let mut rows = 0;
        for records in chunks {
            let records = records?;
            rows += records.num_rows() as u64;
            self.hash += content_hash(&records);
            self.raw_bytes += raw_bytes(&records);
            writer.write(&records).map_err(ipc)?;
        }
        writer.into_inner().map_err(ipc)?.flush().map_err(BenchError::io("write", &path))?;
        self.batches.push(DatasetBatch { path, rows });
        Ok(())
    }

    /// The first batches that have at least `rows` rows together, or all.
    pub(crate) fn first(&self, rows: usize) -> Result<Vec<RecordBatch>, BenchError> {
        let mut first = Vec::new();
        for batch in &self.batches {
            if first.iter().map(RecordBatch::num_rows).sum::<usize>() >= rows {
                break;
            }
            first.extend(batch.read()?);
        }
        Ok(first)
    }

    pub(crate) fn rows(&self) -> u64 {
        self.batches.iter().map(|b| b.rows).sum()
    }
}

impl DatasetBatch {
    pub(crate) fn read(&self) -> Result<Vec<RecordBatch>, BenchError> {
        self.read_projected(None)
    }

    /// Some columns of its records, in schema order.
    pub(crate) fn read_columns(&self, columns: &[&str]) -> Result<Vec<RecordBatch>, BenchError> {
        let schema = telecom::schema();
        let places = columns.iter().map(|c| schema.index_of(c)).collect::<Result<_, _>>();
        self.read_projected(Some(places.map_err(|e| BenchError::Rows { path: self.path.clone(), source: e })?))
    }

    fn read_projected(&self, columns: Option<Vec<usize>>) -> Result<Vec<RecordBatch>, BenchError> {
        let ipc = |e| BenchError::Rows { path: self.path.clone(), source: e };
        let file =
            BufReader::with_capacity(1 << 20, File::open(&self.path).map_err(BenchError::io("read", &self.path))?);
        FileReader::try_new(file, columns).map_err(ipc)?.collect::<Result<_, _>>().map_err(ipc)
    }
}

fn raw_bytes(records: &RecordBatch) -> u64 {
    use arrow::array::{Array as _, AsArray as _};
    use arrow::datatypes::DataType;
    let of_column = |column: &arrow::array::ArrayRef| match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value_data().len() as u64,
        DataType::Boolean => column.len() as u64,
        _ => 8 * column.len() as u64,
    };
    records.columns().iter().map(of_column).sum()
}
