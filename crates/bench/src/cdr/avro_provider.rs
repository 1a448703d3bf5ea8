//! The baseline in SQL: every scan reads its files completely.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use sql::QueryError;
use sql::datafusion::catalog::streaming::StreamingTable;
use sql::datafusion::common::DataFusionError;
use sql::datafusion::execution::{SendableRecordBatchStream, TaskContext};
use sql::datafusion::physical_plan::stream::RecordBatchReceiverStream;
use sql::datafusion::physical_plan::streaming::PartitionStream;
use tokio::sync::mpsc::Sender;

use super::avro::AvroTable;
use crate::error::BenchError;

/// Maximum unread batches per thread.
const WAITING_MAX: usize = 2;

/// The files of `table` as a table for SQL that `threads` threads read. Its scans add the bytes read to `bytes_read`.
pub(super) fn provider(
    table: &AvroTable,
    threads: usize,
    bytes_read: &Arc<AtomicU64>,
) -> Result<StreamingTable, BenchError> {
    let files = table.files()?;
    let threads = threads.min(files.len()).max(1);
    // Round robin balances well for many files, and for files of similar size.
    let share = |first: usize| {
        let files = files.iter().skip(first).step_by(threads).cloned().collect();
        Arc::new(Share { table: table.clone(), files, bytes_read: bytes_read.clone() }) as Arc<dyn PartitionStream>
    };
    let shares = (0..threads).map(share).collect();
    Ok(StreamingTable::try_new(table.schema().clone(), shares).map_err(QueryError::from)?)
}

/// Files for one thread to read.
#[derive(Debug, Clone)]
struct Share {
    table: AvroTable,
    files: Vec<(PathBuf, u64)>,
    bytes_read: Arc<AtomicU64>,
}

impl Share {
    /// Sends the rows of all files, until `out` is closed.
    fn read(&self, out: &Sender<Result<RecordBatch, DataFusionError>>) -> Result<(), BenchError> {
        for (file, bytes) in &self.files {
            self.bytes_read.fetch_add(*bytes, Ordering::Relaxed);
            for batch in self.table.read(file)? {
                if out.blocking_send(Ok(batch?)).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

impl PartitionStream for Share {
    fn schema(&self) -> &SchemaRef {
        self.table.schema()
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStream::builder(self.table.schema().clone(), WAITING_MAX);
        let (share, out) = (self.clone(), stream.tx());
        stream.spawn_blocking(move || share.read(&out).map_err(|error| DataFusionError::External(Box::new(error))));
        stream.build()
    }
}
