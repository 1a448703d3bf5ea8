//! Reads real records instead of generated ones.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use arrow::array::RecordBatch;
use arrow::csv::ReaderBuilder;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use table::conform;

use crate::error::BenchError;

type Records = Box<dyn Iterator<Item = Result<RecordBatch, BenchError>>>;

/// Rows read at a time.
const ROWS: usize = 65_536;

/// Opens a file of call records: `.csv` with a header, or `.parquet`. It needs the columns of [`telecom::schema`],
/// except nullable ones. Returns the records and their number.
pub(crate) fn open(path: &Path) -> Result<(Records, u64), BenchError> {
    let count = records(path)?.try_fold(0, |count, batch| Ok::<_, BenchError>(count + batch?.num_rows() as u64))?;
    BenchError::require(count > 0, "input", format!("{} has no rows", path.display()))?;
    Ok((records(path)?, count))
}

fn records(path: &Path) -> Result<Records, BenchError> {
    let owned = path.to_owned();
    let read = match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => csv(path)?,
        Some("parquet") => parquet(path)?,
        _ => {
            let reason = format!("{} is neither a .csv nor a .parquet file", path.display());
            return Err(BenchError::Workload { setting: "input", reason });
        }
    };
    let schema = telecom::schema();
    Ok(Box::new(read.map(move |batch| Ok(conform(&owned, &schema, &batch?)?))))
}

fn open_file(path: &Path) -> Result<File, BenchError> {
    File::open(path).map_err(BenchError::io("open", path))
}

fn csv(path: &Path) -> Result<Records, BenchError> {
    let owned = path.to_owned();
    let failed = move |source| BenchError::Rows { path: owned.clone(), source };
    let file = BufReader::with_capacity(1 << 20, open_file(path)?);
    let reader = ReaderBuilder::new(telecom::schema()).with_header(true).with_batch_size(ROWS).build(file);
    Ok(Box::new(reader.map_err(&failed)?.map(move |batch| batch.map_err(&failed))))
}

fn parquet(path: &Path) -> Result<Records, BenchError> {
    let owned = path.to_owned();
    let failed = |source| BenchError::Segment { path: path.to_owned(), source };
    let reader = ParquetRecordBatchReaderBuilder::try_new(open_file(path)?).map_err(failed)?;
    let reader = reader.with_batch_size(ROWS).build().map_err(failed)?;
    Ok(Box::new(reader.map(move |batch| batch.map_err(|source| BenchError::Rows { path: owned.clone(), source }))))
}
