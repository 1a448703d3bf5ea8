//! Processes that come and go append to one log, and turn it into segments, beside each other and beside a server.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use disk::power_loss::PowerLossDisk;
use disk::{Disk, RealDisk};
use ingest::{Bulk, FlushOptions, IngestError, Store, append, digest, waiting};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use table::{Inserter, Layout, Table, TableOptions};

use crate::support::{batch, name, open, options, whole};

pub(crate) fn real() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

/// Segments small enough that a few rows are several.
pub(crate) fn few() -> FlushOptions {
    FlushOptions { segment_rows: 35, round_bytes: 3_000, compact_segments: 4, ..FlushOptions::default() }
}

/// All rows of a table, as a question at the shell finds them: those of the log read before the newest version.
async fn rows(root: &Path) -> RecordBatch {
    let mut table = Table::open(root, real()).await.unwrap();
    let held = match &table {
        Some(table) => table.append_position().await.unwrap(),
        None => 0,
    };
    let fresh = waiting(root, held).unwrap().unwrap_or_default();
    match &mut table {
        Some(table) => table.refresh().await.unwrap(),
        None => table = Table::open(root, real()).await.unwrap(),
    }
    let (schema, position) = match &table {
        Some(table) => (table.arrow_schema().unwrap(), table.append_position().await.unwrap()),
        None => (Arc::new(arrow::datatypes::Schema::empty()), 0),
    };
    let fresh = fresh.fit(&schema, position, &[]).unwrap();
    let mut found = Vec::new();
    let segments = match &table {
        Some(table) => table.segments().await.unwrap(),
        None => Vec::new(),
    };
    for segment in segments {
        // Merged meanwhile: whoever asks again finds it.
        let file = std::fs::File::open(root.join(segment.path)).unwrap();
        for rows in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
            found.push(in_columns(&rows.unwrap(), &fresh.schema));
        }
    }
    found.extend(fresh.rows.iter().map(|(_, rows)| in_columns(rows, &fresh.schema)));
    concat_batches(&fresh.schema, &found).unwrap()
}

fn in_columns(rows: &RecordBatch, schema: &arrow::datatypes::SchemaRef) -> RecordBatch {
    let column = |f: &Arc<arrow::datatypes::Field>| match rows.column_by_name(f.name()) {
        Some(column) => arrow::compute::cast(column, f.data_type()).unwrap(),
        None => arrow::array::new_null_array(f.data_type(), rows.num_rows()),
    };
    RecordBatch::try_new(schema.clone(), schema.fields().iter().map(column).collect()).unwrap()
}

/// The numbers in a table and its log, in order.
pub(crate) async fn numbers(root: &Path) -> Vec<i64> {
    let rows = rows(root).await;
    let Some(column) = rows.column_by_name("number") else { return Vec::new() };
    let mut numbers = column.as_primitive::<Int64Type>().values().to_vec();
    numbers.sort_unstable();
    numbers
}

/// Rows as text, each with the names of its columns, in the order of their numbers.
async fn shown(root: &Path) -> Vec<String> {
    let rows = rows(root).await;
    let options = FormatOptions::default();
    let schema = rows.schema();
    let mut columns: Vec<_> = schema.fields().iter().zip(rows.columns()).collect();
    columns.sort_by_key(|(field, _)| field.name().clone());
    let row = |row: usize| {
        let cell = |(field, column): &(&Arc<arrow::datatypes::Field>, &ArrayRef)| {
            let value = ArrayFormatter::try_new(column, &options).unwrap().value(row).to_string();
            column.is_valid(row).then(|| format!("{}={value} ", field.name()))
        };
        columns.iter().filter_map(cell).collect::<String>()
    };
    let number = rows.column_by_name("number").unwrap().as_primitive::<Int64Type>();
    let mut shown: Vec<_> = (0..rows.num_rows()).map(|at| (number.value(at), row(at))).collect();
    shown.sort();
    shown.into_iter().map(|(_, row)| row).collect()
}

