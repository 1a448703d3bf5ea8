//! Rows with a number each, and all numbers that a store holds.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, TimestampMicrosecondArray};
use arrow::datatypes::{Int64Type, Schema};
use disk::{Disk, RealDisk};
use ingest::{Partition, Store, StoreOptions, Unflushed};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use table::{Table, TableName};

/// Flushes often and in small pieces, so that everything happens within a few requests.
pub(crate) fn options() -> StoreOptions {
    StoreOptions {
        flush_rows: 40,
        flush_age: Duration::from_millis(20),
        compact_segments: 4,
        memory_bytes: 16 << 20,
        ..StoreOptions::default()
    }
}

pub(crate) async fn open(data: &Path, disk: Arc<dyn Disk>) -> Arc<Store> {
    Store::open(data, disk, options()).await.unwrap()
}

pub(crate) fn name(text: &str) -> TableName {
    text.parse().unwrap()
}

/// As [`options`], with segments cut by day.
pub(crate) fn by_day() -> StoreOptions {
    StoreOptions { partition: Partition::Day, ..options() }
}

/// Ten rows, numbered from ten times `number`, two hours apart, the last of them the earliest; after a hundred batches the
/// times begin again.
pub(crate) fn batch(number: i64) -> RecordBatch {
    let numbers: Vec<i64> = (number * 10..number * 10 + 10).collect();
    let times = numbers.iter().rev().map(|number| number % 1_000 * 7_200_000_000);
    let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC"));
    let numbers: ArrayRef = Arc::new(Int64Array::from(numbers));
    RecordBatch::try_from_iter([("time", times), ("number", numbers)]).unwrap()
}

/// What the log of a table holds that no segment does, as a question finds it.
pub(crate) async fn unflushed(data: &Path, table: &TableName, unique: &[String]) -> Option<Unflushed> {
    let root = table.folder(data);
    let waiting = ingest::waiting(&root, 0).unwrap()?;
    let (schema, position) = match Table::open(&root, Arc::new(RealDisk)).await.unwrap() {
        Some(table) => (table.arrow_schema().unwrap(), table.append_position().await.unwrap()),
        None => (Arc::new(Schema::empty()), 0),
    };
    Some(waiting.fit(&schema, position, unique).unwrap())
}

/// The numbers in a table, in order: those of its segments, and those of `store` that are in none.
pub(crate) async fn numbers(data: &Path, store: Option<&Store>, table: &TableName) -> Vec<i64> {
    let unflushed = if store.is_some() { unflushed(data, table, &[]).await } else { None };
    let mut found = Vec::new();
    let mut position = 0;
    let mut add = |rows: &RecordBatch| {
        let column = rows.column_by_name("number").unwrap();
        assert_eq!(column.null_count(), 0);
        found.extend(column.as_primitive::<Int64Type>().values());
    };
    let root = table.folder(data);
    if let Some(table) = Table::open(&root, Arc::new(RealDisk)).await.unwrap() {
        position = table.append_position().await.unwrap();
        for segment in table.segments().await.unwrap() {
            let file = File::open(root.join(segment.path)).unwrap();
            let rows = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
            rows.for_each(|rows| add(&rows.unwrap()));
        }
    }
    let new = unflushed.into_iter().flat_map(|unflushed| unflushed.rows).filter(|(at, _)| *at > position);
    new.for_each(|(_, rows)| add(&rows));
    found.sort_unstable();
    found
}

/// The batches that a table holds, each of which must be there whole and once.
pub(crate) async fn batches(data: &Path, store: Option<&Store>, table: &TableName) -> Vec<i64> {
    whole(&numbers(data, store, table).await)
}

/// The batches that some numbers are of.
pub(crate) fn whole(numbers: &[i64]) -> Vec<i64> {
    let whole = |ten: &[i64]| {
        let first = ten[0];
        assert!(first % 10 == 0 && ten.iter().copied().eq(first..first + 10), "{ten:?}");
        first / 10
    };
    numbers.chunks(10).map(whole).collect()
}

/// Waits for what must come in the end.
pub(crate) async fn until(mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..600 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never came");
}
