//! The day's records in files, made before any clock starts.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::FileReader;
use arrow::ipc::writer::FileWriter;
use telecom::{Batch, Dates, Records, Traffic};
use world::{ContentHash, Seed};

use super::hash::content_hash;
use crate::error::BenchError;

/// One batch on disk.
#[derive(Debug, Clone)]
pub(crate) struct Spooled {
    path: PathBuf,
    /// Its rows.
    pub(crate) rows: u64,
}

/// All batches, in order, and what they hold together.
#[derive(Debug, Clone)]
pub(crate) struct Spool {
    /// The batches.
    pub(crate) batches: Vec<Spooled>,
    /// The hash of all rows.
    pub(crate) hash: ContentHash,
    /// Bytes of the values themselves: 8 a number or time, 1 a flag, texts as long as they are.
    pub(crate) raw_bytes: u64,
}

impl Spool {
    /// Writes the records of a day to `folder`.
    pub(crate) fn write(
        folder: &Path,
        traffic: &Traffic,
        seed: Seed,
        dates: Dates,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, BenchError> {
        let failed = |doing| move |source| BenchError::Io { doing, path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(failed("create"))?;
        let mut spool = Self { batches: Vec::new(), hash: ContentHash::default(), raw_bytes: 0 };
        for batch in traffic.batches() {
            if stop() {
                return Err(BenchError::Stopped);
            }
            spool.add(folder, *batch, seed, dates)?;
        }
        Ok(spool)
    }

    fn add(&mut self, folder: &Path, batch: Batch, seed: Seed, dates: Dates) -> Result<(), BenchError> {
        let path = folder.join(format!("{:06}.arrow", batch.number));
        let io = |source| BenchError::Io { doing: "write", path: path.clone(), source };
        let ipc = |e| BenchError::Spool { path: path.clone(), source: e };
        let file = BufWriter::with_capacity(1 << 20, File::create(&path).map_err(io)?);
        let mut writer = FileWriter::try_new(file, &telecom::schema()).map_err(ipc)?;
        for records in Records::new(seed, batch, dates).chunks(telecom::CHUNK) {
            self.hash += content_hash(&records);
            self.raw_bytes += raw_bytes(&records);
            writer.write(&records).map_err(ipc)?;
        }
        writer.into_inner().map_err(ipc)?.flush().map_err(io)?;
        self.batches.push(Spooled { rows: batch.rows as u64, path });
        Ok(())
    }

    /// Rows of all batches.
    pub(crate) fn rows(&self) -> u64 {
        self.batches.iter().map(|b| b.rows).sum()
    }

    /// The columns.
    pub(crate) fn schema(&self) -> SchemaRef {
        telecom::schema()
    }
}

impl Spooled {
    /// Its records.
    pub(crate) fn read(&self) -> Result<Vec<RecordBatch>, BenchError> {
        self.read_projected(None)
    }

    /// Some columns of its records, in the order of the schema.
    pub(crate) fn read_columns(&self, columns: &[&str]) -> Result<Vec<RecordBatch>, BenchError> {
        let schema = telecom::schema();
        let places = columns.iter().map(|c| schema.index_of(c)).collect::<Result<_, _>>();
        self.read_projected(Some(places.map_err(|e| BenchError::Spool { path: self.path.clone(), source: e })?))
    }

    fn read_projected(&self, columns: Option<Vec<usize>>) -> Result<Vec<RecordBatch>, BenchError> {
        let io = |source| BenchError::Io { doing: "read", path: self.path.clone(), source };
        let ipc = |e| BenchError::Spool { path: self.path.clone(), source: e };
        let file = BufReader::with_capacity(1 << 20, File::open(&self.path).map_err(io)?);
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
