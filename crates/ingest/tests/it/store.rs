//! What a store promises while nothing fails but room.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arrow::array::{Array, ArrayRef, Float64Array, RecordBatch};
use disk::power_loss::PowerLossDisk;
use disk::watched::WatchedDisk;
use disk::{Disk, RealDisk};
use ingest::{IngestError, Key, Store, StoreOptions};
use table::Table;

use crate::support::{batch, batches, name, numbers, open, options, unflushed, until};

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_visible_once_at_any_moment_and_in_the_table_at_the_end() {
    let data = tempfile::tempdir().unwrap();
    let store = open(data.path(), Arc::new(RealDisk)).await;
    let table = name("cpu");
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (store, table) = (store.clone(), table.clone());
            tokio::spawn(async move {
                for n in 0..50 {
                    let written = store
                        .write(vec![(table.clone(), batch(writer * 50 + n))], None, decode::OnConflict::Refuse)
                        .await
                        .unwrap();
                    assert_eq!((written[0].rows, written[0].before), (10, false));
                }
            })
        })
        .collect();
    let mut seen = 0;
    while !writers.iter().all(tokio::task::JoinHandle::is_finished) {
        let found = batches(data.path(), Some(&store), &table).await;
        assert!(found.len() >= seen, "{} after {seen}", found.len());
        seen = found.len();
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert!(batches(data.path(), Some(&store), &table).await.into_iter().eq(0..200));
    store.close().await;
    assert!(batches(data.path(), None, &table).await.into_iter().eq(0..200));
    let left = std::fs::read_dir(table.folder(data.path()).join("_ingest")).unwrap();
    let left = left.map(Result::unwrap).filter(|e| e.path().extension().is_some_and(|end| end == "log"));
    let bytes: Vec<u64> = left.map(|e| e.metadata().unwrap().len()).collect();
    assert_eq!(bytes, [0], "of the log of what is in the table a name stays");
    assert!(matches!(
        store.write(vec![(table, batch(0))], None, decode::OnConflict::Refuse).await,
        Err(IngestError::Closing)
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_segment_is_in_the_order_of_time() {
    let data = tempfile::tempdir().unwrap();
    let store = open(data.path(), Arc::new(RealDisk)).await;
    let table = name("cpu");
    for n in [3, 1, 2] {
        store.write(vec![(table.clone(), batch(n))], None, decode::OnConflict::Refuse).await.unwrap();
    }
    store.close().await;
    let segments = Table::open(&table.folder(data.path()), Arc::new(RealDisk)).await.unwrap().unwrap();
    for segment in segments.segments().await.unwrap() {
        let file = std::fs::File::open(table.folder(data.path()).join(&segment.path)).unwrap();
        let rows = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        for rows in rows.build().unwrap() {
            let times = rows.unwrap().column(0).to_data();
            assert!(times.buffers()[0].typed_data::<i64>().is_sorted());
        }
        assert!(segment.columns["time"].min.is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_a_key_is_stored_once_also_after_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let table = name("metrics.cpu");
    for round in 0..3 {
        let store = open(data.path(), Arc::new(RealDisk)).await;
        let one = async |n| {
            store
                .write(vec![(table.clone(), batch(n))], Some(Key::of(&format!("k{n}"))), decode::OnConflict::Refuse)
                .await
                .unwrap()
        };
        let (first, second) = tokio::join!(one(1), one(1));
        assert_eq!([first[0].before, second[0].before].iter().filter(|b| !**b).count(), usize::from(round == 0));
        assert!(!one(2 + round).await[0].before);
        assert_eq!(batches(data.path(), Some(&store), &table).await, (1..=2 + round).collect::<Vec<_>>());
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_room_is_refused_and_what_had_room_is_kept() {
    let data = tempfile::tempdir().unwrap();
    let slow = StoreOptions {
        memory_bytes: 256 << 10,
        flush_rows: usize::MAX,
        flush_bytes: usize::MAX,
        flush_age: Duration::from_hours(1),
        ..options()
    };
    let store = Store::open(data.path(), Arc::new(RealDisk), slow).await.unwrap();
    let table = name("cpu");
    let mut stored = Vec::new();
    let refused = loop {
        let n = stored.len() as i64;
        match store.write(vec![(table.clone(), batch(n))], None, decode::OnConflict::Refuse).await {
            Ok(_) => stored.push(n),
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, IngestError::Overloaded { limit: 262_144, .. }), "{refused}");
    let figures = store.figures();
    assert!(figures.waiting_bytes <= figures.memory_bytes && figures.overloaded == 1, "{figures:?}");
    assert!(stored.len() > 50, "{} batches had room", stored.len());
    assert_eq!(batches(data.path(), Some(&store), &table).await, stored);
    // A table with room gets nothing of a request that has none for another.
    let many: Vec<_> = (0..200).map(batch).collect();
    let many = arrow::compute::concat_batches(&batch(0).schema(), &many).unwrap();
    let both = vec![(name("mem"), batch(1).slice(0, 1)), (table.clone(), many)];
    let refused = store.write(both, None, decode::OnConflict::Refuse).await.unwrap_err();
    assert!(matches!(refused, IngestError::Overloaded { .. }), "{refused}");
    assert!(numbers(data.path(), Some(&store), &name("mem")).await.is_empty());
    store.close().await;
    assert_eq!(batches(data.path(), None, &table).await, stored);
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_grow_while_rows_come_in() {
    let data = tempfile::tempdir().unwrap();
    let table = name("cpu");
    let store = open(data.path(), Arc::new(RealDisk)).await;
    store.write(vec![(table.clone(), batch(0))], None, decode::OnConflict::Refuse).await.unwrap();
    store.close().await;
    drop(store);
    let store = open(data.path(), Arc::new(RealDisk)).await;
    let load: ArrayRef = Arc::new(Float64Array::from(vec![0.5; 10]));
    let old = batch(1);
    let grown = RecordBatch::try_from_iter([
        ("load", load),
        ("number", old.column(1).clone()),
        ("time", old.column(0).clone()),
    ]);
    store.write(vec![(table.clone(), grown.unwrap())], None, decode::OnConflict::Refuse).await.unwrap();
    store.write(vec![(table.clone(), batch(2))], None, decode::OnConflict::Refuse).await.unwrap();
    let unflushed = unflushed(data.path(), &table, &[]).await.unwrap();
    let names: Vec<_> = unflushed.schema.fields().iter().map(|f| f.name().as_str()).collect();
    assert_eq!(names, ["time", "number", "load"]);
    store.close().await;
    assert_eq!(numbers(data.path(), None, &table).await, (0..30).collect::<Vec<_>>());
    let stored = Table::open(&table.folder(data.path()), Arc::new(RealDisk)).await.unwrap().unwrap();
    assert_eq!(stored.columns().unwrap(), ["time", "number", "load"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_server_has_a_folder() {
    let data = tempfile::tempdir().unwrap();
    let first = open(data.path(), Arc::new(RealDisk)).await;
    let second = Store::open(data.path(), Arc::new(RealDisk), options()).await;
    assert!(second.unwrap_err().to_string().contains("in use by another server"));
    first.close().await;
    drop(first);
    open(data.path(), Arc::new(RealDisk)).await.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn integers_that_are_stored_become_real_numbers_when_such_come() {
    let data = tempfile::tempdir().unwrap();
    let table = name("cpu");
    let real = |n: i64| {
        let halves: ArrayRef = Arc::new(Float64Array::from(vec![n as f64 + 0.5]));
        RecordBatch::try_from_iter([("time", batch(0).column(0).slice(0, 1)), ("number", halves)]).unwrap()
    };
    for restart in [false, true] {
        let data = data.path().join(restart.to_string());
        let mut store = open(&data, Arc::new(RealDisk)).await;
        for n in 0..6 {
            store.write(vec![(table.clone(), batch(n))], None, decode::OnConflict::Refuse).await.unwrap();
        }
        while store.figures().segments == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if restart {
            store.close().await;
            drop(store);
            store = open(&data, Arc::new(RealDisk)).await;
        }
        store.write(vec![(table.clone(), real(6))], None, decode::OnConflict::Refuse).await.unwrap();
        store.write(vec![(table.clone(), batch(7))], None, decode::OnConflict::Refuse).await.unwrap();
        store.close().await;
        let root = table.folder(&data);
        let stored = Table::open(&root, Arc::new(RealDisk)).await.unwrap().unwrap();
        assert!(stored.arrow_schema().unwrap().field(1).data_type().is_floating());
        let mut found = Vec::new();
        for segment in stored.segments().await.unwrap() {
            let file = std::fs::File::open(root.join(&segment.path)).unwrap();
            let rows = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            for rows in rows.build().unwrap() {
                let numbers = rows.unwrap().column_by_name("number").unwrap().to_data();
                assert!(numbers.data_type().is_floating(), "no reader has to convert");
                found.extend(Float64Array::from(numbers).values());
            }
        }
        found.sort_by(f64::total_cmp);
        let expected = (0..60).map(f64::from).chain([6.5]).chain((70..80).map(f64::from));
        let mut expected: Vec<f64> = expected.collect();
        expected.sort_by(f64::total_cmp);
        assert_eq!(found, expected, "restart {restart}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn small_segments_are_merged_and_old_rows_go_while_rows_come_in() {
    let data = tempfile::tempdir().unwrap();
    let table = name("cpu");
    let store = open(data.path(), Arc::new(RealDisk)).await;
    for n in 0..100 {
        store.write(vec![(table.clone(), batch(n))], None, decode::OnConflict::Refuse).await.unwrap();
        tokio::time::sleep(Duration::from_millis(8)).await;
    }
    assert!(batches(data.path(), Some(&store), &table).await.into_iter().eq(0..100));
    let written = store.figures().segments;
    store.close().await;
    drop(store);
    let segments = async || {
        let table = Table::open(&table.folder(data.path()), Arc::new(RealDisk)).await.unwrap().unwrap();
        table.segments().await.unwrap().len() as u64
    };
    assert!(segments().await < written, "{written} segments were written");
    // Their times are of 1970.
    let keeping = StoreOptions { retain: Some(Duration::from_hours(24)), ..options() };
    let store = Store::open(data.path(), Arc::new(RealDisk), keeping).await.unwrap();
    store.write(vec![(table.clone(), batch(100))], None, decode::OnConflict::Refuse).await.unwrap();
    while segments().await > 1 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_come_into_a_table_that_was_inserted_with_other_types() {
    use table::{Inserter, Layout, TableOptions};
    let data = tempfile::tempdir().unwrap();
    let table = name("cpu");
    let days: ArrayRef = Arc::new(arrow::array::Date32Array::from(vec![1; 10]));
    let old = batch(0);
    let inserted = RecordBatch::try_from_iter_with_nullable([
        ("day", days, true),
        ("time", old.column(0).clone(), true),
        ("number", old.column(1).clone(), true),
    ]);
    let (inserted, root) = (inserted.unwrap(), table.folder(data.path()));
    let layout = TableOptions::new(Layout::Pruned);
    let inserter = Inserter::open_or_create(&root, Arc::new(RealDisk), &inserted.schema(), &layout).await.unwrap();
    inserter.insert(&[inserted]).await.unwrap();
    let store = open(data.path(), Arc::new(RealDisk)).await;
    store.write(vec![(table.clone(), batch(1))], None, decode::OnConflict::Refuse).await.unwrap();
    let wrong: ArrayRef = Arc::new(Float64Array::from(vec![0.5; 10]));
    let wrong = RecordBatch::try_from_iter([("day", wrong), ("time", old.column(0).clone())]).unwrap();
    let written = store.write(vec![(table.clone(), wrong)], None, decode::OnConflict::Refuse).await.unwrap();
    assert_eq!((written[0].rows, written[0].conflicts[0].field.as_str()), (0, "day"));
    assert_eq!(batches(data.path(), Some(&store), &table).await, [0, 1]);
    store.close().await;
    assert_eq!(batches(data.path(), None, &table).await, [0, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn failing_log_is_listed_until_the_disk_works() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let disk = PowerLossDisk::new(&folder.path().join("attic")).unwrap();
    let slow = StoreOptions { flush_age: Duration::from_hours(1), ..options() };
    let store = Store::open(&data, Arc::new(disk.clone()), slow).await.unwrap();
    let (failing, other) = (name("cpu"), name("mem"));
    let write = async |table: &table::TableName, n| {
        store.write(vec![(table.clone(), batch(n))], Some(Key(n as u128)), decode::OnConflict::Refuse).await
    };
    let listed = || store.failing().into_iter().map(|failing| failing.table).collect::<Vec<_>>();
    write(&failing, 1).await.unwrap();
    write(&other, 1).await.unwrap();
    assert_eq!(listed(), []);
    store.check_disk().unwrap();
    disk.fail_from(disk.operations());
    assert!(matches!(write(&failing, 2).await, Err(IngestError::Log { .. })));
    store.check_disk().unwrap_err();
    // Rows that were stored before say nothing of the disk.
    write(&failing, 1).await.unwrap();
    assert_eq!(listed(), std::slice::from_ref(&failing));
    disk.fail_from(u64::MAX);
    store.check_disk().unwrap();
    until(async || listed().is_empty()).await;
    write(&failing, 2).await.unwrap();
    assert_eq!(store.close().await, []);
    assert_eq!(batches(&data, None, &failing).await, [1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_with_one_key_that_wait_together_fail_together() {
    let data = tempfile::tempdir().unwrap();
    let [is_full, is_waiting, may_go] = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
    let (full, waiting, go) = (is_full.clone(), is_waiting.clone(), may_go.clone());
    let disk = WatchedDisk::over(RealDisk, move |_, _| {
        if !full.load(Ordering::Relaxed) {
            return Ok(());
        }
        waiting.store(true, Ordering::Relaxed);
        while !go.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(std::io::Error::other("the disk is full"))
    });
    let slow = StoreOptions { flush_age: Duration::from_hours(1), ..options() };
    let store = Store::open(data.path(), Arc::new(disk), slow).await.unwrap();
    let table = name("cpu");
    let write = |n: i64| store.write(vec![(table.clone(), batch(n))], Some(Key(n as u128)), decode::OnConflict::Refuse);
    write(0).await.unwrap();
    is_full.store(true, Ordering::Relaxed);
    let mut first = Box::pin(write(1));
    assert!(futures::poll!(&mut first).is_pending());
    until(async || is_waiting.load(Ordering::Relaxed)).await;
    // The same request twice, while the disk works on another.
    let [mut once, mut again] = [(); 2].map(|()| Box::pin(write(2)));
    assert!(futures::poll!(&mut once).is_pending() && futures::poll!(&mut again).is_pending());
    may_go.store(true, Ordering::Relaxed);
    for result in [first.await, once.await, again.await] {
        assert!(matches!(result, Err(IngestError::Log { .. })), "{result:?}");
    }
    is_full.store(false, Ordering::Relaxed);
    assert_eq!(batches(data.path(), Some(&store), &table).await, [0]);
    assert!(!write(2).await.unwrap()[0].before && write(2).await.unwrap()[0].before);
    assert_eq!(store.close().await, []);
    assert_eq!(batches(data.path(), None, &table).await, [0, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_dropped_leaves_nothing_that_runs() {
    let data = tempfile::tempdir().unwrap();
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let store = open(data.path(), Arc::new(RealDisk)).await;
    store.write(vec![(name("cpu"), batch(0))], None, decode::OnConflict::Refuse).await.unwrap();
    drop(store);
    let ended = async {
        while tokio::runtime::Handle::current().metrics().num_alive_tasks() > before {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), ended).await.unwrap();
    let store = open(data.path(), Arc::new(RealDisk)).await;
    assert_eq!(batches(data.path(), Some(&store), &name("cpu")).await, [0]);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_free_once_its_store_has_closed_even_while_rows_of_others_are_taken_over() {
    let data = tempfile::tempdir().unwrap();
    let (busy, is_busy) = std::sync::mpsc::channel();
    let slow = WatchedDisk::over(RealDisk, move |_, path| {
        if path.components().any(|part| part.as_os_str() == "mem") {
            busy.send(()).map_err(std::io::Error::other)?;
            std::thread::sleep(Duration::from_millis(300));
        }
        Ok(())
    });
    let store = open(data.path(), Arc::new(slow)).await;
    let real: Arc<dyn Disk> = Arc::new(RealDisk);
    ingest::append(&name("mem").folder(data.path()), &real, &[batch(0)]).unwrap();
    tokio::task::block_in_place(|| is_busy.recv_timeout(Duration::from_secs(30))).unwrap();
    store.close().await;
    drop((store, is_busy));
    let store = open(data.path(), real).await;
    store.close().await;
    assert_eq!(batches(data.path(), None, &name("mem")).await, [0]);
}
