//! Many writers at once: more than the disk takes, and of two minds about a column.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use disk::RealDisk;
use ingest::{IngestError, Store, StoreOptions, Written};
use table::Table;
use tokio::task::JoinSet;

use crate::support::{batch, batches, name, numbers, open, options};

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_refused_in_part_and_keeps_all_that_it_was_told_is_kept() {
    let data = tempfile::tempdir().unwrap();
    // Room for some requests, where a segment of four takes the disk longer than senders take for many.
    let small = StoreOptions { memory_bytes: 32 << 10, ..options() };
    let store = Store::open(data.path(), Arc::new(RealDisk), small).await.unwrap();
    let table = name("cpu");
    let mut writers = JoinSet::new();
    for writer in 0..16 {
        let (store, table) = (store.clone(), table.clone());
        writers.spawn(async move {
            let mut kept = Vec::new();
            for n in writer * 50..(writer + 1) * 50 {
                match store.write(vec![(table.clone(), batch(n))], None, decode::OnConflict::Refuse).await {
                    Ok(written) => kept.push((n, written[0].rows)),
                    Err(IngestError::Overloaded { .. }) => tokio::task::yield_now().await,
                    Err(other) => panic!("{other}"),
                }
            }
            kept
        });
    }
    let mut kept: Vec<(i64, u64)> = writers.join_all().await.concat();
    kept.sort_unstable();
    let figures = store.figures();
    assert!(figures.overloaded > 0 && figures.waiting_bytes <= figures.memory_bytes, "{figures:?}");
    assert!(kept.iter().all(|(_, rows)| *rows == 10));
    let kept: Vec<i64> = kept.into_iter().map(|(n, _)| n).collect();
    assert_eq!((kept.len() as u64) + figures.overloaded, 800);
    assert_eq!(batches(data.path(), Some(&store), &table).await, kept);
    store.close().await;
    assert_eq!(batches(data.path(), None, &table).await, kept);
}

/// Ten rows, five of which have a value in the column `state`.
fn stateful(number: i64, state: ArrayRef) -> RecordBatch {
    let rows = batch(number);
    let columns = [("time", rows.column(0).clone()), ("number", rows.column(1).clone()), ("state", state)];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_types_of_a_new_column_one_wins_whoever_sends_at_once() {
    for round in 0..20 {
        let data = tempfile::tempdir().unwrap();
        let store = open(data.path(), Arc::new(RealDisk)).await;
        let table = name("cpu");
        let mut writers = JoinSet::new();
        for writer in 0..8 {
            let state: ArrayRef = if (writer + round) % 2 == 0 {
                Arc::new(Int64Array::from_iter((0..10).map(|row| (row < 5).then_some(row))))
            } else {
                Arc::new(StringArray::from_iter((0..10).map(|row| (row < 5).then_some("on"))))
            };
            let (store, table) = (store.clone(), table.clone());
            writers.spawn(async move {
                store.write(vec![(table, stateful(writer, state))], None, decode::OnConflict::Refuse).await.unwrap()
            });
        }
        let written: Vec<Written> = writers.join_all().await.concat();
        // Four senders had their way; of the others the rows without a value are kept, and the rest is told of.
        let mut rows: Vec<u64> = written.iter().map(|w| w.rows).collect();
        rows.sort_unstable();
        assert_eq!(rows, [5, 5, 5, 5, 10, 10, 10, 10]);
        for refused in written.iter().filter(|w| w.rows == 5) {
            let [conflict] = &refused.conflicts[..] else { panic!("{refused:?}") };
            assert_eq!((conflict.field.as_str(), conflict.rows, conflict.first), ("state", 5, 0));
        }
        store.close().await;
        assert_eq!(numbers(data.path(), None, &table).await.len(), 60);
        let stored = Table::open(&table.folder(data.path()), Arc::new(RealDisk)).await.unwrap().unwrap();
        assert_eq!(stored.columns().unwrap(), ["time", "number", "state"]);
    }
}
