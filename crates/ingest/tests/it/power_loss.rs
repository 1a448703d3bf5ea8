//! The power goes at every operation of the disk: what was acknowledged is there once.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use disk::power_loss::PowerLossDisk;
use disk::watched::{Operation, WatchedDisk};
use disk::{Disk, RealDisk};
use ingest::{Store, StoreOptions};

use crate::support::{batch, batches, by_day, name, numbers, options, whole};

/// Batches that are sent.
const BATCHES: i64 = 24;

/// Sends batches, each twice where rows that are equal are one, until the power goes, and tells which were acknowledged.
async fn live(data: &Path, disk: &PowerLossDisk, tables: &[&str], options: StoreOptions) -> Vec<(usize, i64)> {
    let mut acknowledged = Vec::new();
    let sends = sends(&options);
    let Ok(store) = Store::open(data, Arc::new(disk.clone()), options).await else { return acknowledged };
    for number in (0..sends).flat_map(|_| 0..BATCHES) {
        for (place, table) in tables.iter().enumerate() {
            if store.write(vec![(name(table), batch(number))], None, decode::OnConflict::Refuse).await.is_ok() {
                acknowledged.push((place, number));
            }
        }
        // Segments are written between requests and not only at the end, as many of them on a busy machine.
        while waits_for_segments(&store) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }
    // Fails where the power is gone; what is promised does not depend on it.
    drop(store.close().await);
    acknowledged
}