pub(crate) fn put(root: &Path, number: i64) -> Result<(), IngestError> {
    append(root, &real(), &[batch(number)]).map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_appended_is_found_once_before_and_after_digests() {
    let data = tempfile::tempdir().unwrap();
    let root = name("events").folder(data.path());
    for round in 0..6 {
        for number in round * 5..round * 5 + 5 {
            let appended = append(&root, &real(), &[batch(number)]).unwrap();
            assert_eq!((appended.rows, appended.position), (10, Some(number as u64 + 1)));
            assert_eq!(appended.files as i64, number % 5 + 1);
        }
        assert!(whole(&numbers(&root).await).into_iter().eq(0..round * 5 + 5));
        let done = digest(&root, real(), &few()).await.unwrap();
        assert!(done.rows == 50 && done.segments > 1, "{done:?}");
        assert!(whole(&numbers(&root).await).into_iter().eq(0..round * 5 + 5));
        assert_eq!(waiting(&root, 0).unwrap().unwrap().entries.len(), 0);
        assert_eq!(digest(&root, real(), &few()).await.unwrap().rows, 0);
    }
    let table = Table::open(&root, real()).await.unwrap().unwrap();
    assert!(table.segments().await.unwrap().len() < 8, "small segments are merged");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_position_that_the_table_took_in_is_never_given_again() {
    let data = tempfile::tempdir().unwrap();
    let root = name("events").folder(data.path());
    // Others made the table, and rows came in that were in its log.
    let options = TableOptions::new(Layout::Pruned);
    let inserter = Inserter::open_or_create(&root, real(), &batch(0).schema(), &options).await.unwrap();
    inserter.insert(&[batch(0)]).await.unwrap();
    drop(inserter);
    put(&root, 1).unwrap();
    digest(&root, real(), &few()).await.unwrap();
    put(&root, 2).unwrap();
    digest(&root, real(), &few()).await.unwrap();
    // The log is gone: only the table knows what it took in.
    std::fs::remove_dir_all(root.join("_ingest")).unwrap();
    let position = append(&root, &real(), &[batch(3)]).unwrap().position;
    assert_eq!(position, Some(3));
    assert!(whole(&numbers(&root).await).into_iter().eq(0..4));
    digest(&root, real(), &few()).await.unwrap();
    assert!(whole(&numbers(&root).await).into_iter().eq(0..4));
    // Dropped and made again, it begins anew.
    std::fs::remove_dir_all(&root).unwrap();
    assert_eq!(append(&root, &real(), &[batch(7)]).unwrap().position, Some(1));
    digest(&root, real(), &few()).await.unwrap();
    assert_eq!(whole(&numbers(&root).await), [7]);
    // So it does where a server wrote it.
    let store = open(data.path(), real()).await;
    store.write(vec![(name("events"), batch(8))], None, decode::OnConflict::Refuse).await.unwrap();
    store.close().await;
    drop(store);
    assert_eq!(append(&root, &real(), &[batch(9)]).unwrap().position, Some(3));
    assert_eq!(whole(&numbers(&root).await), [7, 8, 9]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn appends_and_digests_beside_each_other_lose_and_double_nothing() {
    let data = tempfile::tempdir().unwrap();
    let root = name("events").folder(data.path());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let appenders: Vec<_> = (0..8)
            .map(|writer| {
                let root = &root;
                scope.spawn(move || (0..25).for_each(|n| put(root, writer * 25 + n).unwrap()))
            })
            .collect();
        let (root, stop) = (&root, &stop);
        let runtime = tokio::runtime::Handle::current();
        for _ in 0..2 {
            let runtime = runtime.clone();
            scope.spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    match runtime.block_on(digest(root, real(), &FlushOptions { compact_segments: 0, ..few() })) {
                        Ok(_) | Err(IngestError::Digesting { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        let runtime = runtime.clone();
        scope.spawn(move || {
            let mut before = 0;
            while !stop.load(Ordering::SeqCst) {
                let found = whole(&runtime.block_on(numbers(root)));
                assert!(found.is_sorted_by(|a, b| a < b), "some are there twice");
                assert!(found.len() >= before, "{} after {before}", found.len());
                before = found.len();
            }
        });
        appenders.into_iter().for_each(|a| a.join().unwrap());
        stop.store(true, Ordering::SeqCst);
    });
    assert!(whole(&numbers(&root).await).into_iter().eq(0..200));
    digest(&root, real(), &few()).await.unwrap();
    assert!(whole(&numbers(&root).await).into_iter().eq(0..200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn appends_beside_a_server_are_in_its_answers_and_lose_and_double_nothing() {
    let data = tempfile::tempdir().unwrap();
    let table = name("events");
    let root = table.folder(data.path());
    put(&root, 0).unwrap();
    let store = open(data.path(), real()).await;
    let mut acknowledged = vec![0];
    std::thread::scope(|scope| {
        let runtime = tokio::runtime::Handle::current();
        let mut writers = Vec::new();
        for writer in 0..6 {
            let (root, runtime, store, table, data) = (&root, runtime.clone(), &store, &table, data.path());
            writers.push(scope.spawn(move || {
                for n in 0..30 {
                    let number = 1 + writer * 30 + n;
                    if writer % 2 == 0 {
                        put(root, number).unwrap();
                    } else {
                        runtime
                            .block_on(store.write(
                                vec![(table.clone(), batch(number))],
                                None,
                                decode::OnConflict::Refuse,
                            ))
                            .unwrap();
                    }
                    // Whoever asks now finds it.
                    let found = whole(&runtime.block_on(crate::support::numbers(data, Some(store), table)));
                    assert!(found.contains(&number) && found.is_sorted_by(|a, b| a < b), "{number} of {found:?}");
                }
            }));
        }
        writers.into_iter().for_each(|w| w.join().unwrap());
        acknowledged.extend(1..181);
    });
    assert!(matches!(digest(&root, real(), &few()).await, Err(IngestError::Digesting { .. })), "a server does it");
    assert_eq!(whole(&numbers(&root).await), acknowledged);
    store.close().await;
    // What comes after the end waits for whoever is next.
    put(&root, 181).unwrap();
    assert_eq!(whole(&numbers(&root).await), (0..182).collect::<Vec<_>>());
    drop(store);
    // The last rows, and those of other writers that the server had not noticed before it closed.
    let flushed = digest(&root, real(), &few()).await.unwrap().rows;
    assert!(flushed >= 10 && flushed % 10 == 0, "{flushed}");
    assert_eq!(whole(&numbers(&root).await), (0..182).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_finds_tables_that_others_begin() {
    let data = tempfile::tempdir().unwrap();
    let store = open(data.path(), real()).await;
    put(&name("later").folder(data.path()), 4).unwrap();
    let found = async {
        while Table::open(&name("later").folder(data.path()), real()).await.unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), found).await.unwrap();
    assert_eq!(store.tables(), [name("later")]);
    store.close().await;
    assert_eq!(whole(&crate::support::numbers(data.path(), None, &name("later")).await), [4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_waits_for_a_load_that_is_under_way() {
    let data = tempfile::tempdir().unwrap();
    let root = name("events").folder(data.path());
    let mut load = Bulk::begin(&root, real(), &few()).await.unwrap();
    load.write(batch(0)).await.unwrap();
    let folder = data.path().to_owned();
    let opening = tokio::spawn(async move { Store::open(&folder, real(), options()).await.unwrap() });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!opening.is_finished());
    load.finish().await.unwrap();
    let store = opening.await.unwrap();
    // Now a load goes through the log.
    let mut load = Bulk::begin(&root, real(), &few()).await.unwrap();
    load.write(batch(1)).await.unwrap();
    let (loaded, ..) = load.finish().await.unwrap();
    assert_eq!((loaded.rows, loaded.logged, loaded.segments), (10, 10, 0));
    assert_eq!(whole(&crate::support::numbers(data.path(), Some(&store), &name("events")).await), [0, 1]);
    store.close().await;
}

/// Appends, and digests after every third, until the power goes; tells what was acknowledged.
async fn live(root: &Path, disk: &PowerLossDisk) -> Vec<i64> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut acknowledged = Vec::new();
    for number in 0..10 {
        if append(root, &disk, &[batch(number)]).is_ok() {
            acknowledged.push(number);
        }
        if number % 3 == 2 {
            // Fails where the power is gone; what is promised does not depend on it.
            drop(digest(root, disk.clone(), &few()).await);
        }
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_appended_is_there_once_wherever_the_power_goes() {
    let calm = tempfile::tempdir().unwrap();
    let disk = PowerLossDisk::new(&calm.path().join("attic")).unwrap();
    assert_eq!(live(&calm.path().join("data/default/t"), &disk).await.len(), 10);
    let operations = disk.operations();
    let cases: Vec<u64> = (0..operations).collect();
    for some in cases.chunks(8) {
        let run = |operation: u64| async move {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("data/default/t");
            let disk = PowerLossDisk::new(&folder.path().join("attic")).unwrap();
            disk.fail_from(operation);
            let acknowledged = live(&root, &disk).await;
            disk.fail_from(u64::MAX);
            disk.lose_power_leaving([0.0, 0.5, 1.0][operation as usize % 3]).unwrap();
            // Life goes on: what comes later must not take the place of what was there.
            if root.is_dir() || operation.is_multiple_of(2) {
                put(&root, 100).unwrap();
            }
            for turn in ["recovered", "digested"] {
                let found = whole(&numbers(&root).await);
                assert!(found.is_sorted_by(|a, b| a < b), "{found:?} are there twice, {turn}, {operation}");
                let lost: Vec<_> = acknowledged.iter().filter(|n| !found.contains(n)).collect();
                assert!(lost.is_empty(), "{lost:?} are lost, {turn}, {operation}");
                assert!(!root.is_dir() || found.contains(&100), "what came later is lost, {turn}, {operation}");
                digest(&root, real(), &few()).await.unwrap();
            }
            acknowledged.len() < 10
        };
        let ended = futures::future::join_all(some.iter().map(|&at| tokio::spawn(run(at)))).await;
        assert!(ended.into_iter().filter(|lost| *lost.as_ref().unwrap()).count() > 0 || some[0] > operations - 30);
    }
}

fn with(number: i64, columns: &[(&str, ArrayRef)]) -> RecordBatch {
    let ten = batch(number);
    let own = [("time", ten.column(0).slice(0, 1)), ("number", ten.column(1).slice(0, 1))];
    let all = own.iter().chain(columns).map(|(n, c)| (*n, c.clone(), true));
    RecordBatch::try_from_iter_with_nullable(all).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn types_that_meet_are_the_same_before_and_after_digests() {
    let int: ArrayRef = Arc::new(Int64Array::from(vec![5]));
    let float: ArrayRef = Arc::new(Float64Array::from(vec![0.5]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let flag: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
    let kinds = [int, float, text, flag];
    // Every order of four types, digested nowhere, at one place of it, and at all.
    for number in 0..24_usize {
        let (mut left, mut kind) = (vec![0, 1, 2, 3], number);
        let order: Vec<usize> = (1..=4).rev().map(|n| (left.remove(kind % n), kind /= n).0).collect();
        let mut expected: Option<Vec<String>> = None;
        for digests in [0, 1 << (number % 4), 15_usize] {
            let data = tempfile::tempdir().unwrap();
            let root = name("events").folder(data.path());
            for (at, &kind) in order.iter().enumerate() {
                append(&root, &real(), &[with(at as i64, &[("v", kinds[kind].clone())])]).unwrap();
                if digests >> at & 1 == 1 {
                    digest(&root, real(), &few()).await.unwrap();
                }
            }
            let found = shown(&root).await;
            assert_eq!(expected.get_or_insert_with(|| found.clone()), &found, "{order:?}, digested {digests:b}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_is_told_at_once() {
    let data = tempfile::tempdir().unwrap();
    let root = name("events").folder(data.path());
    let int: ArrayRef = Arc::new(Int64Array::from(vec![5]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    assert_eq!(append(&root, &real(), &[with(0, &[("v", int)])]).unwrap().overflows, []);
    for digested in [false, true] {
        let overflows = append(&root, &real(), &[with(1, &[("v", text.clone())])]).unwrap().overflows;
        assert_eq!((overflows.len(), overflows[0].overflow.as_str(), overflows[0].rows), (1, "v_text", 1));
        assert!(overflows[0].reason.contains("holds integers, and text came"), "{}", overflows[0].reason);
        if !digested {
            digest(&root, real(), &few()).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_writers_that_each_bring_columns_leave_a_table_with_all_of_them() {
    let data = tempfile::tempdir().unwrap();
    let root = name("events").folder(data.path());
    std::thread::scope(|scope| {
        for writer in 0..20 {
            let root = &root;
            scope.spawn(move || {
                for n in 0..3 {
                    let value: ArrayRef = Arc::new(Int64Array::from(vec![n]));
                    let column = format!("c{writer}_{n}");
                    append(root, &real(), &[with(writer * 3 + n, &[(&column, value)])]).unwrap();
                }
            });
        }
    });
    for digested in [false, true] {
        let rows = rows(&root).await;
        assert_eq!((rows.num_rows(), rows.num_columns()), (60, 62));
        for writer in 0..20 {
            let column = rows.column_by_name(&format!("c{writer}_2")).unwrap();
            assert_eq!(column.len() - column.null_count(), 1);
        }
        if !digested {
            digest(&root, real(), &few()).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_is_in_the_table_as_a_whole_after_what_waited() {
    let data = tempfile::tempdir().unwrap();
    let root = name("events").folder(data.path());
    let int: ArrayRef = Arc::new(Int64Array::from(vec![5]));
    append(&root, &real(), &[with(0, &[("v", int.clone())])]).unwrap();
    let mut load = Bulk::begin(&root, real(), &few()).await.unwrap();
    for number in 1..100 {
        // Integers are loaded before a real number comes: all of them are real numbers in the end.
        let float: ArrayRef = Arc::new(Float64Array::from(vec![0.5]));
        load.write(with(number, &[("v", if number == 90 { float } else { int.clone() })])).await.unwrap();
        if number == 50 {
            assert_eq!(numbers(&root).await, [0]);
            // What comes meanwhile is in the log.
            append(&root, &real(), &[with(100, &[("v", int.clone())])]).unwrap();
        }
    }
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    load.write(with(101, &[("v", text)])).await.unwrap();
    assert_eq!(load.take_reports().0[0].overflow, "v_text");
    let version = Table::open(&root, real()).await.unwrap().unwrap().version();
    let (loaded, ..) = load.finish().await.unwrap();
    assert_eq!((loaded.rows, loaded.segments, loaded.logged), (100, 3, 0));
    let after = Table::open(&root, real()).await.unwrap().unwrap().version();
    // The commit that widens the column, and that of the load.
    assert_eq!(after - version, 2);
    for segment in Table::open(&root, real()).await.unwrap().unwrap().segments().await.unwrap() {
        let file = std::fs::File::open(root.join(&segment.path)).unwrap();
        let schema = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().schema().clone();
        let ty = schema.field_with_name("v").unwrap().data_type().clone();
        assert_eq!(ty, arrow::datatypes::DataType::Float64, "no other reader takes integers for real numbers");
    }
    for _ in 0..2 {
        let shown = shown(&root).await;
        let numbers: Vec<i64> = (0..102).map(|n| n * 10).collect();
        assert_eq!(self::numbers(&root).await, numbers);
        assert!(shown[5].contains("v=5.0") && shown[90].contains("v=0.5"), "{shown:?}");
        assert!(shown[101].contains("v_text=x"));
        digest(&root, real(), &few()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_of_servers_that_were_killed_are_digested_once_and_their_keys_stay_known() {
    let data = tempfile::tempdir().unwrap();
    let root = name("events").folder(data.path());
    let key = Some(ingest::Key::of("one"));
    let slow = ingest::StoreOptions { flush_rows: 20, flush_age: Duration::from_hours(1), ..options() };
    let store = Store::open(data.path(), real(), slow).await.unwrap();
    let write = async |number, key| {
        store.write(vec![(name("events"), batch(number))], key, decode::OnConflict::Refuse).await.unwrap()
    };
    write(0, key).await;
    write(1, None).await;
    while store.figures().segments == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    write(2, None).await;
    // As a kill leaves it: the table has a part of what the file of the log holds.
    let copy = tempfile::tempdir().unwrap();
    let root_copy = name("events").folder(copy.path());
    std::fs::create_dir_all(root_copy.parent().unwrap()).unwrap();
    let copied = std::process::Command::new("cp").arg("-r").args([&root, &root_copy]).status().unwrap();
    assert!(copied.success());
    assert_eq!(whole(&numbers(&root_copy).await), [0, 1, 2]);
    assert_eq!(digest(&root_copy, real(), &few()).await.unwrap().rows, 10);
    assert_eq!(whole(&numbers(&root_copy).await), [0, 1, 2]);
    let next = open(copy.path(), real()).await;
    assert!(next.write(vec![(name("events"), batch(0))], key, decode::OnConflict::Refuse).await.unwrap()[0].before);
    next.close().await;
    assert_eq!(whole(&numbers(&root_copy).await), [0, 1, 2]);
    store.close().await;
}
