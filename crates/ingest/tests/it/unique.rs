//! Rows that are one in their time and some columns: the one acknowledged last stays.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{Int64Type, TimestampMicrosecondType};
use disk::RealDisk;
use ingest::{Partition, Store, StoreOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use table::Table;

use crate::support::{name, options, unflushed};

/// Time, host and rack, by which the last value is known.
type Key = (i64, Option<String>, Option<String>);

/// What happens to a store.
#[derive(Debug, Clone)]
enum Step {
    /// Rows come: hour, host and rack of each.
    Write(Vec<(i64, Option<u8>, Option<u8>)>),
    /// Segments may be written meanwhile.
    Wait(u64),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || prop::option::weighted(0.7, 0..2u8);
    let row = (0..30i64, key(), key()).prop_map(|(hour, host, rack)| (hour / 7 * 12, host, rack));
    let step = prop_oneof![
        6 => prop::collection::vec(row, 1..12).prop_map(Step::Write),
        2 => (1..30u64).prop_map(Step::Wait),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..24)
}

fn text(key: Option<u8>) -> Option<String> {
    key.map(|key| format!("k{key}"))
}

/// Rows with the values that follow `next`. A column of which no row has a value is left out.
fn batch(rows: &[(i64, Option<u8>, Option<u8>)], next: i64) -> RecordBatch {
    let times = rows.iter().map(|row| row.0 * 3_600_000_000);
    let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC"));
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values((next..).take(rows.len())));
    let hosts: StringArray = rows.iter().map(|row| text(row.1)).collect();
    let racks: StringArray = rows.iter().map(|row| text(row.2)).collect();
    let mut columns = vec![("time", times), ("value", values)];
    for (name, column) in [("host", hosts), ("rack", racks)] {
        if column.iter().any(|text| text.is_some()) {
            columns.push((name, Arc::new(column)));
        }
    }
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true))).unwrap()
}

fn add(found: &mut BTreeMap<Key, Vec<i64>>, rows: &RecordBatch) {
    let texts = |name: &str, row: usize| {
        let column = rows.column_by_name(name)?.as_string::<i32>();
        column.iter().nth(row).flatten().map(str::to_owned)
    };
    let times = rows.column_by_name("time").unwrap().as_primitive::<TimestampMicrosecondType>();
    let values = rows.column_by_name("value").unwrap().as_primitive::<Int64Type>();
    for row in 0..rows.num_rows() {
        let key = (times.value(row) / 3_600_000_000, texts("host", row), texts("rack", row));
        found.entry(key).or_default().push(values.value(row));
    }
}

async fn stored(data: &Path) -> BTreeMap<Key, Vec<i64>> {
    let root = name("cpu").folder(data);
    let mut found = BTreeMap::new();
    if let Some(table) = Table::open(&root, Arc::new(RealDisk)).await.unwrap() {
        for segment in table.segments().await.unwrap() {
            let file = File::open(root.join(segment.path)).unwrap();
            let rows = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
            rows.for_each(|rows| add(&mut found, &rows.unwrap()));
        }
    }
    found
}

async fn not_stored(data: &Path) -> BTreeMap<Key, Vec<i64>> {
    let mut found = BTreeMap::new();
    let unflushed = unflushed(data, &name("cpu"), &["host".to_owned(), "rack".to_owned()]).await;
    unflushed.into_iter().flat_map(|u| u.rows).for_each(|(_, rows)| add(&mut found, &rows));
    found
}

async fn check(steps: Vec<Step>, flush_rows: usize, partition: Partition) {
    let data = tempfile::tempdir().unwrap();
    let unique = [(name("cpu"), vec!["host".to_owned(), "rack".to_owned()])].into();
    let flush_age = Duration::from_millis(10);
    let options = StoreOptions { flush_rows, flush_age, partition, unique, compact_segments: 3, ..options() };
    let open = async || Store::open(data.path(), Arc::new(RealDisk), options.clone()).await.unwrap();
    let mut expected: BTreeMap<Key, Vec<i64>> = BTreeMap::new();
    let mut next = 0;
    let mut store = open().await;
    for step in steps.into_iter().chain([Step::Restart]) {
        match step {
            Step::Write(rows) => {
                store.write(vec![(name("cpu"), batch(&rows, next))], None, decode::OnConflict::Refuse).await.unwrap();
                for (hour, host, rack) in rows {
                    expected.insert((hour, text(host), text(rack)), vec![next]);
                    next += 1;
                }
            }
            Step::Wait(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
            Step::Restart => {
                store.close().await;
                assert_eq!(stored(data.path()).await, expected);
                drop(store);
                store = open().await;
            }
        }
        for (key, values) in not_stored(data.path()).await {
            assert_eq!(values, expected[&key], "{key:?} of those that are in no segment");
        }
    }
    store.close().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_last_value_of_each_key_is_there_once(
        steps in steps(),
        flush_rows in 1..40usize,
        partition in prop_oneof![Just(Partition::None), Just(Partition::Day)],
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(check(steps, flush_rows, partition));
    }
}