/// Whether more rows wait than are one segment of each table, on a disk that has failed at nothing yet.
fn waits_for_segments(store: &Store) -> bool {
    let figures = store.figures();
    figures.waiting_rows > 60 && figures.failures == 0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_acknowledged_is_there_once_wherever_the_power_goes() {
    check(StoreOptions { flush_rows: 30, ..options() }, 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_where_segments_are_cut_by_day() {
    check(StoreOptions { flush_rows: 30, ..by_day() }, 13).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_sent_twice_is_there_once_wherever_the_power_goes() {
    let unique = ["cpu", "mem"].map(|table| (name(table), vec!["number".to_owned()])).into();
    check(StoreOptions { flush_rows: 30, unique, ..by_day() }, 23).await;
}

/// How often each batch is sent.
fn sends(options: &StoreOptions) -> i64 {
    if options.unique.is_empty() { 1 } else { 2 }
}

/// Takes the power away at every operation that is a multiple of `step`.
async fn check(options: StoreOptions, step: usize) {
    let tables = ["cpu", "mem"];
    let calm = tempfile::tempdir().unwrap();
    let disk = PowerLossDisk::new(&calm.path().join("attic")).unwrap();
    let all = live(&calm.path().join("data"), &disk, &tables, options.clone()).await;
    let sent = (2 * BATCHES * sends(&options)) as usize;
    assert_eq!(all.len(), sent);
    let operations = disk.operations();
    assert!(operations > 100, "only {operations} operations");
    let mut lost_some = 0;
    let cases: Vec<u64> = (0..operations).step_by(step).collect();
    for some in cases.chunks(8) {
        let run = |operation: u64, options: StoreOptions| async move {
            let folder = tempfile::tempdir().unwrap();
            let data = folder.path().join("data");
            let disk = PowerLossDisk::new(&folder.path().join("attic")).unwrap();
            disk.fail_from(operation);
            let acknowledged = live(&data, &disk, &tables, options.clone()).await;
            disk.fail_from(u64::MAX);
            disk.lose_power_leaving([0.0, 0.5, 1.0][operation as usize / step % 3]).unwrap();
            let store = Store::open(&data, Arc::new(RealDisk), options.clone()).await.unwrap();
            // Rows that are in no segment yet may be seen beside those whose place they take.
            let once_at_most = options.unique.is_empty();
            for turn in ["recovered", "written out"] {
                for (place, table) in tables.iter().enumerate() {
                    let open = (turn == "recovered").then_some(&*store);
                    let mut found = numbers(&data, open, &name(table)).await;
                    if !once_at_most && turn == "recovered" {
                        found.dedup();
                    }
                    let found = whole(&found);
                    for number in 0..BATCHES {
                        let times = found.iter().filter(|n| **n == number).count();
                        let least = usize::from(acknowledged.contains(&(place, number)));
                        assert!((least..=1).contains(&times), "{table} {number}: {times} times, {turn}, {operation}");
                    }
                }
                if turn == "recovered" {
                    store.close().await;
                }
            }
            acknowledged.len() < sent
        };
        let ended = futures::future::join_all(some.iter().map(|&at| tokio::spawn(run(at, options.clone())))).await;
        lost_some += ended.into_iter().filter(|lost| *lost.as_ref().unwrap()).count();
    }
    assert!(lost_some > cases.len() / 2, "the power went after everything in most of {} cases", cases.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_fails_for_a_while_loses_nothing_and_doubles_nothing() {
    for fail_after in [0, 3, 7, 12, 20] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let disk = PowerLossDisk::new(&folder.path().join("attic")).unwrap();
        let store = Store::open(&data, Arc::new(disk.clone()), options()).await.unwrap();
        let mut acknowledged = Vec::new();
        for number in 0..40 {
            match number {
                10 => disk.fail_from(disk.operations() + fail_after),
                20 => disk.fail_from(u64::MAX),
                _ => {}
            }
            if store.write(vec![(name("cpu"), batch(number))], None, decode::OnConflict::Refuse).await.is_ok() {
                acknowledged.push(number);
            }
            tokio::time::sleep(std::time::Duration::from_millis(3)).await;
        }
        assert_eq!(batches(&data, Some(&store), &name("cpu")).await, acknowledged, "{fail_after}");
        store.close().await;
        assert_eq!(batches(&data, None, &name("cpu")).await, acknowledged, "{fail_after}");
    }
}

/// A disk on which the end of one commit to a table fails: it is there, and nobody can tell whether for good.
fn failing_at_the_end_of_a_commit(disk: &PowerLossDisk, failed: &Arc<AtomicBool>) -> Arc<dyn Disk> {
    let (committed, failed) = (AtomicBool::new(false), failed.clone());
    Arc::new(WatchedDisk::over(disk.clone(), move |operation, path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The first version is the making of the table.
        if operation == Operation::Link && name.ends_with("1.json") {
            committed.store(true, Ordering::SeqCst);
        }
        let ends = operation == Operation::SyncDir && name == "_delta_log" && committed.load(Ordering::SeqCst);
        if ends && !failed.swap(true, Ordering::SeqCst) {
            return Err(std::io::Error::other("the disk is busy"));
        }
        Ok(())
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_of_which_only_the_end_failed_is_not_made_again() {
    // Where nothing comes after it, the log goes when the store closes.
    for (unique, all) in [(false, 20), (true, 20), (false, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let disk = PowerLossDisk::new(&folder.path().join("attic")).unwrap();
        let failed = Arc::new(AtomicBool::new(false));
        let unique = unique.then(|| (name("cpu"), vec!["number".to_owned()])).into_iter().collect();
        let options = StoreOptions { flush_rows: 1_000, unique, ..options() };
        let failing = failing_at_the_end_of_a_commit(&disk, &failed);
        let store = Store::open(&data, failing, options).await.unwrap();
        store.write(vec![(name("cpu"), batch(0))], None, decode::OnConflict::Refuse).await.unwrap();
        while !failed.load(Ordering::SeqCst) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        // More than the commit had, with which what it had would be written again.
        for number in 1..all {
            store.write(vec![(name("cpu"), batch(number))], None, decode::OnConflict::Refuse).await.unwrap();
        }
        assert!(batches(&data, Some(&store), &name("cpu")).await.into_iter().eq(0..all));
        store.close().await;
        assert_eq!(store.figures().failures, 1);
        assert!(batches(&data, None, &name("cpu")).await.into_iter().eq(0..all));
        disk.lose_power().unwrap();
        assert!(batches(&data, None, &name("cpu")).await.into_iter().eq(0..all));
    }
}
