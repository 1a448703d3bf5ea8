//! Figures of single tables of a store.

use std::sync::atomic::Ordering;

use arrow::array::{AsArray as _, RecordBatch};
use arrow::compute::max;
use arrow::datatypes::{SchemaRef, TimestampMicrosecondType};
use decode::TIME;
use table::TableName;

use crate::live::{Live, lock};
use crate::store::Store;

/// Figures of a table that receives rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableFigures {
    pub table: TableName,
    /// Rows acknowledged since the store was opened.
    pub acknowledged: u64,
    /// Rows that are in no segment.
    pub waiting_rows: u64,
    /// The latest time of those in memory, in microseconds since 1970.
    pub latest: Option<i64>,
    /// The columns, including those of waiting rows only.
    pub schema: SchemaRef,
}

/// The log of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFigures {
    pub table: TableName,
    /// Bytes of its files.
    pub bytes: u64,
    /// Rows that are in no segment.
    pub rows: u64,
    /// The first position that is in no segment, and the position of the next entry; equal if all rows are in segments.
    pub first: u64,
    pub next: u64,
}

impl Store {
    /// Figures of all tables that have received rows, by name.
    pub fn table_figures(&self) -> Vec<TableFigures> {
        self.lives().iter().map(|live| of_table(live)).collect()
    }

    /// Figures of one table; `None` if it has received no rows.
    pub fn figures_of(&self, name: &TableName) -> Option<TableFigures> {
        self.known(name).map(|live| of_table(&live))
    }

    /// The logs of all tables, by name. Waits for groups of rows that are being written.
    pub fn logs(&self) -> Vec<LogFigures> {
        let figures = |live: &Live| {
            let next = lock(&live.log).next_position();
            let buffer = lock(&live.buffer);
            LogFigures {
                table: live.name.clone(),
                bytes: live.counts.log_bytes.load(Ordering::Relaxed),
                rows: buffer.unwritten() as u64,
                first: buffer.first_unwritten().unwrap_or(next).min(next),
                next,
            }
        };
        self.lives().iter().map(|live| figures(live)).collect()
    }
}

fn of_table(live: &Live) -> TableFigures {
    // Not under the lock of the buffer, which writers need.
    let (waiting_rows, batches) = {
        let buffer = lock(&live.buffer);
        (buffer.unwritten() as u64, buffer.batches())
    };
    TableFigures {
        table: live.name.clone(),
        acknowledged: live.counts.rows.load(Ordering::Relaxed),
        waiting_rows,
        latest: batches.iter().filter_map(latest).max(),
        schema: lock(&live.columns).schema().clone(),
    }
}

fn latest(rows: &RecordBatch) -> Option<i64> {
    max(rows.column_by_name(TIME)?.as_primitive_opt::<TimestampMicrosecondType>()?)
}
