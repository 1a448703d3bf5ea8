//! Sets of text come through the log, the rows in memory and the segments as they were sent.

use std::fs::File;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, ListBuilder, RecordBatch, StringBuilder, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Int64Type};
use disk::RealDisk;
use ingest::{Partition, Store, StoreOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use table::Table;

use crate::support::{name, options, unflushed};

/// The members that a row has by its number: none in every fourth, and NULL in every fifth.
fn members(number: i64) -> Option<Vec<String>> {
    (number % 5 != 0).then(|| (0..number % 4).map(|i| format!("m{}", number % 7 * 10 + i)).collect())
}

/// Ten rows, two hours apart.
fn batch(number: i64) -> RecordBatch {
    let numbers: Vec<i64> = (number * 10..number * 10 + 10).collect();
    let times = numbers.iter().rev().map(|number| number * 7_200_000_000);
    let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC"));
    let mut sets = ListBuilder::new(StringBuilder::new()).with_field(Field::new("element", DataType::Utf8, false));
    for &number in &numbers {
        match members(number) {
            Some(members) => sets.append_value(members.iter().map(Some)),
            None => sets.append_null(),
        }
    }
    let columns: [(&str, ArrayRef); 3] =
        [("time", times), ("number", Arc::new(Int64Array::from(numbers))), ("groups", Arc::new(sets.finish()))];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
}

/// Checks the sets of some rows, and gives their numbers.
fn check(rows: &RecordBatch) -> Vec<i64> {
    let numbers = rows.column_by_name("number").unwrap().as_primitive::<Int64Type>().values().to_vec();
    let sets = rows.column_by_name("groups").unwrap().as_list::<i32>().iter();
    let texts = |list: ArrayRef| list.as_string::<i32>().iter().map(|t| t.unwrap().to_owned()).collect();
    for (number, set) in numbers.iter().zip(sets) {
        assert_eq!(set.map(texts), members(*number), "row {number}");
    }
    numbers
}

#[tokio::test(flavor = "multi_thread")]
async fn sets_are_stored_as_they_came() {
    for (partition, unique) in [(Partition::None, vec![]), (Partition::Day, vec!["groups".to_owned()])] {
        let data = tempfile::tempdir().unwrap();
        let kept = StoreOptions { flush_rows: 1_000_000, flush_age: std::time::Duration::from_hours(1), ..options() };
        let options = StoreOptions { partition, unique: [(name("events"), unique)].into(), ..options() };
        let open = async |options| Store::open(data.path(), Arc::new(RealDisk), options).await.unwrap();
        // The first store ends before any segment is written: what it took is in the log only.
        let store = open(kept).await;
        for number in 0..3 {
            store.write(vec![(name("events"), batch(number))], None, decode::OnConflict::Refuse).await.unwrap();
        }
        let mut fresh: Vec<i64> = unflushed(data.path(), &name("events"), &[])
            .await
            .unwrap()
            .rows
            .iter()
            .flat_map(|(_, rows)| check(rows))
            .collect();
        fresh.sort_unstable();
        assert!(fresh.into_iter().eq(0..30));
        drop(store);
        let store = open(options).await;
        for number in 3..20 {
            store.write(vec![(name("events"), batch(number))], None, decode::OnConflict::Refuse).await.unwrap();
        }
        store.close().await;
        let root = name("events").folder(data.path());
        let table = Table::open(&root, Arc::new(RealDisk)).await.unwrap().unwrap();
        let mut found = Vec::new();
        for segment in table.segments().await.unwrap() {
            let file = File::open(root.join(segment.path)).unwrap();
            let rows = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
            rows.for_each(|rows| found.extend(check(&rows.unwrap())));
        }
        found.sort_unstable();
        assert!(found.into_iter().eq(0..200));
    }
}
