//! A process ends at any operation of the disk, others go on where it stopped, and then the power goes.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use disk::Disk;
use disk::power_loss::PowerLossDisk;
use disk::watched::{Operation, WatchedDisk};
use ingest::{Durability, Store, StoreOptions, append, digest};

use crate::append::{few, numbers, put, real};
use crate::support::{batch, name, options, whole};

/// A process that ends before one of its operations of the disk; what others do goes on.
#[derive(Debug)]
struct Process {
    done: AtomicU64,
    ends: AtomicU64,
}

impl Process {
    fn until(operation: u64) -> Arc<Self> {
        Arc::new(Self { done: AtomicU64::new(0), ends: AtomicU64::new(operation) })
    }

    /// Its disk.
    fn disk(self: &Arc<Self>, disk: &PowerLossDisk) -> Arc<dyn Disk> {
        let process = self.clone();
        let disk = WatchedDisk::over(disk.clone(), move |operation, _| {
            if operation == Operation::FetchLog {
                return Ok(());
            }
            if process.ends.load(Ordering::SeqCst) <= process.done.load(Ordering::SeqCst) {
                return Err(io::Error::other("the process has ended"));
            }
            process.done.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        Arc::new(disk)
    }

    /// Ends it now. Gives how many operations it came to.
    fn end(&self) -> u64 {
        self.ends.store(0, Ordering::SeqCst);
        self.done.load(Ordering::SeqCst)
    }
}

/// What a process does as long as it lives.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Life {
    /// Appends and digests.
    Shell,
    /// Serves; what it acknowledges is durable, or not.
    Server(Durability),
}

/// Lives, and tells which batches were acknowledged as durable: numbers from `first` on.
async fn live(life: Life, data: &Path, disk: Arc<dyn Disk>, first: i64) -> Vec<i64> {
    let (table, root) = (name("t"), name("t").folder(data));
    let mut acknowledged = Vec::new();
    match life {
        Life::Shell => {
            for number in first..first + 3 {
                // Fails where the process has ended; what is promised does not depend on it.
                if number != first + 2 {
                    drop(digest(&root, disk.clone(), &few()).await);
                }
                if append(&root, &disk, &[batch(number)]).is_ok() {
                    acknowledged.push(number);
                }
            }
        }
        Life::Server(durability) => {
            let options = StoreOptions { durability, flush_rows: 20, compact_segments: 0, ..options() };
            let Ok(store) = Store::open(data, disk, options).await else { return acknowledged };
            for number in first..first + 3 {
                let written = store.write(vec![(table.clone(), batch(number))], None, decode::OnConflict::Refuse).await;
                if written.is_ok() && durability == Durability::Sync {
                    acknowledged.push(number);
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    }
    acknowledged
}

/// Lives in a runtime of its own, which ends with the process: nothing of it goes on. Gives what was acknowledged, and how
/// many operations it came to.
fn live_until(life: Life, data: &Path, disk: &PowerLossDisk, ends: u64, first: i64) -> (Vec<i64>, u64) {
    let process = Process::until(ends);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let acknowledged = runtime.block_on(live(life, data, process.disk(disk), first));
    let operations = process.end();
    runtime.shutdown_timeout(Duration::from_mins(1));
    (acknowledged, operations)
}

/// The first process ends before its operation `ends`, the second before its operation `cut`, and the power goes. Gives how
/// many operations each came to.
fn check(lives: [Life; 2], ends: u64, cut: u64) -> [u64; 2] {
    let folder = tempfile::tempdir().unwrap();
    let (data, at) = (folder.path().join("data"), format!("{lives:?}, {ends}, {cut}"));
    let disk = PowerLossDisk::new(&folder.path().join("attic")).unwrap();
    let (mut acknowledged, one) = live_until(lives[0], &data, &disk, ends, 0);
    let (more, other) = live_until(lives[1], &data, &disk, cut, 10);
    disk.lose_power_leaving([0.0, 0.5, 1.0][ends.wrapping_add(cut) as usize % 3]).unwrap();
    // What comes later must not take the place of what was there.
    let root = name("t").folder(&data);
    put(&root, 100).unwrap();
    acknowledged.extend(more.into_iter().chain([100]));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for turn in ["recovered", "digested"] {
        let found = whole(&runtime.block_on(numbers(&root)));
        assert!(found.is_sorted_by(|a, b| a < b), "{found:?} are there twice, {turn}, {at}");
        let lost: Vec<_> = acknowledged.iter().filter(|n| !found.contains(n)).collect();
        assert!(lost.is_empty(), "{lost:?} are lost, {turn}, {at}");
        runtime.block_on(digest(&root, real(), &few())).unwrap_or_else(|error| panic!("{error}, {at}"));
    }
    [one, other]
}

/// Ends the first process before every operation, and the second before some, others each time.
fn check_all(lives: [Life; 2]) {
    const CUTS: u64 = 2;
    let [operations, last] = check(lives, u64::MAX, u64::MAX);
    assert!(operations > 15, "only {operations} operations");
    for ends in 0..operations {
        for cut in 0..CUTS {
            check(lives, ends, last * (7 * cut + 3 * ends % 7) / (7 * CUTS));
        }
    }
}

#[test]
fn the_shell_goes_on_after_the_shell() {
    check_all([Life::Shell, Life::Shell]);
}

#[test]
fn a_server_that_syncs_nothing_goes_on_after_the_shell() {
    check_all([Life::Shell, Life::Server(Durability::None)]);
}

#[test]
fn the_shell_goes_on_after_a_server() {
    check_all([Life::Server(Durability::Sync), Life::Shell]);
}

#[test]
fn the_shell_goes_on_after_a_server_that_syncs_nothing() {
    check_all([Life::Server(Durability::None), Life::Shell]);
}

/// The disk of an append that ends before its name is durable, which is its last operation.
fn dying(disk: &PowerLossDisk) -> Arc<dyn Disk> {
    Arc::new(WatchedDisk::over(disk.clone(), |operation, path| match operation {
        Operation::SyncDir if path.ends_with("_ingest") => Err(io::Error::other("the process has ended")),
        _ => Ok(()),
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_takes_nothing_that_came_after_it_began_and_may_be_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let root = name("t").folder(&folder.path().join("data"));
    let disk = PowerLossDisk::new(&folder.path().join("attic")).unwrap();
    let whole_disk: Arc<dyn Disk> = Arc::new(disk.clone());
    append(&root, &whole_disk, &[batch(0)]).unwrap();
    // What somebody left in the middle of an append, long ago: a digest removes it after it has begun.
    let left = root.join("_ingest/.left.tmp");
    let file = std::fs::File::create(&left).unwrap();
    file.set_modified(std::time::SystemTime::now() - Duration::from_hours(1)).unwrap();
    let (appending, under) = (root.clone(), disk.clone());
    let digesting = WatchedDisk::over(disk.clone(), move |operation, path| {
        if operation == Operation::Remove && path == left {
            append(&appending, &dying(&under), &[batch(1)]).unwrap_err();
        }
        Ok(())
    });
    let done = digest(&root, Arc::new(digesting), &few()).await.unwrap();
    assert_eq!((done.rows, whole(&numbers(&root).await)), (10, vec![0, 1]));
    disk.lose_power().unwrap();
    // Its position is given again, and is not in the table.
    put(&root, 2).unwrap();
    for _ in 0..2 {
        assert_eq!(whole(&numbers(&root).await), [0, 2]);
        digest(&root, real(), &few()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_makes_durable_in_the_log_what_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    let root = name("t").folder(&folder.path().join("data"));
    let disk = PowerLossDisk::new(&folder.path().join("attic")).unwrap();
    let whole_disk: Arc<dyn Disk> = Arc::new(disk.clone());
    append(&root, &whole_disk, &[batch(0)]).unwrap();
    append(&root, &dying(&disk), &[batch(1)]).unwrap_err();
    assert_eq!(digest(&root, whole_disk, &few()).await.unwrap().rows, 20);
    disk.lose_power().unwrap();
    // The table has its position, which is not given again.
    put(&root, 2).unwrap();
    for _ in 0..2 {
        assert_eq!(whole(&numbers(&root).await), [0, 1, 2]);
        digest(&root, real(), &few()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_that_another_made_and_did_not_sync_are_durable_before_rows_are() {
    for is_server in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let root = name("t").folder(&data);
        let disk = PowerLossDisk::new(&folder.path().join("attic")).unwrap();
        for made in [&data, &data.join("default"), &root, &root.join("_ingest")] {
            disk.create_dir(made).unwrap();
        }
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        if is_server {
            let late = StoreOptions { flush_age: Duration::from_hours(1), ..options() };
            let store = Store::open(&data, shared, late).await.unwrap();
            store.write(vec![(name("t"), batch(0))], None, decode::OnConflict::Refuse).await.unwrap();
        } else {
            append(&root, &shared, &[batch(0)]).unwrap();
        }
        disk.lose_power().unwrap();
        assert_eq!(whole(&numbers(&root).await), [0], "of a server: {is_server}");
    }
}
